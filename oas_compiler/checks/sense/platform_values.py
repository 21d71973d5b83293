"""The values in a platform call have the types that its route reads.

to llm-bridge, "max_steps": "six" or 200           ->   OAS253: a whole number from 1 to 20
"toolbox_ids": ["web_serch"]                       ->   OAS253 did you mean "web_search"?
"cinatra_llm": {"preferedModel": "…"}              ->   OAS253 did you mean "preferredModel"?
"http_method": "GET"                               ->   OAS253: the route takes POST
a text with a placeholder                          fine: told when the run knows it
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from cinatra_sdk.contract import HTTP_METHODS
from cinatra_sdk.data.text.message_words import did_you_mean, nearest_name
from oas_compiler.checks.lookup.api_calls import BRIDGE, VALUES
from oas_compiler.checks.lookup.value_flaws import Flaw, misspelt, tell
from oas_compiler.checks.sense.platform_address import ROUTES
from oas_compiler.checks.subject import Subject, Written
from oas_compiler.findings.finding import describe
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import JsonValue
from oas_compiler.text.marks import child

_MOST_STEPS: Final = 20
_TOOLBOXES: Final = ("cinatra-mcp", "web_search")
_MEDIA: Final = ("audio", "video", "youtube")
_MOST: Final = 50


@rule(
    code="OAS253",
    name="platform-values",
    severity="warning",
    summary="A call of the platform is made in a way, or with a value, that its route refuses.",
    fix="Write a value of the kind that the message names.",
    source="Cinatra, endpoints of the platform",
    needs="cinatra",
    fixable=True,
    bad='"url": "{{CINATRA_BASE_URL}}/api/llm-bridge", "data": {"max_steps": 200, …}',
    good='"url": "{{CINATRA_BASE_URL}}/api/llm-bridge", "data": {"max_steps": 20, …}',
)
def platform_values(subject: Subject, report: Report) -> None:
    for node in subject.of_type("ApiNode"):
        url = node.text("url").rstrip("/")
        if not any(url.endswith(f"/api/{route}") for route in ROUTES):
            continue
        method = node.text("http_method")
        if method.upper() in HTTP_METHODS and method.upper() != "POST":
            report(
                f'{node.label} calls a route of the platform with "{method[:20]}"',
                subject.place(node.at("http_method")),
                hint='write "POST": the route takes nothing else',
            )
        for flaw in _find_value_flaws(node, url):
            tell(report, flaw, subject.place, within=f" in data of {node.label}")


def _find_value_flaws(node: Written, url: str) -> Iterator[Flaw]:
    data = node.value.get("data")
    if not isinstance(data, dict) or not url.endswith(BRIDGE):
        return
    for key, look in _LOOKS.items():
        value = data.get(key)
        if value is not None and not _is_template(value):
            yield from look(value, node.at("data", key))


def _is_template(value: JsonValue) -> bool:
    return isinstance(value, str) and ("{{" in value or "{%" in value)


def _check_max_steps(value: JsonValue, at: str) -> Iterator[Flaw]:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if not is_whole or not 1 <= int(str(value)) <= _MOST_STEPS:
        shown = str(value) if is_whole else describe(value)
        hint = f"write a whole number from 1 to {_MOST_STEPS}"
        yield Flaw(f"max_steps is {shown[:20]}, which the bridge does not take,", at, hint)


def _check_toolbox_ids(value: JsonValue, at: str) -> Iterator[Flaw]:
    if not isinstance(value, list):
        hint = f'write ["{value[:80]}"]' if isinstance(value, str) else 'write ["cinatra-mcp"]'
        yield Flaw(f"toolbox_ids must be a list, not {describe(value)},", at, hint)
        return
    for index, name in enumerate(value[:_MOST]):
        if (
            isinstance(name, str)
            and name not in _TOOLBOXES
            and (meant := did_you_mean(name, _TOOLBOXES))
        ):
            yield Flaw(f'"{name[:80]}" is no toolbox that a host knows', f"{at}/{index}", meant)


def _check_llm_options(value: JsonValue, at: str) -> Iterator[Flaw]:
    if not isinstance(value, dict):
        hint = 'write {"preferredProvider": "openai"}'
        yield Flaw(f"cinatra_llm must be an object, not {describe(value)},", at, hint)
        return
    for key, word in list(value.items())[:_MOST]:
        known = VALUES.get(key)
        if known is None:
            says = f'cinatra_llm has no key "{key[:80]}"'
            meant = nearest_name(key, [name for name in VALUES if name not in value])
            yield (
                misspelt(says, child(at, key), meant)
                if meant
                else Flaw(says, child(at, key), f"its keys are {', '.join(VALUES)}")
            )
        elif known and isinstance(word, str) and not _is_template(word) and word not in known:
            hint = did_you_mean(word.casefold(), known) or f"it is one of {', '.join(known)}"
            yield Flaw(f'"{word[:80]}" is no {key} of the host', child(at, key), hint)


def _check_output_schema(value: JsonValue, at: str) -> Iterator[Flaw]:
    if not isinstance(value, dict):
        hint = 'write it as an object: {"type": "object", …}'
        yield Flaw(f"output_schema must be an object, not {describe(value)},", at, hint)


def _check_media_kind(value: JsonValue, at: str) -> Iterator[Flaw]:
    kind = value.get("kind") if isinstance(value, dict) else None
    if isinstance(kind, str) and kind not in {"", *_MEDIA} and not _is_template(kind):
        hint = did_you_mean(kind, _MEDIA) or f"it is one of {', '.join(_MEDIA)}"
        yield Flaw(f'"{kind[:80]}" is no kind of media', f"{at}/kind", hint)


_LOOKS: Final[Mapping[str, Callable[[JsonValue, str], Iterator[Flaw]]]] = {
    "max_steps": _check_max_steps,
    "toolbox_ids": _check_toolbox_ids,
    "cinatra_llm": _check_llm_options,
    "output_schema": _check_output_schema,
    "media": _check_media_kind,
}
