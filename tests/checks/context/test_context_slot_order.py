from __future__ import annotations

from tests.checks.context.slot_samples import INTO, OUT, selecting, slotted, writing
from tests.checks.rule_case import findings, found
from tests.flows import branching, port

CODE = "OAS158"
AT = "/$referenced_components/context_brand"


def test_a_consumer_does_not_run_before_the_selection():
    nodes = (selecting(), writing())
    bad = slotted(
        *nodes,
        routes=[("start", None, "write"), ("write", None, "context_brand"), ("context_brand", None, "end")],
    )  # fmt: skip
    (finding,) = findings(bad, CODE)
    assert finding.pointer == AT
    assert finding.message.startswith('"write" uses the context slot "brand" and can run before')
    assert found(slotted(*nodes), CODE) == []


def test_no_branch_leads_to_a_consumer_around_the_selection():
    check = branching("check", port("answer", default=""), {"yes": "yes"})

    def flow(default_target):
        return slotted(
            check, selecting(), writing(),
            routes=[
                ("start", None, "check"), ("check", "yes", "context_brand"),
                ("check", "default", default_target), ("context_brand", None, "write"),
                ("write", None, "end"),
            ],
        )  # fmt: skip

    assert found(flow("write"), CODE) == [AT]
    assert found(flow("end"), CODE) == []


def test_every_consumer_counts():
    second = ("context_brand", "contextSlotBindings", "second", "contextSlotBindings")
    bad = slotted(writing("second"), selecting(), writing(), edges=[*INTO, OUT, second])
    good = slotted(selecting(), writing("second"), writing(), edges=[*INTO, OUT, second])
    assert found(bad, CODE) == [AT]
    assert found(good, CODE) == []
