"""Keeps web pages away from a platform on this machine that asks its callers for no proof.

    check_no_page({"host": "127.0.0.1:3000"})                                         nothing
    check_no_page({"host": "127.0.0.1:3000", "origin": "https://shop.example"})       403 forbidden
    check_no_page({"host": "shop.example:3000"})                                      403 forbidden

A browser sends a page's request to any address, and a name of the page's own can point to this
machine (DNS rebinding).  So the request must name a loopback host, and come from no other page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from cinatra_sdk.context.errors import ContextError

JSON: Final = "application/json"
_LOOPBACK: Final = re.compile(
    r"(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[0-9]{1,5})?", re.IGNORECASE
)


def check_no_page(headers: Mapping[str, str]) -> None:
    """headers: by lower-case name.  A request without a Host is none of a browser.

    Raises: `ContextError` `forbidden`.
    """
    host, origin = headers.get("host"), headers.get("origin")
    if host is not None and not _LOOPBACK.fullmatch(host):
        problem = "the request names a host that is not this machine's own address"
    elif origin is not None and not _is_same(origin, host):
        problem = "the request comes from a web page of another origin"
    elif headers.get("sec-fetch-site", "").strip().lower() == "cross-site":
        problem = "the request comes from a web page of another site"
    else:
        return
    raise ContextError(
        "forbidden", problem, hint="a platform with a bridge token answers whoever sends the token"
    )


def is_json(headers: Mapping[str, str]) -> bool:
    """Whether the body is said to be JSON, which no page of another site sends unasked."""
    return headers.get("content-type", "").partition(";")[0].strip().lower() == JSON


def _is_same(origin: str, host: str | None) -> bool:
    scheme, _, authority = origin.partition("://")
    return host is not None and scheme in ("http", "https") and authority.lower() == host.lower()
