"""LlmNode: its settings, read from the IR; what it does is in `cinatra_sdk.flow.nodes.llm`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.frame import Frame
from cinatra_sdk.flow.model_effects import ModelSettings
from cinatra_sdk.flow.nodes.llm import LlmSettings, MessageSettings, make_llm
from cinatra_sdk.platform.http import HttpPlatform
from cinatra_sdk.platform.simulated import SimulatedPlatform
from cinatra_sdk.templates.language import TemplateError
from cinatra_sdk.templates.rendering import Renderer
from oas_compiler.ir import ExtendedLlmNode, Json, LlmNode
from oas_compiler.lower.lent_secrets import list_secret_texts
from oas_compiler.lower.model_config import read_model_config
from oas_compiler.lower.registry import LoweringSite


def lower_llm(site: LoweringSite) -> NodeBody:
    node = site.node
    assert isinstance(node, LlmNode)
    before = node.before if isinstance(node, ExtendedLlmNode) else ()
    settings = LlmSettings(
        render=make_render(site.frame, node.prompt_template, "prompt"),
        model=read_model_settings(site, node.llm_config),
        before=tuple(
            MessageSettings(role=role, render=make_render(site.frame, text, "prompt"))
            for role, text in before
        ),
        says=isinstance(node, ExtendedLlmNode) and node.says,
    )
    return make_llm(site.frame, settings)


def read_model_settings(site: LoweringSite, llm_config: Json) -> ModelSettings:
    """The settings of a node that asks the model of `llm_config`."""
    host = site.wiring.host
    return ModelSettings(
        config=read_model_config(llm_config, host.secrets),
        models=host.models,
        api_key_for=host.api_key_for,
        may_call=make_allowance(site.wiring.platform, host.allow),
        simulation=find_simulation(site.wiring.platform),
        lent=(*site.wiring.env.values(), *list_secret_texts(host.secrets)),
    )


def make_render(frame: Frame, template: str, what: str) -> Callable[[Mapping[str, Any]], str]:
    """The function from a node's inputs to the text; what: the template's name, for errors."""
    renderer = Renderer(template)

    def render(values: Mapping[str, Any]) -> str:
        try:
            return renderer.text(values)
        except TemplateError as error:
            raise frame.failed(f"{what}: {error}") from None

    return render


def find_simulation(platform: Any) -> Any:
    """The platform by which a simulation answers; None where calls are really made."""
    beyond = getattr(platform, "beyond", None)
    asked = beyond if beyond is not None else platform
    inner = asked
    while not isinstance(inner, SimulatedPlatform):
        inner = getattr(inner, "inner", None)
        if inner is None:
            return None
    return asked


def make_allowance(platform: Any, allow: Sequence[str]) -> Callable[[str], bool]:
    """What the operator opens: to the platform, and to the runs of this process."""
    opened = HttpPlatform(None, allow=allow)

    def may_call(address: str) -> bool:
        return opened.allows(address) or _is_open(platform, address)

    return may_call


def _is_open(platform: Any, address: str) -> bool:
    inner = platform
    while inner is not None:
        if isinstance(inner, HttpPlatform):
            return inner.allows(address)
        beyond = getattr(inner, "beyond", None)
        inner = beyond if beyond is not None else getattr(inner, "inner", None)
    return False
