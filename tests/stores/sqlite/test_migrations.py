"""Stores of every earlier version become current ones, with all they hold; or stay exactly as they were."""

from __future__ import annotations

import json
import struct
import zlib
from contextlib import closing
from itertools import pairwise
from typing import TYPE_CHECKING

import apsw
import numpy as np
import pytest
from durable_world import AT, HERE, apply, entities, entity, found_by_words
from store_worker import team

from recollect.changes import Amend, CommitDream, UndoDream
from recollect.engine.repository import Repository
from recollect.errors import NotAStore, StoreUnavailable
from recollect.query import Filter
from recollect.records import Kind, PastQuestion, Revision
from recollect.retrieval.answer_log import logged_answers, tuned_numbers, tunings
from recollect.retrieval.contents import memory_page, store_setting
from recollect.retrieval.conversations import turns_of
from recollect.retrieval.dream_state import dream_records, dream_state, links_of, past_questions
from recollect.retrieval.entities import entities_named
from recollect.retrieval.records import memories_by_id, moment, relations_of, scope_id
from recollect.retrieval.search import Search
from recollect.stores.sqlite.connection import APPLICATION_ID, migrations, prepare
from recollect.stores.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from recollect.ports import Snapshot

pytestmark = pytest.mark.usefixtures("real_stores")

NOW = len(migrations())


# The words of what is in force in the end, by memory.
INDEXED = {
    1: "ada someone wrote the first program",
    2: "engine someone",
    3: "the kettle is in the garden",
    5: "the kettle broke ada",
    6: "the kettle is broken",
    8: "the kettle broke",
}


def _first(hand: apsw.Connection) -> None:
    """What a store of schema 1 may hold: an entity with observations, a relation, a note, a forgotten one."""
    hand.execute("INSERT INTO setting VALUES ('store_id', 'an old store')")
    hand.execute("INSERT INTO scope VALUES (1, '', '')")
    for id_, kind, name, text, deleted in (
        (1, "entity", "Ada", "", None),
        (2, "entity", "Engine", "", None),
        (3, "note", "", "The kettle is in the garden.", None),
        (4, "entity", "Gone", "", 5),
    ):
        hand.execute(
            "INSERT INTO memory(id, kind, scope_id, created_at, updated_at, name, folded_name, type, text, "
            "deleted_at) VALUES (?1, ?2, 1, 1, 2, ?3, lower(?3), iif(?2 = 'entity', 'someone', ''), ?4, ?5)",
            (id_, kind, name, text, deleted),
        )
        hand.execute(
            "INSERT INTO passage(id, memory_id, start, stop, live) VALUES (?1, ?1, 0, length(?2), ?3)",
            (id_, text, deleted is None),
        )
    hand.execute(
        "INSERT INTO observation(id, memory_id, content, created_at) "
        "VALUES (1, 1, 'wrote the first program', 1)"
    )
    hand.execute("INSERT INTO passage(id, memory_id, observation_id, start, stop) VALUES (5, 1, 1, 0, 23)")
    hand.execute(
        "INSERT INTO relation(id, source_id, target_id, type, created_at) VALUES (1, 1, 2, 'programmed', 1)"
    )
    hand.execute("INSERT INTO model VALUES (1, 'a model', 2, NULL, 1)")
    hand.execute("INSERT INTO vector(model_id, passage_id, embedding) VALUES (1, 1, x'0000803f00000000')")
    hand.execute("INSERT INTO due SELECT id FROM passage WHERE id <> 1")


def _second(hand: apsw.Connection) -> None:
    """Ada and her engine were shown together, twice."""
    hand.execute("INSERT INTO use VALUES (1, 2, 20), (2, 2, 20)")
    hand.execute("INSERT INTO use_day VALUES (1, 0), (2, 0)")
    hand.execute("INSERT INTO together VALUES (1, 2, 2, 20)")
    hand.execute("INSERT INTO recall(id, at, session) VALUES (1, 10, 'a talk'), (2, 20, 'a talk')")
    hand.execute("INSERT INTO recalled VALUES (1, 1, 1), (2, 1, 2), (1, 2, 1), (2, 2, 2)")


