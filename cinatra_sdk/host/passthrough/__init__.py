"""`POST /api/agents/passthrough`: the route through which a flow calls a tool of the host by its name.

passthrough_route.py  `Passthrough`, the function of the route; `NamedTool`, one tool
host_tools.py         the tools of public flows: objects_save and the like, triggers, test sends, drafts, prompts
agent_runs.py         agents by the name of their package, each as a run of its own

    Passthrough.of([*object_tools(SavedObjects(database)), …])

Source: the contract of Cinatra's platform; docs/bridge.md describes it.
"""
