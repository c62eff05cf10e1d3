"""Quality: how well this memory is found, whether its confidence holds, and what the tuner would change."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from recollect.engine.tuning.confidence_curve import ConfidenceCurve
from recollect.errors import InvalidInput, NotFound
from recollect.lazy_dataclass import dataclass
from recollect.ranking.default_profile import DEFAULT_PROFILE
from recollect.serve.http.caller import Right
from recollect.serve.operations.recent_answers import RecentValues
from recollect.serve.web.curves import curve_drawing
from recollect.serve.web.forms import form_fields
from recollect.serve.web.pages.recall import whole_number
from recollect.serve.web.progress import with_progress
from recollect.serve.web.templating import Undo, page, redirect

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from recollect.engine.engine import Engine
    from recollect.engine.self_test.results import SelfTest
    from recollect.engine.tuning.tuning import TuningChange
    from recollect.ports import Progress
    from recollect.serve.http.face import Face

TABS = {"": "Self-test", "confidence": "Confidence", "tuning": "Tuning"}
_MOST_SAMPLED = 2_000
_USUAL_SAMPLE = 50
_MOST_SEED = 999_999
_VERSIONS = 50
_MISSES = 50
_MOVES = 10
_LONGEST_NUMBER = 10
MEANS = {
    "phrase": "some of its words in a row",
    "gaps": "a sentence of it without the rarest words",
    "entity": "a name and what is known of it",
    "what is": "a name alone",
    "relation": "what an entity is related to",
    "mention": "what was said about an entity",
    "day": "what happened on a day",
    "said": "what somebody said on a day",
}
WHY = {"run": "a search", "set": "set by hand", "reset": "reset to published", "rollback": "rolled back"}
# What was found out by a button, until the next few: it takes long, and nothing of it is in the store.
_FOUND: RecentValues[SelfTest | ConfidenceCurve | TuningChange] = RecentValues(32)


@dataclass(frozen=True, slots=True)
class QualityForm:
    """What is to be asked, as the form has it."""

    sample: int = _USUAL_SAMPLE
    seed: int = 0
    profile: str = ""


def quality_form(fields: dict[str, str]) -> QualityForm:
    seed = fields.get("seed", "")
    if seed and not (seed.isascii() and seed.isdigit() and int(seed[:9]) <= _MOST_SEED):
        raise InvalidInput(f"seed: write a number from 0 to {_MOST_SEED:,}.")
    return QualityForm(
        sample=whole_number(fields.get("sample"), "sample", _MOST_SAMPLED) or _USUAL_SAMPLE,
        seed=int(seed or 0),
        profile=fields.get("profile", ""),
    )


async def quality_screen(face: Face, request: Request) -> Response:
    tab = request.query_params.get("tab", "")
    if tab not in TABS:
        raise NotFound(f"There is no tab {tab[:40]!r} of Quality; there are: self-test, confidence, tuning.")
    shown: dict[str, Any] = {"tab": tab, "tabs": TABS, "profiles": list(face.memory().profiles)}
    found = request.query_params.get("found")
    outcome = await face.run(request, lambda memory: _kept(memory, tab, found)) if found else None
    shown |= {"found": outcome, "gone": found is not None and outcome is None, "usual": QualityForm()}
    if tab == "tuning":
        profile = request.query_params.get("profile") or None
        shown |= await face.run(request, lambda memory: _tuning(memory, profile))
        shown |= {"why": WHY, "most_moves": _MOVES}
    elif tab == "confidence":
        shown["curve"] = curve_drawing(outcome) if isinstance(outcome, ConfidenceCurve) else None
    else:
        shown |= {"means": MEANS, "most_misses": _MISSES}
    return await page(face, request, "quality.html", **shown)


# What is found out by a button


async def start_self_test(face: Face, request: Request) -> Response:
    asked = quality_form(await form_fields(request))

    def work(memory: Engine, progress: Progress) -> str:
        done = memory.self_test(
            profiles=[asked.profile] if asked.profile else (),
            sample=asked.sample,
            seed=asked.seed,
            languages=model_languages(memory),
            progress=progress,
        )
        return _keep(memory, "", done)

    return await with_progress(face, request, work)


def model_languages(memory: Engine) -> tuple[str, ...] | None:
    """Those that the store's model knows, where that is known."""
    from recollect.models.registry import packaged_model  # noqa: PLC0415  # loads the models' descriptions

    model = memory.model
    packaged = None if model is None else packaged_model(model.name.partition("@")[0])
    return None if packaged is None else tuple(packaged.languages)