def _third(hand: apsw.Connection) -> None:
    """A message, and the note drawn from it, which was worded anew and corrects others."""
    for id_, kind, text, more in (
        (5, "message", "The kettle broke, Ada", {"session": "'a talk'", "position": 1, "undated": 1}),
        (6, "note", "The kettle is broken", {"drawn_from": 5, "revisions": 1}),
        (7, "note", "The kettle is whole", {"superseded_by": 6, "superseded_at": 30}),
        (8, "note", "The kettle broke", {"similar_to": 6, "similarity": 0.9}),
    ):
        hand.execute(
            f"INSERT INTO memory(id, kind, scope_id, created_at, updated_at, text, {', '.join(more)}) "
            f"VALUES (?1, ?2, 1, 10, 10, ?3, {', '.join(map(str, more.values()))})",
            (id_, kind, text),
        )
        hand.execute(
            "INSERT INTO passage(id, memory_id, start, stop, live) VALUES (?1 + 1, ?1, 0, length(?2), ?3)",
            (id_, text, id_ != 7),
        )
    hand.execute("INSERT INTO revision VALUES (1, 6, 'The kettle is cracked', 10, 20)")
    hand.execute(
        "INSERT INTO passage(id, memory_id, start, stop, live, revision_id) VALUES (10, 6, 0, 21, 0, 1)"
    )
    hand.execute("INSERT INTO vector(model_id, passage_id, embedding) VALUES (1, 10, x'000000000000803f')")
    hand.execute("INSERT INTO due SELECT id FROM passage WHERE id BETWEEN 6 AND 9")
    hand.execute("INSERT INTO tag VALUES (6, 'cafe', 'Café')")
    hand.execute("INSERT INTO mention VALUES (5, 1, 0), (6, 2, 1)")
    hand.execute(
        "INSERT INTO observation(id, memory_id, content, created_at, superseded_at, corrected_by) "
        "VALUES (2, 2, 'boils', 1, 30, 6)"
    )
    hand.execute(
        "INSERT INTO passage(id, memory_id, observation_id, start, stop, live) VALUES (11, 2, 2, 0, 5, 0)"
    )
    hand.execute("INSERT INTO due VALUES (11)")


def _fourth(hand: apsw.Connection) -> None:
    """A question that was asked, a dream that made a note weaker and linked two, and one that has begun."""
    hand.execute("INSERT INTO recall VALUES (3, 40, 'a talk', 1, 'where is the kettle?', 'reverie')")
    hand.execute("INSERT INTO recalled VALUES (3, 3, 1)")
    journal = {
        "lived": [{"field": "strength", "ids": [3], "before": [1.0], "after": [0.75]}],
        "pruned": [],
        "merged": [],
        "merged_observations": [],
        "corrected": [],
        "corrected_observations": [],
        "links": [[1, 2, 0, 3]],
        "temper": None,
    }
    hand.execute("UPDATE memory SET strength = 0.75 WHERE id = 3")
    hand.execute("INSERT INTO link VALUES (1, 2, 3)")
    hand.execute(
        "INSERT INTO dream VALUES (1, 1, 50, 3, ?, ?, ?, NULL)",
        ('["downscale", "link"]', '{"memories": 6}', zlib.compress(json.dumps(journal).encode())),
    )
    hand.execute("INSERT INTO lease VALUES ('dream', 'somebody', 170000000)")


def _fifth(hand: apsw.Connection) -> None:
    """An answer in the log, what became of it, and a profile that was tuned and reset."""
    hand.execute(
        "INSERT INTO shadow(id, scope_id, at, bytes, before, handle, session, query, profile, version, arm, "
        "against, shown, ranked, baseline, candidates) VALUES (1, 1, 60, 300, 0, 'a talk:3c:1', 'a talk', "
        "'where is the kettle?', 'limbic', 0, 'ours', 'similarity', '[3,1]', '[3,1]', '[1,3]', x'00')"
    )
    hand.execute("INSERT INTO feedback VALUES (1, 1, 3, 70, 'opened', 1.0), (2, 1, 1, 80, 'said', -1.0)")
    hand.execute(
        "INSERT INTO tuned VALUES (1, 1, 'limbic', 90, '{\"cooccurrence.gamma\": 0.05}', 'set', '{}'), "
        "(2, 1, 'limbic', 100, '{}', 'reset', '{}')"
    )


def _sixth(hand: apsw.Connection) -> None:
    """Entities know the words by which texts name them."""
    hand.execute("UPDATE memory SET first_word = folded_name WHERE kind = 'entity'")


