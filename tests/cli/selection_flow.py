"""A flow that asks for a context selection, without a host: a message carries the candidates.

selection_flow()                        start → emit → pick → end; three candidates, at most two
selection_flow(ref("a"), minItems=1)    one candidate, of which one has to be chosen
"""

from __future__ import annotations

import json
from typing import Any

from cinatra_sdk.context.selector import Selector, read_selector
from tests.flows import end, flow_of, gate, message, port, start

Json = dict[str, Any]
RENDERER = "@cinatra-ai/context-selection-agent:context-selector"


def ref(id_: str, scope: str = "team", extension: str = "@x/voice", **more: str) -> Json:
    return {
        "artifactId": id_,
        "representationRevisionId": f"{id_}-rev",
        "semanticAssertionId": f"{id_}-{extension}",
        "extension": extension,
        "sourceScope": scope,
        "ownerId": "ann",
        **more,
    }


THREE = (ref("house-voice"), ref("old-voice"), ref("facts", "workspace", "@x/facts"))


def values(*refs: Json, selected: tuple[Json, ...] = (), **meta: Any) -> Json:
    """What the platform gives the gate to show."""
    about = {"slotId": "brand", "resolutionMode": "accumulate", "maxItems": 2, **meta}
    return {
        "candidates": list(refs),
        "slotMeta": {key: value for key, value in about.items() if value is not None},
        "selectedRefs": list(selected),
    }


def selector(*refs: Json, selected: tuple[Json, ...] = (), **meta: Any) -> Selector:
    found = read_selector(values(*refs, selected=selected, **meta))
    assert found is not None
    return found


def envelope(*refs: Json, **changes: Any) -> Json:
    keys = ("artifactId", "representationRevisionId", "semanticAssertionId")
    chosen = [{key: one[key] for key in keys} for one in refs]
    given = {"slotId": "brand", "resolutionMode": "accumulate", "selectedRefs": chosen}
    return given | changes


def selection_flow(*refs: Json, more: Json | None = None, **meta: Any) -> Json:
    text = json.dumps(values(*(refs or THREE), **meta) | (more or {}))
    return flow_of(
        start(),
        message("emit", text),
        gate("pick", renderer=RENDERER),
        end(port("userResponse")),
        edges=[("pick", "userResponse", "end", "userResponse")],
    )