async def start_curve(face: Face, request: Request) -> Response:
    asked = quality_form(await form_fields(request))

    def work(memory: Engine, progress: Progress) -> str:
        return _keep(memory, "confidence", memory.tuning.confidence_curve(asked.sample, progress))

    return await with_progress(face, request, work)


async def start_search(face: Face, request: Request) -> Response:
    """Look for better numbers, and write nothing."""
    asked = quality_form(await form_fields(request))

    def work(memory: Engine, _: Progress) -> str:
        done = memory.tuning.run(asked.profile or None, dry_run=True)
        return f"{_keep(memory, 'tuning', done)}&{urlencode({'profile': done.profile})}"

    return await with_progress(face, request, work, right=Right.ADMIN)


def _keep(memory: Engine, tab: str, done: SelfTest | ConfidenceCurve | TuningChange) -> str:
    """Under a name that nobody guesses, and only for its own scope; the path of the page that shows it."""
    name = secrets.token_urlsafe(12)
    _FOUND.keep((memory.scope, tab, name), done)
    return f"/quality?{f'tab={tab}&' if tab else ''}found={name}"


def _kept(memory: Engine, tab: str, name: str) -> SelfTest | ConfidenceCurve | TuningChange | None:
    return _FOUND.get((memory.scope, tab, name))


# Tuning


def _tuning(memory: Engine, profile: str | None) -> dict[str, Any]:
    found = memory.tuning.analyze(profile)
    chosen = found.numbers.profile
    history = memory.tuning.history(chosen, _VERSIONS)
    return {"analysis": found.analysis, "numbers": found.numbers, "log": found.log, "history": history}


async def apply_search(face: Face, request: Request) -> Response:
    """Search again and take the step, if it is still better beyond chance."""

    def change(memory: Engine, profile: str, _: dict[str, str]) -> TuningChange:
        return memory.tuning.run(profile)

    return await _change(face, request, change, "It took a step towards better numbers")


async def set_number(face: Face, request: Request) -> Response:
    def change(memory: Engine, profile: str, fields: dict[str, str]) -> TuningChange:
        given = fields.get("value", "")
        try:
            number = float(given)
        except ValueError:
            raise InvalidInput(f"{given[:40]!r} is no number; write it as 0.25.") from None
        values = {fields.get("name", ""): number}
        return memory.tuning.set(values, profile, exactly=bool(fields.get("exactly")))

    return await _change(face, request, change, "The number was moved")


async def roll_back(face: Face, request: Request) -> Response:
    def change(memory: Engine, profile: str, fields: dict[str, str]) -> TuningChange:
        version = fields.get("version", "")
        if not (version.isascii() and version.isdigit() and len(version) < _LONGEST_NUMBER):
            raise InvalidInput("version: write the number of a version, or 0 for the published numbers.")
        return memory.tuning.rollback(int(version), profile)

    return await _change(face, request, change, "The earlier numbers are back")


async def _change(
    face: Face,
    request: Request,
    change: Callable[[Engine, str, dict[str, str]], TuningChange],
    said: str,
) -> Response:
    """Give a profile other numbers; the way back is to the version that it had."""
    fields = await form_fields(request)
    profile = fields.get("profile") or DEFAULT_PROFILE

    def work(memory: Engine) -> tuple[int, TuningChange]:
        return memory.tuning.numbers(profile).version, change(memory, profile, fields)

    before, done = await face.run(request, work, right=Right.ADMIN)
    path = f"/quality?{urlencode({'tab': 'tuning', 'profile': profile})}"
    if not done.written:
        why = "These are its numbers already." if done.proposal is None else done.proposal.says
        return redirect(request, path, f"Nothing was changed. {why}", kind="warn")
    undo = Undo("/quality/rollback", (("profile", profile), ("version", str(before))))
    return redirect(
        request, path, f"{said}: {profile} answers with version {done.version} from now on.", undo
    )
