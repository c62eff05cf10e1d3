"""Hooks of mkdocs: the README as home page, links out of docs/, and no script from another server."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

_ROOT = Path(__file__).parents[2]
_LINK = re.compile(r'(?<=\]\()(?![a-z]+:|#|/)([^)\s#]+)|(?:(?<=src=")|(?<=href="))(?![a-z]+:|#|/)([^"#]+)')
_SHIM = "https://unpkg.com/iframe-worker/shim"
_EXTERNAL = re.compile(r'<(?:script|link|img|iframe)[^>]* (?:src|href)="?(https?:[^" >]+)')
_BOOSTS = {"start/": 2, "guides/": 2, "reference/python/results": 0.2, "internals/": 0.5}
"""Weights of pages in the site's search, so that a word finds a task before a field of that name."""


def on_files(files: Files, config: Any) -> Files:
    """Add README.md as the home page. Its links start at the root of the repository."""
    readme = (_ROOT / "README.md").read_text(encoding="utf-8")
    text = _LINK.sub(lambda link: relpath(link[0], "docs"), readme)
    files.append(File.generated(config, "index.md", content=f"---\nhide: [navigation]\n---\n{text}"))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Weigh the page for searches, and point links that leave docs/ to the repository.

    As written, the links work on GitHub.
    """
    boosts = [weight for start, weight in _BOOSTS.items() if page.file.src_uri.startswith(start)]
    page.meta["search"] = {"boost": boosts[0] if boosts else 1}
    folder = PurePosixPath("docs", page.file.src_uri).parent

    def rewritten(link: re.Match[str]) -> str:
        target = normpath(folder / link[0])
        path = _ROOT / target
        if not path.exists():
            raise PluginError(f"{page.file.src_uri} links to {link[0]}, which does not exist.")
        if target.startswith("docs/") and not path.is_dir():
            return link[0]
        return f"{config.extra['source']}/{'tree' if path.is_dir() else 'blob'}/main/{target}"

    return _LINK.sub(rewritten, markdown)


def on_post_build(config: Any) -> None:
    """Load the offline plugin's script from this site, and fail if anything else comes from elsewhere."""
    site = Path(config.site_dir)
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        local = relpath(site / "site" / "iframe-worker.js", path.parent)
        text = text.replace(_SHIM, local)
        path.write_text(text, encoding="utf-8")
        if external := _EXTERNAL.findall(text):
            raise PluginError(f"{path.relative_to(site)} loads {external[0]}; the site must work offline.")
