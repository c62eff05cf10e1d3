"""Memories in and out: the official server's JSONL, and our own that keeps everything."""

from recollect.transfer.exporting import ExportFormat, export_file
from recollect.transfer.importing import ImportFormat, import_file
from recollect.transfer.reports import BadLine, Dangling, ExportReport, ImportReport

__all__ = [
    "BadLine",
    "Dangling",
    "ExportFormat",
    "ExportReport",
    "ImportFormat",
    "ImportReport",
    "export_file",
    "import_file",
]
