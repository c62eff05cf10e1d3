"""Changing the model of a store, or proposing to, for texts and questions that it does not read."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from recollect.engine import embedding
from recollect.engine.embedding import StoppedEmbedding, switch_model, until_stopping
from recollect.engine.language_choice import (
    background_note,
    change_note,
    is_foreign,
    model_proposal,
    model_to_change_to,
    question_note,
    text_note,
)
from recollect.engine.services import Services
from recollect.engine.worker import Priority
from recollect.errors import Conflict, ModelUnavailable, RecollectError
from recollect.retrieval.passages import model_in_use

_log = logging.getLogger(__name__)


def suit_texts(services: Services, texts: Sequence[str]) -> str | None:
    """Change the model, or propose to, where the one in use does not read these texts; what to say of it."""
    name = _english_model(services, texts)
    if name is None:
        return None
    changed = _changed_model(services, name) if model_proposal(services) is not None else None
    return text_note(services, name) if changed is None else change_note(name, changed, "Some texts are")


def suit_question(services: Services, question: str) -> str | None:
    """The same for a question. Whatever comes of it, the question is answered."""
    try:
        name = _english_model(services, [question])
        if name is None:
            return None
        if (changed := _changed_model(services, name)) is not None:
            return change_note(name, changed, "A question is")
        if (other := model_to_change_to(services, in_background=True)) is not None:
            _change_in_background(services, name, other)
            return background_note(services, name, other)
        return question_note(services, name)
    except RecollectError as error:
        _log.info("Nothing was said of the language of a question: %s", error)
        return None


def _english_model(services: Services, texts: Sequence[str]) -> str | None:
    """The model in use, where it reads only English and one of the texts is in another language."""
    models = services.language_models
    if models is None or not is_foreign(texts):
        return None
    name = used_model_name(services)
    return name if name is not None and models.reads_only_english(name) else None


def used_model_name(services: Services) -> str | None:
    with services.read() as view:
        model = model_in_use(view)
    return None if model is None else model.name


def _changed_model(services: Services, name: str) -> str | None:
    """The model that the store has now instead of this one, if it could be changed at once."""
    other = model_to_change_to(services)
    try:
        embedder = None if other is None else services.embedder_named(other)
        if embedder is None:
            return None
        switch_model(services, embedder, automatic=True)
    except (ModelUnavailable, Conflict) as error:
        _log.info("The memory keeps the model %s: %s", name, error)
        return None
    _log.info("The memory uses the model %s now instead of %s, for its languages.", other, name)
    return other


def _change_in_background(services: Services, name: str, other: str) -> None:
    if not services.store.changing_model:
        services.store.changing_model = True
        services.worker.submit(Priority.VECTORS, lambda: _change_until_closed(services, name, other))


def _change_until_closed(services: Services, name: str, other: str) -> None:
    """Stopped midway, the next question in another language goes on where it was."""
    try:
        embedder = services.embedder_named(other)
        is_closed = services.worker.stopping.wait(embedding.GIVE_WAY_SECONDS)
        # Somebody else may have changed it by now.
        if embedder is not None and not is_closed and used_model_name(services) == name:
            switch_model(services, embedder, until_stopping(services), automatic=True)
            _log.info("The memory uses the model %s now instead of %s, for its languages.", other, name)
    except StoppedEmbedding:
        _log.info("The memory was closed before every text had a vector of %s.", other)
    except RecollectError as error:
        _log.warning("The memory keeps the model %s: %s", name, error)
    finally:
        services.store.changing_model = False
