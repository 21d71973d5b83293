"""`cinatra_sdk.light_imports.records` makes what the standard decorator makes, and compiles it when it is needed."""

from __future__ import annotations

import ast
import copy
import dataclasses
import importlib
import inspect
import itertools
import pickle
import subprocess
import sys
import types
import typing
from collections.abc import Callable
from dataclasses import InitVar
from typing import Any

import pytest

from cinatra_sdk.light_imports.records import dataclass
from tests.sources import ROOT, parse

PACKAGES = ("cinatra_sdk", "oas_compiler")
OWN_METHODS = ("__init__", "__repr__", "__eq__", "__hash__", "__setattr__", "__delattr__")


def body(names: dict[str, Any]) -> None:
    """A class with a field of every sort that the packages use."""
    names["__annotations__"] = {
        "first": "int",
        "second": "list[int]",
        "note": "str",
        "secret": "str",
        "made": "list[int]",
        "fixed": "str",
        "shared": "typing.ClassVar[int]",
        "last": "str | None",
    }
    names["note"] = dataclasses.field(default="n", compare=False)
    names["secret"] = dataclasses.field(default="s", repr=False)
    names["made"] = dataclasses.field(default_factory=list)
    names["fixed"] = dataclasses.field(init=False, default="f")
    names["shared"] = 7
    names["last"] = dataclasses.field(default=None, kw_only=True)
    names["__module__"] = __name__
    names["__doc__"] = "A record."


def make(decorator: Callable[..., Any], bases: tuple[type, ...] = (), **options: bool) -> Any:
    return decorator(**options)(types.new_class("Sample", bases, exec_body=body))


CHOICES = [
    dict(zip(("frozen", "slots", "kw_only", "eq", "repr"), chosen, strict=True))
    for chosen in itertools.product((False, True), repeat=5)
]


def told(work: Callable[[], object]) -> tuple[str, str]:
    try:
        return "", repr(work())
    except Exception as error:
        return type(error).__name__, str(error)


@pytest.mark.parametrize(
    "options", CHOICES, ids=lambda one: "-".join(k for k, v in one.items() if v)
)
def test_it_makes_what_the_standard_decorator_makes(options: dict[str, bool]) -> None:
    def tell_all(decorator: Callable[..., Any]) -> list[tuple[str, str]]:
        kind = make(decorator, **options)
        one = kind(first=1, second=[2])
        other = kind(first=1, second=[2], note="another", secret="s")
        third = kind(first=1, second=[2], secret="another")
        shown = [
            told(lambda: inspect.signature(kind)),
            told(lambda: typing.get_type_hints(kind.__init__)),
            told(lambda: kind(1)),
            told(lambda: kind(1, [2], "n", "s", [3], last="l").made),
            told(lambda: kind(first=1, second=[2], fixed="no")),
            told(lambda: one.fixed),
            told(lambda: one.made is not other.made),
            told(lambda: (one == other, one == third, one != other, one == 1)),
            told(lambda: kind.__match_args__),
            told(lambda: [each.name for each in dataclasses.fields(kind)]),
            told(lambda: dataclasses.asdict(one)),
            told(lambda: dataclasses.replace(one, first=5).first),
            told(lambda: dataclasses.replace(one, fixed="no")),
            told(lambda: kind.__hash__ is None),
            told(lambda: kind.__doc__),
            told(lambda: kind.__init__.__qualname__),
            told(lambda: (kind.__init__.__module__, kind.__init__.__annotations__)),
            told(lambda: setattr(one, "first", 9)),
            told(lambda: one.first),
            told(lambda: delattr(one, "last")),
            told(lambda: copy.deepcopy(third).secret),
            told(lambda: copy.copy(third).second is third.second),
            told(lambda: hasattr(one, "__dict__")),
        ]
        if options["repr"]:
            shown.append(told(lambda: third))
        if options["eq"]:
            shown.append(told(lambda: hash(one)))
        params = kind.__dataclass_params__
        shown.append(("", str([params.frozen, params.eq, params.repr, params.init])))
        return shown

    assert tell_all(dataclass) == tell_all(dataclasses.dataclass)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    name: str
    numbers: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name.strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptMore(Kept):
    more: Any = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class StandardMore(Kept):
    more: Any = None


