"""WayFlow's nodes that ask a model: several messages, a choice, an answer that is said."""

from __future__ import annotations

from typing import Any

from cinatra_sdk.outside.models.model_scripts import ScriptedModel
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from oas_compiler.pipeline import check
from tests.flows import end, flow_of, message, node, plain, port, start
from tests.wayflow.nodes import MODEL, PLUGIN, around, extended


def prompt(*messages: tuple[str, str], **more: Any) -> Any:
    return {
        "component_type": "PluginPromptTemplate", "id": "prompt", "name": "", **PLUGIN,
        "messages": [
            {"role": role, "contents": [{"type": "text", "content": text}], "display_only": False}
            for role, text in messages
        ],
        **more,
    }  # fmt: skip


def asking(**fields: Any) -> Any:
    ask = extended("ExtendedLlmNode", "ask", llm_config=MODEL, **fields)
    return around(ask, [port("topic")], [port("output")])


def test_an_answer_is_said_where_the_node_says_it() -> None:
    model = ScriptedModel(["Bees hum."])
    flow = compile_flow(
        asking(prompt_template="About {{ topic }}", send_message=True), models={"*": model}
    )
    ran = drive(flow, {"topic": "bees"})
    assert (ran.outputs, ran.messages) == ({"output": "Bees hum."}, ("Bees hum.",))


def test_several_messages_reach_the_model_in_their_roles() -> None:
    model = ScriptedModel(["Done."])
    template = prompt(
        ("system", "Be brief."), ("user", "Hello"), ("assistant", "Yes?"), ("user", "About {{ topic }}")
    )  # fmt: skip
    flow = compile_flow(asking(prompt_template_object=template), models={"*": model})
    assert drive(flow, {"topic": "bees"}).outputs == {"output": "Done."}
    asked = [(one.type, one.content) for one in model.asked[0].messages]
    assert asked == [
        ("system", "Be brief."), ("human", "Hello"), ("ai", "Yes?"), ("human", "About bees"),
    ]  # fmt: skip


def test_what_was_said_stands_where_the_template_has_it() -> None:
    model = ScriptedModel(["Done."])
    template = prompt(("system", "Go on."), ("user", "$$__CHAT_HISTORY_PLACEHOLDER__$$"))
    ask = extended("ExtendedLlmNode", "ask", llm_config=MODEL, prompt_template_object=template)
    flow = plain(
        flow_of(start(), message("say", "Hello there"), ask, end(port("output")),
                edges=[("ask", "output", "end", "output")])
    )  # fmt: skip
    drive(compile_flow(flow, models={"*": model}), {})
    asked = [(one.type, one.content) for one in model.asked[0].messages]
    assert asked == [("system", "Go on."), ("ai", "Hello there")]


def test_a_template_that_reads_the_answer_by_itself_is_refused() -> None:
    parser = {"component_type": "PluginJsonOutputParser", "id": "p", "name": "p", **PLUGIN}
    template = prompt(("user", "{{ topic }}"), output_parser=parser)
    (found,) = check(asking(prompt_template_object=template)).errors
    assert 'PluginPromptTemplate "prompt" with output_parser' in found.message


def choosing(**fields: Any) -> Any:
    choice = extended(
        "PluginChoiceNode", "choose", llm_config=MODEL, inputs=[port("input")],
        next_branches=[["refund", "Money back."], ["other", "Anything else.", "talk"]], **fields,
    )  # fmt: skip
    return plain(
        flow_of(
            start(port("input")), choice, message("pay", "Paid"), message("chat", "Hm"),
            node("EndNode", "end", outputs=[port("selected_choice"), port("llm_output")]),
            routes=[("start", None, "choose"), ("choose", "refund", "pay"), ("choose", "other", "chat"),
                    ("choose", "default", "end"), ("pay", None, "end"), ("chat", None, "end")],
            edges=[("start", "input", "choose", "input"),
                   ("choose", "selected_choice", "end", "selected_choice"),
                   ("choose", "llm_output", "end", "llm_output")],
        )
    )  # fmt: skip


def test_a_model_chooses_the_way_by_the_name_that_it_is_told() -> None:
    model = ScriptedModel(["I say: talk, no refund"])
    ran = drive(compile_flow(choosing(), models={"*": model}), {"input": "Give it back"})
    assert ran.messages == ("Hm",)
    assert ran.outputs == {"selected_choice": "talk", "llm_output": "I say: talk, no refund"}
    asked = str(model.asked[0].messages[0].content)
    assert "- refund: Money back.\n- talk: Anything else." in asked
    assert asked.endswith("Give it back")


def test_a_model_that_names_no_task_leaves_by_default() -> None:
    flow = compile_flow(choosing(), models={"*": ScriptedModel(["no idea"])})
    ran = drive(flow, {"input": "?"})
    assert (ran.messages, ran.outputs) == (
        (), {"selected_choice": "default", "llm_output": "no idea"}
    )  # fmt: skip
