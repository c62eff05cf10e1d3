"""Markdown: transcripts by their turns, documents and journals by their sections, and which is which."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest
from chat_reading import conversations, texts

import recollect_importers.markdown as markdown_module
from recollect.domain.errors import InvalidInput
from recollect.domain.limits import TEXT_LIMIT
from recollect.transfer import recognise
from recollect.transfer.importers import Conversation

if TYPE_CHECKING:
    from pathlib import Path


def read_note(folder: Path, text: str, name: str = "note.md") -> Conversation:
    path = folder / name
    path.write_text(dedent(text), encoding="utf-8")
    (found,) = conversations(path)
    return found


def turn_tuples(conversation: Conversation) -> list[tuple[str | None, str | None, str]]:
    return [(turn.role, turn.speaker, turn.content) for turn in conversation.turns]


TALK = [("user", None, "When is high tide?"), ("assistant", "Claude", "At six.\n\nAnd again at\neighteen.")]


LABELLED = [
    "**User:** When is high tide?\n\n**Claude:** At six.\n\nAnd again at\neighteen.\n",
    "**You**: When is high tide?\n\n---\n\n**Claude**: At six.\n\nAnd again at\neighteen.\n\n---\n",
    "Human: When is high tide?\nClaude: At six.\n\nAnd again at\neighteen.\n",
    "Human: When is high tide?\n---\nClaude: At six.\n\nAnd again at\neighteen.\n",
    "# Tides\n\n## User\n\nWhen is high tide?\n\n### Claude\n\nAt six.\n\nAnd again at\neighteen.\n",
    "#### You:\nWhen is high tide?\n##### Claude said:\nAt six.\n\nAnd again at\neighteen.\n",
    "## 👤 User\nWhen is high tide?\n## 🤖 Claude\nAt six.\n\nAnd again at\neighteen.\n",
    "> **You said**\n> When is high tide?\n\n> **Claude:**\n> At six.\n>\n> And again at\n> eighteen.\n",
    "**You said**\n\nWhen is high tide?\n\n**Claude said**\n\nAt six.\n\nAnd again at\neighteen.\n",
    "- **User:** When is high tide?\n- **Claude:** At six.\n\nAnd again at\neighteen.\n",
]


def test_a_talk_with_an_assistant_is_known_by_its_labels(tmp_path: Path) -> None:
    for text in LABELLED:
        assert turn_tuples(read_note(tmp_path, text)) == TALK, text
    # Instructions to the assistant are left out.
    found = read_note(tmp_path, "System: Be kind.\nUser: Hello there.\nAssistant: Hello.\n")
    assert turn_tuples(found) == [("user", None, "Hello there."), ("assistant", None, "Hello.")]


def test_labels_within_an_answer_are_part_of_it(tmp_path: Path) -> None:
    inner = "**Speed:** high\nNote: they sink.\n```\n**User:** in code\n```"
    found = read_note(
        tmp_path, f"**User:** Compare\n**Assistant:** So.\n\n## Boats\n{inner}\n**User:** Thanks\n"
    )
    assert [turn.role for turn in found.turns] == ["user", "assistant", "user"]
    assert inner in found.turns[1].content


def test_people_are_known_by_taking_turns(tmp_path: Path) -> None:
    found = read_note(
        tmp_path,
        """
        # Harbour meeting

        In the old customs house.

        Ada: Shall we dredge the channel?
        Bob: It would cost too much.
        Note: he is right about that.
        Ada: Then we wait another year.
        Bob: Agreed, let us wait.
        Me: I shall write it down.
        """,
    )

    assert turn_tuples(found) == [
        ("document", None, "In the old customs house."),
        (None, "Ada", "Shall we dredge the channel?"),
        (None, "Bob", "It would cost too much.\nNote: he is right about that."),
        (None, "Ada", "Then we wait another year."),
        (None, "Bob", "Agreed, let us wait."),
        ("user", None, "I shall write it down."),
    ]
    assert found.title == "Harbour meeting"
    # They may speak on the lines below their names.
    found = read_note(
        tmp_path, "".join(f"**{name}:**\nShall we sail today?\n\n" for name in ("Ada", "Bob") * 2)
    )
    assert turn_tuples(found) == [(None, name, "Shall we sail today?") for name in ("Ada", "Bob") * 2]


def test_times_of_turns_are_read_with_the_day_they_are_under(tmp_path: Path) -> None:
    found = read_note(
        tmp_path,
        """\
        ---
        date: 2024-05-05
        ---
        [23:58] Ada: Hi
        [23:59:30] Bob: Hi
        ## 2024-05-06
        Ada (9:05 am): Up?
        Bob (12:10 PM): Now
        2024-05-07 08:00 - Ada: Late
        Bob: Yes
        """,
    )

    times = "05 23:58:00, 05 23:59:30, 06 09:05:00, 06 12:10:00, 07 08:00:00, 07 08:00:00"
    # The last has none, so it takes that of the turn before.
    assert ", ".join(f"{turn.at:%d %H:%M:%S}" for turn in found.turns if turn.at) == times
    assert [turn.content for turn in found.turns] == ["Hi", "Hi", "Up?", "Now", "Late", "Yes"]


def test_headings_with_a_name_and_a_time_open_turns(tmp_path: Path) -> None:
    found = read_note(
        tmp_path,
        "### Ada — 2024-05-06 10:12\nHi\n### Bob — 2024-05-06 10:13\nHi\n"
        "### Ada — 2024-05-06T10:14:00Z\nBye\n### Bob (2024-05-06 10:15)\nBye\n",
    )
    spoken = [(turn.speaker, turn.at and turn.at.minute) for turn in found.turns]
    assert spoken == [("Ada", 12), ("Bob", 13), ("Ada", 14), ("Bob", 15)]
    # A date whose order is unknown marks a turn, but gives no time.
    line = "[05/06/24, 10:32:11] {}: Ahoy\n"
    found = read_note(tmp_path, "".join(line.format(name) for name in ("Ada", "Bob", "Ada", "Bob")))
    assert [(turn.speaker, turn.at) for turn in found.turns] == [("Ada", None), ("Bob", None)] * 2


NOT_TRANSCRIPTS = {
    "notes and warnings": "Note: the sea is deep.\n\nWarning: do not swim there.\n\nNote: it is cold as well."
    "\n\nWarning: sharks live there.\n",
    "recipe": "# Bread\n\nIngredients: flour, water and salt\nMethod: knead and bake it\n"
    "Serves: four or more people\n",
    "questions and answers": "Q: What is a tide then?\nA: The sea that rises.\nQ: And what is neap?\n"
    "A: A small one only.\n",
    "pros and cons": "**Pros:** it is very fast\n**Cons:** it is quite dear\n\n**Pros:** it is very small\n"
    "**Cons:** it is too old\n",
    "letter": "Dear Ada: how are you?\n\nI write to you from Vigo: it rains.\n\nYours, Bob\n",
    "minutes": "# People\n\n## Decisions\nAda: buys the new boat\nBob: sells the old boat\n## Actions\n"
    "Ada: calls the bank tomorrow\nBob: paints the boat today\n",
    "biographies": "## Ada\nBorn in London.\n## Bob\nBorn in Vigo.\n## Ada\nAgain.\n## Bob\nAgain.\n",
    "measures": "Hull: 3\nMast: 4\n\nHull: 5\nMast: 6\n",
    "records": "Boat: the Petrel of Vigo\nPort: somewhere in Spain\nMate: nobody at all yet\n\n"
    "Boat: the Gannet of Cork\nPort: somewhere in Ireland\nMate: Bob the old one\n",
    "glossary": "**User:** one who uses a program\n\n**Model:** what answers\n\n**Token:** a piece of a word"
    "\n\n**Weight:** a number\n",
    "chapters": "# Design\n## User\nSees the page.\n## Assistant\nHelps.\n## Deployment\nOn a server.\n",
    "settings": "User: bob\nSystem: linux\nUser: eve\nSystem: plan 9\n",
    "who brings what": "- **Ada:** brings the wine today\n- **Bob:** brings some cheese\n"
    "- **Ada:** cleans up later on\n- **Bob:** drives us all home\n",
    "colons": "See https://example.org: it is good.\nTime: 10:30\nC: a language\n",
    "an essay that quotes a talk": "A long essay.\n\n" * 12
    + "User: hello there\nAssistant: hello yourself\n",
    "a talk in code": "```\nUser: hello there\nAssistant: hello yourself\n```\n",
    "words in bold": "**Important** words begin this.\n\n**More** words follow.\n",
}


def test_what_only_looks_like_a_transcript_is_a_document(tmp_path: Path) -> None:
    for what, text in NOT_TRANSCRIPTS.items():
        found = read_note(tmp_path, text)
        assert {(turn.role, turn.speaker) for turn in found.turns} == {("document", None)}, what


def test_each_section_of_a_document_is_a_message_with_its_headings_before_it(tmp_path: Path) -> None:
    found = read_note(
        tmp_path,
        "\nBefore all headings.\n\n# Boats #\n## Sails\nWhite ones.\n\nMore of them.\n```sh\n# not a heading"
        "\n```\n### Jib\n## Hulls\nWooden.\nPorts\n=====\nVigo.\n\nCork\n----\nFar.\n",
    )
    assert texts(found) == [
        "Before all headings.",
        "Boats › Sails\n\nWhite ones.\n\nMore of them.\n```sh\n# not a heading\n```",
        "Boats › Sails › Jib",
        "Boats › Hulls\n\nWooden.\nPorts\n=====\nVigo.",  # no heading: two lines above the underline
        "Boats › Cork\n\nFar.",
    ]
    assert {turn.role for turn in found.turns} == {"document"}
    assert found.title == "Boats"


def test_front_matter_gives_the_title_and_the_date(tmp_path: Path) -> None:
    found = read_note(
        tmp_path,
        """\
        ---
        title: "The harbour"
        created: 2024-05-07
        date: 2024-05-06T10:00:00+02:00  # summer
        tags: [a, b]
          nested: no
        ---
        # Another title
        Text.
        """,
    )

    assert found.title == "The harbour"
    assert [turn.at for turn in found.turns] == [datetime(2024, 5, 6, 8, tzinfo=UTC)]
    assert texts(found) == ["Another title\n\nText."]


def test_a_daily_note_has_its_date_from_its_name_read_as_utc(tmp_path: Path) -> None:
    for name in ("2024-05-06.md", "2024-05-06 Harbour.md", "2024-05-06-harbour.markdown"):
        found = read_note(tmp_path, "---\ncreated: 2024-05-09\n---\nRain.\n", name)
        day = datetime(2024, 5, 6, tzinfo=UTC)
        assert [(turn.content, turn.at) for turn in found.turns] == [("Rain.", day)]
        assert found.title == name.rpartition(".")[0]


def test_a_journal_has_its_dates_from_its_headings(tmp_path: Path) -> None:
    found = read_note(
        tmp_path,
        "# 2024\n## 2024-05-06 Monday\nRain.\n### 14:30\nSun.\n## 2024-13-45\nOdd.\n## Later\nEnd.\n",
    )
    assert [turn.at for turn in found.turns] == [
        datetime(2024, 5, 6, tzinfo=UTC),
        datetime(2024, 5, 6, 14, 30, tzinfo=UTC),
        None,
        None,
    ]


def test_a_line_made_to_be_hard_is_read_like_any_other(tmp_path: Path) -> None:
    wide = " " * 99_999
    for line in (f"# {wide}x", "#" + " !" * 50_000, f"**A**{wide}x", "# " + "t" * 99_999):
        assert len(read_note(tmp_path, f"---\na:{wide}\n---\n{line}\n").turns) == 1
    # A rule that opens nothing is text.
    assert texts(read_note(tmp_path, "---\ntitle: no end\n")) == ["---\ntitle: no end"]


def test_a_section_put_between_others_leaves_their_marks(tmp_path: Path) -> None:
    before = read_note(tmp_path, "# Two\nSame.\n# Three\nText.\n# Two\nSame.\n")
    after = read_note(tmp_path, "# One\nNew.\n# Two\nSame.\n# Three\nText, changed.\n# Two\nSame.\n")
    old, new = ([turn.source for turn in one.turns] for one in (before, after))
    assert before.session == after.session == "markdown:note.md"
    assert len(set(old)) == 3
    assert [source in old for source in new] == [False, True, False, True]
    assert str(old[0]).startswith("markdown:note.md#1:")
    start = "User: yes\nAssistant: yes\nUser: yes\n"
    before, after = read_note(tmp_path, start), read_note(tmp_path, f"{start}Assistant: no\n")
    assert [turn.source for turn in after.turns[:3]] == [turn.source for turn in before.turns]
    assert len({turn.source for turn in after.turns}) == 4


def test_a_folder_is_read_whole_and_in_order_but_for_what_is_hidden(tmp_path: Path) -> None:
    for name in ("b.md", "a/z.MARKDOWN", "a/deep/y.md", ".hidden/x.md", ".x.md", "a/image.png", "c.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"Text of {name}")
    (tmp_path / "empty.md").write_text(" \n")
    found = list(conversations(tmp_path))
    assert recognise(tmp_path) == "markdown"
    names = ("a/deep/y.md", "a/z.MARKDOWN", "b.md")
    assert [one.session for one in found] == [f"markdown:{name}" for name in names]


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_links_are_followed_once_and_never_in_circles(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    (notes / "sub").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (notes / "sub" / "a.md").write_text("A")
    (tmp_path / "elsewhere" / "b.md").write_text("B")
    (notes / "sub" / "loop").symlink_to(notes)
    (notes / "again").symlink_to(notes / "sub")
    (notes / "other").symlink_to(tmp_path / "elsewhere")
    (notes / "broken.md").symlink_to(tmp_path / "gone")
    assert [one.session for one in conversations(notes)] == ["markdown:other/b.md", "markdown:sub/a.md"]


def test_a_file_that_cannot_be_read_is_named_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.md").write_bytes(b"one\ntw\xff\n")
    (tmp_path / "b.md").write_bytes("one".encode("utf-16"))
    (tmp_path / "c.md").write_bytes(b"x" * 50)
    (tmp_path / "d.md").write_bytes(b"\xef\xbb\xbfGood.\r\nStill\0 good.")
    monkeypatch.setattr(markdown_module, "SIZE_LIMIT", 40)
    *bad, good = conversations(tmp_path)
    assert texts(good) == ["Good.\nStill good."]
    assert [one.bad[0] for one in bad[:2]] == [
        "a.md: It is not UTF-8 text: byte 7, on line 2, is wrong.",
        "b.md: It is in UTF-16; save it as UTF-8.",
    ]
    assert "longer than" in bad[2].bad[0]
    with pytest.raises(
        InvalidInput, match=r"Nothing in .*a\.md could be read as markdown\. a\.md: .*byte 7,"
    ):
        list(conversations(tmp_path / "a.md"))
    monkeypatch.undo()
    found = read_note(tmp_path, "# One\nGood.\n# Two\n" + "x" * (TEXT_LIMIT + 1))
    assert texts(found) == ["One\n\nGood."]
    assert found.bad[0].startswith("note.md, line 3: The turn has 1,000,0")


def test_any_text_is_read_as_markdown_if_one_says_so(tmp_path: Path) -> None:
    path = tmp_path / "talk.txt"
    path.write_text("User: hello there\nAssistant: hello\n")
    assert [one.session for one in conversations(path, "markdown")] == ["markdown:talk.txt"]
