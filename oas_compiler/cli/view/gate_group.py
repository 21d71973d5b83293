"""Gates of one node in several runs: what they have in common once, then the rest of each.

    ◆ Review the draft   step 1 · risk read_only · review_draft
      the same at all 2:
        body  Hello
    1 of 2 · run n1 · waiting · Newsletter
      topic  Bees
    2 of 2 · run n2 · waiting · Newsletter
      topic  Ants

In: gates that wait.  Out: something rich prints; together they show all that `gate_view` shows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from oas_compiler.cli.view.run_view import (
    below_heading,
    description_of,
    gate_heading,
    values_after_message,
)
from oas_compiler.cli.view.values import Extent

if TYPE_CHECKING:
    from cinatra_sdk.gates.gate import Gate


def has_plain_view(gate: Gate) -> bool:
    """Whether `gate_view` of a gate is its heading, its description and its values, and no more."""
    from cinatra_sdk.gates.forms.selection_form import SelectionForm

    is_special = isinstance(gate.form, SelectionForm) or gate.question or gate.said
    return bool(gate.values) and gate.step != 0 and not is_special


def shared_view(gates: Sequence[Gate], extent: Extent | None = None) -> RenderableType:
    """What gates of one node in several runs have in common: their heading, their description and the
    values that all of them show; `own_view` has the rest of each.
    """
    parts, common = description_of(gates[0]), find_common(gates)
    if common:
        parts.append(Text(f"the same at all {len(gates)}:", style="dim"))
        parts += [below_heading(part) for part in values_after_message(common, extent or Extent())]
    return Group(gate_heading(gates[0]), *(below_heading(part) for part in parts))


def own_view(gate: Gate, common: Mapping[str, Any], extent: Extent | None = None) -> RenderableType:
    """The values of a gate that are not `common` to the gates shown with it."""
    own = {name: value for name, value in gate.values.items() if name not in common}
    parts = values_after_message(own, extent or Extent()) or [Text("as above", style="dim")]
    return Group(*(below_heading(part) for part in parts))


def find_common(gates: Sequence[Gate]) -> dict[str, Any]:
    """The values that all of the gates show, compared as JSON: 1 and true are two values."""
    shown = [{name: json.dumps(v) for name, v in gate.values.items()} for gate in gates]
    return {
        name: value
        for name, value in gates[0].values.items()
        if all(one.get(name) == shown[0][name] for one in shown)
    }
