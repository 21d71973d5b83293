"""One step of an approval policy, as a record; as JSON it has Cinatra's keys.

DerivedStep(number=1, node_id="review", name="Review", risk_class="approval", requires_approval=True)
    .to_json()  ->  {"stepNumber": 1, "nodeId": "review", "name": "Review",
                     "riskClass": "approval", "requiresApproval": true, "hitlOwnedBy": "self"}
"""

from __future__ import annotations

from dataclasses import dataclass

from cinatra_sdk.contract import FALLBACK_RENDERER, SETUP_STEP
from oas_compiler.ir import InputMessageNode, Json, JsonValue

_ANY_ANSWER = Json.of({"type": "object"})


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedField:
    """What a host needs to show the step of an InputMessageNode."""

    name: str
    """The output that takes the answer."""
    schema: Json
    """JSON Schema of the answer."""

    @classmethod
    def of(cls, node: InputMessageNode) -> AskedField:
        """The field that `node` asks for; its answer may be any object where the author says nothing."""
        name = node.outputs[0].title if node.outputs else node.id
        return cls(name=name, schema=node.answer_schema or _ANY_ANSWER)


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedStep:
    """One entry of `approvalPolicy.steps`."""

    number: int
    """0 is the setup before the run; steps of the flow count from 1."""
    node_id: str
    """Id of a node of the outermost flow."""
    name: str
    risk_class: str
    requires_approval: bool
    hitl_owned_by: str = "self"
    renderer: str = ""
    """The screen that the author named; empty where none is named."""
    asked: AskedField | None = None
    """Of an InputMessageNode."""
    gate_count: int = 1
    """How many gates of a subflow the step stands for."""
    child_package: str = ""
    """npm name of the agent that the step runs; empty where it runs none."""

    def to_json(self) -> dict[str, JsonValue]:
        """The entry with Cinatra's keys, fresh; members that say nothing are left out."""
        entry: dict[str, JsonValue] = {
            "stepNumber": self.number,
            "nodeId": self.node_id,
            "name": self.name,
            "riskClass": self.risk_class,
            "requiresApproval": self.requires_approval,
            "hitlOwnedBy": self.hitl_owned_by,
        }
        if self.renderer:
            entry["xRenderer"] = self.renderer
        if self.number == SETUP_STEP:
            entry["skipLlm"] = True
        if self.asked is not None:
            entry |= {
                "nodeType": "input_message",
                "skipLlm": True,
                "field": self.asked.name,
                "schema": self.asked.schema.value(),
                "xRenderer": self.renderer or FALLBACK_RENDERER,
            }
        if self.gate_count != 1:
            entry["gateCount"] = self.gate_count
        if self.child_package:
            entry["childAgent"] = {"packageName": self.child_package}
        return entry
