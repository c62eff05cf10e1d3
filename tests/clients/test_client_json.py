"""How an entry looks in JSON, beside what was there."""

from __future__ import annotations

import pytest
from client_texts import KEY, NAME, OURS

from recollect.clients.entry import NotEditable
from recollect.clients.formats import JsonFormat

BROKEN = [
    ("{", "line 1: it ends too early"),
    ('{"a": 1,\n', "line 2: it ends too early"),
    ('{"a" 1}', "line 1: Expecting ':' delimiter"),
    ('{"a": 1\n "b": 2}', "line 2: Expecting ',' delimiter"),
    ('{"a": [1 2]}', "line 1: Expecting ',' delimiter"),
    ("{a: 1}", "line 1: Expecting property name enclosed in double quotes"),
    ("{\"a\": 'x'}", "line 1: Expecting value"),
    ('{"a": "x}', "line 1: Unterminated string"),
    ('{"a": "x\ny"}', "line 1: Invalid control character"),
    ("{} {}", "line 1: Extra data"),
    ('{"a": 1, "a": 2}', "the key 'a' is there twice"),
    ("[]", "it holds no JSON object"),
    ('{"mcpServers": []}', "its 'mcpServers' is no JSON object"),
    ("[" * 100_000, "nested too deeply"),
    ('{"a": NaN}', "NaN is no JSON value"),
    ('{"a": ' + "9" * 5000 + "}", "digits"),
]
ONLY_STRICT = [
    ('{"a": 1,}', "a comma after the last value"),
    ('{"a": [1,]}', "a comma after the last value"),
    ('{\n// hello\n"a": 1}', "line 2: there is a comment"),
    ('{"a": 1 /* hello */}', "there is a comment"),
]


def put(text: str, *, comments: bool = False) -> str:
    return JsonFormat(KEY, comments=comments).with_entry(text, NAME, OURS)


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
        assert JsonFormat(KEY, comments=False).entry_in(put(nothing), NAME) == OURS
    assert put("").endswith("}\n")


def test_a_comment_stays_with_what_it_is_about() -> None:
    text = '{\n  "mcpServers": {\n    "a": 1 // of a\n    // of nothing\n  }\n}'
    after = put(text, comments=True)
    assert '"a": 1, // of a\n    // of nothing\n    "recollect": {' in after
    assert JsonFormat(KEY, comments=True).without_entry(after, NAME) == text


def test_after_a_comment_on_one_line_a_new_line_begins() -> None:
    after = put('{"mcpServers": {"a": 1 /* x */ // y\n}}', comments=True)
    assert "// y\n" in after
    assert JsonFormat(KEY, comments=True).entry_in(after, NAME) == OURS


def test_a_comma_after_the_last_stays_after_the_last() -> None:
    text = '{\n  "mcpServers": {\n    "a": 1,\n  },\n}'
    after = put(text, comments=True)
    assert "\n    },\n  },\n}" in after
    assert JsonFormat(KEY, comments=True).without_entry(after, NAME) == text


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
    assert JsonFormat(KEY, comments=True).without_entry(text, NAME) == left


def test_a_different_entry_is_replaced_in_its_place() -> None:
    text = '{"mcpServers": {"recollect": {"url": "x"}, "a": 1}}'
    assert put(text) == text.replace('{"url": "x"}', '{"command": "/opt/recollect", "args": ["serve"]}')


@pytest.mark.parametrize(("text", "said"), BROKEN)
@pytest.mark.parametrize("comments", [True, False])
def test_what_is_broken_is_refused_and_the_line_named(text: str, said: str, comments: bool) -> None:
    for act in (
        lambda: JsonFormat(KEY, comments=comments).entry_in(text, NAME),
        lambda: put(text, comments=comments),
        lambda: JsonFormat(KEY, comments=comments).without_entry(text, NAME),
    ):
        with pytest.raises(NotEditable, match=said.replace("[", r"\[")):
            act()


@pytest.mark.parametrize(("text", "said"), ONLY_STRICT)
def test_what_a_strict_client_would_not_read_is_refused(text: str, said: str) -> None:
    with pytest.raises(NotEditable, match=said):
        put(text)
    assert JsonFormat(KEY, comments=True).entry_in(put(text, comments=True), NAME) == OURS


def test_what_would_comment_out_the_rest_is_refused() -> None:
    with pytest.raises(NotEditable):
        JsonFormat(KEY, comments=True).without_entry('{"mcpServers": {"a": 1, // x\n"recollect": 2}}', NAME)
