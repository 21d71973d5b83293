"""Which components can stand in `nodes`, by their types."""

from __future__ import annotations

from oas_compiler.document.scope import Located
from oas_compiler.document.types import fields_of, is_known, is_plugin_type
from oas_compiler.kinds.no_nodes import AGENTS, RUNNERS
from oas_compiler.kinds.registry import find_kind


def can_be_node(located: Located) -> bool:
    """Whether this can stand in `nodes`; an unknown type was reported already and passes."""
    kind = located.component_type
    if is_plugin_type(kind) or find_kind(kind) is not None:
        return True
    return bool(kind) and fields_of(kind) is None and kind not in RUNNERS


def can_stand_alone(component_type: str) -> bool:
    """Whether a component of the type can be a document, as a flow of one node."""
    kind = find_kind(component_type)
    node = kind is not None and kind.runs and kind.shape not in {"start", "end"}
    return node or component_type in AGENTS


def is_misspelt(located: Located) -> bool:
    """Whether a component's type is misspelt; types of plugins are only unknown."""
    foreign = isinstance(located.value, dict) and "component_plugin_name" in located.value
    kind = located.component_type
    return not foreign and not is_plugin_type(kind) and not is_known(kind)