def _seventh(hand: apsw.Connection) -> None:
    """Of two notes the tokens are known: two of the first, and one of what the second said before."""
    hand.execute("INSERT INTO passage_tokens VALUES (1, 1, x'8040'), (10, 1, x'C0')")


def _eighth(hand: apsw.Connection) -> None:
    """The index of words: the first three documents in postings, the three that came later not yet."""
    stems = {"someone": "someon", "engine": "engin", "kettle": "kettl"}
    numbers = {word: number for number, word in enumerate(sorted(set(" ".join(INDEXED.values()).split())), 1)}
    hand.executemany(
        "INSERT INTO term VALUES (?, 1, 0, ?, ?)",
        [(number, stems.get(word, word), word) for word, number in numbers.items()],
    )
    texts = {id_: [numbers[word] for word in text.split()] for id_, text in INDEXED.items()}
    hand.executemany(
        "INSERT INTO document SELECT id, 1, kind, id < 5, ?2, x'' FROM memory WHERE id = ?1",
        [(id_, struct.pack(f"<{len(text)}I", *text)) for id_, text in texts.items()],
    )
    for number in numbers.values():
        ids = [id_ for id_, text in texts.items() if number in text and id_ < 5]
        gaps = [id_ - before for before, id_ in pairwise([ids[0], *ids])] if ids else []
        counts = [texts[id_].count(number) for id_ in ids]
        lengths = [len(texts[id_]) for id_ in ids]
        # The widths of four columns, the gaps between ids, how often, of how many; no positions.
        packed = bytes([1, 1, 1, 1, *gaps, *counts, *lengths])
        hand.executemany(
            "INSERT INTO posting VALUES (?, ?, ?, ?)", [(number, ids[0], len(ids), packed)] if ids else []
        )
    total = sum(map(len, texts.values()))
    hand.execute(
        "UPDATE scope SET documents = 6, words = ?, unmerged = 3, entities = 2, messages = 1", (total,)
    )


def former_indexes(hand: apsw.Connection) -> None:
    """The tables in which Recollect kept words before version 8, one set for each scope."""
    for table, tokenizer in (("words", "ascii"), ("stems", "porter ascii"), ("pairs", "ascii")):
        hand.execute(
            f"CREATE VIRTUAL TABLE {table}_1 USING fts5(name, type, body, content='', contentless_delete=1, "
            f"tokenize='{tokenizer}')"
        )
        hand.execute(
            f"INSERT INTO {table}_1(rowid, name, type, body) SELECT id, name, type, text FROM memory "
            "WHERE deleted_at IS NULL"
        )
    hand.execute("CREATE VIRTUAL TABLE word_count_1 USING fts5vocab(words_1, row)")


def _ninth(hand: apsw.Connection) -> None:
    """Its one row comes with the migration."""
    assert hand.execute("SELECT count(*) FROM past").get == 1


def _eleventh(hand: apsw.Connection) -> None:
    """Its checksums: of the words of each row, with NUL for none, and the unit separator between them."""
    words = {
        "scope": "owner, agent",
        "memory": "name, type, text, category, source, session, role, speaker, importance_tag",
        "observation": "content, kind",
        "relation": "type, context",
        "revision": "text",
    }
    for table, columns in words.items():
        for id_, *each in hand.execute(f"SELECT id, {columns} FROM {table}").fetchall():
            joined = "\x1f".join("\0" if word is None else str(word) for word in each)
            hand.execute(f"UPDATE {table} SET checksum = ? WHERE id = ?", (zlib.crc32(joined.encode()), id_))


def _expiring(hand: apsw.Connection) -> None:
    """A note that expires on a day of the far future."""
    hand.execute("UPDATE memory SET expires_at = 32503680000000000 WHERE id = 3")


def _of_a_program(hand: apsw.Connection) -> None:
    """A note under a program's own name, with its data."""
    hand.execute("""UPDATE memory SET ref = 'app/1', metadata = '{"n":[1,"é"]}' WHERE id = 3""")


# For each version the rows that were new in it, as that version wrote them. A migration comes with its own.
ROWS_OF: dict[int, Callable[[apsw.Connection], None]] = {
    1: _first,
    2: _second,
    3: _third,
    4: _fourth,
    5: _fifth,
    6: _sixth,
    7: _seventh,
    8: _eighth,
    9: _ninth,
    10: lambda _: None,  # it brings columns, and fills them
    11: _eleventh,
    12: _expiring,
    13: _of_a_program,
}


