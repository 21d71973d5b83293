"""`wire-context`: the FlowNode of each context slot, written into the author's own file.

    planning.py      finds slots without a FlowNode, the users of their selections, and obstacles
    template.py      the subflow that selects for a slot, as data
    placing.py       slots -> the document with subflow, FlowNode, inputs and edges
    differences.py   two documents -> the edits that turn the first into the second
    dependency.py    package.json -> the edits that name the context selection agent

    plan(read_source("agents/writer", findings)).edits   ->   (Edit(pointer="/inputs/-", …), …)

Nothing here writes a file, and nothing is wired while a flow runs: Cinatra's guide to
context slots forbids it.
"""
