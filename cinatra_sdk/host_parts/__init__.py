"""The parts that a process lends to the flows that it runs, in one record.

host_parts.py  `HostParts`: platform, tools, variables, models, policy, budget, credentials
factory.py     `module:factory` of the operator, called for its `HostParts`
"""
