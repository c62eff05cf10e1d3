"""What each step of a ranking looks at, in a few words for whoever reads a waterfall."""

from __future__ import annotations

_TEXTS = {
    "meaning": "how near in meaning",
    "words": "the query's words in it",
    "matched words": "how many of the query's telling words it has",
    "tokens": "meaning, word by word",
    "drawn notes": "what was noted from this message",
    "conversation: nearby": "the query's words in messages around it",
    "conversation: conversation": "the query's words in the whole conversation",
    "conversation: reply": "it answers a question like this one",
    "conversation: before": "the message before it",
    "conversation: after": "the message after it",
    "named": "it is what the query names",
    "linked": "a relation ties it to what the query names",
    "when": "the query asks when, and it names a time",
    "time": "it is of the time asked for",
    "time and topic": "of that time, and on the topic",
    "status": "active, paused or done",
    "said by": "who said it",
    "asks": "it is a question itself",
    "entity": "it is an entity",
    "says little": "it says little by itself",
    "length": "how long it is",
    "newest wins": "of two that disagree, the later one counts",
    "base relevance": "how well it fits before anything else",
    "salience": "how often it was used, and by what",
    "forgetting": "how long it was not used",
    "cooccurrence": "seen together with the others",
    "metadata": "importance and tags",
    "rescaled": "stretched from 0 to 1 over all candidates",
    "importance": "how important it was said to be",
    "fading": "how old it is",
    "fresh": "how new it is",
    "strength": "strengthened or faded in dreams",
    "depth": "how deeply it is consolidated",
    "spread": "on how many days it came up",
    "stability": "how well it resists fading",
    "just": "said just now",
    "temporal": "it is of the time asked for",
    "threshold": "near enough to count",
    "rerank": "read again together with the query",
}


def step_text(step: str) -> str:
    """Empty for a step of a user's own."""
    found = _TEXTS.get(step)
    if found is None:
        # Searches that are fused are named after how: `rrf: meaning`.
        before, _, last = step.partition(": ")
        found = "the kind of question, as the router took it" if before == "routing" else _TEXTS.get(last, "")
    return found
