"""Small judged data in each form that the loaders read, and a re-ranker that needs no model."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from recollect.domain.records import Model
    from recollect.ranking.candidates import Floats
    from recollect.stores.port import Embedder, Vector, Vectors


def turn(id_: str, speaker: str, text: str, **rest: str) -> dict[str, str]:
    return {"dia_id": id_, "speaker": speaker, "text": text, **rest}


def conversation() -> dict[str, Any]:
    """Two sessions, five questions: one with lenient evidence, one adversarial, one that points nowhere."""
    return {
        "sample_id": "talk-1",
        "conversation": {
            "speaker_a": "Ana",
            "speaker_b": "Ben",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                turn("D1:1", "Ana", "My kettle broke this morning."),
                turn("D1:2", "Ben", "Then drink oolong at the harbour.", blip_caption="a teapot"),
                turn("D1:3", "Ana", "The ferry leaves from the harbour at nine."),
            ],
            "session_2_date_time": "9:05 am on 10 May, 2023",
            "session_2": [
                turn("D2:1", "Ben", "I adopted a grey cat called Pixel."),
                turn("D2:2", "Ana", "Pixel is a lovely name for a cat."),
            ],
            "session_3": [],
        },
        "qa": [
            {"question": "What broke in the kitchen of Ana?", "evidence": ["D1:1"], "category": 4},
            {"question": "Which cat did Ben adopt?", "evidence": ["D2:1; D:2:02"], "category": 1},
            {"question": "Where is the harbour tea and the ferry?", "evidence": ["D1:2-3"], "category": 1},
            {"question": "Which dog did Ben adopt?", "evidence": ["D2:1"], "category": 5},
            {"question": "What would Ana like?", "evidence": ["D9:9"], "category": 3},
        ],
    }


def write_locomo(folder: Path, *conversations: dict[str, Any]) -> Path:
    return write(folder / "locomo.json", list(conversations) or [conversation()])


def write_realtalk(folder: Path) -> Path:
    """As its files are: no `conversation` around the sessions, and each turn with a time of its own."""
    folder.mkdir(parents=True)
    for number, said in enumerate(("I bake bread on Sundays.", "My bicycle is red."), 1):
        one = {
            "name": {"speaker_1": "Eve", "speaker_2": "Finn"},
            "session_1_date_time": "29.12.2023, 16:01:00",
            "session_1": [
                {"dia_id": "D1:1", "speaker": "Eve", "clean_text": said, "date_time": "29.12.2023, 16:03:30"}
            ],
            "qa": [{"question": f"{said[:-1]}?", "evidence": ["D1:1"], "category": 2}],
        }
        write(folder / f"Chat_{number}_Eve_Finn.json", one)
    return folder


def history(id_: str = "q1", **rest: Any) -> dict[str, Any]:
    """One of LongMemEval's questions; the later session comes first."""
    return {
        "question_id": id_,
        "question_type": "single-session-user",
        "question": "Where do I keep the spare key?",
        "answer": "under the pot",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_session_ids": ["late", "early"],
        "haystack_dates": ["2023/05/21 (Sun) 10:00", "2023/05/20 (Sat) 02:21"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "Tell me of ferries."},
                {"role": "assistant", "content": "They float."},
            ],
            [
                {"role": "user", "content": "The spare key is under the pot.", "has_answer": True},
                {"role": "assistant", "content": "Noted.", "has_answer": False},
            ],
        ],
        "answer_session_ids": ["early"],
        **rest,
    }


def article(*paragraphs: tuple[str, list[list[int]], list[tuple[str, str, int]]]) -> dict[str, Any]:
    """Of (text, sentence breaks, questions with id and the answer's start)."""
    return {
        "version": "1",
        "data": [
            {
                "title": "x",
                "paragraphs": [
                    {
                        "context": context,
                        "sentence_breaks": breaks,
                        "sentences": [context[start:stop] for start, stop in breaks],
                        "qas": [
                            {"id": id_, "question": asked, "answers": [{"answer_start": start, "text": "x"}]}
                            for id_, asked, start in questions
                        ],
                    }
                    for context, breaks, questions in paragraphs
                ],
            }
        ],
    }


def write_xquad(folder: Path) -> Path:
    #          0         1         2         3
    #          0123456789012345678901234567890123456789
    english = "Cats sleep all day. The harbour is old."
    spanish = "Los gatos duermen. El puerto es viejo."
    folder.mkdir(parents=True)
    write(
        folder / "en.json",
        article((english, [[0, 19], [20, 39]], [("a", "Who sleeps?", 0), ("b", "What is old?", 20)])),
    )
    write(
        folder / "es.json",
        article((spanish, [[0, 18], [19, 38]], [("a", "¿Quién duerme?", 0), ("b", "¿Qué es viejo?", 22)])),
    )
    return folder


