"""Which model suits the languages of a memory: its first texts choose, later texts and questions propose."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from recollect.changes import TellOnce
from recollect.conditions import IN_FORCE, Equals
from recollect.engine.results import ModelProposal
from recollect.engine.services import LanguageModels, Services
from recollect.retrieval.contents import store_setting, was_told
from recollect.retrieval.passages import MODEL_CHOICE, model_in_use
from recollect.retrieval.records import memories_by_id
from recollect.text.languages import language_of

if TYPE_CHECKING:
    from recollect.ports import Snapshot
    from recollect.records import Memory

# Share of texts in other languages, of those that tell theirs, for which an English model is too little.
_MUCH = 0.25
_SAMPLE = 200
# Passages that are embedded anew in about a second, and in about a minute.
_FEW = 100
_MANY = 5_000


def first_model(services: Services, view: Snapshot) -> str:
    """The model for a store that has none yet: by the texts that are in it, where nobody named one."""
    models, preferred = services.language_models, services.preferred_model
    if models is None or not models.may_choose or not models.reads_only_english(preferred):
        return preferred
    ids = [id_ for (id_,) in view.rows("memory", ("id",), IN_FORCE)]
    counted = _count_languages(_texts(view, ids[:: -(-len(ids) // _SAMPLE) or 1]))
    return models.multilingual if _is_much(counted) else preferred


def first_model_note(services: Services) -> str | None:
    """What to say, once, of the model that a store has just taken; nothing of the usual one."""
    models, preferred = services.language_models, services.preferred_model
    with services.read() as view:
        model = model_in_use(view)
    if models is None or model is None or not models.automatic:
        return None
    name = model.name.partition("@")[0]
    if name != models.multilingual or name == preferred or not _is_first_time(services, "the first model"):
        return None
    return (
        f"Texts are not in English, so this memory uses the model {name}. For English alone, run: "
        f"{_reindex(preferred)}"
    )


def is_foreign(texts: Iterable[str]) -> bool:
    """Whether one of the texts is in another language than English."""
    return any(language_of(text) == "other" for text in texts)


def model_proposal(services: Services) -> ModelProposal | None:
    """The model that suits the newest texts better than the one in use, if there is one."""
    models = services.language_models
    with services.read_everything() as view:
        model = model_in_use(view)
        if models is None or model is None or not models.reads_only_english(model.name):
            return None
        told, other = counted = _count_languages(newest_texts(view))
    if not _is_much(counted):
        return None
    which = f"{other} of the newest {told} texts are" if told > 1 else "The text is"
    return _proposal(models, model.name, which)


def model_to_change_to(services: Services, *, in_background: bool = False) -> str | None:
    """The model to take at once: where the store is small, nobody named its model, and another is ready.

    In the background, a larger store may be changed, too.
    """
    models = services.language_models
    if models is None or not models.may_choose or (in_background and not models.in_background):
        return None
    most = _MANY if in_background else _FEW
    with services.read_everything() as view:
        if view.count("passage", (Equals("live", 1),))[None] > most:
            return None
        return models.multilingual if store_setting(view, MODEL_CHOICE) else None


def change_note(name: str, changed_to: str, which: str) -> str:
    return f"{_unread_text(name, which)[:-1]}, so this memory now uses the model {changed_to}."


def text_note(services: Services, name: str) -> str | None:
    """What to say of a text that the model in use does not read: once of the first, once of many."""
    models = services.language_models
    if models is None:
        return None
    of_many = model_proposal(services)
    if of_many is not None:
        return _once(services, f"many texts that {name} does not read", of_many)
    # Where the other model is there, a single text is no reason to embed all others anew.
    of_first = None if models.install is None else _proposal(models, name, "This text is")
    return _once(services, f"a text that {name} does not read", of_first)


def background_note(services: Services, name: str, other: str) -> str | None:
    """What to say, once, of a store that is being changed for a question."""
    if not _is_first_time(services, f"a change from {name}"):
        return None
    unread = _unread_text(name, "The question is")
    return f"{unread[:-1]}, so this memory changes to the model {other} in the background."


def question_note(services: Services, name: str) -> str | None:
    """What to say of a question that the model in use does not read: once."""
    models = services.language_models
    proposal = None if models is None else _proposal(models, name, "The question is")
    return _once(services, f"a question that {name} does not read", proposal)


def _once(services: Services, topic: str, proposal: ModelProposal | None) -> str | None:
    return proposal.text if proposal is not None and _is_first_time(services, topic) else None


def _is_first_time(services: Services, topic: str) -> bool:
    with services.read() as view:
        if was_told(view, topic):
            return False
    # Of two processes that come here at once, one tells.
    return services.write([TellOnce(topic)])[0].created


def _proposal(models: LanguageModels, name: str, which: str) -> ModelProposal:
    commands = filter(None, (models.install, _reindex(models.multilingual)))
    return ModelProposal(models.multilingual, _unread_text(name, which), tuple(commands))


def _unread_text(name: str, which: str) -> str:
    return f"{which} not in English, the only language that {name.partition('@')[0]} reads."


def _reindex(model: str) -> str:
    return f"recollect reindex --model {model}"


def newest_texts(view: Snapshot) -> list[str]:
    """What the memories that were stored last say, of every scope."""
    ids = view.rows("memory", ("id",), IN_FORCE, newest_first=True, limit=_SAMPLE)
    return _texts(view, [id_ for (id_,) in ids])


def spoken_text(memory: Memory) -> str:
    """What a memory says in somebody's words; a name or a type is in no language."""
    return memory.text or " ".join(seen.content for seen in memory.in_force)


def _texts(view: Snapshot, ids: Sequence[int]) -> list[str]:
    return [spoken_text(memory) for memory in memories_by_id(view, ids).values()]


def _count_languages(texts: Iterable[str]) -> tuple[int, int]:
    """How many texts tell their language, and how many of those are not in English."""
    guesses = [guess for text in texts if (guess := language_of(text)) is not None]
    return len(guesses), guesses.count("other")


def _is_much(counted: tuple[int, int]) -> bool:
    told, other = counted
    return other > 0 and other >= _MUCH * told
