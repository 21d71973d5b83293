"""The parts that a host lends to a node which asks a model, an MCP server or an agent behind A2A."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from cinatra_sdk.data.author_json import Json
from cinatra_sdk.data.templates.flow_templates import Renderer
from cinatra_sdk.data.templates.language import TemplateError
from cinatra_sdk.flow.plan.frame import Frame
from cinatra_sdk.flow.plan.plan import Wiring
from cinatra_sdk.flow.requests.model_question import ModelSettings
from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.outside.models.config import read_model_config


def read_model_settings(wiring: Wiring, llm_config: Json) -> ModelSettings:
    """The settings of a node that asks the model of `llm_config`."""
    host = wiring.host
    return ModelSettings(
        config=read_model_config(llm_config, host.secrets),
        models=host.models,
        api_key_for=host.api_key_for,
        may_call=make_allowance(wiring.platform, host.allow),
        stand_in=find_stand_in(wiring.platform),
        simulation=find_simulation(wiring.platform),
        lent=wiring.lent_values,
        bounds=host.remote_bounds,
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


def find_stand_in(platform: Any) -> Any:
    """The model that answers in place of those of nodes, as a script does; None: there is none."""
    while platform is not None:
        found = getattr(platform, "stand_in", None)
        if found is not None:
            return found
        beyond = getattr(platform, "beyond", None)
        platform = beyond if beyond is not None else getattr(platform, "inner", None)
    return None


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


# ----------------------------------------------------------------------------
# A node's blocking way to an answer that only an event loop gives.


_T = TypeVar("_T")


def wait_for(make: Callable[[], Awaitable[_T]]) -> _T:
    """What the awaitable gives, on an event loop of its own."""

    async def wait() -> _T:
        return await make()

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(wait())
    # The caller's loop runs in this thread and cannot run a second one.  The context goes along:
    # LangGraph keeps the config of the node in it.
    with ThreadPoolExecutor(1) as other:
        return other.submit(contextvars.copy_context().run, asyncio.run, wait()).result()
