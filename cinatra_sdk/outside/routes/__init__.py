"""A platform made of functions: named routes, answered in this process and over HTTP alike.

route_call.py      `RouteCall`, the argument of a route; `RouteError`, its failure
route_platform.py  `RoutedPlatform`: a call -> its route -> the answer of an `HttpPlatform`
"""

from __future__ import annotations

from cinatra_sdk.outside.routes.route_call import Handler, RouteCall, RouteError, RunOwner
from cinatra_sdk.outside.routes.route_platform import RoutedPlatform

__all__ = ["RoutedPlatform", "RouteCall", "RouteError", "RunOwner", "Handler"]
