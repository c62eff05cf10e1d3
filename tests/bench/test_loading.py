"""Every form of judged data into the same values, errors that name the row, and halves of questions."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import pytest
from judged import (
    conversation,
    history,
    write,
    write_beir,
    write_folder,
    write_locomo,
    write_realtalk,
    write_xquad,
)

from recollect.domain.errors import InvalidInput
from recollect_bench.datasets import halved
from recollect_bench.halves import half_of
from recollect_bench.loading import load_datasets

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from recollect_bench.datasets import Dataset


def load(path: Path) -> Sequence[Dataset]:
    return load_datasets([path])


def test_a_conversation_becomes_turns_with_session_speaker_and_time(tmp_path: Path) -> None:
    (dataset,) = load(write_locomo(tmp_path))
    (haystack,) = dataset.haystacks
    assert (dataset.name, haystack.name) == ("locomo", "talk-1")
    second = haystack.documents[1]
    assert (second.id, second.session, second.speaker) == ("D1:2", "session 1", "Ben")
    assert second.text == "Then drink oolong at the harbour. [shares a photo: a teapot]"
    # The second turn is a minute after the start of the session at 13:56.
    assert second.at == datetime(2023, 5, 8, 13, 57, tzinfo=UTC)
    # The day after the last session began.
    assert haystack.asked_at == datetime(2023, 5, 11, 9, 5, tzinfo=UTC)


def test_evidence_is_read_leniently_and_the_adversarial_has_none(tmp_path: Path) -> None:
    (dataset,) = load(write_locomo(tmp_path))
    questions = dataset.haystacks[0].questions
    assert [sorted(question.relevant) for question in questions] == [
        ["D1:1"],
        ["D2:1", "D2:2"],  # two in one entry, with a stray colon and a stray zero
        ["D1:2", "D1:3"],
        [],
        [],
    ]
    assert [question.answerable for question in questions] == [True, True, True, False, True]
    assert [question.is_judged for question in questions] == [True, True, True, False, False]
    categories = [question.category for question in questions]
    assert categories == ["single-hop", "multi-hop", "multi-hop", "adversarial", "open-domain"]


def test_chats_of_a_folder_are_one_data_set(tmp_path: Path) -> None:
    (dataset,) = load(write_realtalk(tmp_path / "realtalk"))
    assert dataset.name == "realtalk"
    assert [haystack.name for haystack in dataset.haystacks] == ["Chat_1_Eve_Finn", "Chat_2_Eve_Finn"]
    (document,) = dataset.haystacks[0].documents
    assert document.text == "I bake bread on Sundays."
    assert document.at == datetime(2023, 12, 29, 16, 3, 30, tzinfo=UTC)


def test_each_question_of_longmemeval_has_its_own_history(tmp_path: Path) -> None:
    path = write(tmp_path / "longmemeval_s.json", [history(), history("q2_abs")])
    (dataset,) = load(path)
    first, second = dataset.haystacks
    # The earlier session comes first.
    told = [(document.role, document.text) for document in first.documents[:2]]
    assert told == [("user", "The spare key is under the pot."), ("assistant", "Noted.")]
    assert first.asked_at == datetime(2023, 5, 30, 23, 40, tzinfo=UTC)
    assert first.questions[0].relevant == {first.documents[0].id}
    assert not second.questions[0].answerable
    assert second.questions[0].relevant == frozenset()


def test_languages_of_a_folder_are_asked_alone_and_across(tmp_path: Path) -> None:
    found = {dataset.name: dataset for dataset in load(write_xquad(tmp_path / "xquad_r"))}
    assert list(found) == ["xquad_r en", "xquad_r es", "xquad_r es→en"]
    across = found["xquad_r es→en"].haystacks[0]
    assert [document.text for document in across.documents] == ["Cats sleep all day.", "The harbour is old."]
    assert [question.text for question in across.questions] == ["¿Quién duerme?", "¿Qué es viejo?"]
    # The English file says which paragraphs are relevant. Character offsets differ in Spanish.
    assert [question.relevant for question in across.questions] == [{"1.1.1"}, {"1.1.2"}]
    assert [file.name for file in found["xquad_r es→en"].files] == ["en.json", "es.json"]


def test_beir_takes_the_test_split(tmp_path: Path) -> None:
    (dataset,) = load(write_beir(tmp_path / "tiny"))
    (haystack,) = dataset.haystacks
    assert [document.text for document in haystack.documents] == [
        "Tea\nOolong is half oxidised.",
        "Ferries cross the strait.",
        "ferries cross the strait",
    ]
    # q3 is judged in another split alone; 0 is not relevant.
    assert {each.id: set(each.relevant) for each in haystack.questions} == {"q1": {"d1"}, "q2": {"d3"}}


def test_a_folder_of_several_data_sets_gives_them_all(tmp_path: Path) -> None:
    write_locomo(tmp_path / "talks")
    write_beir(tmp_path / "tiny")
    write_xquad(tmp_path / "languages")
    (tmp_path / "README.md").write_text("not data")
    names = [dataset.name for dataset in load(tmp_path)]
    assert names == ["languages en", "languages es", "languages es→en", "locomo", "tiny"]


def test_what_is_unknown_is_refused_with_what_is_known(tmp_path: Path) -> None:
    unknown: list[object] = [{"rows": []}, [], [1, 2], "text"]
    for plain in unknown:
        with pytest.raises(InvalidInput, match=r"nothing that can be asked.*LoCoMo.*LongMemEval.*BEIR"):
            load(write(tmp_path / "other.json", plain))
    with pytest.raises(InvalidInput, match="There is no"):
        load(tmp_path / "absent.json")
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"broken\.json cannot be read as JSON"):
        load(tmp_path / "broken.json")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            lambda talk: talk["qa"].append({"category": 1}),
            r"conversation 1: \.qa\[5\]\.question: Field required",
        ),
        (
            lambda talk: talk["qa"][1].update(category="x"),
            r"\.qa\[1\]\.category: Input should be 1, 2, 3, 4 or 5",
        ),
        (lambda talk: talk.update(qa=7), r"conversation 1: \.qa: Input should be a valid list"),
        (
            lambda talk: talk["conversation"]["session_2"].append("hello"),
            r"conversation 1, session_2: \.turns\[2\]: Input should be a valid dictionary",
        ),
        (
            lambda talk: talk["conversation"]["session_1"][0].pop("dia_id"),
            r"session_1: \.turns\[0\]\.dia_id: Field required",
        ),
        (
            lambda talk: talk["conversation"].update(session_1_date_time="soon"),
            r"session_1: \.date_time: .*'soon' is no time",
        ),
        (
            lambda talk: talk["conversation"]["session_1"][1].update(dia_id="D1:1"),
            r"several turns have the same 'dia_id'",
        ),
    ],
)
def test_a_malformed_conversation_names_its_row(tmp_path: Path, change: Any, told: str) -> None:
    talk = conversation()
    change(talk)
    with pytest.raises(InvalidInput, match=told):
        load(write_locomo(tmp_path, talk))


def test_other_malformed_rows_are_named_too(tmp_path: Path) -> None:
    wrong = [history(), history()]
    del wrong[1]["question"]
    with pytest.raises(InvalidInput, match=r"lme\.json, question 2: \.question: Field required"):
        load(write(tmp_path / "lme.json", wrong))
    with pytest.raises(InvalidInput, match="equally many"):
        load(write(tmp_path / "lme.json", [history(haystack_dates=[])]))
    folder = write_beir(tmp_path / "tiny")
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1 d1 1\n")
    with pytest.raises(InvalidInput, match=r"test\.tsv, line 2: expected query, document and score"):
        load(folder)
    (folder / "qrels" / "test.tsv").write_bytes(b"query-id\tcorpus-id\tscore\nq1\t\xff\t1\n")
    with pytest.raises(InvalidInput, match=r"test\.tsv, line 2: it is not UTF-8 text"):
        load(folder)
    (folder / "corpus.jsonl").write_text('{"_id": "d1", "text": "x"}\n' * 2)
    with pytest.raises(
        InvalidInput, match=r"corpus\.jsonl, line \d+: there is an earlier line with the '_id'"
    ):
        load(folder)
    (folder / "corpus.jsonl").write_text('{"_id": "d1", "text": "x"}\n{"_id": \n')
    with pytest.raises(InvalidInput, match=r"corpus\.jsonl, line 2: Invalid JSON"):
        load(folder)
    languages = write_xquad(tmp_path / "languages")
    plain = json.loads((languages / "en.json").read_text())
    plain["data"][0]["paragraphs"][0]["qas"][1]["answers"] = []
    write(languages / "en.json", plain)
    with pytest.raises(
        InvalidInput,
        match=r"en\.json: \.data\[0\]\.paragraphs\[0\]\.qas\[1\]\.answers: List should have at least 1",
    ):
        load(languages)


def test_paths_that_give_the_same_name_are_told_apart(tmp_path: Path) -> None:
    files = [write_locomo(tmp_path / folder, conversation()) for folder in ("a", "b")]
    assert [dataset.name for dataset in load(tmp_path)] == ["a/locomo", "b/locomo"]
    assert [dataset.name for dataset in load_datasets(files)] == ["a/locomo", "b/locomo"]
    twice = [dataset.name for dataset in load_datasets([files[0], files[0]])]
    assert twice == ["a/locomo (1)", "a/locomo (2)"]
    assert [dataset.name for dataset in load_datasets(files[:1])] == ["locomo"]


def test_a_folder_of_memories_and_questions_has_several_stores(tmp_path: Path) -> None:
    (dataset,) = load(write_folder(tmp_path / "home"))
    assert dataset.name == "home"
    assert [file.name for file in dataset.files] == ["memories.jsonl", "questions.jsonl", "prompts.jsonl"]
    ana, ben = dataset.haystacks
    kinds = [document.kind for document in ana.documents]
    assert kinds == ["note"] * 2 + ["entity-observation"] * 2 + ["message"] * 2 + ["note"]
    key, *_, said, _, copy = ana.documents
    assert (key.tags, key.at) == (("house",), datetime(2026, 1, 5, 9, tzinfo=UTC))
    assert (said.session, said.role, said.speaker) == ("s1", "user", "Ana")
    assert (copy.supersedes, copy.happened_at) == ("n2", datetime(2026, 1, 9, tzinfo=UTC))
    first, second, *_, absent = ana.questions
    assert (sorted(first.relevant), sorted(first.must_not)) == (["n3"], ["n2"])
    assert (first.after, second.after) == (None, 2)
    assert not absent.answerable
    prompts = [(prompt.helpful, prompt.needs_memory) for prompt in ana.prompts]
    assert prompts == [({"n1"}, True), (frozenset(), False)]
    # A prompt has no time of its own: it comes when the last question does.
    assert {prompt.at for prompt in ana.prompts} == {datetime(2026, 2, 1, tzinfo=UTC)}
    assert (len(ben.documents), len(ben.questions), ben.prompts) == (1, 1, ())


def test_folders_with_halves_are_one_data_set_for_each_half(tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        write_folder(tmp_path / "lives" / name)
    write(tmp_path / "lives" / "halves.json", {"choosing": ["one", "three"], "judging": ["two"]})
    found = load(tmp_path / "lives")
    sizes = {dataset.name: len(dataset.haystacks) for dataset in found}
    assert sizes == {"lives choosing": 4, "lives judging": 2}
    # Also where another folder is named that holds it, and a folder in it can be named by itself.
    assert [dataset.name for dataset in load(tmp_path)] == ["lives choosing", "lives judging"]
    assert [dataset.name for dataset in load(tmp_path / "lives" / "two")] == ["two"]


def test_malformed_rows_of_a_folder_are_named(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "home")
    memories = (folder / "memories.jsonl").read_text()
    (folder / "memories.jsonl").write_text(
        memories + '{"store": "ana", "id": "x", "kind": "song", "text": ""}'
    )
    with pytest.raises(InvalidInput, match=r"memories\.jsonl, line 9: \.kind: Input should be 'note'"):
        load(folder)
    (folder / "memories.jsonl").write_text(memories + memories.splitlines()[0])
    with pytest.raises(InvalidInput, match="'n1' occurs more than once in the store 'ana'"):
        load(folder)
    (folder / "memories.jsonl").write_text(memories.splitlines()[-1])
    with pytest.raises(InvalidInput, match="questions to 'ana', and no memories of that store"):
        load(folder)


def test_a_half_keeps_every_text_and_some_of_the_questions(tmp_path: Path) -> None:
    datasets = load(write_folder(tmp_path / "home"))
    a, b = (halved(datasets, half)[0].haystacks for half in ("a", "b"))
    for whole, one, other in zip(datasets[0].haystacks, a, b, strict=True):
        assert one.documents == other.documents == whole.documents
        assert {*one.questions} | {*other.questions} == {*whole.questions}
        assert all(half_of(whole.name, question.id) == "a" for question in one.questions)
        assert all(half_of(whole.name, question.id) == "b" for question in other.questions)


def test_the_half_of_a_question_is_the_lowest_bit_of_its_hash() -> None:
    first = blake2b(b"ana\x00q1", digest_size=8).digest()[0]
    assert half_of("ana", "q1") == "ab"[first & 1]


def test_the_half_depends_on_the_store_too() -> None:
    assert len({half_of(f"store-{n}", "q1") for n in range(20)}) == 2


def test_halves_are_about_even() -> None:
    counts = Counter(half_of("ana", f"q{n}") for n in range(1000))
    assert 450 < counts["a"] < 550
