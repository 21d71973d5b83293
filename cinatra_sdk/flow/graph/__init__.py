"""A flow as a graph of LangGraph, for hosts, and a flow written in Python.

flow_graph.py     `FlowGraph`, which writes a plan in Python; whether such a plan can run
runnable_flow.py  a flow of a plan, for hosts; its pictures; the events of one activation, as an
                  iterator
"""
