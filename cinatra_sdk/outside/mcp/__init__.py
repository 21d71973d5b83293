"""Tools of MCP servers (Model Context Protocol), as nodes of a flow.

calls.py      one request to a server, as the nodes make them
client.py     a client that is connected; the list of its tools
processes.py  the process of such a program, and its end; a server that is a program of this
              machine
server.py     the server, ready to be asked; the way to a server as a file writes it; how a client
              logs in by OAuth

The package `mcp` (extra `mcp`) is imported when a server is asked, and not before.
"""
