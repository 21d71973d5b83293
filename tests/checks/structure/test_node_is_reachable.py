from __future__ import annotations

from tests.checks.rule_case import findings, found
from tests.checks.structure.structure_samples import BLOCK, add, control, draft_flow
from tests.flows import end, message


def flow() -> dict[str, object]:
    return add(draft_flow(), message("spare", "done"), control("spare", "end"))


def test_a_node_that_no_path_meets_is_a_warning():
    assert found(flow(), "OAS048") == [f"{BLOCK}/spare"]
    assert findings(flow(), "OAS048")[0].severity == "warning"
    connected = flow()
    connected["control_flow_connections"][1] = control("write", "spare")
    assert found(connected, "OAS048") == []


def test_what_only_an_unreachable_node_leads_to_never_runs_either():
    made = add(flow(), end(id_="late"), control("spare", "late", "other"))
    (finding,) = findings(made, "OAS048")
    assert finding.pointer == f"{BLOCK}/spare"
    assert finding.message == (
        'no path leads to "spare": it never runs, nor does what only it leads to: "late"'
    )


def test_an_end_node_without_any_edge_is_another_rules_finding():
    made = add(draft_flow(), end(id_="late"))
    assert found(made, "OAS048") == []
    assert found(made, "OAS052") == [f"{BLOCK}/late"]
