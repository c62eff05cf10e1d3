"""Measures how well libraries find the time span that a question names.

It reads its questions from packages/recollect/tests/text/time_phrases_en.txt and time_phrases_es.txt.

    pip install dateparser parsedatetime timefhuman recurrent ctparse datefinder stringtime
    pip install recognizers-text-date-time "emoji<2"
    python benchmarks/quality/time_libraries.py --json results.json

A library that is not installed is skipped. Each library gets the settings that its documentation advises for
past dates. The comparison is lenient:

- Of several answers, the best one counts.
- A date counts as its whole day; a week or a month as its whole unit. The last day may be included or not.
- Durations, recurring times and times without a date count as no answer.

The tables follow our conventions, which favours Recollect. `overlap` therefore counts every answer that
shares some time with the expected span.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import logging
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from importlib import import_module, metadata
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

TABLES = Path(__file__).parents[2] / "packages" / "recollect" / "tests" / "text"
IMPORT_RUNS = 5
CATEGORIES = ("positives", "overlap", "start", "span", "negatives", "true_negatives")
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open span in local time of the reference's zone."""

    start: datetime | None
    stop: datetime | None


@dataclass(frozen=True, slots=True)
class Case:
    text: str
    language: str
    reference: datetime
    span: Span | None  # None if the text names no time


Find = Callable[[str, datetime], list[Span]]


@dataclass(frozen=True, slots=True)
class Library:
    package: str
    module: str
    find: Callable[[str], Find]  # by language
    languages: tuple[str, ...] = ("en",)


def main() -> None:
    options = _options()
    logging.disable(logging.CRITICAL)  # some libraries log every attempt
    warnings.simplefilter("ignore")
    cases = [case for language in ("en", "es") for case in table(language)]
    rows = [row for library in LIBRARIES if (row := measure(library, cases))]
    show(rows)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def table(language: str) -> Iterator[Case]:
    """Read the cases of one language; the English table explains the format."""
    reference = datetime.min.replace(tzinfo=UTC)
    for line in (TABLES / f"time_phrases_{language}.txt").read_text(encoding="utf-8").splitlines():
        match [part.strip() for part in line.split("|")]:
            case [first, *_] if first.startswith("#"):
                pass
            case [header] if header.startswith("reference: "):
                moment, zone = header.removeprefix("reference: ").split()
                reference = datetime.fromisoformat(moment).replace(tzinfo=ZoneInfo(zone))
            case [text, "none"]:
                yield Case(text, language, reference, None)
            case [text, start, stop, _]:
                yield Case(text, language, reference, Span(_time(start), _time(stop)))


def _time(text: str) -> datetime | None:
    return None if text == "-" else datetime.fromisoformat(text)


# Measuring


def measure(library: Library, cases: list[Case]) -> dict[str, Any] | None:
    """Return the counts by language and the times, or None if the library is not installed."""
    try:
        finders = {language: library.find(language) for language in library.languages}
    except ImportError as error:
        print(f"skipped {library.package}: {error}", file=sys.stderr)
        return None
    row: dict[str, Any] = {
        "library": library.package,
        "version": _version(library.package),
        "import_ms": import_time(library.module),
    }
    spent = []
    for language, find in finders.items():
        own = [case for case in cases if case.language == language]
        for case in own:  # warm-up with another text, because some libraries cache questions
            answers(find, replace(case, text=f"Tell me: {case.text}"))
        row[language] = dict.fromkeys(CATEGORIES, 0)
        for case in own:
            began = time.perf_counter()
            found = answers(find, case)
            spent.append(time.perf_counter() - began)
            for category in categories_met(case, found):
                row[language][category] += 1
    row["query_ms"] = statistics.mean(spent) * 1e3
    return row


def categories_met(case: Case, found: list[Span]) -> Iterator[str]:
    if case.span is None:
        yield "negatives"
        if not found:
            yield "true_negatives"
        return
    yield "positives"
    dated = [span for span in found if span.start or span.stop]
    if any(_day(span.start) == _day(case.span.start) for span in dated):
        yield "start"
    if case.span in found:
        yield "span"
    if any(overlap(span, case.span) for span in dated):
        yield "overlap"


def overlap(one: Span, other: Span) -> bool:
    """Return whether two spans share any time; "morning" may start at another hour by convention."""
    low, high = datetime.min, datetime.max  # noqa: DTZ901  # spans have no zone
    return max(one.start or low, other.start or low) < min(one.stop or high, other.stop or high)


