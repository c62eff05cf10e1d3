"""Time phrases of English and Spanish, and the stretches of time that they speak of."""

from recollect.text.when.phrases import TimePhrase, time_of, time_phrases

__all__ = ["TimePhrase", "time_of", "time_phrases"]
