"""What a process lends to the flows that it runs: one record, however many doors it goes through.

host_parts.py    `HostParts`: platform, tools, variables, policy of effects, credentials
langchain_tools.py  a tool of LangChain as a function
first_turns.py   readers of the context of a first turn, by workspace
lent_context.py  the host's context of an activation, completed by these parts
host_factory.py  `module:factory` of the operator, called for its `HostParts`
"""
