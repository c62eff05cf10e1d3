"""A model's graph whose weights stay in its file, where processes share them."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from recollect.domain.errors import ModelUnavailable
from recollect.models import packaged as loading
from recollect.models.onnx_graph import mapped_graph
from recollect.models.packaged import PackagedEmbedder
from recollect.models.registry import availability, packaged_model

if TYPE_CHECKING:
    from recollect.models.registry import PackagedModel

MODELS = Path(__file__).parents[4] / "models"
TEXTS = ("The cat sat on the mat.", "", "word " * 600)


def field(number: int, content: bytes | int) -> bytes:
    """One field of protobuf; numbers and lengths under 128 take one byte."""
    if isinstance(content, int):
        return bytes((number << 3, content))
    return bytes((number << 3 | 2, len(content))) + content


def model(kind: int, weights: bytes) -> bytes:
    """Version (1) and graph (7), of name (2) and tensor (5): shape (1), type (2), name (8), weights (9)."""
    tensor = field(1, len(weights)) + field(2, kind) + field(8, b"w") + field(9, weights)
    return field(1, 8) + field(7, field(2, b"graph") + field(5, tensor))


INT8, FLOAT = 3, 1


def test_a_large_weight_is_named_by_its_place_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(model(INT8, b"12345678"))
    made = mapped_graph(path, least=8)
    assert b"12345678" not in made
    offset = path.read_bytes().index(b"12345678")
    for key, value in (("location", "model.onnx"), ("offset", str(offset)), ("length", "8")):
        assert field(1, key.encode()) + field(2, value.encode()) in made
    assert made.endswith(field(14, 1))  # the data is elsewhere
    assert field(8, b"w") in made


@pytest.mark.parametrize(("kind", "least"), [(INT8, 9), (FLOAT, 8)], ids=["small", "to be aligned"])
def test_other_weights_stay_where_they_are(tmp_path: Path, kind: int, least: int) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(model(kind, b"12345678"))
    assert mapped_graph(path, least) == path.read_bytes()


@pytest.mark.parametrize("content", [b"", b"\xff" * 20, model(INT8, b"12345678")[:-1]])
def test_what_is_no_model_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    with pytest.raises((ValueError, IndexError)):
        mapped_graph(path)


def arctic() -> PackagedModel:
    state = availability("arctic-memory")
    model = packaged_model("arctic-memory")
    if not state.ready or model is None:
        pytest.skip(state.reason)
    return replace(model, graph=None)


def optimised_graph() -> bytes:
    """As the build of the model's wheel makes it."""
    weights = arctic().weights.resolve()
    spec = importlib.util.spec_from_file_location("graph", MODELS / "graph.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made: bytes = module.optimised_graph(weights)
    return made


def rows(model: PackagedModel) -> bytes:
    made: bytes = PackagedEmbedder(model).documents(TEXTS).tobytes()
    return made


def graphs_given(monkeypatch: Any) -> list[type]:
    """Whether each session from now on gets a graph, or the path of a file to load whole."""
    runtime = pytest.importorskip("onnxruntime")
    given: list[type] = []
    session = runtime.InferenceSession

    def recording_session(graph: bytes | str, *options: Any, **more: Any) -> Any:
        given.append(type(graph))
        return session(graph, *options, **more)

    monkeypatch.setattr(runtime, "InferenceSession", recording_session)
    return given


@pytest.mark.slow
def test_vectors_are_the_same_to_the_byte_as_of_the_file_loaded_whole(monkeypatch: Any) -> None:
    shared = rows(arctic())
    monkeypatch.setattr(loading, "mapped_graph", lambda _: b"no graph")
    assert rows(arctic()) == shared


@pytest.mark.slow
def test_the_optimised_graph_gives_the_same_vectors_to_the_byte(tmp_path: Path, monkeypatch: Any) -> None:
    optimised_anew = rows(arctic())
    graph = tmp_path / "graph.onnx"
    graph.write_bytes(optimised_graph())
    installed = packaged_model("arctic-memory")
    assert installed is not None
    monkeypatch.setattr(loading, "mapped_graph", lambda _: pytest.fail("it was optimised anew"))
    given = graphs_given(monkeypatch)
    assert rows(replace(arctic(), graph=graph)) == optimised_anew
    assert rows(installed) == optimised_anew
    assert given == [bytes, bytes]


@pytest.mark.slow
def test_without_a_readable_optimised_graph_the_model_is_optimised_anew(
    tmp_path: Path, monkeypatch: Any
) -> None:
    expected = rows(arctic())
    damaged = tmp_path / "graph.onnx"
    damaged.write_bytes(optimised_graph()[:-1000])
    given = graphs_given(monkeypatch)
    assert rows(replace(arctic(), graph=damaged)) == expected
    assert rows(replace(arctic(), graph=tmp_path / "missing.onnx")) == expected
    assert given == [bytes, bytes, bytes]


def test_a_linked_model_finds_its_weights_whatever_lies_in_the_working_directory(
    tmp_path: Path, monkeypatch: Any
) -> None:
    model = arctic()
    expected = rows(model)
    (tmp_path / "link.onnx").symlink_to(model.weights)
    (tmp_path / "model.onnx").write_bytes(bytes(model.weights.stat().st_size))
    monkeypatch.chdir(tmp_path)
    given = graphs_given(monkeypatch)
    assert rows(replace(model, weights=tmp_path / "link.onnx")) == expected
    assert given == [bytes]  # mapped, not loaded whole


def test_a_runtime_that_would_look_elsewhere_loads_the_file_whole(monkeypatch: Any) -> None:
    runtime = pytest.importorskip("onnxruntime")
    monkeypatch.setattr(runtime, "__version__", "1.20.1")
    given = graphs_given(monkeypatch)
    rows(arctic())
    assert given == [str]


def test_a_damaged_file_is_told_with_the_command_that_mends_it(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"no model")
    with pytest.raises(ModelUnavailable, match=re.escape("--force-reinstall")):
        rows(replace(arctic(), weights=path))
