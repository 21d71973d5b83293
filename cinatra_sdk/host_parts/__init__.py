"""What a process lends to the flows that it runs: one record, however many doors it goes through.

factory.py            `module:factory` of the operator, called for its `HostParts`
first_turn_reader.py  readers of the context of a first turn, by workspace
host_parts.py         `HostParts`: platform, tools, variables, policy of effects, credentials; a tool of
                      LangChain as a function; the host's context of an activation, completed by these
                      parts
"""
