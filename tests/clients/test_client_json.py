"""How an entry looks in JSON, beside what was there."""

from __future__ import annotations

import pytest
from client_texts import KEY, NAME, OURS

from recollect.clients.failures import NotEditable
from recollect.clients.json_text import entry_in, with_entry, without_entry

BROKEN = [
    ("{", "line 1: it ends too early"),
    ('{"a": 1,\n', "line 2: it ends too early"),
    ('{"a" 1}', "a colon is missing"),
    ('{"a": 1\n "b": 2}', "line 2: a comma is missing"),
    ('{"a": [1 2]}', "a comma is missing"),
    ("{a: 1}", "a key is missing, or is not in quotes"),
    ("{\"a\": 'x'}", "this is no JSON value"),
    ('{"a": "x}', "a text is not closed"),
    ('{"a": "x\ny"}', "a text is not closed"),
    ("{} {}", "something after the end"),
    ('{"a": 1, "a": 2}', "the key 'a' is there twice"),
    ("[]", "it holds no JSON object"),
    ('{"mcpServers": []}', "its 'mcpServers' is no JSON object"),
    ("[" * 300, "nested too deeply"),
    ('{"a": ' + "9" * 5000 + "}", "digits"),
]
ONLY_STRICT = [
    ('{"a": 1,}', "a comma after the last value"),
    ('{"a": [1,]}', "a comma after the last value"),
    ('{\n// hello\n"a": 1}', "line 1: there is a comment"),
    ('{"a": 1 /* hello */}', "there is a comment"),
]


def put(text: str, *, comments: bool = False) -> str:
    return with_entry(text, KEY, NAME, OURS, comments=comments)


def test_it_is_written_as_the_entries_around_it_are() -> None:
    text = '{\n\t"mcpServers": {\n\t\t"docs": {\n\t\t\t"command": "npx"\n\t\t}\n\t},\n\t"theme": "dark"\n}\n'
    assert put(text) == (
        '{\n\t"mcpServers": {\n\t\t"docs": {\n\t\t\t"command": "npx"\n\t\t},\n'
        '\t\t"recollect": {\n\t\t\t"command": "/opt/recollect",\n'
        '\t\t\t"args": [\n\t\t\t\t"serve"\n\t\t\t]\n\t\t}\n'
        '\t},\n\t"theme": "dark"\n}\n'
    )


def test_on_one_line_it_stays_on_one_line() -> None:
    assert put('{"a":1,"mcpServers":{"b":{}}}') == (
        '{"a":1,"mcpServers":{"b":{},"recollect":{"command":"/opt/recollect","args":["serve"]}}}'
    )
    assert put('{"a": 1}') == (
        '{"a": 1, "mcpServers": {"recollect": {"command": "/opt/recollect", "args": ["serve"]}}}'
    )


def test_line_ends_and_a_byte_order_mark_stay() -> None:
    after = put('\ufeff{\r\n  "theme": "dark"\r\n}\r\n')
    assert after.startswith("\ufeff{")
    assert after.count("\n") == after.count("\r\n") > 5


def test_nothing_becomes_a_whole_file() -> None:
    for nothing in ("", " \n", "\ufeff"):
        assert entry_in(put(nothing), KEY, NAME, comments=False) == OURS
    assert put("").endswith("}\n")


def test_a_comment_stays_with_what_it_is_about() -> None:
    text = '{\n  "mcpServers": {\n    "a": 1 // of a\n    // of nothing\n  }\n}'
    after = put(text, comments=True)
    assert '"a": 1, // of a\n    // of nothing\n    "recollect": {' in after
    assert without_entry(after, KEY, NAME, comments=True) == text


def test_after_a_comment_on_one_line_a_new_line_begins() -> None:
    after = put('{"mcpServers": {"a": 1 /* x */ // y\n}}', comments=True)
    assert "// y\n" in after
    assert entry_in(after, KEY, NAME, comments=True) == OURS


def test_a_comma_after_the_last_stays_after_the_last() -> None:
    text = '{\n  "mcpServers": {\n    "a": 1,\n  },\n}'
    after = put(text, comments=True)
    assert "\n    },\n  },\n}" in after
    assert without_entry(after, KEY, NAME, comments=True) == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('{"mcpServers": {"recollect": 1}}', '{"mcpServers": {}}'),
        ('{"mcpServers": {"recollect": 1, "a": 2}}', '{"mcpServers": { "a": 2}}'),
        ('{"mcpServers": {"a": 1, "recollect": 2, "b": 3}}', '{"mcpServers": {"a": 1, "b": 3}}'),
        ('{"mcpServers": {"a": 1, "recollect": 2}}', '{"mcpServers": {"a": 1}}'),
        ('{"mcpServers": {/* x */ "recollect": 2 /* y */}}', '{"mcpServers": {/* x */ /* y */}}'),
        ('{"mcpServers": {"a": 1}}', '{"mcpServers": {"a": 1}}'),
        ('{"recollect": {"recollect": 1}}', '{"recollect": {"recollect": 1}}'),
        ("", ""),
    ],
)
def test_taken_out_it_takes_its_comma_along(text: str, left: str) -> None:
    assert without_entry(text, KEY, NAME, comments=True) == left


def test_a_different_entry_is_replaced_in_its_place() -> None:
    text = '{"mcpServers": {"recollect": {"url": "x"}, "a": 1}}'
    assert put(text) == text.replace('{"url": "x"}', '{"command": "/opt/recollect", "args": ["serve"]}')


@pytest.mark.parametrize(("text", "said"), BROKEN)
@pytest.mark.parametrize("comments", [True, False])
def test_what_is_broken_is_refused_and_the_line_named(text: str, said: str, comments: bool) -> None:
    for act in (
        lambda: entry_in(text, KEY, NAME, comments=comments),
        lambda: put(text, comments=comments),
        lambda: without_entry(text, KEY, NAME, comments=comments),
    ):
        with pytest.raises(NotEditable, match=said.replace("[", r"\[")):
            act()


@pytest.mark.parametrize(("text", "said"), ONLY_STRICT)
def test_what_a_strict_client_would_not_read_is_refused(text: str, said: str) -> None:
    with pytest.raises(NotEditable, match=said):
        put(text)
    assert entry_in(put(text, comments=True), KEY, NAME, comments=True) == OURS


def test_what_would_comment_out_the_rest_is_refused() -> None:
    with pytest.raises(NotEditable):
        without_entry('{"mcpServers": {"a": 1, // x\n"recollect": 2}}', KEY, NAME, comments=True)
