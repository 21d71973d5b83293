"""Changes of an author's own files: `oasflow check --fix` and `oasflow wire-context`.

file_fixes.py  finds the fixes that help, by checking the result; the identity of a file, and
               whether it may be written; all of the new text on disk, or none of it; changes as a
               unified diff
slot_flow.py   the subflow that selects for a slot, as data; slots -> the document with subflow,
               FlowNode, inputs and edges
slot_wires.py  finds slots without a FlowNode, the users of their selections, and obstacles;
               package.json -> the edits that name the context selection agent; two documents ->
               the edits that turn the first into the second
"""
