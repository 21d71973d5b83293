"""A flow as a Python module: `oasflow emit`.

In: a compiled flow.  Out: the text of a module that imports LangGraph and the SDK only, and whose
runs equal those of the compiled graph; and whether a file and a module still agree.

python_module.py  the whole text; one flow: its nodes and edges as calls of `FlowGraph`; refuses a
                  text in which a credential would stand; the line by which a module says what it
                  was made of; compares by it
expressions.py    what a node does, its ports and types, as expressions; expressions, laid out in
                  lines; values that do not get into the text: the host lends them
"""
