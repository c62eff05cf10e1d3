"""Made-up sentences and names, with a fixed seed: English enough to be cut into tokens as English is."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

SEED = 20_260_301
_SLOT = re.compile(r"\{(\w+)\}")
_FRAMES = (
    "{who} prefers {thing} over {thing} when {time} gets {how}.",
    "We decided to move {thing} to {place} {time}, because {who} asked for it.",
    "{who} mentioned that {thing} in {place} was {how} and wanted to know more about {thing}.",
    "Remember to send {thing} to {who} before {time}.",
    "The meeting about {thing} was {how}; {who} will write the summary {time}.",
    "{who} is learning to {act} and hopes to {act} in {place} {time}.",
    "Last time we tried to {act}, {thing} turned out {how}, so {who} suggested {thing} instead.",
    "My plan is to {act} {time} and then visit {who} in {place}.",
    "{who} lost {thing} near {place} and found it again {time}.",
    "There is a problem with {thing}: it becomes {how} whenever someone tries to {act}.",
)


def _listed(words: str) -> list[str]:
    return words.split()


_NOUNS = _listed("""
bicycle laptop garden tea report camera table ticket piano backup invoice cake train coat offer script shoe
photo form chair contract key oil guest map test draft project charger cookbook newsletter audit dinner
violin dog apartment bridge budget cable calendar candle carpet cat chart cheese church clock cloud coffee
college company concert cookie course cousin dentist deadline desk diary dictionary doctor door dress driver
engine essay exam exercise factory farm fence festival film flight flower folder forest fountain fridge game
gate ghost gift glass glove grandmother guitar hammer hat helmet herb hobby holiday horse hospital hotel
house idea interview island jacket jam journey kettle kitchen knife ladder lake lamp lawyer lecture lemon
letter library licence lunch machine magazine market mattress meadow medicine melody menu message meter milk
mirror mountain museum neighbour needle network notebook novel nurse ocean office onion orchestra oven owner
package painting palace paper parcel park passport pasta pencil pension pepper phone pillow pilot plant
plate podcast poem pond portrait poster potato printer prize promise proposal puzzle quarter rabbit radio
railway recipe refund rent ring river roof rose route salad sandwich scarf school sculpture server shelf
ship shower singer skirt sofa song soup spoon stadium stamp station statue storm story subscription suitcase
surgeon survey sweater teacher telescope tenant theatre tomato tooth tower toy tractor translation trousers
truck trumpet tunnel umbrella uniform vaccine valley van village vineyard visa voucher waiter wallet watch
website wedding wheel window winter workshop yacht zoo
""")
_QUALITIES = _listed("""
old new red small green broken cheap heavy quiet bright late early wooden second missing favourite local
foreign empty famous fresh hidden huge modern narrow orange plain private proper rare round shared sharp
silent silver simple soft spare square strange strong sweet tall tiny typical useful valuable warm weekly
wild yellow
""")
_VERBS = _listed("""
repair paint sell borrow clean review compare organise describe draw replace return order book update
photograph measure translate collect design discuss explain finish forget move plan prepare present promise
publish record send show study test throw visit wrap
""")
_SLOTS = {
    "time": """next week|on Tuesday|in the morning|after lunch|before the holidays|at the end of March
        |during the summer|every second Friday|later this year|at midnight|on her birthday|in two days
        |when the weather changes|by the end of the quarter|once the children sleep|early in autumn""",
    "how": """too expensive|surprisingly good|slow|much better than before|a little noisy|complicated
        |ready at last|broken again|cheaper than expected|very cold|hard to explain|popular|late|delicious
        |confusing|safe|beautiful|unreliable|heavy|boring""",
}
_FILLERS = {slot: [" ".join(one.split()) for one in listed.split("|")] for slot, listed in _SLOTS.items()}
# The share of things that have a proper name, as in a real diary.
_NAMED = 0.3
_RARE = 4_000
_QUESTIONS = (
    "What did {who} say about {thing}?",
    "When will {who} {act}?",
    "Where is {thing} now?",
    "Who wanted to {act} in {place}?",
    "Why was {thing} {how}?",
)
_ONSETS = [*"bcdfghjklmnprstvwz", "br", "ch", "dr", "gr", "kl", "pr", "sh", "st", "tr"]
_VOWELS = [*"aeiou", "ai", "ea", "io", "ou"]
_CODAS = ["", "", "", "l", "n", "nd", "r", "s", "th", "x"]


class Sentences:
    """Generated sentences: the same ones in the same order in every run."""

    def __init__(self, people: int = 300) -> None:
        self._chance = np.random.default_rng(SEED)
        self.people = self.names(people)
        self._rare = [self._word() for _ in range(_RARE)]

    def names(self, count: int) -> list[str]:
        """Names of one to four words, no two of which differ in case alone; words recur, as surnames do."""
        words = [self._word() for _ in range(max(200, count // 8))]
        made: dict[str, None] = {}
        while len(made) < count:
            length = int(self._chance.choice(4, p=[0.25, 0.45, 0.2, 0.1])) + 1
            picked = self._chance.integers(0, len(words), length)
            # A name of one word needs a word of its own, or there would be too few of them.
            parts = (
                [words[place] for place in picked] if length > 1 else [self._word() + self._word().lower()]
            )
            made[" ".join(parts)] = None
        return list(made)

    def notes(self, count: int, sentences: int = 1) -> list[str]:
        """Return different sentences."""
        made: dict[str, None] = {}
        while len(made) < count:
            frames = self._chance.integers(0, len(_FRAMES), sentences)
            made[" ".join(self._filled(_FRAMES[frame]) for frame in frames)] = None
        return list(made)

    def queries(self, count: int) -> list[str]:
        return [self._filled(_QUESTIONS[place % len(_QUESTIONS)]) for place in range(count)]

    def mentioning(self, names: list[str], count: int) -> tuple[list[str], list[set[str]]]:
        """Texts of 15 to 60 words that mention none to three of these names, and which they are."""
        texts, mentioned = [], []
        for _ in range(count):
            length = int(self._chance.integers(15, 61))
            said = " ".join(self._filled(_FRAMES[place]) for place in self._chance.integers(0, 10, 6)).split()
            said = said[:length]
            picked = [
                names[place] for place in self._chance.integers(0, len(names), self._chance.integers(4))
            ]
            for name in picked:
                said.insert(int(self._chance.integers(0, len(said) + 1)), name)
            texts.append(" ".join(said))
            mentioned.append(set(picked))
        return texts, mentioned

    def _filled(self, frame: str) -> str:
        return _SLOT.sub(lambda match: self._filler(match.group(1)), frame)

    def _filler(self, slot: str) -> str:
        match slot:
            case "who":
                return self._one(self.people)
            case "thing":
                return f"the {self._thing()}"
            case "place":
                return self._one(self._rare) if self._chance.random() < 0.5 else f"the {self._thing()}"
            case "act":
                return f"{self._one(_VERBS)} the {self._thing()}"
            case _:
                return self._one(_FILLERS[slot])

    def _thing(self) -> str:
        quality = self._rare if self._chance.random() < _NAMED else _QUALITIES
        return f"{self._one(quality)} {self._one(_NOUNS)}"

    def _word(self) -> str:
        syllables = [
            f"{self._one(_ONSETS)}{self._one(_VOWELS)}{self._one(_CODAS)}"
            for _ in range(int(self._chance.integers(1, 3)))
        ]
        return "".join(syllables).capitalize()

    def _one(self, among: Sequence[str]) -> str:
        """Return a random word. Earlier words are more likely, as in natural language but less so."""
        return among[int(len(among) * self._chance.random() ** 1.5)]
