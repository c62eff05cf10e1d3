"""How a store chooses its model by the languages of its texts, with small models made for the tests."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import pytest
from conftest import PATIENCE_SECONDS, FixedClock

from recollect.domain.errors import ModelUnavailable
from recollect.domain.records import Model, Scope
from recollect.engine import Engine
from recollect.models.hashing import HashingEmbedder
from recollect.search.recording import UsageRecorder
from recollect.services import LanguageModels, Services
from recollect.stores.sqlite.store import SqliteStore
from recollect.transfer import import_file
from recollect.write import embedding
from recollect.write.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from recollect.stores.port import Embedder, Vector, Vectors

    Opened = Callable[..., Engine]

ENGLISH = ["I take my tea without milk", "The dentist is on Monday at nine", "We park on level three"]
SPANISH = ["Mi hermana vive en Lisboa", "El dentista es el lunes a las nueve", "Prefiero el té sin leche"]
CHANGE = "recollect reindex --model many"


@dataclass(frozen=True)
class StandIn:
    """A model under another name, which can do something before it embeds."""

    model: Model
    before: Callable[[], None] = lambda: None

    def documents(self, texts: Sequence[str]) -> Vectors:
        self.before()
        return HashingEmbedder().documents(texts)

    def query(self, text: str) -> Vector:
        return HashingEmbedder().query(text)


def stand_ins(**before: Callable[[], None]) -> Callable[[str], Embedder | None]:
    """`plain` reads only English, `many` every language."""

    def load_embedder(name: str) -> Embedder | None:
        short = name.partition("@")[0]
        return StandIn(Model(f"{short}@1", 256), before.get(short, lambda: None))

    return load_embedder


def models(*, install: str | None = None, automatic: bool = True) -> LanguageModels:
    return LanguageModels("many", install, lambda name: name.startswith("plain"), automatic)


def engine_on(
    repository: Repository,
    chosen: LanguageModels | None = None,
    named: Callable[[str], Embedder | None] | None = None,
) -> Engine:
    usage = UsageRecorder(repository, "test", PATIENCE_SECONDS)
    services = Services(repository, FixedClock(), named or stand_ins(), "plain", Scope(), usage)
    return Engine(replace(services, language_models=chosen or models()))


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    """Engines on one store, each as a process of its own would have it."""
    repository = Repository(SqliteStore(tmp_path / "memory.db"))
    yield partial(engine_on, repository)
    repository.close()


def model(memory: Engine) -> str | None:
    return None if memory.model is None else memory.model.name


def test_a_first_text_in_spanish_takes_the_multilingual_model_and_says_so_once(opened: Opened) -> None:
    memory = opened()
    first = memory.remember(SPANISH[0])
    assert model(memory) == "many@1"
    assert first.model_note is not None
    assert "this memory uses the model many." in first.model_note
    assert "recollect reindex --model plain" in first.model_note
    assert memory.remember(SPANISH[1]).model_note is None
    assert memory.upkeep.model_proposal() is None


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([*ENGLISH, SPANISH[0]], "many@1"),  # 1 of 4
        ([*ENGLISH, "She was at the harbour", SPANISH[0]], "plain@1"),  # 1 of 5
        (["OK", "12:30", SPANISH[0]], "many@1"),  # two tell nothing
        (["OK", "12:30"], "plain@1"),
    ],
)
def test_a_quarter_of_the_first_batch_decides(opened: Opened, texts: list[str], expected: str) -> None:
    memory = opened()
    memory.remember_many(texts)
    assert model(memory) == expected


@pytest.mark.parametrize("way", ["messages", "entities", "import"])
def test_every_way_in_chooses(opened: Opened, way: str, tmp_path: Path) -> None:
    memory = opened()
    if way == "messages":
        note = memory.add_messages("s", [{"role": "user", "content": SPANISH[0]}]).model_note
    elif way == "entities":
        note = memory.create_entities([{"name": "Inés", "observations": SPANISH}]).model_note
    else:
        line = {"type": "entity", "name": "Inés", "entityType": "persona", "observations": SPANISH}
        (tmp_path / "memory.jsonl").write_text(json.dumps(line))
        note = import_file(memory, tmp_path / "memory.jsonl").model_note
    assert model(memory) == "many@1"
    assert note is not None


def test_a_named_model_stands_and_the_change_is_proposed_once(opened: Opened) -> None:
    memory = opened(models(automatic=False))
    note = memory.remember(SPANISH[0]).model_note
    assert note == f"The text is not in English, the only language that plain reads. Run: {CHANGE}"
    assert memory.remember(SPANISH[1]).model_note is None
    # A later engine without an explicit model finds the stored choice.
    later = opened()
    assert later.remember(SPANISH[2]).model_note is None
    assert model(later) == "plain@1"
    proposal = later.upkeep.model_proposal()
    assert proposal is not None
    assert (
        proposal.reason == "3 of the newest 3 texts are not in English, the only language that plain reads."
    )
    assert (proposal.model, proposal.commands) == ("many", (CHANGE,))


def test_a_model_that_is_not_installed_is_named_by_the_first_text_that_needs_it(opened: Opened) -> None:
    memory = opened(models(install="pip install many"))
    for text in [*ENGLISH, "She was at the harbour"]:
        assert memory.remember(text).model_note is None
        assert model(memory) == "plain@1"
    first = memory.remember(SPANISH[0]).model_note
    assert first is not None
    assert first.startswith("This text is not in English")
    assert first.endswith(f"Run: pip install many, then: {CHANGE}")
    # 2 of 6 are more than a quarter, which is said once more; then nothing is.
    assert (memory.remember(SPANISH[1]).model_note or "").startswith(
        "2 of the newest 6 texts are not in English"
    )
    assert memory.remember(SPANISH[2]).model_note is None
    assert model(memory) == "plain@1"


def test_a_small_store_changes_at_once_when_its_language_becomes_clear(opened: Opened) -> None:
    memory = opened()
    memory.remember("OK")
    assert model(memory) == "plain@1"
    assert "so this memory now uses the model many." in (memory.remember(SPANISH[0]).model_note or "")
    assert model(memory) == "many@1"
    counts = memory.counts()
    assert (counts.vectors, counts.due) == (2, 0)


def test_a_larger_store_is_left_to_its_owner(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "_FEW", 3)
    memory = opened()
    memory.remember_many(ENGLISH)
    assert (memory.remember(SPANISH[0]).model_note or "").endswith(f"Run: {CHANGE}")
    assert model(memory) == "plain@1"
    assert memory.reindex("many").switched
    assert memory.upkeep.model_proposal() is None


def test_what_reindex_names_is_not_changed_again(opened: Opened) -> None:
    memory = opened()
    memory.remember(SPANISH[0])
    memory.reindex("plain")
    memory.remember(SPANISH[1])
    assert model(memory) == "plain@1"


def test_a_question_in_another_language_changes_a_small_store(opened: Opened) -> None:
    memory = opened()
    memory.remember_many(ENGLISH)
    # Unrecorded questions and questions about the past change nothing.
    assert memory.recall("¿Dónde vive mi hermana?", record=False).note is None
    assert model(memory) == "plain@1"
    assert "now uses the model many" in (memory.recall("¿Dónde vive mi hermana?").note or "")
    assert model(memory) == "many@1"
    assert memory.recall("¿Dónde vive mi hermana?").note is None


def test_a_larger_store_changes_in_the_background_where_the_process_stays(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "_FEW", 2)
    monkeypatch.setattr(embedding, "GIVE_WAY_SECONDS", 0.0)
    memory = opened(replace(models(), in_background=True))
    memory.remember_many(ENGLISH)
    note = memory.recall("¿Dónde vive mi hermana?").note
    assert note == (
        "The question is not in English, the only language that plain reads, so this memory changes to the "
        "model many in the background."
    )
    memory._services.worker.settle_jobs(PATIENCE_SECONDS)
    assert model(memory) == "many@1"
    assert (memory.counts().vectors, memory.counts().due) == (3, 0)
    assert memory.recall("¿Dónde vive mi hermana?").note is None


def test_a_store_that_is_larger_still_is_left_to_its_owner(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "_FEW", 1)
    monkeypatch.setattr(embedding, "_MANY", 2)
    memory = opened(replace(models(), in_background=True))
    memory.remember_many(ENGLISH)
    assert (memory.recall("¿Dónde vive mi hermana?").note or "").endswith(CHANGE)
    memory._services.worker.settle_jobs(PATIENCE_SECONDS)
    assert model(memory) == "plain@1"


def test_closing_ends_a_change_in_the_background(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "_FEW", 2)
    monkeypatch.setattr(embedding, "GIVE_WAY_SECONDS", 0.0)
    begun, closed = threading.Event(), threading.Event()

    def slow() -> None:
        begun.set()
        closed.wait(PATIENCE_SECONDS)

    memory = opened(replace(models(), in_background=True), stand_ins(many=slow))
    memory.remember_many(ENGLISH)
    memory.recall("¿Dónde vive mi hermana?")
    assert begun.wait(PATIENCE_SECONDS)
    memory._services.worker.stopping.set()
    closed.set()
    memory._services.worker.settle_jobs(PATIENCE_SECONDS)
    assert model(memory) == "plain@1"
    assert memory.recall("We park on level three").hits[0].memory.text == ENGLISH[2]


def test_a_question_in_another_language_is_remarked_on_once_where_the_model_was_named(opened: Opened) -> None:
    memory = opened(models(automatic=False))
    memory.remember_many(ENGLISH)
    note = memory.recall("¿Dónde vive mi hermana?").note
    assert note == f"The question is not in English, the only language that plain reads. Run: {CHANGE}"
    assert memory.recall("¿Quién toma el té sin leche?").note is None
    assert memory.recall("Where do we park?").note is None


def test_of_two_first_choices_at_once_one_stands(opened: Opened) -> None:
    other = opened()
    # While this one embeds its Spanish text, another process has stored and embedded an English one.
    begun = threading.Event()

    def meanwhile() -> None:
        if not begun.is_set():
            begun.set()
            other.remember_many([*ENGLISH, "She was at the harbour", "They went by train"])

    memory = opened(named=stand_ins(many=meanwhile))
    memory.remember(SPANISH[0])
    assert begun.is_set()
    with memory._services.store.read() as view:
        names = [name for (name,) in view.rows("model", ("name",))]
        vectors = len(view.rows("vector", ("passage_id",)))
    assert len(names) == 1
    counts = memory.counts()
    assert (vectors, counts.vectors, counts.due) == (6, 6, 0)


def test_five_that_write_first_at_once_end_with_one_model(tmp_path: Path) -> None:
    texts = [*SPANISH, ENGLISH[0], "OK"]
    SqliteStore(tmp_path / "memory.db").close()
    start = threading.Barrier(len(texts))
    notes: list[str] = []

    def write(text: str) -> None:
        with engine_on(Repository(SqliteStore(tmp_path / "memory.db"))) as memory:
            start.wait(PATIENCE_SECONDS)
            note = memory.remember(text).model_note
            notes.extend([] if note is None else [note])

    threads = [threading.Thread(target=write, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store = Repository(SqliteStore(tmp_path / "memory.db"))
    with store.read() as view:
        assert [name for (name,) in view.rows("model", ("name",))] == ["many@1"]
        assert (
            len(view.rows("vector", ("passage_id",))) + len(view.rows("pending_vector", ("passage_id",))) == 5
        )
    store.close()
    assert len([note for note in notes if "uses the model many" in note]) >= 1


def test_a_model_that_cannot_be_loaded_leaves_the_store_as_it_is(opened: Opened) -> None:
    def broken() -> None:
        raise ModelUnavailable("The model package many is damaged")

    memory = opened(named=stand_ins(many=broken))
    memory.remember("OK")
    assert (memory.remember(SPANISH[0]).model_note or "").endswith(CHANGE)
    assert model(memory) == "plain@1"
    assert memory.counts().due == 0


# A store that was made with a former default model


def without_plain() -> Callable[[str], Embedder | None]:
    """`plain` is not installed any more; `new` took its place."""

    def load_embedder(name: str) -> Embedder | None:
        if name.startswith("plain"):
            raise ModelUnavailable("The model 'plain' is not installed")
        return stand_ins()(name)

    return load_embedder


def with_successor(*, automatic: bool = True) -> LanguageModels:
    return replace(
        models(automatic=automatic),
        reads_only_english=lambda name: name.startswith(("plain", "new")),
        successor_of={"plain@1": "new"}.get,
    )


def test_a_small_store_leaves_a_former_model_that_is_not_installed(opened: Opened) -> None:
    memory = opened()
    memory.remember_many(ENGLISH)
    assert model(memory) == "plain@1"
    later = opened(with_successor(), without_plain())
    unrecorded = later.recall("tea", record=False)
    assert (unrecorded.mode, model(later)) == ("words", "plain@1")
    answer = later.recall("tea")
    assert answer.note == "The model plain is not installed, so this memory now uses the model new."
    assert (answer.mode, model(later)) == ("hybrid", "new@1")
    assert later.recall("tea").note is None


def test_a_write_to_a_small_store_leaves_the_former_model_too(opened: Opened) -> None:
    memory = opened()
    memory.remember_many(ENGLISH)
    later = opened(with_successor(), without_plain())
    note = later.remember("The boiler is in the cellar").model_note
    assert note == "The model plain is not installed, so this memory now uses the model new."
    assert later.counts().due == 0


@pytest.mark.parametrize("named", ["by the user now", "by the user then", "large"])
def test_other_stores_keep_the_former_model_and_say_why_words_search(
    opened: Opened, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = opened(models(automatic=named != "by the user then"))
    memory.remember_many(ENGLISH)
    monkeypatch.setattr(embedding, "_FEW", 2 if named == "large" else 100)
    later = opened(with_successor(automatic=named != "by the user now"), without_plain())
    answer = later.recall("tea")
    assert answer.note == "Searched by words only: The model 'plain' is not installed"
    assert model(later) == "plain@1"


def test_reindex_without_a_name_takes_the_successor(opened: Opened) -> None:
    memory = opened()
    memory.remember_many(ENGLISH)
    result = opened(with_successor(), without_plain()).reindex()
    assert (result.switched, result.model.name, result.embedded) == (True, "new@1", 3)
    # The model is still the store's own choice, so other languages change it.
    memory = opened(with_successor())
    memory.remember_many(SPANISH)
    assert model(memory) == "many@1"


def test_reindex_keeps_the_former_model_that_the_user_named(opened: Opened) -> None:
    memory = opened(with_successor(automatic=False))
    memory.remember_many(ENGLISH)
    assert not memory.reindex().switched
    assert model(memory) == "plain@1"
