"""Values of sensitive fields do not get into a module: it names them, and the host lends them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.host_parts.host_parts import HostParts
from cinatra_sdk.testing import drive
from oas_compiler.emit.expressions import EmitRefused, LentNames
from oas_compiler.emit.python_module import emit_module
from tests.agents.agent_flows import TEXT, agent, agent_flow
from tests.emit.modules import compile_whole, import_emitted
from tests.flows import api, end, flow_of, port, start

SECRET = "s3cret-word-of-the-shop"


def shop_flow(headers: dict[str, str]) -> dict[str, Any]:
    call = api("call", outputs=[port("done")])
    call["sensitive_headers"] = headers
    return flow_of(start(), call, end(port("done")), edges=[("call", "done", "end", "done")])


def test_headers_are_named_and_lent(tmp_path: Path) -> None:
    flow = compile_whole(shop_flow({"X-Key": SECRET}))
    module, emitted = import_emitted(flow, tmp_path, "shop")
    assert SECRET not in emitted.text
    assert emitted.lends == {"call.sensitive_headers": {"X-Key": SECRET}}
    with pytest.raises(NotConfigured, match=r"call\.sensitive_headers"):
        drive(module.flow)
    lent = module.flow.lent(HostParts(secrets=dict(emitted.lends)))
    assert drive(lent).outputs == drive(flow).outputs


def test_headers_of_placeholders_stay(tmp_path: Path) -> None:
    flow = compile_whole(shop_flow({"X-Key": "Bearer {{SHOP_TOKEN}}"}))
    module, emitted = import_emitted(flow, tmp_path, "placeholders")
    assert emitted.lends == {}
    assert module.flow.plan == flow.plan


def test_the_key_of_a_model_is_named(tmp_path: Path) -> None:
    own = agent(outputs=TEXT)
    own["llm_config"]["api_key"] = SECRET
    flow = compile_whole(agent_flow(own, TEXT))
    _module, emitted = import_emitted(flow, tmp_path, "keyed")
    assert SECRET not in emitted.text
    assert emitted.lends == {"gpt.api_key": SECRET}


@pytest.mark.parametrize(
    ("value", "stays"),
    [
        ("{{TOKEN}}", True), ("Bearer {{TOKEN}}", True), ("Bearer abc", False), ("abc", False),
        ("{{TOKEN}}-and-a-long-literal", False), ("", True), ("{{ 'literal' }}", False),
        ("{{ topic ~ 'literal' }}", False), ("hunterpass {{TOKEN}}", False), ("Bearer", False),
        ("ApiKey {{ key }}", True),
    ],
)  # fmt: skip
def test_only_placeholders_stay(value: str, stays: bool) -> None:
    names = LentNames()
    names.replace_fields("node", {"password": value})
    assert (names.values == {}) is stays


def test_two_values_of_one_name_get_two_names() -> None:
    names = LentNames()
    first = names.replace_fields("node", {"password": "abc"})
    second = names.replace_fields("node", {"password": "xyz"})
    again = names.replace_fields("node", {"password": "abc"})
    assert first == again != second
    assert names.values == {"node.password": "abc", "node_2.password": "xyz"}


def test_members_of_a_body_or_a_form_are_no_sensitive_fields(tmp_path: Path) -> None:
    call = api("call", data={"password": "{{ u }}", "user": "a word"}, outputs=[port("done")])
    flow = compile_whole(
        flow_of(
            start(port("u", default="bob")),
            call,
            end(port("done")),
            edges=[("start", "u", "call", "u"), ("call", "done", "end", "done")],
        )
    )
    module, emitted = import_emitted(flow, tmp_path, "bodies")
    assert emitted.lends == {}
    assert drive(module.flow).calls[0].body == {"password": "bob", "user": "a word"}


def test_a_credential_among_the_parameters_of_a_model_is_refused() -> None:
    own = agent(outputs=TEXT)
    own["llm_config"]["default_generation_parameters"] = {"api_key": SECRET}
    flow = compile_whole(agent_flow(own, TEXT))
    with pytest.raises(EmitRefused, match="nothing lends"):
        emit_module(flow)


def test_the_user_of_a_model_stays(tmp_path: Path) -> None:
    own = agent(outputs=TEXT)
    own["llm_config"]["default_generation_parameters"] = {"user": "ann", "temperature": 0.2}
    flow = compile_whole(agent_flow(own, TEXT))
    module, emitted = import_emitted(flow, tmp_path, "parameters")
    assert emitted.lends == {}
    assert module.flow.plan == flow.plan


def test_a_name_that_the_file_has_already_stands_for_its_own_value() -> None:
    names = LentNames(taken=["call.sensitive_headers"])
    assert names.replace_all("call", "sensitive_headers", {"X-Key": SECRET}) == {
        "$component_ref": "call_2.sensitive_headers"
    }


def test_the_repr_of_a_plan_shows_no_key() -> None:
    own = agent(outputs=TEXT)
    own["llm_config"]["api_key"] = SECRET
    assert SECRET not in repr(compile_whole(agent_flow(own, TEXT)).plan)
