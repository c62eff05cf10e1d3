"""The dashboard: which path shows what."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from recollect.errors import Conflict, InvalidInput, NotFound, RecollectError, StoreUnavailable
from recollect.extras import MissingExtra
from recollect.serve.http.caller import Forbidden
from recollect.serve.http.face import TookTooLong
from recollect.serve.web.templating import STATIC, kept_url, page

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute
    from starlette.types import ASGIApp, Receive, Scope, Send

    from recollect.serve.http.face import Face

    Handler = Callable[[Face, Request], Awaitable[ASGIApp]]

_STATUS: dict[type[RecollectError], tuple[int, str]] = {
    InvalidInput: (400, "That cannot be done"),
    Forbidden: (403, "Not allowed"),
    NotFound: (404, "Not there"),
    Conflict: (409, "It has changed meanwhile"),
    MissingExtra: (501, "Not installed here"),
    StoreUnavailable: (503, "The store cannot be reached"),
    TookTooLong: (504, "It took too long"),
}
# Each names the hash of what it holds.
_KEEP_FOR_GOOD = b"public, max-age=31536000, immutable"


def web_routes(face: Face) -> list[BaseRoute]:
    # Each loads a part of the engine.
    from recollect.serve.web.pages import answers, health, quality, tokens, transfer  # noqa: PLC0415
    from recollect.serve.web.pages.dreams import DREAM_PAGES  # noqa: PLC0415
    from recollect.serve.web.pages.graph import graph_data, graph_screen  # noqa: PLC0415
    from recollect.serve.web.pages.hit_feedback import judge_recalled  # noqa: PLC0415
    from recollect.serve.web.pages.recall import recall_counts, recall_screen  # noqa: PLC0415
    from recollect.serve.web.pages.settle import SETTLE_PAGES  # noqa: PLC0415
    from recollect.serve.web.pages.timeline import timeline_screen  # noqa: PLC0415

    handlers: dict[tuple[str, str], Handler] = {
        ("GET", "/"): _to_recall,
        ("GET", "/recall"): recall_screen,
        ("GET", "/recall/counts"): recall_counts,
        ("POST", "/recall/judge"): judge_recalled,
        **_memory_handlers(),
        ("GET", "/graph"): graph_screen,
        ("GET", "/graph/data"): graph_data,
        ("GET", "/timeline"): timeline_screen,
        ("GET", "/answers"): answers.answers_screen,
        ("GET", "/answers/{id}"): answers.answer_screen,
        ("POST", "/answers/{id}/judge"): answers.judge_hit,
        ("GET", "/quality"): quality.quality_screen,
        ("POST", "/quality/self-test"): quality.start_self_test,
        ("POST", "/quality/confidence"): quality.start_curve,
        ("POST", "/quality/search"): quality.start_search,
        ("POST", "/quality/apply"): quality.apply_search,
        ("POST", "/quality/set"): quality.set_number,
        ("POST", "/quality/rollback"): quality.roll_back,
        ("GET", "/health"): health.health_screen,
        ("POST", "/health/backup"): health.make_backup,
        ("POST", "/health/embed"): health.embed_waiting,
        ("GET", "/health/transfer"): transfer.transfer_screen,
        ("POST", "/health/import"): transfer.preview_import,
        ("POST", "/health/import/run"): transfer.run_import,
        ("POST", "/health/export"): transfer.run_export,
        ("GET", "/health/export/{key}"): transfer.fetch_export,
        ("GET", "/tokens"): tokens.tokens_screen,
        ("POST", "/tokens"): tokens.make_token,
        ("POST", "/tokens/revoke"): tokens.withdraw_token,
        **DREAM_PAGES,
        **SETTLE_PAGES,
    }
    return [
        Mount("/static", _Static(directory=STATIC), name="static"),
        *(
            Route(path, partial(_handled, face, path, handler), methods=[method])
            for (method, path), handler in handlers.items()
        ),
    ]


def _memory_handlers() -> dict[tuple[str, str], Handler]:
    """Finding, reading and changing single memories."""
    from recollect.serve.web.pages import forget_restore, memory_edits  # noqa: PLC0415  # loads the engine
    from recollect.serve.web.pages.browse import browse_screen  # noqa: PLC0415  # the same
    from recollect.serve.web.pages.memory import memory_screen  # noqa: PLC0415  # the same
    from recollect.serve.web.pages.why_not import why_not_screen  # noqa: PLC0415  # the same

    return {
        ("GET", "/why-not"): why_not_screen,
        ("GET", "/browse"): browse_screen,
        ("POST", "/browse/forget"): forget_restore.forget_memories,
        ("POST", "/browse/restore"): forget_restore.restore_memories,
        ("POST", "/browse/undo-restore"): forget_restore.undo_restore,
        ("GET", "/memory/{id}"): memory_screen,
        ("POST", "/memory/{id}/edit"): memory_edits.edit_memory,
        ("POST", "/memory/{id}/pin"): memory_edits.pin_memory,
        ("POST", "/memory/{id}/supersede"): memory_edits.correct_memory,
        ("POST", "/memory/{id}/undo-supersede"): memory_edits.undo_supersede,
        ("POST", "/memory/{id}/observations"): memory_edits.edit_observations,
        ("GET", "/memory/{id}/purge"): memory_edits.purge_screen,
        ("POST", "/memory/{id}/purge"): memory_edits.purge_memory,
    }


async def _to_recall(_: Face, request: Request) -> Response:
    return RedirectResponse(kept_url(request, "/recall"), 303)


async def _handled(face: Face, path: str, handler: Handler, request: Request) -> ASGIApp:
    """A mistake gets a page that says what to do."""
    try:
        with face.metrics.timed_screen(path):
            return await handler(face, request)
    except RecollectError as error:
        status, heading = next(
            (found for kind, found in _STATUS.items() if isinstance(error, kind)), (500, "That did not work")
        )
        return await page(face, request, "error.html", status=status, heading=heading, message=str(error))


class _Static(StaticFiles):
    """What never changes under its name."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def kept(message: dict[str, object]) -> None:
            if message["type"] == "http.response.start" and message["status"] == 200:
                message = {
                    **message,
                    "headers": [
                        *message["headers"],  # type: ignore[misc]  # ASGI's own form
                        (b"cache-control", _KEEP_FOR_GOOD),
                        (b"x-content-type-options", b"nosniff"),
                    ],
                }
            await send(message)

        await super().__call__(scope, receive, kept)  # type: ignore[arg-type]  # the same
