"""Ranges: since, until, before and after a moment, and between two."""

from __future__ import annotations

from datetime import datetime

from recollect.text.when.moments import Moment, closed
from recollect.text.when.spans import DAY, Span


def since(moment: Moment) -> Moment:
    def at(reference: datetime) -> Span:
        return _up_to(moment.at(reference).start, reference)

    return Moment(at, moment.confidence)


def after(moment: Moment) -> Moment:
    def at(reference: datetime) -> Span:
        return _up_to(moment.at(reference).stop, reference)

    return Moment(at, moment.confidence)


def until(moment: Moment) -> Moment:
    return Moment(lambda reference: Span(None, closed(moment, reference).stop), moment.confidence)


def before(moment: Moment) -> Moment:
    return Moment(lambda reference: Span(None, closed(moment, reference).start), moment.confidence)


def between(first: Moment, last: Moment) -> Moment:
    """From the start of one to the end of the other.

    One that comes round again is the one next to its neighbour: in "between November and February 2024",
    November is the last before that February.
    """

    def at(reference: datetime) -> Span:
        if first.period is None and last.period is not None:
            begun = closed(first, reference)
            ended = closed(last, begun.start + last.period - DAY)
        else:
            ended = closed(last, reference)
            begun = closed(first, reference if first.period is None else ended.start)
        return Span(min(begun.start, ended.start), max(begun.stop, ended.stop))

    if first.period is not None and last.period is None:
        return Moment(at, last.confidence)
    both_float = first.period is not None and last.period is not None
    return Moment(at, min(first.confidence, last.confidence), period=last.period if both_float else None)


def _up_to(start: datetime | None, reference: datetime) -> Span:
    if start is None:
        raise ValueError("an open span has no such end")
    return Span(start, reference if start < reference else None)