@dataclasses.dataclass(frozen=True)
class Standard:
    name: str


@dataclass(frozen=True)
class AboveStandard(Standard):
    more: int = 0


@dataclass(repr=False, eq=False)
class Quiet:
    name: str


def test_values_are_hashed_and_survive_a_pickle() -> None:
    for one in (Kept(name=" a ", numbers=(1,)), KeptMore(name="a", more=(2,)), Quiet("a")):
        again = pickle.loads(pickle.dumps(one))
        assert vars(again) == vars(one) if isinstance(one, Quiet) else again == one
    assert {Kept(name="a"), Kept(name=" a")} == {Kept(name="a")}
    assert hash(Kept(name="a", numbers=(1,))) == hash(("a", (1,)))
    with pytest.raises(TypeError, match="unhashable"):
        hash(KeptMore(name="a", more=[]))


@pytest.mark.parametrize("kind", [KeptMore, StandardMore])
def test_classes_inherit_from_one_another(kind: Any) -> None:
    one = kind(name=" a ", more=3)
    assert (one.name, one.numbers, one.more) == ("a", (), 3)
    assert repr(one) == f"{kind.__name__}(name='a', numbers=(), more=3)"
    assert one != Kept(name="a")
    assert one == kind(name="a", more=3)
    assert one != kind(name="a", more=4)
    for name in ("name", "more"):
        with pytest.raises(
            dataclasses.FrozenInstanceError, match=f"cannot assign to field '{name}'"
        ):
            setattr(one, name, "b")
        with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot delete field '{name}'"):
            delattr(one, name)


def test_a_frozen_class_and_one_that_is_not_do_not_mix() -> None:
    assert repr(AboveStandard("a", 1)) == "AboveStandard(name='a', more=1)"
    for decorator in (dataclass, dataclasses.dataclass):
        with pytest.raises(TypeError, match="cannot inherit non-frozen"):
            decorator(types.new_class("Loose", (Kept,)))
        with pytest.raises(TypeError, match="cannot inherit frozen"):
            decorator(frozen=True)(types.new_class("Firm", (Quiet,)))


def test_a_class_without_the_decorator_inherits_what_is_there() -> None:
    class Plain(KeptMore):
        pass

    one = Plain(name="a", more=1)
    assert one == Plain(name="a", more=1)
    assert one != KeptMore(name="a", more=1)
    one.own = 2  # as of a standard one: only its fields are frozen
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.name = "b"


def test_an_inherited_repr_shows_no_member_that_a_class_hides() -> None:
    @dataclass(repr=False)
    class Hidden:
        secret: str

    @dataclass
    class Base:
        name: str

    @dataclass(repr=False)
    class Secretive(Base):
        secret: str

    assert "pw" not in repr(Hidden("pw"))
    assert repr(Secretive("a", "pw")).endswith("Secretive(name='a')")


def test_methods_of_the_class_itself_stay() -> None:
    @dataclass(frozen=True)
    class Own:  # noqa: PLW1641 - the decorator adds it
        name: str

        def __init__(self) -> None:
            object.__setattr__(self, "name", "own")

        def __repr__(self) -> str:
            return "shown"

        def __eq__(self, other: object) -> bool:
            return True

    assert (repr(Own()), Own() == 1, hash(Own())) == ("shown", True, hash(("own",)))

    @dataclass(frozen=True)
    class OwnHash:
        name: str

        def __hash__(self) -> int:
            return 5

    assert hash(OwnHash("a")) == 5


def test_a_record_that_holds_itself_is_shown() -> None:
    @dataclass
    class Ring:
        inner: Any = None

    ring = Ring()
    ring.inner = ring
    assert repr(ring).endswith("Ring(inner=...)")


