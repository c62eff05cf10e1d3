"""Draw a part of the demo's output as a terminal, in SVG.

python docs/scripts/demo_picture.py            # writes docs/images/demo.svg
python docs/scripts/demo_picture.py --check    # says whether it is fresh
"""

from __future__ import annotations

import re
import runpy
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "images" / "demo.svg"
STEPS = slice(1, 4)
"""The steps of the demo that the picture shows."""
COLUMNS, CHARACTER, LINE, MARGIN, BAR = 80, 8.4, 19, 20, 36
CLASSES = {"1": "b", "2": "d", "9": "s", "31": "r", "32": "g", "33": "y", "35": "m", "36": "c"}
"""The CSS class of each terminal code (SGR)."""
STYLE = """\
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace}
text{fill:#d7dce2;white-space:pre}
.w{fill:#161b22;stroke:#3d444d}.b{font-weight:bold}.d{fill:#8d96a0}.s{text-decoration:line-through}
.r{fill:#ff8078}.g{fill:#56d364}.y{fill:#e3b341}.m{fill:#d2a8ff}.c{fill:#76d9e6}
@media(prefers-color-scheme:light){text{fill:#1f2328}.w{fill:#f6f8fa;stroke:#d1d9e0}.d{fill:#59636e}
.r{fill:#cf222e}.g{fill:#1a7f37}.y{fill:#8a5c00}.m{fill:#8250df}.c{fill:#116a7b}}"""


def draw(output: str) -> str:
    lines = output.rstrip().split("\n")
    width, height = round(COLUMNS * CHARACTER + 2 * MARGIN), BAR + len(lines) * LINE + MARGIN
    buttons = "".join(
        f'<circle cx="{MARGIN + 18 * place}" cy="18" r="5.5" fill="{fill}"/>'
        for place, fill in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    drawn = "\n".join(
        _text(text, codes, MARGIN + column * CHARACTER, BAR + (number + 0.7) * LINE)
        for number, line in enumerate(lines)
        for column, text, codes in _runs(line)
    )
    size = f'viewBox="0 0 {width} {height}" width="{width}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">\n'
        f"<title>The output of make demo</title><style>{STYLE}</style>\n"
        f'<rect class="w" x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8"/>{buttons}\n'
        f"{drawn}\n</svg>\n"
    )


def _runs(line: str) -> Iterator[tuple[int, str, list[str]]]:
    """Split a line where its style changes: column, text, and the codes in effect."""
    column, codes = 0, list[str]()
    for code, text in re.findall(r"(?:\x1b\[([\d;]*)m)|([^\x1b]+)", line):
        if text.strip():
            yield column + len(text) - len(text.lstrip()), text.strip(), codes
        column += len(text)
        if not text:
            codes = [] if code in {"", "0"} else [*codes, *code.split(";")]


def _text(text: str, codes: list[str], x: float, y: float) -> str:
    classes = " ".join(CLASSES[code] for code in codes)
    # The length keeps columns aligned in any font.
    length = f'textLength="{len(text) * CHARACTER:.1f}" lengthAdjust="spacingAndGlyphs"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {length} class="{classes}">{escape(text)}</text>'


def _without_digits(picture: str) -> str:
    """Mask the scores, whose last digits depend on the processor."""
    return re.sub(r"\d", "0", picture)


def main() -> int:
    steps = [*runpy.run_path(str(ROOT / "examples" / "demo.py"))["run_steps"]()]
    picture = draw("\n".join(steps[STEPS]))
    if "--check" not in sys.argv:
        PICTURE.write_text(picture, encoding="utf-8")
    elif _without_digits(picture) != _without_digits(PICTURE.read_text(encoding="utf-8")):
        sys.exit("docs/images/demo.svg is stale; run: make docs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
