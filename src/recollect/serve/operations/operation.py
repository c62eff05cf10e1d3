"""An operation: what a caller may ask of a memory, as a value that any protocol can offer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_args, get_type_hints

from pydantic import ValidationError

from recollect.errors import InvalidInput
from recollect.serve.operations.arguments import Arguments
from recollect.serve.operations.recent_answers import RecentAnswers
from recollect.serve.operations.schema import plain_schema
from recollect.serve.operations.validation_errors import validation_message

if TYPE_CHECKING:
    from recollect.engine.engine import Engine
    from recollect.ports import Progress
    from recollect.serve.operations.catalogue import Definition

ArgumentsT = TypeVar("ArgumentsT", bound=Arguments)
ArgumentsT_co = TypeVar("ArgumentsT_co", bound=Arguments, covariant=True)
ResultT_co = TypeVar("ResultT_co", bound=Mapping[str, object], covariant=True)


_PAGE_FIELDS = frozenset({"cursor", "note", "left_out"})


@dataclass(frozen=True, slots=True)
class OperationReply(Generic[ResultT_co]):
    """What an operation answers with."""

    result: ResultT_co
    text: str | None = None
    """For a language model to read; None: the rows as JSON, and a remark on how to go on."""
    remark: str | None = None
    """What the caller should know beside it."""

    def texts(self) -> list[str]:
        text, remark = self.text, self.remark
        if text is None:
            text = as_json({name: self.result[name] for name in self.result if name not in _PAGE_FIELDS})
            remark = remark or continuation_text(self.result)
        return [text] if remark is None else [text, remark]


def as_json(data: object) -> str:
    """As the official server writes it."""
    return json.dumps(data, indent=2, ensure_ascii=False)


def continuation_text(page: Mapping[str, object]) -> str | None:
    """What a reader of the text must know to go on."""
    note = page.get("note")
    if "cursor" not in page:
        return None if note is None else str(note)
    return f"{note or 'There is more.'} The next page: cursor {page['cursor']!r}."


def _ignore_progress(done: int, total: int | None) -> None:
    """Nobody asked how far it is."""


@dataclass(frozen=True, slots=True)
class OperationCall(Generic[ArgumentsT_co]):
    """One call of an operation."""

    engine: Engine
    arguments: ArgumentsT_co
    progress: Progress = _ignore_progress
    """Called after every step of long work. It raises where the caller has given up on an answer."""
    offered: frozenset[str] = frozenset()
    """The names of the operations that the caller can use."""
    recent: RecentAnswers = field(default_factory=RecentAnswers)


_Run = Callable[[OperationCall[ArgumentsT]], OperationReply[ResultT_co]]


@dataclass(frozen=True, slots=True)
class Operation(Generic[ArgumentsT, ResultT_co]):
    """A function on a memory with its name and what a caller must know to use it."""

    name: str
    title: str
    run: _Run[ArgumentsT, ResultT_co]
    """Its docstring says when to use it and what to expect: this is what a language model reads."""
    read_only: bool
    """It changes nothing that a caller could see."""
    destructive: bool
    """What it takes away can come back only by another call."""
    idempotent: bool
    """Calling it again with the same arguments changes nothing more."""

    @property
    def arguments(self) -> type[ArgumentsT]:
        model: type[ArgumentsT] = get_args(get_type_hints(self.run)["call"])[0]
        return model

    def definition(self) -> Definition:
        """What a protocol tells its clients."""
        return {
            "title": self.title,
            "description": " ".join(cleandoc(self.run.__doc__ or "").split()),
            "arguments": plain_schema(self.arguments),
            "result": plain_schema(get_args(get_type_hints(self.run, include_extras=True)["return"])[0]),
            "read_only": self.read_only,
            "destructive": self.destructive,
            "idempotent": self.idempotent,
        }

    def parse(self, given: Mapping[str, Any]) -> ArgumentsT:
        """The arguments; a mistake in them is told in words that a language model can act on."""
        # Models often write null for what they leave out.
        passed = {name: value for name, value in _whole_numbers(given).items() if value is not None}
        try:
            return self.arguments.model_validate(passed)
        except ValidationError as error:
            schema = plain_schema(self.arguments)
            raise InvalidInput(validation_message(self.name, schema, error)) from None

    def call(self, engine: Engine, given: Mapping[str, Any], **more: Any) -> OperationReply[ResultT_co]:
        """Check the arguments, then do it; `more` are fields of the call."""
        return self.run(OperationCall(engine, self.parse(given), **more))


def operation(
    name: str, title: str, *, read_only: bool = False, destructive: bool = False, idempotent: bool = False
) -> Callable[[_Run[ArgumentsT, ResultT_co]], Operation[ArgumentsT, ResultT_co]]:
    """Make an operation of a function; what only reads may always be repeated."""

    def made(run: _Run[ArgumentsT, ResultT_co]) -> Operation[ArgumentsT, ResultT_co]:
        return Operation(name, title, run, read_only, destructive, idempotent or read_only)

    return made


def _whole_numbers(given: Any) -> Any:
    """With 5.0 as 5: JSON has one kind of number, and its schemas count both as integers."""
    match given:
        case dict():
            return {name: _whole_numbers(value) for name, value in given.items()}
        case list():
            return list(map(_whole_numbers, given))
        case float() if given.is_integer():
            return int(given)
        case _:
            return given
