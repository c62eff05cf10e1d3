"""Import and export. A file is previewed before it is imported."""

from __future__ import annotations

import re
import secrets
import threading
from collections import OrderedDict
from functools import cached_property
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import cast
from urllib.parse import quote

from starlette.datastructures import UploadFile
from starlette.responses import FileResponse, Response

from recollect import Engine
from recollect.domain.errors import InvalidInput, NotFound
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.records import Scope
from recollect.operations.operation import RecentValues
from recollect.stores.port import Progress
from recollect.text.phrases import visible
from recollect.transfer import (
    ExportFormat,
    ExportReport,
    ForeignReport,
    ImportPreview,
    ImportReport,
    export_file,
    import_file,
    import_path,
    import_preview,
    preview_path,
)
from recollect_server.access_policy import LARGEST_REQUEST
from recollect_server.progress import with_progress
from recollect_server.runner import Right
from recollect_server.web.templating import SECURITY_HEADERS, Screen

# Kept files

_MAX_FILES = 8
_MAX_NAME_LENGTH = 100
_NOT_IN_NAMES = re.compile(r"[^\w.-]", re.ASCII)


@dataclass(frozen=True, slots=True)
class KeptFile:
    path: Path
    name: str
    scope: Scope
    """Only callers with this scope may fetch the file."""

    def remove(self) -> None:
        rmtree(self.path.parent, ignore_errors=True)


class KeptFiles:
    """Uploads and exports under random names, in a folder that only the server's user can read."""

    def __init__(self) -> None:
        self._files: OrderedDict[str, KeptFile] = OrderedDict()
        self._lock = threading.Lock()

    @cached_property
    def _folder(self) -> TemporaryDirectory[str]:
        return TemporaryDirectory(prefix="recollect-")

    def new_path(self, name: str) -> Path:
        """Return the path of a new file. It keeps a portable form of `name`, which imports use as a title."""
        folder = Path(self._folder.name) / secrets.token_hex(8)
        folder.mkdir()
        return folder / (_NOT_IN_NAMES.sub("_", name)[-_MAX_NAME_LENGTH:].lstrip(".") or "file")

    def keep(self, file: KeptFile) -> str:
        """Keep a file and return its key. Beyond the limit, remove the oldest file."""
        key = secrets.token_urlsafe(12)
        with self._lock:
            self._files[key] = file
            while len(self._files) > _MAX_FILES:
                self._files.popitem(last=False)[1].remove()
        return key

    def get(self, key: str, scope: Scope) -> KeptFile | None:
        with self._lock:
            found = self._files.get(key)
        return found if found is not None and found.scope == scope and found.path.exists() else None

    def drop(self, key: str) -> None:
        with self._lock:
            found = self._files.pop(key, None)
        if found is not None:
            found.remove()


# The screen

_MAX_SHOWN_NAME_LENGTH = 120
_MAX_EXAMPLES = 10
_FILES = KeptFiles()
_Report = ImportPreview | ImportReport | ForeignReport | ExportReport
_REPORTS: RecentValues[_Report] = RecentValues(32)
# The file name of each export format.
_DOWNLOADS = {
    "full": "full.jsonl",
    "official": "memory.jsonl",
    "markdown": "notes.zip",
    "csv": "tables.csv.zip",
    "parquet": "tables.parquet.zip",
}
# Suffixes of conversation files. Other files are read as JSON lines.
_CONVERSATION_SUFFIXES = (".zip", ".md", ".markdown", ".json")


async def transfer_screen(screen: Screen) -> Response:
    """Show the forms and, given a key, the preview or report of that file."""
    key, stage = screen.params.get("file", ""), screen.params.get("stage", "")
    scope = await screen.run(lambda memory: memory.scope)
    report = _REPORTS.get((scope, stage, key)) if key else None
    return await screen.page(
        "transfer.html",
        here="/health",
        key=key,
        file=_FILES.get(key, scope),
        stage=stage if report is not None else None,
        report=report,
        is_gone=bool(key) and report is None,
        max_examples=_MAX_EXAMPLES,
        largest=LARGEST_REQUEST,
    )


