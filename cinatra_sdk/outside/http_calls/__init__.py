"""The platform: every HTTP call of a flow goes through one `Platform`.

protocol.py          `PlatformCall` and `Platform`; the errors of calls; wrappers of platforms
http_platform.py     `HttpPlatform`: sends, waits, tries again
wire_request.py      a call -> the request that is sent (pure)
http_exchange.py     one request on the wire, and one response within bounds
wire_response.py     a response -> a value, a wait or an error (pure)
response_outputs.py  a value -> the node's declared outputs (pure)
call_addresses.py    the addresses that may be called (pure, but for the look-up)
call_headers.py      the headers that a host sets on calls to one origin
opaque_responses.py  responses of which no text is stored (pure)
description.py       a stored description -> the rebuilt platform
simulation.py        `SimulatedPlatform` and its stubs
model_usage.py       tokens that a platform used of a model, for the caller

`cinatra_sdk.platform` has its public names: a simulation starts without an HTTP library, and reading
stored runs needs neither.
"""
