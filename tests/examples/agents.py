"""What each example does, worked out by hand from its picture in the README.

One `Way` is one way through an agent: what is answered at its gates, in order, and which nodes
have called something before each gate and at the end.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from cinatra_sdk import HostParts

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@dataclass(frozen=True, kw_only=True)
class Way:
    name: str
    agent: str
    params: Mapping[str, Any]
    answers: tuple[Any, ...]
    """One per gate, in order; each lets the run go on."""
    gates: tuple[str, ...]
    """Ids of the gates, in order."""
    calls: tuple[tuple[str, ...], ...]
    """Paths of the calls made before each gate since the one before it, and after the last."""
    outputs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def all_calls(self) -> list[str]:
        return self.calls_before(len(self.calls) - 1)

    def calls_before(self, gate: int) -> list[str]:
        """The calls that were made when the gate at this position asks."""
        return [path for stretch in self.calls[: gate + 1] for path in stretch]


FIRST_TEXT = (
    "We are proud and delighted to announce that, after many months of careful preparation,\n"
    "our new office in Ghent will be opening its doors to everybody on the first of June."
)
SECOND_TEXT = "Our Ghent office opens on 1 June. Everybody is welcome."
COLLEAGUE = {"employeeName": "Ada Brandt", "role": "designer"}

WAYS = (
    Way(
        name="newsletter",
        agent="newsletter-agent",
        params={"topic": "Bees"},
        answers=(True, True),
        gates=("review_draft", "confirm_send"),
        calls=(("write_draft",), (), ("send_newsletter",)),
        outputs={
            "subject": "Bees on the roof: what we learned in a year",
            "messageId": "newsletter-0042",
            "recipientCount": 318,
        },
    ),
    Way(
        name="loop-accepted-at-once",
        agent="revision-loop-agent",
        params={"announcement": "We open in Ghent"},
        answers=({"verdict": "accept"},),
        gates=("review_text",),
        calls=(("write_text",), ("save_text",)),
        outputs={"text": FIRST_TEXT, "objectId": "press-release-7"},
    ),
    Way(
        name="loop-revised-twice",
        agent="revision-loop-agent",
        params={"announcement": "We open in Ghent"},
        answers=(
            {"verdict": "revise", "comment": "half as long"},
            {"verdict": "revise"},
            {"verdict": "accept", "comment": "thank you"},
        ),
        gates=("review_text", "review_text#2", "review_text#3"),
        calls=(("write_text",), ("write_text",), ("write_text",), ("save_text",)),
        outputs={"text": SECOND_TEXT, "objectId": "press-release-7"},
    ),
    Way(
        name="onboarding-ordered",
        agent="onboarding-agent",
        params=COLLEAGUE,
        answers=({"decision": "order", "laptop": "16 inch"}, True),
        gates=(
            "workplace/workplace-equipment_gate",
            "workplace/workplace-access/access-approve_gate",
        ),
        calls=(
            ("plan_accounts",),
            (),
            (
                "workplace/workplace-access/access-create_accounts",
                "workplace/workplace-place_order",
                "send_welcome",
            ),
        ),
        outputs={
            "summary": "Ada Brandt was welcomed by mail.",
            "orderNumber": "PO-2291",
            "grantedAccounts": ["mail", "wiki", "design-library"],
        },
    ),
    Way(
        name="onboarding-postponed",
        agent="onboarding-agent",
        params=COLLEAGUE,
        answers=({"decision": "postpone"},),
        gates=("workplace/workplace-equipment_gate",),
        calls=(("plan_accounts",), ("book_reminder",)),
        outputs={
            "summary": "A reminder to set up the workplace of Ada Brandt is booked.",
            "orderNumber": "",
            "grantedAccounts": [],
        },
    ),
    Way(
        name="notify",
        agent="notify-agent",
        params={"contacts": ["ann@example.org", "ben@example.org"], "news": "We open in Ghent"},
        answers=(True, True),
        gates=("per_contact[0]/approve_letter", "per_contact[1]/approve_letter"),
        calls=(
            ("per_contact/write_letter",),
            ("per_contact/send_letter", "per_contact/write_letter"),
            ("per_contact/send_letter",),
        ),
        outputs={"messageIds": ["message-7", "message-7"]},
    ),
    Way(
        name="refund",
        agent="tools-agent",
        params={"order_id": "A-17"},
        answers=("arrived broken",),
        gates=("approve_refund",),
        calls=(("look_up_order",), ("refund_order",)),
        outputs={"receipt": "receipt-A-17"},
    ),
    Way(
        name="photo",
        agent="photo-agent",
        params={"image_id": "img-7"},
        answers=("Yes.",),
        gates=("ask_editor",),
        calls=(("look",), ("write",)),
        outputs={
            "plan": "Darken the background.",
            "letter": "Please darken the background by a third.",
        },
    ),
    Way(
        name="complaint",
        agent="complaint-agent",
        params={"complaint": "Where is my parcel?"},
        answers=(True,),
        gates=("approve_letter",),
        calls=(("sort", "draft"), ()),
        outputs={"letter": "Dear customer, your parcel is on its way.", "urgency": 4},
    ),
)


def program(path: str) -> ModuleType:
    """A program of the examples as a module; its `main` has not run."""
    name = "example_" + Path(path).with_suffix("").as_posix().replace("/", "_").replace("-", "_")
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, EXAMPLES / path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


def host_of(agent: str) -> HostParts:
    """What an agent needs of its host, beside tools."""
    if agent != "photo-agent":
        return HostParts()
    return HostParts(first_turn=program("photo-agent/parts.py").read_photo)


def tools_of(agent: str) -> Mapping[str, Callable[..., Any]]:
    """The Python functions that an agent needs; only one needs any."""
    tools: Mapping[str, Callable[..., Any]] = (
        program("tools-agent/run.py").TOOLS if agent == "tools-agent" else {}
    )
    return tools
