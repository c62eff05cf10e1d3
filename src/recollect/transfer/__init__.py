"""Memories in and out: the official server's JSONL, our own that keeps everything, and others' talks."""

from recollect.transfer.chats.importing import ChatReport, chat_import, chat_preview
from recollect.transfer.exporting import export_file
from recollect.transfer.importing import ImportFormat, import_file
from recollect.transfer.reports import BadLine, Dangling, ExportFormat, ExportReport, ImportReport

__all__ = [
    "BadLine",
    "ChatReport",
    "Dangling",
    "ExportFormat",
    "ExportReport",
    "ImportFormat",
    "ImportReport",
    "chat_import",
    "chat_preview",
    "export_file",
    "import_file",
]
