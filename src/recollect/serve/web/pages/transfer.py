"""Import and export: a file is looked at before it is brought in, and everything can be taken away."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast
from urllib.parse import quote

from starlette.datastructures import UploadFile
from starlette.responses import FileResponse

from recollect.errors import InvalidInput, NotFound
from recollect.serve.http.access_policy import LARGEST_REQUEST
from recollect.serve.http.caller import Right
from recollect.serve.http.face import caller_of
from recollect.serve.operations.recent_answers import RecentValues
from recollect.serve.web.forms import form_fields
from recollect.serve.web.kept_files import KeptFile, KeptFiles
from recollect.serve.web.pages.health import TABS
from recollect.serve.web.progress import with_progress
from recollect.serve.web.templating import SECURITY_HEADERS, page
from recollect.text.untrusted import visible

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.requests import Request
    from starlette.responses import Response

    from recollect.engine.engine import Engine
    from recollect.ports import Progress
    from recollect.records import Scope
    from recollect.serve.http.face import Face
    from recollect.transfer import ChatReport, ExportFormat, ExportReport, ImportReport
    from recollect.transfer.previewing import ImportPreview

_LONGEST_NAME = 120
_MOST_NAMED = 10
_FILES = KeptFiles()
_REPORTS: RecentValues[ImportPreview | ImportReport | ChatReport | ExportReport] = RecentValues(32)
# The name of the one file that each format gives to fetch.
_DOWNLOADS = {
    "full": "full.jsonl",
    "official": "memory.jsonl",
    "markdown": "notes.zip",
    "csv": "tables.csv.zip",
    "parquet": "tables.parquet.zip",
}
# A file that we know by none of these endings may still be lines of JSON.
_TALKS = (".zip", ".md", ".markdown", ".json")


async def transfer_screen(face: Face, request: Request) -> Response:
    """With the key of a file: what was found in it, or what became of it."""
    key, stage = request.query_params.get("file", ""), request.query_params.get("stage", "")
    scope = await face.run(request, lambda memory: memory.scope)
    report = _REPORTS.get((scope, stage, key)) if key else None
    return await page(
        face,
        request,
        "transfer.html",
        tabs=TABS,
        here="/health",
        key=key,
        file=_FILES.get(key, scope),
        stage=stage if report is not None else None,
        report=report,
        is_gone=bool(key) and report is None,
        most_named=_MOST_NAMED,
        largest=LARGEST_REQUEST,
    )


def _keep(
    scope: Scope, stage: str, key: str, report: ImportPreview | ImportReport | ChatReport | ExportReport
) -> str:
    """The path of the page that shows it."""
    _REPORTS.keep((scope, stage, key), report)
    return f"/health/transfer?file={key}&stage={stage}"


# In


async def preview_import(face: Face, request: Request) -> Response:
    """Keep the file that was sent, and count what it holds. Nothing is written to the memory."""
    caller_of(request).require(Right.ADMIN)
    async with request.form(max_files=1, max_fields=10) as form:
        sent = form.get("file")
        if not isinstance(sent, UploadFile) or not sent.filename:
            raise InvalidInput("Choose a file to import first.")
        name = visible(sent.filename.replace("\\", "/").rpartition("/")[2])[:_LONGEST_NAME]
        content = await sent.read()

    def work(memory: Engine, progress: Progress) -> str:
        file = KeptFile(_FILES.new_path(name), name, memory.scope)
        file.path.write_bytes(content)
        try:
            found = _preview(file.path, progress)
        except BaseException as error:
            file.remove()
            if isinstance(error, InvalidInput):
                # By the name that the reader gave it, not by its place here.
                raise InvalidInput(str(error).replace(str(file.path), name)) from error
            raise
        key = _FILES.keep(file)
        return _keep(memory.scope, "preview", key, found)

    return await with_progress(face, request, work, right=Right.ADMIN)


def _preview(path: Path, progress: Progress) -> ImportPreview | ChatReport:
    from recollect.transfer import chat_preview  # noqa: PLC0415  # few sessions bring something in
    from recollect.transfer.previewing import import_preview  # noqa: PLC0415  # the same

    if path.suffix.lower() in _TALKS:
        return chat_preview(path, progress=progress)
    found = import_preview(path, progress)
    if not found.lines or found.bad_count < found.lines:
        return found
    # No line is a memory; it may be a talk, a turn to a line.
    return chat_preview(path, progress=progress)


async def run_import(face: Face, request: Request) -> Response:
    """Bring in a file that was looked at before."""
    caller_of(request).require(Right.ADMIN)
    fields = await form_fields(request)
    key = fields.get("file", "")

    def work(memory: Engine, progress: Progress) -> str:
        from recollect.transfer import ChatReport, chat_import, import_file  # noqa: PLC0415  # the same

        file, preview = _FILES.get(key, memory.scope), _REPORTS.get((memory.scope, "preview", key))
        if file is None or preview is None:
            raise NotFound("That file is no longer kept here; choose it again. Nothing was imported.")
        if preview.format == "full":
            # It goes to the owners that it names.
            caller_of(request).require(Right.STORE)
        report: ChatReport | ImportReport
        if isinstance(preview, ChatReport):
            extract = bool(fields.get("extract"))
            report = chat_import(
                memory, file.path, extract=extract, progress=progress, embed_progress=progress
            )
        else:
            # As a stream: that this file was imported says nothing, since its place is gone tomorrow.
            with file.path.open("rb") as stream:
                report = import_file(memory, stream, progress=progress, embed_progress=progress)
        _FILES.drop(key)
        return _keep(memory.scope, "imported", key, report)

    return await with_progress(face, request, work, right=Right.ADMIN)


# Out


async def run_export(face: Face, request: Request) -> Response:
    """Write the file first, so that what is fetched is whole."""
    fields = await form_fields(request)
    format_ = fields.get("format") or "full"
    if format_ not in _DOWNLOADS:
        raise InvalidInput(f"There is no format {format_[:40]!r}; there are: {', '.join(_DOWNLOADS)}.")
    everything = bool(fields.get("everything"))
    if everything:
        caller_of(request).require(Right.STORE)

    def work(memory: Engine, progress: Progress) -> str:
        from recollect.transfer import export_file  # noqa: PLC0415  # few sessions take something out

        name = "everything.jsonl" if format_ == "full" and everything else _DOWNLOADS[format_]
        path = _FILES.new_path(name)
        report = export_file(
            memory,
            path,
            format=cast("ExportFormat", format_),
            scope_only=not everything,
            learning=not fields.get("without_learning"),
            progress=progress,
        )
        key = _FILES.keep(KeptFile(path, name, memory.scope))
        return _keep(memory.scope, "exported", key, report)

    return await with_progress(face, request, work)


async def fetch_export(face: Face, request: Request) -> Response:
    key = request.path_params["key"]
    scope = await face.run(request, lambda memory: memory.scope)
    file = _FILES.get(key, scope)
    if file is None:
        raise NotFound("That export is no longer kept here; make it again.")
    headers = {**SECURITY_HEADERS, "content-disposition": f"attachment; filename*=utf-8''{quote(file.name)}"}
    media_type = "application/zip" if file.name.endswith(".zip") else "application/jsonl"
    return FileResponse(file.path, headers=headers, media_type=media_type)
