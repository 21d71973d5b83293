r"""How many steps Python's engine takes at most to search a text, read off the pattern's tree.

    most_steps(read(r"^[a-z]+$"), 100)       some hundreds: searched here
    most_steps(read(r"(a+)+$"), 100)         infinite: not here

Python's engine tries every way of matching.  So a part has two numbers: the ways in which it can
match from one place, and the steps of trying all of them.  Parts in a row multiply their ways, a
repetition raises them to the power of its turns.  A guess that is too high costs some time, never
a wrong answer.
"""

from __future__ import annotations

import math
from typing import Any, Final, TypeAlias

from cinatra_sdk.values.patterns.reading import LOOKS, OPS, REPEATS, Tree

_TURN: Final = 10
"""Steps of one turn of a repetition around more than one character: it keeps a place on a stack."""
_AT_THE_START: Final = (OPS.AT_BEGINNING, OPS.AT_BEGINNING_STRING)
_MULTILINE: Final = 8

Cost: TypeAlias = "tuple[float, float]"
"""Ways to match from one place, and steps to try them all."""


def most_steps(tree: Tree, length: int) -> float:
    """Steps of a search in a text of `length` characters; infinite where no bound is found."""
    try:
        _, steps = _measure_sequence(tree.parts, length, tree.groups)
    except (OverflowError, RecursionError):
        return math.inf
    if _is_anchored(tree):
        return steps + length
    return steps * (length + 1)


def _is_anchored(tree: Tree) -> bool:
    first = tree.parts[0] if len(tree.parts) else (None, None)
    return first[0] is OPS.AT and first[1] in _AT_THE_START and not (tree.flags & _MULTILINE)


def _measure_sequence(parts: Any, length: int, groups: int) -> Cost:
    ways, steps = 1.0, 1.0
    for op, argument in parts:
        more_ways, more_steps = _measure_part(op, argument, length, groups)
        steps += ways * more_steps
        ways *= more_ways
    return ways, steps


def _measure_part(op: Any, argument: Any, length: int, groups: int) -> Cost:
    if op in REPEATS:
        return _measure_repetition(op, argument, length, groups)
    if op is OPS.SUBPATTERN:
        return _measure_sequence(argument[3], length, groups)
    if op is OPS.BRANCH:
        return _add_costs([_measure_sequence(part, length, groups) for part in argument[1]])
    if op is OPS.GROUPREF_EXISTS:
        return _add_costs(
            [_measure_sequence(part, length, groups) for part in argument[1:] if part is not None]
        )
    if op in LOOKS or op is OPS.ATOMIC_GROUP:
        # The first way counts, and none is tried again from outside.
        _, steps = _measure_sequence(argument[1] if op in LOOKS else argument, length, groups)
        return 1.0, steps + 1
    if op is OPS.GROUPREF:
        return 1.0, length + 1.0
    return 1.0, 1.0 + (len(argument) if op is OPS.IN else 0)


def _add_costs(costs: list[Cost]) -> Cost:
    return sum(ways for ways, _ in costs) + 1, sum(steps + 1 for _, steps in costs) + 1


def _measure_repetition(op: Any, argument: Any, length: int, groups: int) -> Cost:
    least, most, inside = int(argument[0]), int(argument[1]), argument[2]
    body_ways, body_steps = _measure_sequence(inside, length, groups)
    width = inside.getwidth()[0]
    turns = min(most, length // width + 1 if width else max(least, length + 1))
    # One character at a time is counted on the spot; anything else keeps all groups on a stack.
    simple = len(inside) == 1 and inside[0][0] in _SINGLE
    turn = body_steps + (0 if simple else _TURN + 2 * groups)
    if body_ways <= 1:
        ways, steps = max(1.0, turns - least + 1.0), turns * turn + 1.0
    else:
        # Raises OverflowError where there is no bound worth having.
        ways = turns * body_ways**turns + 1.0
        steps = ways * turn
    return (1.0 if op is OPS.POSSESSIVE_REPEAT else ways), steps


_SINGLE: Final = (OPS.LITERAL, OPS.NOT_LITERAL, OPS.ANY, OPS.IN)
