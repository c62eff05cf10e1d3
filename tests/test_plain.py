"""The check of our own for plain English."""

from __future__ import annotations

import runpy
from pathlib import Path

PLAIN = runpy.run_path(str(Path(__file__).parent.parent / "benchmarks" / "plain.py"))

SAMPLE = '''"""Whoever reads this must guess."""  # Nobody knows.

LIMIT = 3  # the most rows that a page holds


class Kept:
    def held(self, embed: int) -> str:
        """Return the message."""
        return f"The store was changed meanwhile by {embed}"


def embed() -> None:
    """Embed the texts that wait."""
    print("Whose turn it is", "What is the store's name?")
'''


def test_openings_unusual_words_and_bare_participles_are_found(tmp_path: Path) -> None:
    path = tmp_path / "sample.py"
    path.write_text(SAMPLE, encoding="utf-8")
    found = sorted((each.line, each.kind) for each in PLAIN["findings"](path))
    assert found == [
        (1, "texts"),
        (1, "texts"),
        (6, "names"),
        (7, "names"),
        (9, "messages"),
        (14, "messages"),
    ]


def test_markup_and_code_on_a_page_are_not_read(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text('<p class="told">{{ stood }} {% if told %}Stored{% endif %}</p>\n<p>Nobody asked.</p>\n')
    assert [(each.line, each.kind, each.text) for each in PLAIN["findings"](page)] == [
        (2, "messages", "Nobody asked.")
    ]
