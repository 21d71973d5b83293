from __future__ import annotations

from tests.checks.rule_case import findings, found
from tests.checks.structure.structure_samples import BLOCK, add, choosing, control
from tests.flows import end, port


def flow(type_: str) -> dict[str, object]:
    made = choosing(Yes="end", No="end")
    made["$referenced_components"]["end"]["outputs"] = [port("answer", "string")]
    made["outputs"] = [port("answer", None)]
    late = end(port("answer", type_, default=None), id_="stopped")
    return add(made, late, control("choose", "stopped", "default"))


def test_two_end_nodes_give_one_output_one_type():
    assert found(flow("integer"), "OAS072") == [f"{BLOCK}/stopped/outputs/0"]
    (finding,) = findings(flow("integer"), "OAS072")
    assert finding.message == 'the output "answer" is integer at "stopped" and string at "end"'
    assert found(flow("string"), "OAS072") == []
