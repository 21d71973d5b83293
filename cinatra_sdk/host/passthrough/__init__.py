"""`POST /api/agents/passthrough`: the route through which a flow calls a tool of the host by its name.

passthrough_route.py  `Passthrough`, the function of the route; `NamedTool`, one tool
object_tools.py       objects_save, objects_get, objects_update, objects_classify, objects_list
host_tools.py         the other tools of public flows: triggers, test sends, drafts, prompts
agent_runs.py         agents by the name of their package, each as a run of its own

    Passthrough.of([*object_tools(SavedObjects(database)), …])

Source: the contract of Cinatra's platform; docs/bridge.md describes it.
"""
