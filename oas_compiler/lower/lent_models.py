"""Whether the models that a host lends for one flow are models that the flow asks.

require_known_models(flow, {"Wirter": model})   ->   NotConfigured: … did you mean "Writer"?

A model under a misspelt name would be asked for nothing, and a simulation would answer in its place.
"""

from __future__ import annotations

from collections.abc import Mapping

from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.models.choosing import Models
from cinatra_sdk.models.reading import read_model_config
from cinatra_sdk.text.spelling import did_you_mean
from oas_compiler.ir import FlowIR, Json, walk

_EVERY = "*"


def require_known_models(flow: FlowIR, models: Models) -> None:
    """Raise `NotConfigured` for a name that no model of the flow has."""
    if not isinstance(models, Mapping):
        return
    known = _list_names(flow)
    for name in models:
        if name != _EVERY and name not in known:
            listed = ", ".join(f'"{one}"' for one in known[:10]) or "none"
            raise NotConfigured(
                f"models= names '{str(name)[:80]}', and the flow asks no such model",
                hint=did_you_mean(str(name), known) or f"its models are: {listed}",
            )


def _list_names(flow: FlowIR) -> list[str]:
    """Ids, names and models of the flow's configs, each once."""
    found: dict[str, None] = {}
    for _, node in walk(flow):
        config = getattr(node, "llm_config", None)
        if isinstance(config, Json):
            found |= dict.fromkeys(read_model_config(config, None).names)
    return list(found)
