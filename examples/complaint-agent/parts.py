"""What a host lends to the complaint agent: a model that says what is written here.

    cd examples/complaint-agent && oasflow run . --set complaint="…" --host parts:lend

`python parts.py` runs the flow in memory.  Without a lent model, OpenAI's own is asked, with the key
in OPENAI_API_KEY.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

from cinatra_sdk import HostParts
from cinatra_sdk.effects import Usage
from cinatra_sdk.models import AskedModel, ScriptedModel, ScriptedReply
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow

AGENT = Path(__file__).parent


def reply(asked: AskedModel) -> ScriptedReply:
    """An object where a schema asks for one, else a letter."""
    if asked.schema is not None:
        sorted_as = {"subject": "a late parcel", "urgency": 4}
        return ScriptedReply(value=sorted_as, input_tokens=61, output_tokens=12)
    return ScriptedReply(text="Dear customer, your parcel is on its way.", output_tokens=9)


def price(_model: str, used: Usage) -> Decimal:
    """Two millionths of a euro for a token."""
    return Decimal("0.000002") * (used.input_tokens + used.output_tokens)


def lend() -> HostParts:
    return HostParts(models={"Writer": ScriptedModel(reply)}, price=price)


def main() -> None:
    flow = compile_flow(AGENT, host=lend())
    result = drive(flow, {"complaint": "Where is my parcel?"}, answers={"approve_letter": True})
    print(result.status, result.outputs)


if __name__ == "__main__":
    main()
