"""Every header that an ApiNode declares can be sent.

"headers": {"X-Cinatra-Run-Token": "…"}                    ->   OAS054
"headers": {"Authorization": "Bearer {{ key }}"}, "url": "{{CINATRA_BASE_URL}}/api/x"   ->   OAS054
"headers": {"Authorization": "Bearer {{ key }}"}, "url": "https://crm.example.com/x"
"headers": {"X-Team": "a", "x-team": "b"}                  ->   OAS054: one name, two values
"headers": {"X-Key": "a"}, "sensitive_headers": {"x-key": "b"}      ->   OAS054
"""

from __future__ import annotations

from collections.abc import Iterator

from oas_compiler.checks.lookup.api_calls import read_address
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import ApiNode
from oas_compiler.text.marks import child

# ----------------------------------------------------------------------------
# Which headers an author may set: the runtime's own list.
#
# The SDK is loaded where the first header is looked at: checking a flow without any needs none of it.


def refusal(name: str, value: str, *, to_platform: bool) -> str:
    """Why an author's header cannot be sent; an empty string where it is sent as declared."""
    from cinatra_sdk.data.text import header_names

    return header_names.refusal(name, value, to_platform=to_platform)


# An error, because the call would be refused when it is made; nothing is left out in silence.
@rule(
    code="OAS054",
    name="sendable-headers",
    severity="error",
    summary="An ApiNode declares a header that no flow can send, or one name twice.",
    fix="Leave the header out: the runtime and the host set it where it is needed.",
    source="Cinatra, runtime headers; HTTP (RFC 9110), section 7",
    needs="flow",
    bad='"url": "{{CINATRA_BASE_URL}}/api/llm-bridge", "headers": {"Authorization": "Bearer {{ key }}"}',
    good='"url": "{{CINATRA_BASE_URL}}/api/llm-bridge", "headers": {}',
)
def sendable_headers(subject: Subject, report: Report) -> None:
    for flow in subject.flows:
        for node in flow.nodes:
            if isinstance(node, ApiNode):
                for field, name, problem in _find_header_problems(node):
                    report(
                        f'the {field} of "{node.id}": {problem}',
                        subject.place(child(f"{node.request_place.pointer}/{field}", name)),
                    )


def _find_header_problems(node: ApiNode) -> Iterator[tuple[str, str, str]]:
    """Field, name and problem of each; what is a template is known when the node runs."""
    to_platform = read_address(node.url).platform
    seen: dict[str, tuple[str, str]] = {}
    for field, headers in (
        ("headers", node.headers),
        ("sensitive_headers", node.sensitive_headers),
    ):
        for name, value in headers.mapping().items():
            if "{" in name:
                continue
            text = value if isinstance(value, str) else ""
            first = seen.setdefault(name.lower(), (field, name))
            if problem := refusal(
                name[:80], "identity" if "{" in text else text, to_platform=to_platform
            ):
                yield field, name, problem
            elif first[0] != field:
                yield (
                    field,
                    name,
                    f'the header "{name[:80]}" is in headers too, and it has one value',
                )
            elif first[1] != name:
                yield field, name, f'the header "{name[:80]}" is declared twice'
