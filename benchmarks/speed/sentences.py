"""Made-up sentences and names, with a fixed seed: English enough for a tokenizer to cut as it cuts English."""

from __future__ import annotations

import re

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
_SLOTS = {
    "thing": """the red bicycle|a new laptop|the garden plan|green tea|the budget report|a used camera
        |the kitchen table|two concert tickets|the old piano|the database backup|an invoice|the birthday cake
        |the train schedule|a winter coat|the job offer|the deployment script|a pair of running shoes
        |the photo album|the insurance form|a wooden chair|the rent contract|the spare keys|olive oil
        |the guest list|a hiking map|the test results|the first draft|the school project|a phone charger
        |the cookbook|the weekly newsletter|the security audit|a vegetarian dinner|the violin|the dog's food""",
    "place": """the library|Lisbon|the second office|the harbour|the old town|Toronto|the gym|a small village
        |the conference centre|the kitchen|Kyoto|the mountains|the airport|the community centre|Berlin
        |the river bank|the new building|the museum|the farmers market|the north station|the garage""",
    "time": """next week|on Tuesday|in the morning|after lunch|before the holidays|at the end of March
        |during the summer|every second Friday|later this year|at midnight|on her birthday|in two days
        |when the weather changes|by the end of the quarter|once the children sleep|early in autumn""",
    "how": """too expensive|surprisingly good|slow|much better than before|a little noisy|complicated
        |ready at last|broken again|cheaper than expected|very cold|hard to explain|popular|late|delicious
        |confusing|safe|beautiful|unreliable|heavy|boring""",
    "act": """repair the fence|play the guitar|bake bread|write a letter|learn Portuguese|run a marathon
        |paint the hallway|review the code|organise a workshop|grow tomatoes|call the landlord|swim
        |update the website|compare prices|book a room|teach chess|collect stamps|sell the car""",
}
_FILLERS = {slot: [" ".join(one.split()) for one in listed.split("|")] for slot, listed in _SLOTS.items()}
_QUESTIONS = (
    "What did {who} say about {thing}?",
    "When will {who} {act}?",
    "Where is {thing} now?",
    "Who wanted to {act} in {place}?",
    "Why was {thing} {how}?",
)
_ONSETS = "b br c ch d dr f g gr h j k kl l m n p pr r s sh st t tr v w z".split()
_VOWELS = "a e i o u ai ea io ou".split()
_CODAS = ["", "", "", "l", "n", "nd", "r", "s", "th", "x"]


class Sentences:
    """The same ones in the same order, in every run."""

    def __init__(self, people: int = 300) -> None:
        self._chance = np.random.default_rng(SEED)
        self.people = self.names(people)

    def names(self, count: int) -> list[str]:
        """Names of one to four words, no two of which differ in case alone; words recur, as surnames do."""
        words = [self._word() for _ in range(max(200, count // 8))]
        made: dict[str, None] = {}
        while len(made) < count:
            length = int(self._chance.choice(4, p=[0.25, 0.45, 0.2, 0.1])) + 1
            picked = self._chance.integers(0, len(words), length)
            # A name of one word needs a word of its own, or there would be too few of them.
            parts = [words[place] for place in picked] if length > 1 else [self._word() + self._word().lower()]
            made[" ".join(parts)] = None
        return list(made)

    def notes(self, count: int, sentences: int = 1) -> list[str]:
        """No two are the same."""
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
            picked = [names[place] for place in self._chance.integers(0, len(names), self._chance.integers(4))]
            for name in picked:
                said.insert(int(self._chance.integers(0, len(said) + 1)), name)
            texts.append(" ".join(said))
            mentioned.append(set(picked))
        return texts, mentioned

    def _filled(self, frame: str) -> str:
        return _SLOT.sub(lambda match: self._filler(match.group(1)), frame)

    def _filler(self, slot: str) -> str:
        among = self.people if slot == "who" else _FILLERS[slot]
        return among[int(self._chance.integers(0, len(among)))]

    def _word(self) -> str:
        syllables = [
            f"{self._one(_ONSETS)}{self._one(_VOWELS)}{self._one(_CODAS)}"
            for _ in range(int(self._chance.integers(1, 4)))
        ]
        return "".join(syllables).capitalize()

    def _one(self, among: list[str]) -> str:
        return among[int(self._chance.integers(0, len(among)))]
