"""CatchExceptionNode and PluginCatchExceptionNode."""

from __future__ import annotations

from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.nodes.caught import make_caught
from oas_compiler.ir import CatchExceptionNode, PluginCatchExceptionNode
from oas_compiler.kinds.catch_exception import CAUGHT_BRANCH, CAUGHT_INFO
from oas_compiler.kinds.plugin_catch_exception import DEFAULT_BRANCH, NAME, PAYLOAD
from oas_compiler.lower.inner import lower_inner
from oas_compiler.lower.registry import LoweringSite


def lower_catch_exception(site: LoweringSite) -> NodeBody:
    node, frame = site.node, site.frame
    assert isinstance(node, CatchExceptionNode)
    return make_caught(
        frame,
        lower_inner(site, node.subflow, frame.path, as_graph=False),
        branch=CAUGHT_BRANCH,
        info=CAUGHT_INFO,
        defaults={port.title: port.default for port in node.outputs if port.default is not None},
        tells_message=node.tells_message,
    )


def lower_plugin_catch(site: LoweringSite) -> NodeBody:
    node, frame = site.node, site.frame
    assert isinstance(node, PluginCatchExceptionNode)
    return make_caught(
        frame,
        lower_inner(site, node.subflow, frame.path, as_graph=False),
        branch=DEFAULT_BRANCH if node.catches_all else "",
        info=PAYLOAD,
        defaults={port.title: port.default for port in node.outputs if port.default is not None},
        tells_message=True,
        name=NAME,
        by_name=dict(node.except_on),
    )
