"""The models that a run embeds with: each by its name, with the vectors of former runs."""

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
    """The embedder factory that a store gets."""

    setting: str
    """As the setting `model` has it."""
    preferred: str
    """The one that a new store gets."""
    embedder_named: EmbedderFactory

    @classmethod
    def only(cls, embedder: Embedder) -> Models:
        """One embedder, whatever it is called."""
        return cls(embedder.model.name, embedder.model.name, lambda _: embedder)


@contextmanager
def cached_models(settings: Settings, folder: Path | None) -> Iterator[Models]:
    """The models of these settings; without a folder, vectors are kept for this run alone."""
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
