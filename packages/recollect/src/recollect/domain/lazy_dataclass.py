"""The `dataclass` of the standard library, but faster to define for frozen classes with slots.

Defining such a class is slow because it compiles six methods, but a command uses few of the classes
that it imports: docs/internals/decisions/0031-start-up-time.md has the figures.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from dataclasses import dataclass
else:

    def dataclass(cls: type | None = None, /, **options: Any) -> Any:
        if cls is None:
            return partial(dataclass, **options)
        inherits = any(map(dataclasses.is_dataclass, cls.__bases__))
        if inherits or options != {"frozen": True, "slots": True}:
            return dataclasses.dataclass(repr=not _inherits_repr(cls), **options)(cls)
        return _generated_later(cls)


__all__ = ["dataclass"]


@dataclasses.dataclass(frozen=True, slots=True)
class _Frozen:
    """Source of the methods and attributes that are the same in all frozen classes."""


_FROZEN: Any = _Frozen


class _Later:
    """An `__init__` that is generated on first use."""

    def __init__(self, made: Any) -> None:
        self._made = made

    def __get__(self, instance: object, owner: type) -> Any:
        # Two threads may generate it at the same time; the results are equal.
        self._made.__init__ = generated = _initializer(self._made)
        return generated.__get__(instance, owner)


def _generated_later(cls: type) -> Any:
    written = dict(vars(cls))
    cls.__doc__ = cls.__doc__ or cls.__name__  # otherwise made from the signature of `__init__`
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    made.__doc__ = written["__doc__"]
    fields = dataclasses.fields(made)
    if made.__match_args__ != tuple(each.name for each in fields):
        # Keyword-only fields, or fields that `__init__` does not take. None of our classes has them.
        own = {name: value for name, value in written.items() if name not in {"__dict__", "__weakref__"}}
        again = type(cls)(cls.__name__, cls.__bases__, own)
        return dataclasses.dataclass(repr=not _inherits_repr(cls), frozen=True, slots=True)(again)
    compared = _values([each.name for each in fields if each.compare])
    hashed = _values([each.name for each in fields if (each.compare if each.hash is None else each.hash)])

    def equals(self: object, other: object) -> bool:
        return compared(self) == compared(other) if type(other) is type(self) else NotImplemented

    def hash_of(self: object) -> int:
        return hash(hashed(self))

    later = {"__init__": _Later(made), "__eq__": equals, "__hash__": hash_of}
    if not _inherits_repr(cls):
        later["__repr__"] = _repr_of
    for name, method in later.items():
        if written.get(name) is None:
            setattr(made, name, method)
    made.__setattr__, made.__delattr__ = _no_assignment, _no_deletion
    made.__getstate__, made.__setstate__ = _FROZEN.__getstate__, _FROZEN.__setstate__
    made.__dataclass_params__ = _FROZEN.__dataclass_params__
    return made


def _inherits_repr(cls: type) -> bool:
    """Whether a base class that is not a dataclass defines `__repr__`."""
    bases = cls.__mro__[1:-1]
    return any("__repr__" in vars(base) and not dataclasses.is_dataclass(base) for base in bases)


def _values(names: Sequence[str]) -> Callable[[object], tuple[object, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda record: tuple(getattr(record, name) for name in names)


@recursive_repr()
def _repr_of(record: Any) -> str:
    fields = [
        f"{each.name}={getattr(record, each.name)!r}" for each in dataclasses.fields(record) if each.repr
    ]
    return f"{type(record).__qualname__}({', '.join(fields)})"


def _initializer(made: Any) -> Any:
    """Generate the standard library's `__init__` without its other work."""
    scope = {"put": object.__setattr__, "lacking": dataclasses.MISSING}
    parameters, lines = ["self"], []
    for each in dataclasses.fields(made):
        usual, name = f"usual_{each.name}", each.name
        if each.default_factory is not dataclasses.MISSING:
            scope[usual] = each.default_factory
            parameter, value = f"{name}=lacking", f"{usual}() if {name} is lacking else {name}"
        elif each.default is not dataclasses.MISSING:
            scope[usual] = each.default
            parameter, value = f"{name}={usual}", name
        else:
            parameter = value = name
        parameters.append(parameter)
        lines.append(f" put(self, {name!r}, {value})")
    if hasattr(made, "__post_init__"):
        lines.append(" self.__post_init__()")
    text = f"def __init__({', '.join(parameters)}):\n" + "\n".join(lines or [" pass"])
    exec(text, scope)  # noqa: S102  # only field names, as in the standard library
    function: Any = scope["__init__"]
    function.__qualname__ = f"{made.__qualname__}.__init__"
    return function


def _no_assignment(_: object, name: str, __: object) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _no_deletion(_: object, name: str) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
