"""Which of the host's models answers a request, or why none does.

    choose(offer, body)    ChosenModel(model=…, warning="anthropic is not offered here: …")

* `model_id` names a model of the offer, or the request is refused.
* A preferred provider that is not offered gives way to the default, with a warning; where a capability
  is required, the request is refused instead.
* A required capability is looked for among the models that remain.

Source: the provider dispatch of Cinatra's bridge.
"""

from __future__ import annotations

from dataclasses import dataclass

from cinatra_sdk.bridge.body import BridgeBody, PreferredLlm
from cinatra_sdk.bridge.offered import Offer, OfferedModel
from cinatra_sdk.routed.call import RouteError
from cinatra_sdk.text.spelling import did_you_mean

_UNAVAILABLE = 503


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenModel:
    """The model that answers."""

    model: OfferedModel
    capability: str
    """`provider/model`, as usage and errors name it."""
    warning: str = ""
    """Where it is another one than the author prefers."""


def choose(offer: Offer, body: BridgeBody) -> ChosenModel:
    """Raises: `RouteError` 400 `UNKNOWN_MODEL_ID`; 503 with a sentence for whoever runs the flow."""
    wish = body.cinatra_llm or PreferredLlm()
    if not offer.models:
        raise RouteError(
            _UNAVAILABLE,
            "NO_LLM_PROVIDER",
            "No language model is connected. Start the platform with --model provider:model.",
        )
    if body.model_id is not None:
        named = _find_named(offer, body.model_id)
        _require_capability(named, wish, [named])
        return _make_choice(named, wish, body.model_id)
    stand_in = next((one for one in offer.models if one.stands_in), None)
    if stand_in is not None:
        return _make_choice(stand_in, wish, wish.preferred_model)
    return _choose_preferred(offer, wish)


def _choose_preferred(offer: Offer, wish: PreferredLlm) -> ChosenModel:
    of_provider = [one for one in offer.models if one.provider == wish.preferred_provider]
    if wish.preferred_provider is not None and not of_provider:
        if wish.capability_required is not None:
            raise RouteError(
                _UNAVAILABLE,
                "PREFERRED_PROVIDER_UNAVAILABLE",
                f"This agent needs {wish.capability_required} of {wish.preferred_provider}, "
                f"which is not connected. Connect {wish.preferred_provider}, then run it again.",
            )
        default = offer.models[0]
        warning = f"{wish.preferred_provider} is not connected; {_label(default)} answers"
        return _make_choice(default, wish, None, warning)
    allowed = of_provider or list(offer.models)
    able = [one for one in allowed if _has_capability(one, wish)]
    if not able:
        _require_capability(allowed[0], wish, list(offer.models))
    preferred = next((one for one in able if one.name == wish.preferred_model), None)
    if preferred is not None:
        return _make_choice(preferred, wish, None)
    return _make_choice(able[0], wish, None, _warn_of_another(allowed, able[0], wish))


def _warn_of_another(allowed: list[OfferedModel], found: OfferedModel, wish: PreferredLlm) -> str:
    """Why another model answers than the one that the author prefers; empty where none is named."""
    asked = wish.preferred_model
    if not asked:
        return ""
    is_offered = any(one.name == asked for one in allowed)
    why = f"does not do {wish.capability_required}" if is_offered else "is not offered"
    return f"{asked} {why}; {_label(found)} answers"


def _find_named(offer: Offer, model_id: str) -> OfferedModel:
    for one in offer.models:
        if model_id in (one.name, f"{one.provider}/{one.name}", one.config.name) or one.stands_in:
            return one
    names = [one.name for one in offer.models]
    nearest = did_you_mean(model_id, names)
    raise RouteError(
        400,
        "UNKNOWN_MODEL_ID",
        f"model_id is not one of the models of this platform: {', '.join(names)}"
        + (f"; {nearest}" if nearest else ""),
    )


def _has_capability(model: OfferedModel, wish: PreferredLlm) -> bool:
    return wish.capability_required is None or wish.capability_required in model.capabilities


def _require_capability(
    model: OfferedModel, wish: PreferredLlm, offered: list[OfferedModel]
) -> None:
    if _has_capability(model, wish):
        return
    able = [_label(one) for one in offered if _has_capability(one, wish)]
    instead = f" {able[0]} can." if able else " No connected model can."
    raise RouteError(
        _UNAVAILABLE,
        "CAPABILITY_UNSATISFIABLE",
        f"This agent needs {wish.capability_required}, which {_label(model)} does not do.{instead}",
    )


def _make_choice(
    model: OfferedModel, wish: PreferredLlm, name: str | None, warning: str = ""
) -> ChosenModel:
    """name: what a stand-in stands for; None where nobody named it."""
    label = _label(model)
    if model.stands_in and (name or wish.preferred_provider):
        of = f"{wish.preferred_provider}/" if wish.preferred_provider else ""
        label = f"{model.provider}/{of}{name or '*'}"
    return ChosenModel(model=model, capability=label, warning=warning)


def _label(model: OfferedModel) -> str:
    return f"{model.provider}/{model.name}"
