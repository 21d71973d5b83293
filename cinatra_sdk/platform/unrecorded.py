"""Keeps the HTTP client's log records about platform calls out of a host's log.

    with unrecorded():
        client.send(request)

The client's loggers quote responses: `httpcore2` every header at DEBUG (Location and Set-Cookie may
echo a token), `httpx2` the whole url and the reason phrase at INFO.  A host that logs everything
must not store them.  A record is dropped only if a platform made the call, and if no level is set
for its logger by name: by setting such a level a host asks for the record.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

_LOGGERS: Final = (
    "httpx2", "httpcore2.connection", "httpcore2.http11", "httpcore2.http2", "httpcore2.proxy",
    "httpcore2.socks", "hpack.hpack", "hpack.table",
)  # fmt: skip
"""All loggers of the client: a filter of a logger does not apply to the loggers below it."""
_inside: ContextVar[bool] = ContextVar("oasflow_unrecorded", default=False)


class _OwnCalls(logging.Filter):
    """Drops records about platform calls, unless the host set a level for the logger by name."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not _inside.get() or _has_level(record.name)


_FILTER: Final = _OwnCalls()


@contextmanager
def unrecorded(packages: Sequence[str] = ()) -> Iterator[None]:
    """Around one exchange, in the thread or task that makes it.

    packages: whose loggers are kept out, too, with all below them.
    """
    for name in (*_LOGGERS, *_list_loggers(packages)):
        # On each call, because a host may have reconfigured its log.  Adding a filter twice adds it
        # once.
        logging.getLogger(name).addFilter(_FILTER)
    token = _inside.set(True)
    try:
        yield
    finally:
        _inside.reset(token)


def _list_loggers(packages: Sequence[str]) -> list[str]:
    """The loggers of the packages that exist by now."""
    if not packages:
        return []
    known = (*logging.root.manager.loggerDict, *packages)
    return [name for name in known if name.partition(".")[0] in packages]


def _has_level(name: str) -> bool:
    """Whether the logger, or one above it that is not the root, has a level of its own."""
    parts = name.split(".")
    above = (".".join(parts[:end]) for end in range(1, len(parts) + 1))
    return any(logging.getLogger(one).level != logging.NOTSET for one in above)