def test_an_init_is_compiled_when_it_is_looked_up() -> None:
    kind = make(dataclass, frozen=True)
    assert not inspect.isfunction(vars(kind)["__init__"])
    kind(1, [])
    assert inspect.isfunction(vars(kind)["__init__"])


# --- the packages ---------------------------------------------------------------------------------


ALONE = {
    ROOT / "cinatra_sdk" / path
    for path in (
        "light_imports/records.py",
        "governance/records/verifier.py",  # printed as one file that needs the standard library alone
        "governance/records/signatures.py",
        "governance/records/run_evidence.py",
    )
}


def test_both_packages_take_their_dataclasses_from_here() -> None:
    """The standard decorator compiles the methods of all classes of a module when it is imported."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        if path not in ALONE
        for node in ast.walk(parse(path))
        if (
            isinstance(node, ast.ImportFrom)
            and node.module == "dataclasses"
            and any(name.name == "dataclass" for name in node.names)
        )
        or (isinstance(node, ast.Import) and any(name.name == "dataclasses" for name in node.names))
    ]
    assert found == [], "write: from cinatra_sdk.light_imports.records import dataclass"


def test_every_class_of_the_packages_is_as_the_standard_decorator_makes_it() -> None:
    kinds = {
        value
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        for value in vars(importlib.import_module(name_of(path))).values()
        if isinstance(value, type)
        and dataclasses.is_dataclass(value)
        and value.__module__ == name_of(path)
    }
    assert len(kinds) > 500, "the control"
    wrong = [f"{kind.__module__}.{kind.__name__}" for kind in kinds if not is_as_standard(kind)]
    assert wrong == []


def name_of(path: Any) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_as_standard(kind: Any) -> bool:
    """By the standard decorator, applied to a class with the same fields."""
    members = [copy.copy(one) for one in dataclasses.fields(kind)]
    names = {
        "__annotations__": {one.name: one.type for one in members},
        **{one.name: one for one in members},
    }
    params = kind.__dataclass_params__
    twin: Any = dataclasses.dataclass(frozen=params.frozen, eq=params.eq, repr=params.repr)(
        type(kind.__name__, (), names)
    )
    own = {"HostContext"}  # takes any key, and drops what it does not know
    return kind.__name__ in own or (
        str(inspect.signature(kind)) == str(inspect.signature(twin))
        and kind.__match_args__ == twin.__match_args__
        and (
            not params.eq
            or (kind.__hash__ is None) == (twin.__hash__ is None)
            or "__hash__" in vars(kind)
        )
    )


def test_importing_compile_flow_compiles_few_methods() -> None:
    """Counted: sources of methods that are compiled by our import, once LangGraph is there."""
    code = (
        "import sys\n"
        "import langgraph.graph, langgraph.func, langgraph.checkpoint.memory\n"
        "seen = []\n"
        "def hear(event, given):\n"
        "    source = given[0] if event == 'compile' else None\n"
        "    if source and b' def __init__(' in bytes(source) and bytes(source).startswith(b'def '):\n"
        "        seen.append(source)\n"
        "sys.addaudithook(hear)\n"
        "from oas_compiler import compile_flow\n"
        "print(len(seen))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 0 < int(shown.stdout) < 40


def test_what_the_standard_decorator_refuses_at_the_class_is_refused_here_too() -> None:
    def late_default() -> Any:
        class Late:
            x: int = 1
            y: int

        return dataclass(Late)

    def init_var() -> Any:
        class Given:
            x: InitVar[int]

        return dataclass(Given)

    def own_setattr() -> Any:
        class Free:
            x: int

            def __setattr__(self, name: str, value: object) -> None:
                """Nothing is frozen here."""

        return dataclass(frozen=True)(Free)

    for make, words in (
        (late_default, "non-default argument 'y' follows default argument"),
        (init_var, "InitVar is not known here"),
        (own_setattr, "cannot overwrite attribute __setattr__"),
    ):
        with pytest.raises(TypeError, match=words):
            make()
