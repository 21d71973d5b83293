"""Keeps what the HTTP client logs of a platform's own calls out of a host's log.

    with unrecorded():
        client.send(request)

The client's loggers quote answers: `httpcore2` every header at DEBUG (Location and Set-Cookie may
echo a token), `httpx2` the whole url and the reason phrase at INFO.  A host that logs everything
must not store them.  Levels are the host's: a record is dropped only where it is about a call made
in here, and where nobody has set a level for its logger by name, which is how a host asks for it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

_LOGGERS: Final = (
    "httpx2", "httpcore2.connection", "httpcore2.http11", "httpcore2.http2", "httpcore2.proxy",
    "httpcore2.socks", "hpack.hpack", "hpack.table",
)  # fmt: skip
"""A filter counts for its own logger only, not for those below it."""
_inside: ContextVar[bool] = ContextVar("oasflow_unrecorded", default=False)


class _OwnCalls(logging.Filter):
    """Drops records about calls of ours that nobody asked for by name."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not _inside.get() or _has_level(record.name)


_FILTER: Final = _OwnCalls()


@contextmanager
def unrecorded() -> Iterator[None]:
    """Around one exchange, in the thread or task that makes it."""
    for name in _LOGGERS:
        # Each time: a host may have configured its log anew in between.  Adding twice adds once.
        logging.getLogger(name).addFilter(_FILTER)
    token = _inside.set(True)
    try:
        yield
    finally:
        _inside.reset(token)


def _has_level(name: str) -> bool:
    """Whether the logger, or one above it that is not the root, has a level of its own."""
    parts = name.split(".")
    above = (".".join(parts[:end]) for end in range(1, len(parts) + 1))
    return any(logging.getLogger(one).level != logging.NOTSET for one in above)
