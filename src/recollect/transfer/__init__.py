"""Memories in and out: the official server's JSONL, our own that keeps everything, and other programs'."""

from recollect.transfer.chats.importing import ChatReport, chat_import, chat_preview
from recollect.transfer.exporting import ExportFormat, export_file
from recollect.transfer.importing import ImportFormat, import_file
from recollect.transfer.moving_in import import_formats, import_path, preview_path, recognise
from recollect.transfer.reports import (
    BadLine,
    Dangling,
    ExportReport,
    ForeignReport,
    ImportReport,
    Unplaced,
)

__all__ = [
    "BadLine",
    "ChatReport",
    "Dangling",
    "ExportFormat",
    "ExportReport",
    "ForeignReport",
    "ImportFormat",
    "ImportReport",
    "Unplaced",
    "chat_import",
    "chat_preview",
    "export_file",
    "import_file",
    "import_formats",
    "import_path",
    "preview_path",
    "recognise",
]
