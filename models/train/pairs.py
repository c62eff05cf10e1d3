"""Questions with the texts that answer them, and the texts beside those: what an embedder is tuned on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from recollect.language.questions import language_of
from recollect.text.passages import passage_texts
from recollect_bench.datasets import Document, Haystack
from recollect_bench.formats.folder import folder_form


@dataclass(frozen=True, slots=True)
class Pair:
    """One question. Each entry of `answers` is one memory, as the passages that the product embeds."""

    query: str
    answers: tuple[tuple[str, ...], ...]
    pool: Sequence[str]
    """Other texts of the same store, from which hard negatives are mined."""
    no_negatives: frozenset[str]
    """Texts that must not be taught as wrong: the answers, and what stood in their place before or after."""


def document_texts(document: Document) -> tuple[str, ...]:
    """Return the passages of a document as the product embeds them."""
    if document.kind != "entity-observation":
        return passage_texts(document.text, document.speaker)
    known = document.entity_type and document.entity_type != "unknown"
    head = f"{document.entity} ({document.entity_type})" if known else document.entity
    return (f"{head}: {document.text}",)


def folder_pairs(folder: Path) -> tuple[list[Pair], list[Pair]]:
    """Return the pairs of questions, and those of prompts, in a folder with `memories.jsonl`."""
    haystacks = folder_form(folder.name, folder).haystacks
    questions = [pair for haystack in haystacks for pair in _question_pairs(haystack)]
    prompts = [
        pair
        for haystack in haystacks
        for prompt in haystack.prompts
        if prompt.helpful
        and (pair := _pair(haystack, prompt.text, prompt.helpful, frozenset(), len(haystack.documents)))
    ]
    return questions, prompts


def published_pairs(file: Path) -> list[Pair]:
    """Return the pairs of `NAME.jsonl`, whose pools are in `NAME.pools.json`."""
    pools = json.loads(file.with_suffix(".pools.json").read_text(encoding="utf-8"))
    rows = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return [
        Pair(
            row["query"],
            tuple((text,) for text in row["positive"]),
            pools[row["pool"]],
            frozenset(row["positive"]),
        )
        for row in rows
    ]


def _question_pairs(haystack: Haystack) -> Iterator[Pair]:
    for question in haystack.judged_questions:
        stored = haystack.asked_after(question)
        if pair := _pair(haystack, question.text, question.relevant, question.must_not, stored):
            yield pair


def _pair(
    haystack: Haystack, query: str, gold: Iterable[str], related: Iterable[str], stored: int
) -> Pair | None:
    """Return the pair, or None for one in another language than English."""
    texts = {document.id: document_texts(document) for document in haystack.documents[:stored]}
    answers = tuple(texts[id_] for id_ in sorted(gold) if id_ in texts and _is_english(texts[id_][0]))
    if not answers or not _is_english(query):
        return None
    kept = frozenset(text for id_ in (*gold, *related) for text in texts.get(id_, ()))
    pool = [text for each in texts.values() for text in each if text not in kept]
    return Pair(query, answers, pool, kept)


def _is_english(text: str) -> bool:
    return language_of(text) != "other"


def with_pool(pairs: Iterable[Pair], pool: Sequence[str]) -> list[Pair]:
    """Add the texts of other stores to the pools: no memory of one person answers another's question."""
    return [replace(pair, pool=[*pair.pool, *pool]) for pair in pairs]
