"""What the process of a tried platform lends: a model that answers everything with an empty object."""

from __future__ import annotations

from cinatra_sdk import HostParts
from cinatra_sdk.outside.models.model_scripts import ScriptedModel


def lend() -> HostParts:
    return HostParts(models={"any": ScriptedModel(lambda _asked: "{}")})
