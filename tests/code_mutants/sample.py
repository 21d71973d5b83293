"""All changes and a seed in, those that are tried out.

    sample(changes, count=240, seed=35)   ->   the same 240 each time

Each room gets its share by the square root of what could be changed in it, so that a small room is
not lost beside a large one; each module gets one at least; a change that decides on a refusal is
three times as likely as another.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Sequence

from tests.code_mutants.operators import Change
from tests.code_mutants.rooms import room_of

SAFETY = 3.0


def sample(changes: Sequence[Change], *, count: int, seed: int) -> list[Change]:
    """At most `count` of the changes, by module and line."""
    rooms: dict[str, list[Change]] = defaultdict(list)
    for change in changes:
        rooms[room_of(change.module)].append(change)
    roots = {room: math.sqrt(len(found)) for room, found in rooms.items()}
    chosen: list[Change] = []
    for room, found in sorted(rooms.items()):
        share = round(count * roots[room] / sum(roots.values()))
        chosen += _of_room(found, min(share, len(found)), random.Random(f"{seed} {room}"))
    return sorted(chosen, key=lambda each: (each.module, each.start, each.after))


def _of_room(found: Sequence[Change], share: int, luck: random.Random) -> list[Change]:
    """One of each module, then by luck; never two of the same place while there are others."""
    keyed = sorted(
        (luck.random() ** (1 / (SAFETY if each.safety else 1.0)), number)
        for number, each in enumerate(found)
    )
    order = [found[number] for _, number in reversed(keyed)]
    first, second, third = [], [], []
    modules: set[str] = set()
    places: set[tuple[str, int]] = set()
    for each in order:
        place = (each.module, each.line)
        rest = second if place not in places else third
        (rest if each.module in modules else first).append(each)
        modules.add(each.module)
        places.add(place)
    return [*first, *second, *third][:share]
