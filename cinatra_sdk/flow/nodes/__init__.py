"""One module per kind of node: what it does when it has the turn.

Each makes a `NodeBody` from a frame and the node's settings; nothing here knows of files.
"""
