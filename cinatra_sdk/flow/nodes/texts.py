"""Text in, matches or text out."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.frame import Frame
from cinatra_sdk.flow.plan import NodeWork
from cinatra_sdk.flow.site import NodeSite
from cinatra_sdk.templates.rendering import Renderer, TemplateError
from cinatra_sdk.values.patterns.searching import Matcher, SearchStopped


@dataclass(frozen=True, slots=True, kw_only=True)
class Regex(NodeWork):
    """Searches its one input; its one output has all matches, or the first."""

    kind: ClassVar[str] = "PluginRegexNode"
    pattern: str
    first_only: bool = False
    takes_last: bool = False
    """Whether the last match counts in place of the first."""

    def make_body(self, site: NodeSite) -> NodeBody:
        return make_regex(
            site.frame,
            text=site.plan.inputs[0].title,
            output=site.plan.outputs[0].title,
            pattern=self.pattern,
            first=self.first_only,
            last=self.takes_last,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTemplate(NodeWork):
    """Renders a template over its inputs."""

    kind: ClassVar[str] = "PluginTemplateNode"
    template: str

    def make_body(self, site: NodeSite) -> NodeBody:
        output = site.plan.outputs[0].title
        return make_template(site.frame, output=output, template=self.template)


def make_regex(
    frame: Frame, *, text: str, output: str, pattern: str, first: bool, last: bool = False
) -> NodeBody:
    """text, output: titles of the input and the output.  first: the first match alone; last: in its
    place the last one.  Empty matches do not count; of a pattern with one group, the group does.
    """
    matcher = Matcher(pattern)

    def run(state: Mapping[str, Any], _runtime: object) -> dict[str, Any]:
        searched = frame.gather(state)[text]
        try:
            found = [part for part in matcher.all_parts(searched) if part]
        except SearchStopped as error:
            raise frame.failed(
                f"regex_pattern: {error}",
                hint="write the pattern without a repetition inside a repetition",
            ) from None
        one = (found[-1] if last else found[0]) if found else ""
        return frame.finish(state, {output: one if first else found})

    async def arun(state: Mapping[str, Any], runtime: object) -> dict[str, Any]:
        # A search may take its time, and the loop serves other runs meanwhile.
        return await asyncio.to_thread(run, state, runtime)

    return NodeBody(run=run, arun=arun, computes=True)


def make_template(frame: Frame, *, output: str, template: str) -> NodeBody:
    """output: title of the output, the rendered text."""
    renderer = Renderer(template)

    def run(state: Mapping[str, Any], _runtime: object) -> dict[str, Any]:
        try:
            text = renderer.text(frame.gather(state))
        except TemplateError as error:
            raise frame.failed(f"template: {error}") from None
        return frame.finish(state, {output: text})

    return NodeBody(run=run, computes=True)
