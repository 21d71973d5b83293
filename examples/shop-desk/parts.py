"""What a host lends to the shop desk: two tools, and a model that says what is written here.

    cd examples/shop-desk && oasflow run agent.yaml --set user_message="…" --host parts:lend

`python parts.py` runs the agent in memory.  Without a lent model, OpenAI's own is asked, with the key
in OPENAI_API_KEY.
"""

from __future__ import annotations

from pathlib import Path

from langchain_core.messages import HumanMessage, ToolMessage

from cinatra_sdk import HostParts
from cinatra_sdk.models import AskedModel, ScriptedModel, ScriptedReply
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow

AGENT = Path(__file__).with_name("agent.yaml")
ORDER = {"id": "A-17", "item": "teapot", "state": "delivered broken", "euro": 24.0}


def look_up_order(order_id: str) -> dict[str, object]:
    return {**ORDER, "id": order_id}


def refund_order(order_id: str, euro: float) -> str:
    print(f"paid back: {euro:g} euro for {order_id}")
    return f"receipt-{order_id}"


def reply(asked: AskedModel) -> ScriptedReply:
    """What a model could say: it looks the order up, asks for the refund, and tells the customer.

    It answers from the conversation alone, so any process can go on with a run.
    """
    results = [one for one in asked.messages if isinstance(one, ToolMessage)]
    if not results:
        return _call("look_up_order", order_id="A-17")
    if len(results) == 1:
        return _call("refund_order", order_id="A-17", euro=ORDER["euro"])
    said = [str(one.text) for one in asked.messages if isinstance(one, HumanMessage)]
    paid = "receipt-A-17" in str(results[-1].content)
    answer = "Your money is on its way." if paid else "A colleague will write to you."
    return ScriptedReply(text=answer, input_tokens=40 + len(said), output_tokens=8)


def _call(name: str, **args: object) -> ScriptedReply:
    return ScriptedReply(tool_calls=({"name": name, "args": args, "id": f"call-{name}"},))


def lend() -> HostParts:
    return HostParts(
        tools={"look_up_order": look_up_order, "refund_order": refund_order},
        models={"Desk model": ScriptedModel(reply)},
    )


def main() -> None:
    flow = compile_flow(AGENT, host=lend())
    for confirmed in (True, False):
        result = drive(flow, {"user_message": "My teapot is broken."}, answers=[confirmed])
        print(result.status, [*result.messages][-1:])


if __name__ == "__main__":
    main()
