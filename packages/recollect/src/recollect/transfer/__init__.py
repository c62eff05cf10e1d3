"""Import and export: our full format, the official server's JSONL, and other programs' files."""

from recollect.transfer.exporting import export_file
from recollect.transfer.importing import (
    ImportFormat,
    import_file,
    import_formats,
    import_path,
    import_preview,
    preview_path,
    recognise,
)
from recollect.transfer.reports import (
    BadLine,
    Dangling,
    ExportFormat,
    ExportReport,
    ForeignReport,
    ImportPreview,
    ImportReport,
    Unplaced,
)

__all__ = [
    "BadLine",
    "Dangling",
    "ExportFormat",
    "ExportReport",
    "ForeignReport",
    "ImportFormat",
    "ImportPreview",
    "ImportReport",
    "Unplaced",
    "export_file",
    "import_file",
    "import_formats",
    "import_path",
    "import_preview",
    "preview_path",
    "recognise",
]
