"""A plan as a graph of LangGraph, for hosts; and a plan that is written in Python.

flow_graph.py     `FlowGraph`: nodes and edges in Python -> a plan that can run
runnable_flow.py  a plan -> graph, input, context and events for a host; its picture
"""
