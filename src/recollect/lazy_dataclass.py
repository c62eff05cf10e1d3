"""`dataclass` of the standard library, but a frozen one with slots gets its methods when they are first used.

To generate them is most of what such a class costs to define, and a command uses few of the classes that it
imports: docs/decisions/0031-starting.md has the figures.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass
else:

    def dataclass(cls: type | None = None, /, **options: Any) -> Any:
        if cls is None:
            return partial(dataclass, **options)
        inherits = any(map(dataclasses.is_dataclass, cls.__bases__))
        if inherits or options != {"frozen": True, "slots": True}:
            return dataclasses.dataclass(**options)(cls)
        return _generated_later(cls)


__all__ = ["dataclass"]

_LATER = ("__repr__", "__eq__", "__hash__")
_OF_CLASS = {"__dict__", "__weakref__"}


@dataclasses.dataclass(frozen=True, slots=True)
class _Frozen:
    """Has what is the same in all of them."""


_FROZEN: Any = _Frozen


class _Generated:
    """A method that is not generated yet. Whoever looks it up gets the real one."""

    def __init__(self, generate: Callable[[], Any]) -> None:
        self._generate = generate

    def __get__(self, instance: object, owner: type) -> Any:
        return self._generate().__get__(instance, owner)


def _generated_later(cls: type) -> Any:
    written = {name: value for name, value in vars(cls).items() if name not in _OF_CLASS}
    documented = cls.__doc__
    cls.__doc__ = documented or cls.__name__  # else one is made of the signature, which needs `__init__`
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    made.__doc__ = documented
    if made.__match_args__ != tuple(each.name for each in dataclasses.fields(made)):
        # Keyword-only fields, or such as `__init__` does not take: none of our values has them.
        return dataclasses.dataclass(frozen=True, slots=True)(type(cls)(cls.__name__, cls.__bases__, written))

    # Two threads that come at once make the same twice.
    def initializer() -> Any:
        made.__init__ = _initializer(made)
        return made.__init__

    def generated(name: str) -> Any:
        plain = type(cls)(cls.__name__, cls.__bases__, written)
        plain = dataclasses.dataclass(init=False, frozen=True)(plain)
        for each in _LATER:
            setattr(made, each, vars(plain)[each])
        return vars(plain)[name]

    if "__init__" not in written:
        made.__init__ = _Generated(initializer)
    for name in _LATER:
        if written.get(name) is None:
            setattr(made, name, _Generated(partial(generated, name)))
    made.__setattr__, made.__delattr__ = _no_assignment, _no_deletion
    made.__getstate__, made.__setstate__ = _FROZEN.__getstate__, _FROZEN.__setstate__
    made.__dataclass_params__ = _FROZEN.__dataclass_params__
    return made


def _initializer(made: Any) -> Any:
    """Of its own making: the standard library's comes only with the other methods, at ten times the cost."""
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
    exec(text, scope)  # noqa: S102  # names of fields only, as the standard library does
    function: Any = scope["__init__"]
    function.__qualname__ = f"{made.__qualname__}.__init__"
    return function


def _no_assignment(_: object, name: str, __: object) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _no_deletion(_: object, name: str) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
