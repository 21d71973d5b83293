"""`POST /api/agents/passthrough`: the route through which a flow calls a tool of the host by its name.

agent_runs.py         agents by the name of their package, each as a run of its own
host_tools.py         trigger_config_set, email_test_delivery_parse_action, and those that need a
                      host; email_outreach_initial_drafts_update; agent_run_hitl_prompts_list
object_tools.py       objects_save, objects_get, objects_update, objects_classify, objects_list
passthrough_route.py  `Passthrough`, the function of the route: body, allow list, identity, form
                      of the answer; inputs that a flow has in another form (`_shape`);
                      `NamedTool`: one tool, with what it gets (`NamedCall`)

    Passthrough.of([*object_tools(SavedObjects(database)), …])

Source: the contract of Cinatra's platform; docs/bridge.md describes it.
"""

from __future__ import annotations

from cinatra_sdk.host.passthrough.agent_runs import ChildAgents
from cinatra_sdk.host.passthrough.passthrough_route import NamedCall, NamedTool, Passthrough

__all__ = ["Passthrough", "NamedTool", "NamedCall", "ChildAgents"]
