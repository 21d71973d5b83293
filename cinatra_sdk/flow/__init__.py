"""What the nodes of a compiled flow do when they run; knows nothing of files.

branches/  branches of one node: flows that run beside each other, kept as they end
graph/     A flow as a graph of LangGraph, for hosts, and a flow written in Python
plan/      A flow as plain data: nodes with what each does, channels, casts along edges, and the
           frame of a node
requests/  what a node puts to a model, a server or the platform: templates, files, the context of
           a first turn
visit/     one visit of a node: its turn, what is told of it, the people and rules before it acts
nodes/         one module per kind of node
"""
