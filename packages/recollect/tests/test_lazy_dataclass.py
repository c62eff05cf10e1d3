"""Our frozen dataclasses are those of the standard library; only their methods come later."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from dataclasses import FrozenInstanceError, field
from typing import ClassVar

import pytest

from recollect.domain.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Kettle:
    """Boils water."""

    litres: float
    colour: str = "black"
    seen: list[str] = field(default_factory=list, compare=False)
    key: str = field(default="", repr=False)
    limit: ClassVar[int] = 100


@dataclasses.dataclass(frozen=True, slots=True)
class Model:
    """The same, of the standard library."""

    litres: float
    colour: str = "black"
    seen: list[str] = field(default_factory=list, compare=False)
    key: str = field(default="", repr=False)
    limit: ClassVar[int] = 100


def test_it_prints_and_hashes_as_one_of_the_standard_library() -> None:
    ours, model = Kettle(1.5, seen=["shelf"], key="x"), Model(1.5, seen=["shelf"], key="x")
    assert repr(ours) == repr(model).replace("Model", "Kettle")
    assert repr(ours) == "Kettle(litres=1.5, colour='black', seen=['shelf'])"
    assert hash(ours) == hash(model)
    # Every instance has a list of its own, and what holds itself prints.
    kettle = Kettle(1.5)
    kettle.seen.append(kettle)  # type: ignore[arg-type]
    assert repr(kettle) == "Kettle(litres=1.5, colour='black', seen=[...])"
    assert Kettle(1.5).seen == []


def test_it_equals_by_its_compared_fields_and_only_its_own_kind() -> None:
    assert Kettle(1.5, seen=["shelf"]) == Kettle(1.5)
    assert Kettle(1.5) != Kettle(2.0)
    other: object = Model(1.5)
    assert Kettle(1.5) != other
    assert len({Kettle(1.5), Kettle(1.5, "black"), Kettle(1.5, "red")}) == 2


def test_few_fields_hash_as_those_of_the_standard_library() -> None:
    @dataclass(frozen=True, slots=True)
    class One:
        size: int

    @dataclass(frozen=True, slots=True)
    class Nothing:
        pass

    assert (hash(One(3)), hash(Nothing())) == (hash((3,)), hash(()))
    assert (One(3) == One(3), One(3) == One(4), Nothing() == Nothing()) == (True, False, True)
    assert (repr(One(3))[-11:], repr(Nothing())[-9:]) == ("One(size=3)", "Nothing()")


def test_nothing_can_be_assigned_deleted_or_added() -> None:
    kettle = Kettle(1.5)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'colour'"):
        kettle.colour = "red"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'colour'"):
        del kettle.colour
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'lid'"):
        kettle.lid = True  # type: ignore[attr-defined]
    assert not hasattr(kettle, "__dict__")


def test_it_is_replaced_copied_pickled_and_matched() -> None:
    kettle = Kettle(1.5, "red", ["shelf"], "k")
    assert dataclasses.replace(kettle, litres=2.0) == Kettle(2.0, "red", key="k")
    assert copy.deepcopy(kettle) == kettle
    assert pickle.loads(pickle.dumps(kettle)).seen == ["shelf"]  # noqa: S301  # our own
    assert dataclasses.asdict(kettle) == {"litres": 1.5, "colour": "red", "seen": ["shelf"], "key": "k"}
    match kettle:
        case Kettle(litres, colour):
            assert (litres, colour) == (1.5, "red")


def test_a_wrong_call_is_refused() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'litres'"):
        Kettle()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'lid'"):
        Kettle(1.0, lid=True)  # type: ignore[call-arg]


def test_its_signature_is_known_before_the_first_instance() -> None:
    @dataclass(frozen=True, slots=True)
    class Cup:
        size: int
        full: bool = False

    assert list(inspect.signature(Cup).parameters) == ["size", "full"]
    assert inspect.signature(Cup).parameters["full"].default is False
    assert Cup.__doc__ is None


def test_methods_of_the_class_stay_and_run() -> None:
    @dataclass(frozen=True, slots=True)
    class Cup:  # noqa: PLW1641  # it gets its hash all the same
        size: int

        def __post_init__(self) -> None:
            if self.size < 0:
                raise ValueError("no such cup")

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Cup)

        def __repr__(self) -> str:
            return "a cup"

    assert Cup(1) == Cup(2)
    assert hash(Cup(1)) == hash((1,))
    assert repr(Cup(1)) == "a cup"
    with pytest.raises(ValueError, match="no such cup"):
        Cup(-1)


def test_one_may_inherit_from_another() -> None:
    @dataclass(frozen=True, slots=True)
    class Whistling(Kettle):
        tone: str = "a"

    assert repr(Whistling(1.5)) == f"{Whistling.__qualname__}(litres=1.5, colour='black', seen=[], tone='a')"
    assert Whistling(1.5) != Kettle(1.5)


def test_other_options_and_fields_are_left_to_the_standard_library() -> None:
    @dataclass(frozen=True, slots=True)
    class Named:
        size: int
        name: str = field(kw_only=True)
        tag: str = field(default="none", init=False)

    @dataclass(order=True, slots=True)
    class Place:
        row: int

    assert (Named(1, name="a").name, Named(1, name="a").tag) == ("a", "none")
    assert sorted([Place(2), Place(1)]) == [Place(1), Place(2)]
