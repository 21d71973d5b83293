"""Facts about a stored flow that a host asks for, in classes of the SDK.

answer_rules.py          which answers reach which calls of the bridge with files
context_declarations.py  the context slots that a flow declares, by package

A host finds each fact by its name in the group of entry points `oasflow.flow_facts`, so that the SDK
reads no OAS file.
"""
