"""The http_method of an ApiNode is one that servers know.

"http_method": "PSOT"   ->   OAS053 did you mean "POST"?
"http_method": "{{ method }}"   ->   fine: known when the node runs
"""

from __future__ import annotations

from cinatra_sdk.contract import HTTP_METHODS
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import ApiNode


# A warning, because HTTP allows methods of a server's own and the call is made as written.
@rule(
    code="OAS053",
    name="known-http-method",
    severity="warning",
    summary="The http_method of an ApiNode is none of GET, POST, PUT, PATCH, DELETE, HEAD and "
    "OPTIONS.",
    fix="Correct the method.",
    source="HTTP (RFC 9110), section 9",
    needs="flow",
    bad='"http_method": "PSOT"',
    good='"http_method": "POST"',
)
def known_http_method(subject: Subject, report: Report) -> None:
    for flow in subject.flows:
        for node in flow.nodes:
            if not isinstance(node, ApiNode) or "{" in node.method or node.method in HTTP_METHODS:
                continue
            report(
                f'"{node.method[:80]}", the http_method of "{node.id}", is no usual HTTP method',
                subject.place(f"{node.request_place.pointer}/http_method"),
                hint=report.nearest(node.method.strip()[:80], HTTP_METHODS)
                or f"one of {', '.join(HTTP_METHODS)}",
            )
