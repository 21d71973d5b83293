"""PluginRetryNode."""

from __future__ import annotations

from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.nodes.retried import make_retried
from oas_compiler.ir import PluginRetryNode
from oas_compiler.kinds.plugin_retry import COUNT, FAILURE, SUCCEEDED
from oas_compiler.lower.inner import lower_inner
from oas_compiler.lower.registry import LoweringSite


def lower_retry(site: LoweringSite) -> NodeBody:
    node, frame = site.node, site.frame
    assert isinstance(node, PluginRetryNode)
    return make_retried(
        frame,
        lower_inner(site, node.subflow, frame.path, as_graph=False),
        success=node.success,
        trials=node.trials,
        failed_branch=FAILURE,
        count=COUNT,
        succeeded=SUCCEEDED,
    )
