"""What was used last, up to a number; what was not used for the longest time is dropped.

flows = Recent(2)
flows.keep("a", 1), flows.keep("b", 2), flows.get("a"), flows.keep("c", 3)      drops "b"
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Values by key; safe to share between threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[K, V] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def keep(self, key: K, value: V) -> V:
        dropped = []  # ends outside of the lock: an end may run code of its own
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._most:
                dropped.append(self._values.popitem(last=False))
        return value

    def clear(self) -> None:
        with self._lock:
            dropped, self._values = self._values, OrderedDict()
        dropped.clear()
