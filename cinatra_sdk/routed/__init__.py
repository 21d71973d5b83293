"""A platform made of functions: named routes, answered in this process and over HTTP alike.

call.py      what a route gets (`RouteCall`), and how it fails (`RouteError`)
own_loop.py  the event loop of routes that await
platform.py  `RoutedPlatform`: a call -> its route -> the answer that an `HttpPlatform` would give
"""

from __future__ import annotations

from cinatra_sdk.routed.call import Handler, RouteCall, RouteError, RunOwner
from cinatra_sdk.routed.platform import RoutedPlatform

__all__ = ["RoutedPlatform", "RouteCall", "RouteError", "RunOwner", "Handler"]
