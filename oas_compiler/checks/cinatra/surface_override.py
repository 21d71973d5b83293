"""Only a screen that the child agent owns can be moved to another surface.

hitlOwnedBy "self", a2uiSurfaceIdOverride "main"         ->   OAS109
hitlOwnedBy "childAgent", a2uiSurfaceIdOverride "main"   ->   fine
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS109",
    name="surface-override",
    severity="error",
    summary="An AgentNode overrides the surface of a screen that its child agent does not own.",
    fix='Remove a2uiSurfaceIdOverride, or write "hitlOwnedBy": "childAgent".',
    source="Cinatra V11",
    needs="cinatra",
    aliases=("V11",),
    bad='"metadata": {"cinatra": {"hitlOwnedBy": "self", "a2uiSurfaceIdOverride": "main"}}',
    good='"metadata": {"cinatra": {"hitlOwnedBy": "childAgent", "a2uiSurfaceIdOverride": "main"}}',
)
def surface_override(subject: Subject, report: Report) -> None:
    for node in subject.of_type("AgentNode"):
        # any other owner is OAS108 already, and correcting it decides this too
        owned_here = node.cinatra.get("hitlOwnedBy", "self") == "self"
        if owned_here and "a2uiSurfaceIdOverride" in node.cinatra:
            report(
                f"{node.label} has an a2uiSurfaceIdOverride, but hitlOwnedBy is not childAgent",
                subject.place(node.at("metadata", "cinatra", "a2uiSurfaceIdOverride")),
                hint="for a screen of this flow, a2uiSurfaceId says where it is shown",
            )