def store_of(version: int, path: Path) -> Path:
    """A file as a Recollect of that version left it."""
    with closing(apsw.Connection(str(path))) as hand:
        hand.pragma("application_id", APPLICATION_ID)
        for number, step in enumerate(migrations()[:version], 1):
            hand.execute(step)
            ROWS_OF[number](hand)
        hand.pragma("user_version", version)
        hand.pragma("journal_mode", "wal")
    return path


def test_every_version_has_its_rows_to_be_tested_with() -> None:
    assert set(ROWS_OF) >= set(range(1, NOW + 1))


@pytest.mark.parametrize("version", range(1, NOW + 1))
def test_a_store_of_every_version_opens_with_all_it_held(tmp_path: Path, version: int) -> None:
    path = store_of(version, tmp_path / "store.db")
    with closing(Repository(SqliteStore(path))) as store:
        assert store.verify() == []
        present = entities(store)
        assert {"Ada", "Engine"} <= set(present)
        assert [seen.content for seen in present["Ada"].in_force] == ["wrote the first program"]
        assert found_by_words(store, "first program") == "Ada"
        with store.read() as view:
            assert [relation.target_name for relation in relations_of(view, [1])] == ["Engine"]
            note = memory_page(view, Filter(kinds=frozenset({Kind.NOTE})), 0, 10)[0]
            assert note.text == "The kettle is in the garden."
            assert memories_by_id(view, [4])[4].deleted_at is not None
            assert entities_named(view, scope_id(view, HERE), ["Gone"]) == {}
        apply(store, entity("Ada", "was a countess"))
        assert store.verify() == []
    assert _version(path) == NOW


@pytest.mark.parametrize("version", range(1, 8))
def test_words_are_indexed_anew_in_place_of_the_former_tables(tmp_path: Path, version: int) -> None:
    path = store_of(version, tmp_path / "store.db")
    with closing(apsw.Connection(str(path))) as hand:
        former_indexes(hand)
    with closing(Repository(SqliteStore(path))) as store:
        assert store.verify() == []
        with store.read() as view:
            assert _found(view) == _held(version)
    with closing(apsw.Connection(str(path))) as hand:
        names = {name for (name,) in hand.execute("SELECT name FROM sqlite_schema")}
        assert not [name for name in names if name.startswith(("words_", "stems_", "pairs_", "word_count_"))]
        assert {"term", "posting", "document"} <= names


def test_a_store_of_version_8_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = store_of(8, tmp_path / "store.db")
    with closing(Repository(SqliteStore(path))) as store:
        with store.read() as view:
            assert _found(view) == _held(8)
            # Not merged: nothing was indexed again.
            documents = view.rows("document", ("memory_id", "merged"))
        assert documents == [(1, 1), (2, 1), (3, 1), (5, 0), (6, 0), (8, 0)]
        apply(store, entity("Ada", "was a countess"))
        assert store.verify() == []


def _held(version: int) -> dict[str, set[int]]:
    """In which memories each word stands in a store of a version."""
    last = 3 if version < 3 else 8
    texts = {id_: text.split() for id_, text in INDEXED.items() if id_ <= last}
    held = {word for text in texts.values() for word in text}
    return {word: {id_ for id_, text in texts.items() if word in text} for word in held}


def _found(view: Snapshot) -> dict[str, set[int]]:
    terms = {word for text in INDEXED.values() for word in text.split()}
    hits = {word: {hit.id for hit in Search(view, Filter()).by_words(word, 9)} for word in terms}
    return {word: ids for word, ids in hits.items() if ids}


