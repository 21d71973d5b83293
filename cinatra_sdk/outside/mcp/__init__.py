"""Tools of MCP servers (Model Context Protocol), as nodes of a flow.

server.py     the server as a flow file names it, ready to be asked; its login by OAuth
calls.py      a connected client, and one request to a server, as nodes make it
processes.py  a server that is a program of this machine, and the end of its process

The package `mcp` (extra `mcp`) is imported when a server is asked, and not before.
"""
