r"""The bounds of an input, and the walk that checks them.

In: a decoded JSON value, from whatever syntax.  Out: findings for everything in it that no
later stage (and no Postgres) could hold.

    {"n": 1e999, "s": "a\u0000"}   ->   OAS007 at /n (not a finite number), OAS007 at /s (NUL)

Source of the numbers: reliability rule L19.
"""

from __future__ import annotations

import math

from oas_compiler.findings.finding import Findings
from oas_compiler.ir import JsonValue
from oas_compiler.text.marks import Marks, child

MAX_JSON_BYTES = 8 * 1024 * 1024
MAX_YAML_BYTES = 512 * 1024
MAX_DEPTH = 64
"""Objects and arrays inside each other; also flows inside each other."""
MAX_VALUES = 500_000
"""JSON values in one document; bounds memory, far above what 5,000 nodes need."""
MAX_POINTER = 4_000
"""Characters of the longest JSON Pointer; keeps diagnostics readable and memory bounded."""
MAX_NODES = 5_000
"""Nodes of a flow with all its subflows expanded."""
MAX_DATA_EDGES = 100_000
MAX_PATTERN = 10_000
"""Characters of a regular expression; compiling a longer one takes seconds and much memory."""
MAX_TEMPLATE = 1_000_000
"""Characters of one template; the runtime renders no longer text."""
MAX_TEMPLATES = 25_000
"""Words and signs of template language in one document; reading and compiling take 60 µs each at
worst.  Templates that say no more than paths to values take neither, and do not count."""
MAX_FINDINGS = 200
"""Findings of one kind of flaw in the text before reading stops."""


def vet(value: JsonValue, marks: Marks, findings: Findings) -> None:
    """Report every value in `value` that is too deep, beyond a limit or not storable.

    Iterative: the depth of `value` costs no stack.
    """
    waiting: list[tuple[JsonValue, str, int]] = [(value, "", 1)]
    count = 0
    while waiting:
        current, pointer, depth = waiting.pop()
        count += 1
        if depth > MAX_DEPTH + 1 or count > MAX_VALUES or len(pointer) > MAX_POINTER:
            _too_much(depth, count, pointer, marks, findings)
            return
        if isinstance(current, dict):
            for key, member in current.items():
                _vet_text(key, child(pointer, key), marks, findings)
                waiting.append((member, child(pointer, key), depth + 1))
        elif isinstance(current, list):
            waiting.extend(
                (member, f"{pointer}/{index}", depth + 1) for index, member in enumerate(current)
            )
        else:
            _vet_scalar(current, pointer, marks, findings)
        if len(findings) > MAX_FINDINGS:
            return


def _too_much(depth: int, count: int, pointer: str, marks: Marks, findings: Findings) -> None:
    if depth > MAX_DEPTH + 1:
        rule = f"the document nests deeper than {MAX_DEPTH} levels"
    elif count > MAX_VALUES:
        rule = f"the document holds more than {MAX_VALUES:,} values"
    else:
        rule = f"a place in the document has a JSON Pointer longer than {MAX_POINTER:,} characters"
    # the pointer itself is the flaw where it is too long: show where its object begins
    findings.error("OAS006", rule, marks.place(pointer[:MAX_POINTER]))


def _vet_scalar(
    value: str | float | bool | None, pointer: str, marks: Marks, findings: Findings
) -> None:
    if isinstance(value, str):
        _vet_text(value, pointer, marks, findings)
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            findings.error("OAS007", "an integer does not fit in 64 bits", marks.place(pointer))
    elif not math.isfinite(value):
        findings.error("OAS007", "NaN and infinite numbers are not JSON", marks.place(pointer))


def _vet_text(text: str, pointer: str, marks: Marks, findings: Findings) -> None:
    if "\0" in text:
        findings.error(
            "OAS007", "a string contains NUL (U+0000), which cannot be stored", marks.place(pointer)
        )
    if not text.isascii() and has_surrogate(text):
        findings.error(
            "OAS007",
            "a string contains half of a surrogate pair, which is not text",
            marks.place(pointer),
            hint=r"write the character itself, or both halves of its \u escape",
        )


def has_surrogate(text: str) -> bool:
    """Whether `text` cannot be written as UTF-8."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False
