"""The meaning of each key of `metadata.cinatra`, in one sentence, for editors.

    CINATRA["hidden"]    ->  "Inputs that only the caller supplies; nobody is asked for them."

What a component type and its fields mean stands with the type (kinds/, document/types.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

CINATRA: Final[Mapping[str, str]] = {
    "type": "`flow` or `orchestrator` runs on its own, `node` or `leaf` inside another agent.",
    "packageName": "Name of the npm package that this belongs to, or of the child agent it runs.",
    "packageVersion": "Version of that package; package.json decides.",
    "hitlScreens": "Ids of the screens that this agent may show.",
    "llm": "The model that calls of the bridge prefer.",
    "contextSlots": "Places where a person or the agent picks stored artifacts as context.",
    "docsRef": "Where the agent is described.",
    "produces": "Artifacts that the agent makes.",
    "agentDependencies": "Not read here: child agents are declared in package.json.",
    "reentrantGate": "The gate that a loop comes back to.",
    "toolboxes": "Toolboxes that calls of the bridge may use.",
    "projectPrimitiveTools": "Notes about tools.",
    "parentSatisfiedContextSlots": "Slots whose pick is handed to a child agent.",
    "required": "Inputs that the run cannot begin without, in the order in which they are asked.",
    "hidden": "Inputs that only the caller supplies; nobody is asked for them.",
    "inputRenderers": "Title → id of the screen that asks for it.",
    "inputTitles": "Title → what people see instead.",
    "inputDataSources": "Title → where choices come from.",
    "inputContract": "Notes about the inputs.",
    "riskClass": "What the node does to the world; `…_send`, `…_publish`, `…_post`, `…_delete` and "
    "`send_external_message` act on it and need a gate before them.",
    "effect": "How often the effect may happen when a run goes on after a crash: `at_least_once`, "
    "under one key, or `at_most_once`.",
    "onItemError": "What a map does where an element fails: `fail`, or `collect` and go on.",
    "requiresApproval": "Of a gate: that it asks. Of a call: for information only.",
    "renderer": "Id of the screen, `@scope/package:screen`.",
    "a2uiSurfaceId": "Id of the surface that the screen is drawn on.",
    "approvalPolicy": "For information only; the policy follows from the gates.",
    "phase": "For information only.",
    "tools": "For information only.",
    "description": "What it is for, in words.",
    "purpose": "What it is for; marks context selection with `author-placed-…` and "
    "`loader-injected-context-resolution-for-<slotId>`.",
    "autoSkipWhenInputsPresent": "A hint for authors; nothing reads it.",
    "inputMessageSchema": "JSON Schema of the answer that a person gives.",
    "formSchema": "JSON Schema of the object inside an answer that is a JSON text.",
    "surfaceGateInputs": "Whether the gate's inputs are shown as one object.",
    "maxGateVisits": "How often one run may come to this gate.",
    "gateSteps": "How the gates inside the subflow are shown, in their order.",
    "a2uiSurfaceIdOverride": "The surface that takes the place of the child agent's own.",
    "hitlOwnedBy": "Whose screens are shown: the child agent's or this one's own.",
    "firstTurn": "The model is told tastes, brief, notes and recent work on an image before its prompt.",
    "attachments": "The input with a list of refs of files, which the model is sent.",
    "sideEffects": "Whether the step acts on the world.",
}
