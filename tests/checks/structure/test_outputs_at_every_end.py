from __future__ import annotations

from tests.checks.rule_case import findings, found
from tests.checks.structure.structure_samples import add, choosing, control
from tests.flows import end, port


def flow(
    *outputs: dict[str, object], second: tuple[dict[str, object], ...] = ()
) -> dict[str, object]:
    made = choosing(Yes="end", No="end")
    made["$referenced_components"]["end"]["outputs"] = [port("answer")]
    made["outputs"] = list(outputs)
    return add(made, end(*second, id_="stopped"), control("choose", "stopped", "default"))


def test_an_output_that_one_of_two_ends_lacks_is_a_warning():
    bad = flow(port("answer"))
    assert found(bad, "OAS070") == ["/outputs/0"]
    assert findings(bad, "OAS070")[0].severity == "warning"
    assert '"stopped"' in findings(bad, "OAS070")[0].message
    assert found(flow(port("answer", default="")), "OAS070") == []
    assert found(flow(port("answer"), second=(port("answer"),)), "OAS070") == []


def test_an_output_that_no_end_has_is_another_rules_finding():
    assert found(flow(port("other")), "OAS070") == []
    assert found(flow(port("other")), "OAS066") == ["/outputs/0"]


def test_a_message_names_the_first_of_many_end_nodes():
    made = flow(port("answer"))
    for index in range(8):
        add(made, end(id_=f"late{index}"), control("choose", f"late{index}", f"b{index}"))
    (finding,) = findings(made, "OAS070")
    assert finding.message.endswith('"stopped", "late0", "late1", "late2", "late3" and 4 more')
