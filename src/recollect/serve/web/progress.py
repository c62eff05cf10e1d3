"""Long work behind a form: a script shows how far it is; without one, the page takes its time."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, TypeVar, cast

from recollect.errors import RecollectError
from recollect.serve.http.api.events import EVENT_STREAM, EventStream
from recollect.serve.http.caller import Right
from recollect.serve.http.problems import UNEXPECTED, ProblemDetails, problem_of
from recollect.serve.web.templating import redirect

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from recollect.engine.engine import Engine
    from recollect.ports import Progress
    from recollect.serve.http.face import Face

_log = logging.getLogger(__name__)
_Found = TypeVar("_Found")


async def with_progress(
    face: Face, request: Request, work: Callable[[Engine, Progress], str], *, right: Right = Right.READ
) -> Response:
    """Do the work, which answers with the path of the page that shows what came out."""

    async def shown(path: str) -> Response:
        return redirect(request, path)

    return await with_progress_to(face, request, work, shown, right=right)


async def with_progress_to(
    face: Face,
    request: Request,
    work: Callable[[Engine, Progress], _Found],
    shown: Callable[[_Found], Awaitable[Response]],
    *,
    right: Right,
) -> Response:
    """Do the work, and show what came out: by a page, or by sending the reader to one.

    A script that asks for events gets `progress` as often as there is any, then a `result`: the `href` to go
    to, or the `page` to show. Work that needs no more than the right to read ends when its reader goes away.
    """
    if EVENT_STREAM not in request.headers.get("accept", ""):
        found = await face.run(request, lambda memory: work(memory, _nobody), right=right, reads=False)
        return await shown(found)

    async def worked(progress: Progress) -> Mapping[str, Any] | ProblemDetails:
        try:
            found = await face.run(request, lambda memory: work(memory, progress), right=right, reads=False)
            answer = await shown(found)
        except RecollectError as error:
            return problem_of(error)
        except Exception:  # noqa: BLE001  # whatever it is, the reader gets an answer
            _log.exception("%s failed", request.url.path)
            return UNEXPECTED
        if "location" in answer.headers:
            return {"href": answer.headers["location"]}
        return {"page": bytes(answer.body).decode()}

    # Starlette calls whatever a handler returns.
    return cast("Response", EventStream(worked, stops=right is Right.READ))


def _nobody(done: int, total: int | None) -> None:
    """Takes progress where nobody looks at it."""
