"""An author's `url_allow_list`: the addresses that one node may call.

In: the entries of the node, and the rendered url.  Out: nothing, or a `RefusalError` that names
the rule and repeats nothing of the url.

    check_listed(["https://crm.example.com/v1"], "https://crm.example.com/v1/people?q=1")
    check_listed(["https://crm.example.com/v1"], "https://crm.example.com/v10")      RefusalError
    check_listed(["https://crm.example.com/v1"], "https://crm.example.com/v1%2Fx")   RefusalError

Scheme, host and port are equal, and the path begins with the entry's path, segment by segment; query
and fragment do not count.  A path that a server may read in two ways (`%2F` in a segment, `//`)
must be listed in both readings.  The list only narrows what the host allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final
from urllib.parse import urlsplit

from cinatra_sdk.platform.origin import AllowEntry, RefusalError, decoded_segments, read_url, shown
from cinatra_sdk.platform.protocol import BASE_URL_PLACEHOLDER, PlatformCall, PlatformRefused

_STAND_IN: Final = "http://platform.invalid"
"""The platform's origin where its address is not known: a name that no host can have."""


def check_listed(entries: Sequence[str], url: str) -> None:
    """Raises: `RefusalError` where no entry covers `url`."""
    target = read_url(url)
    for text in entries:
        with suppress(RefusalError):
            entry = AllowEntry.parse(text)
            if entry.covers(target) and _begins_as_written(url, entry.prefix):
                return
    raise RefusalError("the node's url_allow_list does not have it")


def require_listed(call: PlatformCall) -> None:
    """Refuse a call that its node's own list does not have, before anything is begun.

    A url on the platform is compared by its path with the entries on the platform; where the
    author wrote out an address instead, only the platform knows whether that is its own.

    Raises: `PlatformRefused`.
    """
    entries = call.url_allow_list
    if entries is None:
        return
    url, on_platform = call.url, call.url.startswith(BASE_URL_PLACEHOLDER)
    if on_platform:
        if entries and not any(entry.startswith(BASE_URL_PLACEHOLDER) for entry in entries):
            return
        url = with_base(url, _STAND_IN)
    problem = ""
    try:
        check_listed([with_base(entry, _STAND_IN) for entry in entries], url)
    except RefusalError as refusal:
        problem = str(refusal)
    if problem:
        shown_url = shown(call.shown_url)
        raise PlatformRefused(
            f'node "{call.node}": {shown_url} was not called: {problem}',
            node=call.node,
            url=shown_url,
        )


def with_base(url: str, base: str) -> str:
    """`url` with the address of the platform in place of its placeholder."""
    if not url.startswith(BASE_URL_PLACEHOLDER):
        return url
    return base + url.removeprefix(BASE_URL_PLACEHOLDER)


def _begins_as_written(url: str, prefix: tuple[str, ...]) -> bool:
    """Whether the path begins with `prefix` also for a server that splits it before it decodes."""
    path = urlsplit(url).path
    written = [decoded_segments(part) for part in path.split("/")[1:]][: len(prefix)]
    return all(part == (name,) for part, name in zip(written, prefix, strict=False))
