from __future__ import annotations

from tests.checks.context.slot_samples import selecting, slotted, writing
from tests.checks.rule_case import findings, found

CODE = "OAS159"
ROUTES = [
    ("start", None, "context_brand"),
    ("context_brand", None, "write"),
    ("write", None, "end"),
]


def test_the_selection_is_listed_before_its_consumer():
    (finding,) = findings(slotted(writing(), selecting(), routes=ROUTES), CODE)
    assert finding.pointer == "/$referenced_components/context_brand"
    assert finding.severity == "warning"
    assert found(slotted(writing(), selecting(), routes=ROUTES), "OAS158") == []
    assert found(slotted(selecting(), writing(), routes=ROUTES), CODE) == []
