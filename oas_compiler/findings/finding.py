"""A finding about a file, its fix, and the collection of all findings of a run.

findings = Findings()
findings.error("OAS026", '"StartNod" is not a component type', place, hint='did you mean "StartNode"?')
findings.errors        ->  [Finding(code="OAS026", …)]
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import field, replace
from typing import Literal, Self

from cinatra_sdk.data.text.message_words import did_you_mean
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.ir import Json, JsonValue, Place

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One change of a document that ends a finding; `oasflow check --fix` applies it to the
    text.
    """

    pointer: str
    """The place of the change.  `…/-` is the place after the last element of a list (RFC 6902)."""
    value: Json | None = None
    """The new value, replaced or added; `None` removes the old value."""
    key: str = ""
    """The new name of the member, which keeps its value; empty where the name stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One problem of a file, and its place."""

    code: str
    """Stable: `OAS` and three digits, documented in docs/diagnostics.md, or the code of a package's rule."""
    severity: Severity
    message: str
    """One sentence that names the offender and the rule."""
    place: Place = Place()
    hint: str = ""
    """What to write instead; empty where the message says enough."""
    file: str = ""
    """The file's name as the user gave it; empty for bytes and dicts."""
    fix: tuple[Edit, ...] = ()
    """Edits of `file` that end the finding without a decision of the author; mostly empty."""

    @property
    def line(self) -> int:
        """1-based; 0 where there is no text."""
        return self.place.line

    @property
    def column(self) -> int:
        """1-based, in characters; 0 where there is no text."""
        return self.place.column

    @property
    def pointer(self) -> str:
        """JSON Pointer (RFC 6901) of the place."""
        return self.place.pointer

    @property
    def where(self) -> str:
        """`file:line:column`, or the JSON Pointer where there is no text."""
        name = self.file or "<input>"
        if self.place.line:
            return f"{name}:{self.place.line}:{self.place.column}"
        return f"{name}#{self.place.pointer}"

    def in_file(self, name: str) -> Finding:
        """The finding with this file's name, unless it already names a file."""
        return self if self.file else replace(self, file=name)

    def __str__(self) -> str:
        hint = f" (hint: {self.hint})" if self.hint else ""
        return f"{self.where} {self.severity} {self.code} {self.message}{hint}"


@dataclass(slots=True)
class Findings:
    """The findings of one run over one file."""

    findings: list[Finding] = field(default_factory=list)
    _counts: dict[str, int] = field(default_factory=dict, repr=False, compare=False)
    _places: dict[str, set[Place]] = field(default_factory=dict, repr=False, compare=False)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def copy(self) -> Self:
        """The same findings, to which others can be added."""
        places = {code: set(found) for code, found in self._places.items()}
        return type(self)(list(self.findings), dict(self._counts), places)

    @property
    def errors(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.severity == "error"]

    @property
    def warnings(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.severity == "warning"]

    def places_of(self, code: str) -> AbstractSet[Place]:
        """Where findings of a code are, those too that are too many to be listed."""
        return self._places.get(code, frozenset())

    def error(
        self,
        code: str,
        message: str,
        place: Place = Place(),
        *,
        hint: str = "",
        fix: tuple[Edit, ...] = (),
    ) -> None:
        self.add(
            Finding(code=code, severity="error", message=message, place=place, hint=hint, fix=fix)
        )

    def warning(self, code: str, message: str, place: Place = Place(), *, hint: str = "") -> None:
        self.add(Finding(code=code, severity="warning", message=message, place=place, hint=hint))

    def add(self, finding: Finding) -> None:
        """Record a finding; its texts are put on one line and shortened to a readable length.

        At most MAX_PER_CODE findings of one code are kept; one more says that there are others.
        """
        self._places.setdefault(finding.code, set()).add(finding.place)
        number = self._counts[finding.code] = self._counts.get(finding.code, 0) + 1
        if number > MAX_PER_CODE:
            if number == MAX_PER_CODE + 1:
                message = f"there are more than {MAX_PER_CODE} findings of this kind"
                hint = "mend those that are listed, and check again"
                self.findings.append(replace(finding, message=message, hint=hint, fix=()))
            return
        texts = (finding.message, finding.hint)
        if any(len(text) > _USUAL_LENGTH or "\n" in text or "\r" in text for text in texts):
            finding = replace(
                finding, message=_shorten_to_line(texts[0]), hint=_shorten_to_line(texts[1])
            )
        self.findings.append(finding)

    def include(self, other: Findings, file: str) -> None:
        """Record what was found while the text of the same document was read."""
        self.findings += [finding.in_file(file) for finding in other]
        for code, places in other._places.items():
            self._places.setdefault(code, set()).update(places)


MAX_PER_CODE = 500
"""Findings of one code that are listed; a hostile file could cause any number."""
_USUAL_LENGTH = 200
_LONGEST = 1_000
_LONG_NAME = re.compile(r'"([^"]{100})[^"]*"')


def _shorten_to_line(text: str) -> str:
    """One line of at most 1,000 characters, in which a name has at most 100."""
    text = _LONG_NAME.sub(r'"\1…"', " ".join(text.splitlines()))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


# ----------------------------------------------------------------------------
# `did you mean …?` for a whole run, within bounds.
#
#     nearest("strat", {"start", "end"}, findings)   ->   'did you mean "start"?'
#
# One hint compares the word with every known name.  A document with thousands of wrong names and
# thousands of known names would take minutes, so hints stop when they become expensive.


_BUDGET = 20_000
"""Findings so far, times known names; 400 names still get hints for the first 50 findings."""


def nearest(word: str, known: Collection[str], findings: Findings) -> str:
    """The hint, or an empty string where no name is near or the comparison costs too much."""
    if (len(findings) + 1) * len(known) > _BUDGET:
        return ""
    return did_you_mean(word, known)


# ----------------------------------------------------------------------------
# JSON values in a person's words.


def describe(value: JsonValue) -> str:
    """What a value is, in a person's words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    names = {str: "a string", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names[type(value)]