def write_beir(folder: Path) -> Path:
    (folder / "qrels").mkdir(parents=True)
    corpus = [
        {"_id": "d1", "title": "Tea", "text": "Oolong is half oxidised."},
        {"_id": "d2", "title": "", "text": "Ferries cross the strait."},
        {"_id": "d3", "title": "", "text": "ferries cross the strait"},
    ]
    queries = [
        {"_id": "q1", "text": "oolong oxidised"},
        {"_id": "q2", "text": "ferries"},
        {"_id": "q3", "text": "unjudged"},
    ]
    for name, rows in (("corpus", corpus), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
        )
    judgments = "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\nq2\td3\t2\n"
    (folder / "qrels" / "test.tsv").write_text(judgments, encoding="utf-8")
    (folder / "qrels" / "train.tsv").write_text("query-id\tcorpus-id\tscore\nq3\td1\t1\n", encoding="utf-8")
    return folder


def write_folder(folder: Path) -> Path:
    """Our own form: two stores, every kind of memory, a correction, a note twice, and prompts."""
    at = "2026-01-0{}T09:00:00+00:00".format
    ana: list[dict[str, object]] = [
        {"id": "n1", "kind": "note", "text": "The spare key hangs behind the barometer.", "tags": ["house"]},
        {"id": "n2", "kind": "note", "text": "The ferry to the island leaves at nine."},
        {"id": "o1", "kind": "entity-observation", "text": "Plays the violin.", "entity": "Mira"},
        {"id": "o2", "kind": "entity-observation", "text": "Is afraid of geese.", "entity": "Mira"},
        {"id": "m1", "kind": "message", "text": "I am allergic to walnuts.", "role": "user"},
        {"id": "m2", "kind": "message", "text": "Noted, I will leave them out.", "role": "assistant"},
        {"id": "n3", "kind": "note", "text": "The ferry to the island leaves at ten.", "supersedes": "n2"},
    ]
    rows: list[dict[str, object]] = [
        {"store": "ana", "at": at(5 + place // 3), **row} for place, row in enumerate(ana)
    ]
    rows[4]["speaker"], rows[4]["session"], rows[5]["session"] = "Ana", "s1", "s1"
    rows[-1]["happened_at"] = "2026-01-09"
    rows.append({"store": "ben", "id": "n1", "kind": "note", "text": "The boat is called Pixel."})

    def question(id_: str, text: str, gold: list[str], **rest: object) -> dict[str, object]:
        return {"store": "ana", "id": id_, "text": text, "category": "made", "gold": gold, **rest}

    later = {"at": "2026-02-01T00:00:00+00:00"}
    questions = [
        question("q1", "When does the ferry to the island leave?", ["n3"], must_not=["n2"], **later),
        question("q2", "When did the ferry leave at first?", ["n2"], after=2),
        question("q3", "Who plays the violin?", ["o1"]),
        question("q4", "What is Ana allergic to?", ["m1"]),
        question("q5", "Which violin concerto is the longest?", [], category="absent"),
        question("q1", "What is the boat called?", ["n1"]) | {"store": "ben"},
    ]
    given: tuple[tuple[str, list[str]], ...] = (
        ("Where did I put the spare key?", ["n1"]),
        ("What is 17 times 3?", []),
    )
    prompts = [
        {"store": "ana", "id": f"p{number}", "text": text, "needs": bool(helpful), "helpful": helpful}
        for number, (text, helpful) in enumerate(given, 1)
    ]
    folder.mkdir(parents=True)
    for name, plain in (("memories", rows), ("questions", questions), ("prompts", prompts)):
        lines = "".join(json.dumps(row) + "\n" for row in plain)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    return folder


def write(path: Path, plain: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(plain), encoding="utf-8")
    return path


@dataclass
class Arbitrary:
    """Its likings have nothing to do with any profile's, are always the same, and differ by query."""

    read: list[tuple[str, str]] = field(default_factory=list)
    name: str = "arbitrary@1"

    def scores(self, query: str, texts: Sequence[str]) -> Floats:
        self.read += [(query, text) for text in texts]
        return np.array([crc32(f"{query}\n{text}".encode()) / 2**32 for text in texts])


class Counting:
    """An embedder that knows what it was asked for."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.asked: list[str] = []

    @property
    def model(self) -> Model:
        return self._embedder.model

    def documents(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return self._embedder.documents(texts)

    def query(self, text: str) -> Vector:
        self.asked.append(f"? {text}")
        return self._embedder.query(text)