def answers(find: Find, case: Case) -> list[Span]:
    """Return the library's spans; an exception counts as no span."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            found = find(case.text, case.reference)
    except Exception:  # noqa: BLE001  # a library may raise anything
        return []
    return [Span(_local(span.start, case), _local(span.stop, case)) for span in found]


def _local(moment: datetime | None, case: Case) -> datetime | None:
    if moment and moment.tzinfo:
        moment = moment.astimezone(case.reference.tzinfo).replace(tzinfo=None)
    return moment


def _day(moment: datetime | None) -> object:
    return moment and moment.date()


def import_time(module: str) -> float:
    """Return the median import time in milliseconds, each in a fresh process."""
    code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    runs = [
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True
        )
        for _ in range(IMPORT_RUNS)
    ]
    return statistics.median(float(run.stdout.split()[-1]) for run in runs) * 1e3


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "from source" if package == "recollect" else "of unknown version"


def show(rows: list[dict[str, Any]]) -> None:
    heads = ("", "overlap", "start day", "whole span", "true negatives", "import", "query")
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for row in rows:
        for language in ("en", "es"):
            if n := row.get(language):
                print(
                    f"| {row['library']} {row['version']}, {language} "
                    f"| {n['overlap']} | {n['start']} | {n['span']} of {n['positives']} "
                    f"| {n['true_negatives']} of {n['negatives']} "
                    f"| {row['import_ms']:.0f} ms | {row['query_ms']:.2f} ms |"
                )


# Convert moments to spans, leniently


def around(moment: datetime, period: str = "") -> list[Span]:
    """Return the spans that a moment may mean: its stated unit, else its day, hour or minute."""
    naive = moment.replace(second=0, microsecond=0)
    midnight = naive.replace(hour=0, minute=0)
    hour = naive.replace(minute=0)
    spans = [
        Span(midnight, midnight + DAY),
        Span(hour, hour + timedelta(hours=1)),
        Span(naive, naive + timedelta(minutes=1)),
    ]
    first = midnight.replace(day=1)
    match period:
        case "week":
            monday = midnight - midnight.weekday() * DAY
            return [Span(monday, monday + 7 * DAY)]
        case "month":
            return [Span(first, (first + 31 * DAY).replace(day=1))]
        case "year":
            return [Span(first.replace(month=1), first.replace(month=1, year=first.year + 1))]
        case _:
            return spans


def between(start: datetime, stop: datetime) -> list[Span]:
    """Return two spans: from start to stop, and from the first day to the end of the last day."""
    first, last = (moment.replace(hour=0, minute=0, second=0, microsecond=0) for moment in (start, stop))
    return [Span(start, stop), Span(first, last + DAY)]


# Libraries


def _ours(_: str) -> Find:
    time_of = import_module("recollect.language.time_phrases").time_of

    def find(text: str, reference: datetime) -> list[Span]:
        phrase = time_of(text, reference)
        return [Span(phrase.start, phrase.stop)] if phrase else []

    return find


def _dateparser(language: str) -> Find:
    search = import_module("dateparser.search").search_dates

    def find(text: str, reference: datetime) -> list[Span]:
        settings = {
            "RELATIVE_BASE": reference.replace(tzinfo=None),
            "PREFER_DATES_FROM": "past",
            "PREFER_DAY_OF_MONTH": "first",
            "PREFER_MONTH_OF_YEAR": "first",
            "RETURN_TIME_SPAN": True,
        }
        found = search(text, [language], settings, add_period=True) or []
        starts = [moment for words, moment, _ in found if words.endswith(" (start)")]
        stops = [moment for words, moment, _ in found if words.endswith(" (end)")]
        spans = [span for ends in zip(starts, stops, strict=True) for span in between(*ends)]
        return spans + [span for _, moment, period in found for span in around(moment, period)]

    return find


def _parsedatetime(language: str) -> Find:
    parsedatetime = import_module("parsedatetime")
    locale = {"en": "en_US", "es": "es"}[language]
    calendar = parsedatetime.Calendar(parsedatetime.Constants(locale, usePyICU=False))

    def find(text: str, reference: datetime) -> list[Span]:
        found = calendar.nlp(text, sourceTime=reference.replace(tzinfo=None)) or ()
        time_alone = 2
        return [span for moment, kind, *_ in found if kind != time_alone for span in around(moment)]

    return find


def _timefhuman(_: str) -> Find:
    module = import_module("timefhuman")

    def find(text: str, reference: datetime) -> list[Span]:
        now = reference.replace(tzinfo=None)
        config = module.tfhConfig(now=now, direction=module.Direction.previous)
        return [span for found in module.timefhuman(text, config=config) for span in spans_of(found)]

    def spans_of(found: object) -> list[Span]:
        match found:
            case datetime():
                return around(found)
            case (datetime() as start, datetime() as stop):
                return between(start, stop)
            case list():
                return [span for one in found for span in spans_of(one)]
            case _:
                return []

    return find


def _recurrent(_: str) -> Find:
    event = import_module("recurrent.event_parser").RecurringEvent

    def find(text: str, reference: datetime) -> list[Span]:
        found = event(now_date=reference.replace(tzinfo=None)).parse(text)
        return around(found) if isinstance(found, datetime) else []  # a string is a recurrence rule

    return find


def _ctparse(_: str) -> Find:
    parse = import_module("ctparse").ctparse

    def find(text: str, reference: datetime) -> list[Span]:
        found = parse(text, ts=reference.replace(tzinfo=None))
        if not found or not found.resolution:
            return []
        start, stop = getattr(found.resolution, "start", None), getattr(found.resolution, "end", None)
        first, last = moment(start), moment(stop)
        # ctparse's end is the last minute inside the span.
        return [Span(first, last and last + timedelta(minutes=1)), *(around(first) if first else [])]

    def moment(found: Any) -> datetime | None:
        is_date = found and found.year and found.month and found.day  # a month may lack its year
        return datetime(found.year, found.month, found.day, found.hour, found.minute) if is_date else None  # noqa: DTZ001  # local time

    return find


def _datefinder(_: str) -> Find:
    find_dates = import_module("datefinder").find_dates

    def find(text: str, reference: datetime) -> list[Span]:
        found = find_dates(text, base_date=reference.replace(tzinfo=None))
        return [span for moment in found for span in around(moment)]

    return find


def _stringtime(_: str) -> Find:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        extract = import_module("stringtime").extract_dates

    def find(text: str, reference: datetime) -> list[Span]:
        found = extract(text, relative_to=reference.replace(tzinfo=None))
        return [span for one in found for span in around(datetime.fromisoformat(str(one.date)))]

    return find


def _recognizers(language: str) -> Find:
    module = import_module("recognizers_date_time")
    culture = {"en": module.Culture.English, "es": module.Culture.Spanish}[language]

    def find(text: str, reference: datetime) -> list[Span]:
        found = module.recognize_datetime(text, culture, reference=reference.replace(tzinfo=None))
        return [
            span
            for one in found
            for value in (one.resolution or {}).get("values", [])
            if value["type"] in {"date", "datetime", "daterange", "datetimerange"}
            for span in spans_of(value, reference.replace(tzinfo=None))
        ]

    def spans_of(value: dict[str, str], now: datetime) -> list[Span]:
        if "value" in value:
            return around(datetime.fromisoformat(value["value"]))
        start, stop = (_iso(value.get(end)) for end in ("start", "end"))
        spans = [Span(start, stop), Span(start, stop and stop + DAY)]
        if start and not stop:
            spans.append(Span(start, now))  # our tables end "since …" now; this library leaves it open
        if start and stop:  # it rounds spans such as "the last 3 days" to whole days
            hours = timedelta(hours=now.hour, minutes=now.minute)
            spans.append(Span(start + hours, stop + hours))
        return spans

    return find


def _iso(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


LIBRARIES = (
    Library("recollect", "recollect.language.time_phrases", _ours, ("en", "es")),
    Library("recognizers-text-date-time", "recognizers_date_time", _recognizers, ("en", "es")),
    Library("dateparser", "dateparser.search", _dateparser, ("en", "es")),
    Library("parsedatetime", "parsedatetime", _parsedatetime, ("en", "es")),
    Library("stringtime", "stringtime", _stringtime),
    Library("timefhuman", "timefhuman", _timefhuman),
    Library("recurrent", "recurrent.event_parser", _recurrent),
    Library("ctparse", "ctparse", _ctparse),
    Library("datefinder", "datefinder", _datefinder),
)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    return parser.parse_args()


if __name__ == "__main__":
    main()
