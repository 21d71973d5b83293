"""Whatever leaves the process: effects, the platform, models, servers and agents elsewhere.

a2a/       agents behind the protocol A2A, as nodes of a flow
effects/   the one door to the outside: whatever a node does outside of its run goes through
           `perform`
mcp/       tools of MCP servers (Model Context Protocol), as nodes of a flow
models/    chat models behind one seam: what a flow file names, what a host lends, what is asked
platform/  the seam to the outside: every HTTP call of a flow goes through one `Platform`
remote/    servers and agents elsewhere: what one answer of theirs may cost, and what is an answer
           at all
routes/    A platform made of functions: named routes, answered in this process and over HTTP
           alike
"""