@pytest.mark.parametrize("version", range(3, NOW + 1))
def test_notes_keep_their_past_and_what_belongs_to_them(tmp_path: Path, version: int) -> None:
    with (
        closing(Repository(SqliteStore(store_of(version, tmp_path / "store.db")))) as store,
        store.read() as view,
    ):
        message, note, wrong, alike = (memories_by_id(view, [id_])[id_] for id_ in (5, 6, 7, 8))
        assert (message.session, message.position, message.undated, message.mentions) == (
            "a talk",
            1,
            True,
            (1,),
        )
        assert [turn.id for turn in turns_of(view, scope_id(view, HERE), "a talk", 1, 9)] == [5]
        assert note.former == (Revision("The kettle is cracked", moment(10), moment(20)),)
        assert (note.tags, note.about, note.drawn_from, note.revisions) == (("Café",), (2,), 5, 1)
        assert (wrong.superseded_by, wrong.superseded_at) == (6, moment(30))
        assert (alike.similar_to, alike.similarity) == (6, 0.9)
        (boils,) = memories_by_id(view, [2])[2].observations
        assert (boils.corrected_by, boils.superseded_at) == (6, moment(30))
        past = Filter(as_of=moment(15))
        assert [hit.id for hit in Search(view, past).by_words("cracked", 9)] == [6]
        assert [hit.id for hit in Search(view, past).by_words("whole", 9)] == [7]
        assert [hit.id for hit in Search(view, past).by_words("boils", 9)] == [2]
        assert Search(view, Filter()).by_words("cracked whole boils", 9) == []
        (nearest, _) = Search(view, past).by_meaning(np.array([0, 1], np.float32), 9)
        assert (nearest.id, nearest.passage, nearest.score) == (6, 10, 1)
        assert [hit.id for hit in Search(view, Filter(tags=frozenset({"cafe"}))).by_words("kettle", 9)] == [6]


@pytest.mark.parametrize("version", range(4, NOW + 1))
def test_dreams_are_known_and_can_be_undone(tmp_path: Path, version: int) -> None:
    with closing(Repository(SqliteStore(store_of(version, tmp_path / "store.db")))) as store:
        with store.read() as view:
            (dream,) = dream_records(view, scope_id(view, HERE), 9)
            assert (dream.id, dream.at, dream.phases) == (1, moment(50), ("downscale", "link"))
            assert list(past_questions(view, scope_id(view, HERE), 9)) == [
                PastQuestion("where is the kettle?", "reverie", (3,))
            ]
            assert list(links_of(view, [1])) == [(1, 2, 3)]
            assert view.rows("lease", ("holder", "until")) == [("somebody", 170_000_000)]
            told = dream_state(view, scope_id(view, HERE), 60, 3)
            # It did not consolidate, so all answers are yet to be replayed.
            assert (told.last_at, told.through, told.temper) == (50, 3, 1.0)
            assert [(each.at, each.rows) for each in told.replays] == [(10, (0, 1)), (20, (0, 1)), (40, (2,))]
        assert store.apply([UndoDream(HERE, 1)], at=AT).outcomes[0].left == ()
        with store.read() as view:
            assert memories_by_id(view, [3])[3].strength == 1.0
            assert list(links_of(view, [1])) == []


@pytest.mark.parametrize("version", range(5, NOW + 1))
def test_answers_what_became_of_them_and_tuned_numbers_are_kept(tmp_path: Path, version: int) -> None:
    with (
        closing(Repository(SqliteStore(store_of(version, tmp_path / "store.db")))) as store,
        store.read() as view,
    ):
        (answer,) = logged_answers(view, scope_id(view, HERE), "limbic")
        assert (answer.query, answer.shown, answer.baseline) == ("where is the kettle?", (3, 1), (1, 3))
        assert answer.feedback == ((1, "said", -1.0), (3, "opened", 1.0))
        assert tuned_numbers(view, scope_id(view, HERE), "limbic") == (2, {})
        assert [each.knobs for each in tunings(view, scope_id(view, HERE), None, 9)] == [
            {},
            {"cooccurrence.gamma": 0.05},
        ]


def test_tokens_are_kept_and_a_store_of_before_has_none(tmp_path: Path) -> None:
    found: dict[int, object] = {}
    for version in (6, 7):
        with (
            closing(Repository(SqliteStore(store_of(version, tmp_path / f"{version}.db")))) as store,
            store.read() as view,
        ):
            query = np.array([[1, 0]], np.float32)
            now = Search(view, Filter()).token_scores(query, [1, 6], {})
            then = Search(view, Filter(as_of=moment(15))).token_scores(query, [1, 6], {})
            found[version] = now, then
            assert store.verify() == []
    # Of the signs ++ and of the best of +- and -+ the first number is what the query points to: 1 / sqrt(2).
    half = pytest.approx(0.5**0.5)
    assert found == {6: ({}, {}), 7: ({1: half}, {1: half, 6: half})}


