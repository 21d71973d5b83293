"""`POST /api/agents/passthrough`: the route through which a flow calls a tool of the host by its name.

named.py     `NamedTool`: one tool, with what it gets (`NamedCall`)
route.py     `Passthrough`, the function of the route: body, allow list, identity, form of the answer
objects.py   objects_save, objects_get, objects_update, objects_classify, objects_list
shapes.py    inputs that a flow has in another form (`_shape`)
drafts.py    email_outreach_initial_drafts_update
platform_tools.py  trigger_config_set, email_test_delivery_parse_action, and those that need a host
prompts.py   agent_run_hitl_prompts_list
child_agents.py  agents by the name of their package, each as a run of its own

    Passthrough.of([*object_tools(SavedObjects(database)), …])

Source: the contract of Cinatra's platform; docs/bridge.md describes it.
"""

from __future__ import annotations

from cinatra_sdk.passthrough.child_agents import ChildAgents
from cinatra_sdk.passthrough.named import NamedCall, NamedTool
from cinatra_sdk.passthrough.route import Passthrough

__all__ = ["Passthrough", "NamedTool", "NamedCall", "ChildAgents"]
