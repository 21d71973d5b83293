"""What a host asks of a flow that is stored, told in the SDK's own classes.

declared_slots.py    context slots and agreements, by package

A host finds each fact by its name in the group of entry points `oasflow.flow_facts`, so that the SDK
reads no OAS file.
"""