@pytest.mark.parametrize("version", range(1, NOW + 1))
def test_every_store_has_a_seed_for_trials_of_its_own(tmp_path: Path, version: int) -> None:
    seeds = set()
    for number in range(2):
        with (
            closing(Repository(SqliteStore(store_of(version, tmp_path / f"{number}.db")))) as store,
            store.read() as view,
        ):
            seeds.add(store_setting(view, "trial_seed") or "")
    assert len(seeds) == 2


def test_a_field_that_is_no_longer_what_a_dream_wrote_stays_when_it_is_undone(tmp_path: Path) -> None:
    path = store_of(NOW, tmp_path / "store.db")
    with closing(apsw.Connection(str(path))) as hand:
        hand.execute("UPDATE memory SET strength = 0.5 WHERE id = 3")
    with closing(Repository(SqliteStore(path))) as store:
        undone = store.apply([UndoDream(HERE, 1)], at=AT).outcomes[0]
        # The link is taken back, and the strength is not.
        assert (undone.left, undone.count) == ((3,), 1)
        with store.read() as view:
            assert memories_by_id(view, [3])[3].strength == 0.5
            assert list(links_of(view, [1])) == []


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_store_of_before_has_not_dreamt_and_can(tmp_path: Path, version: int) -> None:
    with closing(Repository(SqliteStore(store_of(version, tmp_path / "store.db")))) as store:
        with store.read() as view:
            told = dream_state(view, scope_id(view, HERE), 100, 1)
            assert (
                told.last_at,
                dream_records(view, scope_id(view, HERE), 9),
                past_questions(view, scope_id(view, HERE), 9),
            ) == (None, [], [])
        # Answers of before are replayed, though nobody noted what was asked.
        assert [each.at for each in told.replays] == ([] if version == 1 else [10, 20])
        store.apply([CommitDream(HERE, told.through, ("consolidate",), "{}")], at=AT)
        with store.read() as view:
            assert dream_state(view, scope_id(view, HERE), 200, 1).replays == ()


@pytest.mark.parametrize("version", [1, 2])
def test_texts_of_before_are_dated_and_have_no_past(tmp_path: Path, version: int) -> None:
    with closing(Repository(SqliteStore(store_of(version, tmp_path / "store.db")))) as store:
        with store.read() as view:
            note = memories_by_id(view, [3])[3]
        assert (note.undated, note.former, note.tags, note.mentions, note.drawn_from) == (
            False,
            (),
            (),
            (),
            None,
        )
        store.apply([Amend(HERE, 3, text="The kettle is with Ada")], at=AT)
        with store.read() as view:
            note = memories_by_id(view, [3])[3]
            assert note.former == (Revision("The kettle is in the garden.", moment(1), AT),)
            assert note.mentions == (1,)
            assert [hit.id for hit in Search(view, Filter(as_of=moment(5))).by_words("garden", 9)] == [3]
        assert store.verify() == []


def test_kept_answers_are_numbered_scope_by_scope(tmp_path: Path) -> None:
    path = store_of(9, tmp_path / "store.db")
    with closing(apsw.Connection(str(path))) as hand:
        hand.execute(
            "DELETE FROM recall; DELETE FROM shadow; INSERT INTO scope(id, owner, agent) VALUES (2, 'o', '')"
        )
        for id_, scope, before in ((11, 1, 0), (12, 2, 10), (13, 2, 20), (14, 1, 30)):
            hand.execute("INSERT INTO recall(id, scope_id, at, session) VALUES (?, ?, 0, 's')", (id_, scope))
            hand.execute(
                "INSERT INTO shadow(id, scope_id, at, bytes, before, handle, session, query, profile, arm, "
                "against, shown, ranked, baseline, candidates) VALUES (?, ?, 0, 10, ?, 'h', 's', 'q', 'p', "
                "'ours', 'a', '[]', '[]', '[]', x'')",
                (id_, scope, before),
            )
        # Of the first versions: one that showed a memory of the first scope, and one that nothing is left of.
        hand.execute("INSERT INTO recall(id, at, session) VALUES (9, 0, 's'), (10, 0, 's')")
        hand.execute("INSERT INTO recalled SELECT min(id), 9, 1 FROM memory WHERE scope_id = 1")
    with closing(Repository(SqliteStore(path))) as store, store.read() as view:
        assert view.rows("recall", ("id", "scope_id", "ordinal")) == [
            (9, 1, 1), (11, 1, 2), (12, 2, 1), (13, 2, 2), (14, 1, 3),
        ]  # fmt: skip
        assert view.rows("shadow", ("id", "ordinal", "before")) == [
            (11, 1, 0), (12, 1, 0), (13, 2, 10), (14, 2, 10),
        ]  # fmt: skip


