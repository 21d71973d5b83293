"""PluginRegexNode: the matches of a regular expression in a text.

first match only    ->  the output is a string, else a list of strings
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from oas_compiler import ir
from oas_compiler.component_facts.component import PLUGIN_FIELDS, Field, Site, common
from oas_compiler.component_facts.inference import exactly_one, next_only
from oas_compiler.ir import Port
from oas_compiler.ir.printout import shown
from oas_compiler.kinds.kind import NodeKind
from oas_compiler.port_types import castable
from oas_compiler.text.input_bounds import MAX_PATTERN

if TYPE_CHECKING:
    from cinatra_sdk.data.patterns.syntax import PatternFlawed


# ----------------------------------------------------------------------------
# Whether an author's regular expression can be used.
#
#     pattern_flaw("(a")      ->  PatternFlawed: "it is no regular expression"
#
# Besides the language of templates, this is the second part of the SDK that the front end uses, so
# that a checked pattern also works at run time.  It imports the standard library only.


def pattern_flaw(pattern: str) -> PatternFlawed | None:
    """Why `pattern` cannot be used; None when it can.  It is read, never compiled."""
    from cinatra_sdk.data.patterns.syntax import flaw

    return flaw(pattern)


_FLAGS: Final[Mapping[int, str]] = {2: "i", 8: "m", 16: "s", 32: "", 64: "x", 256: "a"}
"""Python's flags of regular expressions, and their letters."""


def build_regex(site: Site) -> ir.Node:
    text = Port(title="text", type=ir.STRING, place=site.place())
    first_only = site.component.flag("return_first_match_only", default=True)
    found: ir.Type = ir.STRING if first_only else ir.ArrayType(ir.STRING)
    output = Port(title="output", type=found, place=site.place())
    inputs, outputs = site.declared("inputs"), site.declared("outputs")
    inputs = exactly_one(site, (text,) if inputs is None else inputs, "inputs", "input, the text")
    outputs = exactly_one(site, (output,) if outputs is None else outputs, "outputs", "output")
    for port in outputs:
        if not castable(found, port.type):
            site.findings.error(
                "OAS036",
                f"{site.label} finds {shown(found)}, its output is {shown(port.type)}",
                port.place,
                hint="return_first_match_only decides between a string and a list of strings",
            )
    pattern, takes_last = _read_pattern(site)
    _check_pattern(site, pattern)
    return ir.PluginRegexNode(
        **common(site),
        inputs=inputs,
        outputs=outputs,
        branches=next_only(site),
        pattern=pattern,
        first_only=first_only,
        takes_last=takes_last,
    )


def _read_pattern(site: Site) -> tuple[str, bool]:
    """The pattern, and whether its last match is meant, not its first."""
    given = site.component.fields.get("regex_pattern")
    if isinstance(given, str):
        return given, False
    pattern = given.get("pattern") if isinstance(given, dict) else None
    flags = given.get("flags") if isinstance(given, dict) else None
    match = given.get("match", "first") if isinstance(given, dict) else ""
    known = flags is None or (type(flags) is int and not flags & ~sum(_FLAGS))
    if isinstance(pattern, str) and known and match in ("first", "last"):
        bits = flags if isinstance(flags, int) else 0
        letters = "".join(letter for bit, letter in _FLAGS.items() if bits & bit)
        return (f"(?{letters}){pattern}" if letters else pattern), match == "last"
    if "regex_pattern" not in site.component.unread:
        site.error(
            "OAS022",
            f"regex_pattern of {site.label} must be a string, or an object with pattern, match "
            "(first or last) and flags",
            "regex_pattern",
        )
    return "", False


def _check_pattern(site: Site, pattern: str) -> None:
    if len(pattern) > MAX_PATTERN:
        message = f"the pattern has {len(pattern):,} characters, at most {MAX_PATTERN:,} are read"
        site.error("OAS033", message, "regex_pattern")
        return
    flawed = pattern_flaw(pattern)
    if flawed is not None:
        message = f"the pattern is not a regular expression: {flawed.detail or flawed}"
        site.error("OAS033", message, "regex_pattern")


PLUGIN_REGEX = NodeKind(
    component_type="PluginRegexNode",
    node=ir.PluginRegexNode,
    build=build_regex,
    words="Finds the matches of a regular expression in a text.",
    fields={
        **PLUGIN_FIELDS,
        "regex_pattern": Field(
            "any",
            "The regular expression, or an object with pattern, match and flags.",
            required=True,
        ),
        "return_first_match_only": Field(
            "flag", "Whether `output` is the first match (a string) or all (a list)."
        ),
    },
    acts=False,
    caption="regular expression",
    lowering="oas_compiler.lower.plain_nodes:lower_regex",
)
