"""A flow as a Python module: `oasflow emit`.

In: a compiled flow.  Out: the text of a module that imports LangGraph and the SDK only, and whose
runs equal those of the compiled graph; and whether a file and a module still agree.

python_module.py  the whole text, with no credential in it
flow_calls.py     each flow as the calls of `FlowGraph` that build it
expressions.py    nodes, ports and types as Python expressions; values that the host lends
drift.py          the stamp of a module, and the comparison of file and module
"""
