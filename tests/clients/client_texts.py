"""Settings as people and programs write them, for properties."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

NAME = "recollect"
KEY = "mcpServers"
OURS = {"command": "/opt/recollect", "args": ["serve"]}

_words = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _words
)
_values = st.recursive(
    _scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_words, inner, max_size=3)
)
_names = _words.filter(lambda word: word != NAME)
_keys = _words.filter(lambda word: word != KEY)


@st.composite
def settings(draw: st.DrawFn) -> dict[str, Any]:
    """Some object, with or without servers, at the front, in the middle or at the end."""
    items = list(draw(st.dictionaries(_keys, _values, max_size=3)).items())
    if draw(st.booleans()):
        servers = draw(st.dictionaries(_names, _values, max_size=3))
        items.insert(draw(st.integers(0, len(items))), (KEY, servers))
    return dict(items)


@st.composite
def json_texts(draw: st.DrawFn) -> str:
    """The same, as different programs would write it."""
    plain = draw(settings())
    indent = draw(st.sampled_from([None, 0, 2, 4, "\t"]))
    separators = draw(st.sampled_from([None, (",", ":"), (" , ", " : ")]))
    text = json.dumps(plain, indent=indent, separators=separators, ensure_ascii=draw(st.booleans()))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    before, after = draw(st.sampled_from(["", "\ufeff", "\n"])), draw(st.sampled_from(["", "\n", " \n\n"]))
    return (before + text + after).replace("\n", newline)


_LINES = ["{", "  // first", '  "theme": "dark", // why', "  /* many", "     lines */", '  "mcpServers": {']
_SERVERS = [
    [],
    ["    // none yet"],
    ['    "a": {"command": "x"} // the last'],
    ['    "a": {"command": "x"}, /* one */ "b": 2', "    // no more"],
    ['    "a": [1, 2,], // with a comma', '    "b": {"x": "// no comment"}, // here too'],
]
_ENDS = [["  }", "}"], ["  }, // servers", "}", "// end"], ["  },", '  "inputs": [],', "}"]]


@st.composite
def jsonc_texts(draw: st.DrawFn) -> str:
    """As a person writes it: comments everywhere, and commas after the last."""
    lines = [*_LINES, *draw(st.sampled_from(_SERVERS)), *draw(st.sampled_from(_ENDS))]
    return draw(st.sampled_from(["\n", "\r\n"])).join(lines)


_SECTIONS = [
    'model = "o"\n',
    "# a comment\n",
    "\n",
    '[mcp_servers.docs]\ncommand = "npx"\nargs = [\n  "-y",\n  "[mcp_servers.recollect]",\n]\n',
    '[mcp_servers.docs.env]\nKEY = """\n[mcp_servers.recollect]\n"""\n',
    "# of the next\n[features]\nhooks = true # yes\n",
    '[[profiles]]\nname = "one"\n',
    '["odd key".x]\ny = 1\n',
]


@st.composite
def toml_texts(draw: st.DrawFn) -> str:
    chosen = draw(st.sets(st.integers(0, len(_SECTIONS) - 1)))
    text = "\n".join(_SECTIONS[place] for place in sorted(chosen))
    return draw(st.sampled_from([text, text.rstrip("\n"), text.replace("\n", "\r\n"), text + "\n\n"]))