def test_steps_run_in_order_and_once(tmp_path: Path) -> None:
    path = store_of(NOW, tmp_path / "store.db")
    steps = [*migrations(), "CREATE TABLE trail(step)", "INSERT INTO trail VALUES ('second')"]
    for _ in range(3):
        prepare(path, 1_000, steps)
    with closing(apsw.Connection(str(path))) as hand:
        assert hand.execute("SELECT step FROM trail").fetchall() == [("second",)]
    assert _version(path) == NOW + 2


@pytest.mark.parametrize(
    "broken",
    [
        "CREATE TABLE extra(id); INSERT INTO no_such_table VALUES (1)",
        "UPDATE memory SET name = ''",  # against the table's own check
        "CREATE TABLE extra(id); DROP TABLE observation; SELECT nonsense(",
    ],
)
def test_a_migration_that_fails_leaves_the_file_as_it_was(tmp_path: Path, broken: str) -> None:
    path = store_of(NOW, tmp_path / "store.db")
    before = path.read_bytes()
    with pytest.raises(apsw.Error):
        prepare(path, 1_000, [*migrations(), "CREATE TABLE trail(step)", broken])
    assert path.read_bytes() == before
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "store.db",
        f"store.db-before-schema-{NOW + 2}",
    ]
    with closing(Repository(SqliteStore(path))) as store:
        assert store.verify() == []


def test_a_new_store_whose_making_fails_stays_an_empty_file(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with pytest.raises(apsw.Error):
        prepare(path, 1_000, [*migrations(), "INSERT INTO no_such_table VALUES (1)"])
    assert path.read_bytes() == b""
    with closing(Repository(SqliteStore(path))) as store:
        assert store.verify() == []


def test_processes_that_migrate_at_the_same_moment_do_it_once(tmp_path: Path) -> None:
    steps = ["CREATE TABLE trail(step)", "INSERT INTO trail VALUES ('second')"]
    for number in range(2):
        path = store_of(NOW, tmp_path / f"store{number}.db")
        with team("migrate", [(path, *migrations(), *steps)] * 3) as together:
            together.meet()
            assert together.hear() == ["done"] * 3
            assert together.end() == [0] * 3
        with closing(apsw.Connection(str(path))) as hand:
            assert hand.execute("SELECT step FROM trail").fetchall() == [("second",)]
            assert hand.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert _version(path) == NOW + 2


def test_who_waits_for_a_migration_to_an_unknown_version_refuses_the_file(tmp_path: Path) -> None:
    path = store_of(NOW, tmp_path / "store.db")
    prepare(path, 1_000, [*migrations(), "CREATE TABLE trail(step)"])
    with pytest.raises(NotAStore, match="newer Recollect"):
        Repository(SqliteStore(path))


def test_a_migration_of_a_locked_file_says_so_and_can_be_done_later(tmp_path: Path) -> None:
    path = store_of(NOW, tmp_path / "store.db")
    steps = [*migrations(), "CREATE TABLE trail(step)"]
    with closing(apsw.Connection(str(path))) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="locked by another program"):
            prepare(path, 10, steps)
    prepare(path, 10, steps)
    assert _version(path) == NOW + 1


def test_an_old_sqlite_is_refused_before_anything_is_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.51.2")
    with pytest.raises(StoreUnavailable, match="pip install --upgrade apsw"):
        prepare(tmp_path / "store.db", 1_000)
    assert list(tmp_path.iterdir()) == []


def _version(path: Path) -> int:
    with closing(apsw.Connection(str(path))) as hand:
        version = hand.pragma("user_version")
        assert isinstance(version, int)
        return version


def test_who_opens_an_older_store_is_told_how_far_its_checksums_have_come(tmp_path: Path) -> None:
    path = store_of(9, tmp_path / "store.db")
    told: list[tuple[int, int | None]] = []
    SqliteStore(path, progress=lambda done, of: told.append((done, of))).close()
    assert told
    assert told[-1][0] == told[-1][1]
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    with closing(apsw.Connection(str(path))) as hand:
        for table in ("scope", "memory", "observation", "relation", "revision"):
            assert hand.execute(f"SELECT count(*) FROM {table} WHERE checksum IS NULL").get == 0
