"""A flow as a Python module: `oasflow emit`.

In: a compiled flow.  Out: the text of a module that imports LangGraph and the SDK only, and whose
runs equal those of the compiled graph; and whether a file and a module still agree.

module.py      the whole text
flows.py       one flow: its nodes and edges as calls of `FlowGraph`
records.py     what a node does, its ports and types, as expressions
sensitive.py   values that do not get into the text: the host lends them
credentials_left.py   refuses a text in which a credential would stand
python_text.py expressions, laid out in lines
stamp.py       the line by which a module says what it was made of;  drift.py  compares by it
"""
