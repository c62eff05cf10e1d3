"""The dashboard's routes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from recollect.domain.errors import (
    Conflict,
    InvalidInput,
    MissingExtra,
    NotFound,
    RecollectError,
    StoreUnavailable,
)
from recollect_server.runner import Forbidden, MemoryRunner, TookTooLong
from recollect_server.web import (
    add,
    browse,
    dreams,
    graph,
    health,
    memory,
    quality,
    recall,
    review,
    timeline,
    transfer,
)
from recollect_server.web.templating import STATIC, Screen

Handler = Callable[[Screen], Awaitable[Response]]

_STATUS: dict[type[RecollectError], tuple[int, str]] = {
    InvalidInput: (400, "Invalid request"),
    Forbidden: (403, "Not allowed"),
    NotFound: (404, "Not found"),
    Conflict: (409, "Conflicting change"),
    MissingExtra: (501, "Not installed here"),
    StoreUnavailable: (503, "The store is unavailable"),
    TookTooLong: (504, "It took too long"),
}


async def _redirect_to_recall(screen: Screen) -> Response:
    return RedirectResponse(screen.url("/recall"), 303)


HANDLERS: dict[tuple[str, str], Handler] = {
    ("GET", "/"): _redirect_to_recall,
    ("GET", "/recall"): recall.recall_screen,
    ("GET", "/recall/context"): recall.recall_context,
    ("GET", "/recall/counts"): recall.recall_counts,
    ("POST", "/recall/judge"): recall.judge_recalled,
    ("GET", "/why-not"): recall.why_not_screen,
    ("GET", "/add"): add.add_screen,
    ("POST", "/add"): add.add_memory,
    ("POST", "/add/undo-relation"): add.remove_relation,
    ("GET", "/browse"): browse.browse_screen,
    ("POST", "/browse/forget"): browse.forget_memories,
    ("POST", "/browse/restore"): browse.restore_memories,
    ("POST", "/browse/undo-restore"): browse.undo_restore,
    ("GET", "/memory/{id}"): memory.memory_screen,
    ("POST", "/memory/{id}/edit"): memory.edit_memory,
    ("POST", "/memory/{id}/pin"): memory.pin_memory,
    ("POST", "/memory/{id}/supersede"): memory.correct_memory,
    ("POST", "/memory/{id}/undo-supersede"): memory.undo_supersede,
    ("POST", "/memory/{id}/observations"): memory.edit_observations,
    ("GET", "/memory/{id}/purge"): memory.purge_screen,
    ("POST", "/memory/{id}/purge"): memory.purge_memory,
    ("GET", "/graph"): graph.graph_screen,
    ("GET", "/graph/data"): graph.graph_data,
    ("GET", "/timeline"): timeline.timeline_screen,
    ("GET", "/dreams"): dreams.dreams_screen,
    ("POST", "/dreams"): dreams.dream_now,
    ("GET", "/dreams/{id}"): dreams.dream_screen,
    ("POST", "/dreams/{id}/undo"): dreams.undo_dream,
    ("GET", "/review"): review.review_screen,
    ("POST", "/review"): review.decide,
    ("GET", "/review/count"): review.review_count,
    ("POST", "/review/undo"): review.undo_decision,
    # The address of Review until 0.2.0.
    ("GET", "/settle"): review.redirect_old_path,
    ("GET", "/answers"): quality.answers_screen,
    ("GET", "/answers/{id}"): quality.answer_screen,
    ("POST", "/answers/{id}/judge"): quality.judge_hit,
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
    ("GET", "/tokens"): health.tokens_screen,
    ("POST", "/tokens"): health.make_token,
    ("POST", "/tokens/revoke"): health.withdraw_token,
}
"""The handler of each page and form, by method and path."""


def web_routes(runner: MemoryRunner) -> list[BaseRoute]:
    return [
        Mount("/static", _Static(directory=STATIC), name="static"),
        *(
            Route(path, partial(_handle, runner, path, handler), methods=[method])
            for (method, path), handler in HANDLERS.items()
        ),
    ]


async def _handle(runner: MemoryRunner, path: str, handler: Handler, request: Request) -> Response:
    screen = Screen(runner, request)
    try:
        with runner.metrics.timed(path, screen=True):
            return await handler(screen)
    except RecollectError as error:
        status, heading = next(
            (found for kind, found in _STATUS.items() if isinstance(error, kind)),
            (500, "Something went wrong"),
        )
        return await screen.page("error.html", status=status, heading=heading, message=str(error))


class _Static(StaticFiles):
    """Static files. Their addresses contain a hash of the content, so browsers cache them for good."""

    def file_response(self, *args: Any, **options: Any) -> Response:
        response = super().file_response(*args, **options)
        if response.status_code == 200:
            response.headers["cache-control"] = "public, max-age=31536000, immutable"
            response.headers["x-content-type-options"] = "nosniff"
        return response
