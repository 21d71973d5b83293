"""Small flows that ask a language model."""

from __future__ import annotations

from typing import Any

from tests.flows import Json, end, flow_of, node, port, start

TEXT = port("generated_text")


def llm(id_: str = "ask", prompt: str = "About {{ topic }}", **fields: Any) -> Json:
    """An LlmNode; keys that are no fields of nodes go into its model."""
    own = {name: fields.pop(name) for name in ("outputs", "inputs") if name in fields}
    config = {
        "component_type": "OpenAiConfig", "id": "model", "name": "Writer", "model_id": "gpt-5",
        **fields,
    }  # fmt: skip
    return node("LlmNode", id_, prompt_template=prompt, llm_config=config, **own)


def ask_flow(*outputs: Json, prompt: str = "About {{ topic }}", **config: Any) -> Json:
    """A flow of one question: `topic` in, `outputs` (or the raw text) out."""
    found = outputs or (TEXT,)
    own = {"outputs": list(outputs)} if outputs else {}
    return flow_of(
        start(port("topic")),
        llm(prompt=prompt, **own, **config),
        end(*found),
        edges=[
            ("start", "topic", "ask", "topic"),
            *(("ask", one["title"], "end", one["title"]) for one in found),
        ],
        agentspec_version="26.1.2",
    )
