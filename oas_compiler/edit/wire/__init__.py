"""`wire-context`: the FlowNode of each context slot, written into the author's own file.

    planning.py      which slots lack a FlowNode, who uses what is selected, and what stands in the way
    template.py      the subflow that selects for a slot, as data
    placing.py       slots -> the document with subflow, FlowNode, inputs and edges
    differences.py   two documents -> the edits that make one of the other
    dependency.py    package.json -> the edits that name the context selection agent

    plan(read_source("agents/writer", findings)).edits   ->   (Edit(pointer="/inputs/-", …), …)

Nothing here writes a file, and nothing is wired while a flow runs (seed 000).
"""
