"""The embedding models of a run by name, with the cached vectors of earlier runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.bootstrap import embedder, model_name
from recollect.domain.errors import ModelUnavailable
from recollect_bench.caches import CachedEmbedder, cached_vectors

if TYPE_CHECKING:
    from recollect.services import EmbedderFactory
    from recollect.settings import Settings
    from recollect.stores.port import Embedder


@dataclass(frozen=True, slots=True)
class Models:
    """The embedder factory for stores."""

    setting: str
    """Value of the setting `model`."""
    preferred: str
    """Model of a new store."""
    embedder_named: EmbedderFactory

    @classmethod
    def only(cls, embedder: Embedder) -> Models:
        """Return models that use this embedder for every name."""
        return cls(embedder.model.name, embedder.model.name, lambda _: embedder)


@contextmanager
def cached_models(settings: Settings, folder: Path | None) -> Iterator[Models]:
    """Yield the models of these settings. Without a folder, vectors are only kept for this run."""
    with ExitStack() as stack:
        opened: dict[str, CachedEmbedder] = {}

        def embedder_named(name: str) -> Embedder | None:
            if name not in opened:
                made = embedder(name, settings)
                if made is None:
                    return None
                opened[name] = stack.enter_context(cached_vectors(made, folder))
            return opened[name]

        preferred = model_name(settings)
        if embedder_named(preferred) is None:
            raise ModelUnavailable(
                "Without a model there is no meaning to measure; name one with --model. See those there are: "
                "recollect reindex --list"
            )
        yield Models(settings.model, preferred, embedder_named)
