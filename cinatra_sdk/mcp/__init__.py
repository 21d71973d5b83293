"""Tools of MCP servers (Model Context Protocol), as nodes of a flow.

transport.py    the way to a server as a file writes it;  server.py  the server, ready to be asked
connecting.py   a client that is connected;  processes.py  a server that is a program of this machine
child.py        the process of such a program, and its end
calling.py      one request to a server, as the nodes make them;  listing.py  the list of its tools
login.py        how a client logs in by OAuth
results.py      what a server gave -> the outputs of a node
tool.py         the node that calls a tool;  toolbox.py  the node that lists the tools of a server

The package `mcp` (extra `mcp`) is imported when a server is asked, and not before.
"""
