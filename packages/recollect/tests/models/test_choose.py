"""From names to embedders, and what to say where a name does not work."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from recollect.domain.errors import ModelUnavailable
from recollect.models import embedders as choose
from recollect.models import registry
from recollect.models.embedders import DefaultModel, ModelOptions, embedder_availabilities, embedder_named
from recollect.models.registry import Availability, availability

if TYPE_CHECKING:
    from collections.abc import Callable

ARCTIC = availability("arctic-s")
needs_arctic = pytest.mark.skipif(not ARCTIC.ready, reason=ARCTIC.reason)


def test_none_is_words_only_and_hashing_is_always_there() -> None:
    assert embedder_named("none") is None
    for name in ("hashing", "hashing@1", "hashing@1-64", " hashing "):
        embedder = embedder_named(name)
        assert embedder is not None
        assert embedder.model.name.startswith("hashing@1")


@needs_arctic
def test_a_stored_name_finds_the_model_that_made_it_and_threads_share_it() -> None:
    short = embedder_named("arctic-s")
    assert short is not None
    stored = embedder_named(short.model.name)
    assert stored is not None
    assert stored is short  # or the weights would be loaded twice
    threads = ModelOptions(threads=2)  # options that no other test uses
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda name: embedder_named(name, threads), ["arctic-s"] * 8))
    assert all(each is made[0] for each in made)


@needs_arctic
def test_another_revision_than_the_stored_one_asks_to_reindex() -> None:
    with pytest.raises(ModelUnavailable, match=r"made by 'arctic-s@0000'.*recollect reindex"):
        embedder_named("arctic-s@0000")


def test_a_name_that_does_not_work_says_what_to_do() -> None:
    there = "there are: arctic-memory, e5-memory, arctic-s, e5-small, potion, hashing, none, openai"
    expected = dict.fromkeys(("", "bge", "azure:ada", "arctic-s:x", "@1"), there)
    expected |= dict.fromkeys(("hashing@2", "hashing@1-x"), "recollect reindex")
    expected["ollama:"] = r"Which model of ollama.*ollama:nomic-embed-text"
    for name, telling in expected.items():
        with pytest.raises(ModelUnavailable, match=telling):
            embedder_named(name)


@needs_arctic
@pytest.mark.parametrize("library", ["onnxruntime", "tokenizers"])
def test_a_missing_library_names_the_command(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ModelUnavailable, match=f"but lacks {library}; run: pip install {library}"):
        embedder_named("arctic-s")


def test_a_missing_model_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "packaged_model", lambda *_: None)
    with pytest.raises(
        ModelUnavailable, match=r"'arctic-s' is not installed; run: pip install recollect-model-arctic-s "
    ):
        embedder_named("arctic-s@f93ff225")


@pytest.mark.parametrize(("former", "now"), [("arctic-s", "arctic-memory"), ("e5-small", "e5-memory")])
def test_a_store_of_a_former_default_may_install_it_or_reindex(
    former: str, now: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = Availability(
        former, ready=False, reason=f"{former!r} is not installed", command="pip install it"
    )
    there = Availability(now, ready=True, reason="ready")
    monkeypatch.setattr(registry, "availability", lambda *_: missing)
    monkeypatch.setattr(choose, "availability", {former: missing, now: there}.__getitem__)
    told = rf"run: pip install it; or recompute .* with '{now}': recollect reindex"
    with pytest.raises(ModelUnavailable, match=told):
        embedder_named(f"{former}@f93ff225")
    # Without a revision, it is a user who asks for this model.
    with pytest.raises(ModelUnavailable, match=r"run: pip install it$"):
        embedder_named(former)


def ready(*names: str) -> Callable[[str], Availability]:
    return lambda name: Availability(name, name in names, f"{name} is or is not there", f"install {name}")


def test_the_default_is_the_best_that_can_run(monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = "since the default is not ready: arctic-memory is or is not there"
    nothing = (
        "words only, since no model is ready: arctic-memory is or is not there; run: install arctic-memory"
    )
    for there, name, reason in (
        (("arctic-memory", "arctic-s"), "arctic-memory", "the default model"),
        (("arctic-s", "potion"), "arctic-s", lacking),
        (("potion", "e5-memory", "e5-small"), "e5-memory", lacking),
        (("potion",), "potion", lacking),
        ((), "none", nothing),
    ):
        monkeypatch.setattr(choose, "availability", ready(*there))
        assert choose.default_choice() == DefaultModel(name, reason)


def test_every_kind_is_listed_and_what_is_not_ready_says_how_to_make_it_so() -> None:
    listed = {one.name: one for one in embedder_availabilities()}
    assert {
        "arctic-memory",
        "e5-memory",
        "arctic-s",
        "e5-small",
        "potion",
        "hashing",
        "ollama:…",
        "fastembed:…",
    } <= listed.keys()
    assert all(one.reason for one in listed.values())
    assert all(one.command for one in listed.values() if not one.ready)


def modules_after(script: str) -> set[str]:
    code = f"import sys; {script}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_importing_the_choice_imports_no_library_of_a_model() -> None:
    heavy = {"numpy", "onnxruntime", "tokenizers", "httpx", "fastembed", "sentence_transformers"}
    assert not heavy & modules_after("import recollect.models.embedders")


@needs_arctic
def test_making_an_embedder_loads_no_model() -> None:
    script = "from recollect.models.embedders import embedder_named as e; e('arctic-s').model.name"
    assert not {"onnxruntime", "tokenizers"} & modules_after(script)