def _keep(scope: Scope, stage: str, key: str, report: _Report) -> str:
    """Keep a report; return the path of the page that shows it."""
    _REPORTS.keep((scope, stage, key), report)
    return f"/health/transfer?file={key}&stage={stage}"


# Import


async def preview_import(screen: Screen) -> Response:
    """Keep the uploaded file and count its content. Nothing is written to the memory."""
    screen.caller.require(Right.ADMIN)
    async with screen.request.form(max_files=1, max_fields=10) as form:
        sent = form.get("file")
        if not isinstance(sent, UploadFile) or not sent.filename:
            raise InvalidInput("Choose a file to import first.")
        name = visible(sent.filename.replace("\\", "/").rpartition("/")[2])[:_MAX_SHOWN_NAME_LENGTH]
        content = await sent.read()

    def work(memory: Engine, progress: Progress) -> str:
        file = KeptFile(_FILES.new_path(name), name, memory.scope)
        file.path.write_bytes(content)
        try:
            found = _preview(file.path, progress)
        except BaseException as error:
            file.remove()
            if isinstance(error, InvalidInput):
                # Show the uploaded name, not the server's path.
                raise InvalidInput(str(error).replace(str(file.path), name)) from error
            raise
        return _keep(memory.scope, "preview", _FILES.keep(file), found)

    return await with_progress(screen, work, right=Right.ADMIN)


def _preview(path: Path, progress: Progress) -> ImportPreview | ForeignReport:
    if path.suffix.lower() in _CONVERSATION_SUFFIXES:
        return preview_path(path, progress=progress)
    found = import_preview(path, progress)
    if not found.lines or found.bad_count < found.lines:
        return found
    # No line is a memory: the file may be a conversation with one turn per line.
    return preview_path(path, format="turns", progress=progress)


async def run_import(screen: Screen) -> Response:
    screen.caller.require(Right.ADMIN)
    fields = await screen.form()
    key = fields.text("file")

    def work(memory: Engine, progress: Progress) -> str:
        file, preview = _FILES.get(key, memory.scope), _REPORTS.get((memory.scope, "preview", key))
        if file is None or preview is None:
            raise NotFound("The server no longer has that file. Choose it again. Nothing was imported.")
        if preview.format == "full":
            # The memories go to the owners named in the file.
            screen.caller.require(Right.STORE)
        report: ImportReport | ForeignReport
        if isinstance(preview, ForeignReport):
            report = import_path(
                memory,
                file.path,
                format=preview.format,
                extract=bool(fields.get("extract")),
                progress=progress,
                embed_progress=progress,
            )
        else:
            # Import from a stream, so that the temporary path is not recorded as the source.
            with file.path.open("rb") as stream:
                report = import_file(memory, stream, progress=progress, embed_progress=progress)
        _FILES.drop(key)
        return _keep(memory.scope, "imported", key, report)

    return await with_progress(screen, work, right=Right.ADMIN)


# Export


async def run_export(screen: Screen) -> Response:
    """Write the whole file first, then offer it for download."""
    fields = await screen.form()
    format_ = fields.get("format") or "full"
    if format_ not in _DOWNLOADS:
        raise InvalidInput(f"There is no format {format_[:40]!r}. Choose one of: {', '.join(_DOWNLOADS)}.")
    everything = bool(fields.get("everything"))
    if everything:
        screen.caller.require(Right.STORE)

    def work(memory: Engine, progress: Progress) -> str:
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

    return await with_progress(screen, work)


async def fetch_export(screen: Screen) -> Response:
    scope = await screen.run(lambda memory: memory.scope)
    file = _FILES.get(screen.request.path_params["key"], scope)
    if file is None:
        raise NotFound("The server no longer has that export. Export again.")
    headers = {**SECURITY_HEADERS, "content-disposition": f"attachment; filename*=utf-8''{quote(file.name)}"}
    media_type = "application/zip" if file.name.endswith(".zip") else "application/jsonl"
    return FileResponse(file.path, headers=headers, media_type=media_type)
