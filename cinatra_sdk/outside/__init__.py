"""Whatever leaves the process: effects, the platform, models, servers and agents elsewhere.

effects/         the one door for every effect: `perform`
http_calls/      the HTTP calls of a flow, through one `Platform`: sent, or simulated
routes.py        a platform made of Python functions
models/          chat models: configured in a file, lent by a host, or scripted
mcp/             tools of MCP servers (Model Context Protocol)
a2a/             agents behind the protocol A2A
remote_answers/  bounds and strict reading for answers of servers and agents elsewhere
"""
