"""A change put into modules that are imported already: importing them anew is most of a short trial.

    functions = find_functions()            # once, before the process forks: path → what it defines
    put_in(change, text, functions)         # True where every function has its changed code now

Whatever holds a function (an importer, a decorator, a table) sees the change, since the function stays
and gets other code.  What was computed while the module was imported does not.
"""

from __future__ import annotations

import gc
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from types import CodeType, FunctionType

from tests.code_mutants.operators import Change
from tests.code_mutants.rooms import ROOT

Functions = Mapping[str, Sequence[FunctionType]]
Mark = tuple[str, int]
"""Qualified name, and the how manieth of that name."""


def find_functions() -> Functions:
    """Every function that lives, by the file that it was read from."""
    found: dict[str, list[FunctionType]] = defaultdict(list)
    for each in gc.get_objects():
        if type(each) is FunctionType:
            found[each.__code__.co_filename].append(each)
    return found


def put_in(change: Change, text: str, functions: Functions) -> bool:
    """False where the change cannot be put in: the code closes over other names, or nothing has it.

    text: the module without the change.
    """
    path = str(ROOT / change.module)
    places = {_place_of(code): mark for mark, code in _codes(text, path)}
    changed = dict(_codes(change.applied(text), path))
    swapped = 0
    for function in functions.get(path, ()):
        mark = places.get(_place_of(function.__code__))
        code = changed.get(mark) if mark is not None else None
        if code is None or code == function.__code__:
            continue
        if code.co_freevars != function.__code__.co_freevars:
            return False
        function.__code__ = code
        swapped += 1
    return swapped > 0


def _place_of(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def _codes(text: str, path: str) -> Iterator[tuple[Mark, CodeType]]:
    """Every code object of a module, in the order of its text."""
    met: Counter[str] = Counter()
    waiting = [compile(text, path, "exec", dont_inherit=True)]
    while waiting:
        code = waiting.pop()
        met[code.co_qualname] += 1
        yield (code.co_qualname, met[code.co_qualname]), code
        inner = [each for each in code.co_consts if isinstance(each, CodeType)]
        waiting += reversed(inner)


def import_product() -> None:
    """All modules of the packages but programs."""
    for package in ("cinatra_sdk", "oas_compiler"):
        for file in sorted((ROOT / package).rglob("*.py")):
            parts = file.relative_to(ROOT).with_suffix("").parts
            if parts[-1] != "__main__":
                __import__(".".join(parts).removesuffix(".__init__"))
