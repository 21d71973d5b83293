"""What a host asks of a flow that is stored, told in the SDK's own classes.

answer_rules.py          which answers reach which calls of the bridge with files
context_declarations.py  context slots and agreements, by package

A host finds each fact by its name in the group of entry points `oasflow.flow_facts`, so that the SDK
reads no OAS file.
"""
