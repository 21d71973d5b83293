"""A SKILL.md in, its parts out: frontmatter, headings, sections, the files it refers to.

    ---
    name: agent-email                   skill.front == {"name": "agent-email"}
    ---
    Run `scripts/send.py`.              skill.references[0].target == "scripts/send.py"
    ## What I retrieve myself (MCP)     skill.headings[0].title, .level == 2
    - contacts_list                     skill.section(skill.headings[0]) == "- contacts_list"

Markdown is read line by line and only as far as the rules need it.  Every step is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from types import MappingProxyType

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.findings.finding import Findings
from oas_compiler.ir import JsonValue, Place
from oas_compiler.text.input_bounds import vet

MAX_FRONTMATTER = 16_384
"""Characters of a frontmatter; what people write there is a hundredth of it."""
_COMMON_LINE = re.compile(r"([A-Za-z][A-Za-z0-9_-]{0,80}): ([A-Za-z].*)")
_NO_WORDS = frozenset({"null", "true", "false"})
"""Letters that stand for something else than themselves."""
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?$")
_INLINE_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"\]\([ \t]*<?([^)\s>]+)")
_DEFINITION = re.compile(r" {0,3}\[[^\]\n]+\]:[ \t]*<?([^\s>]+)")
_FILE = re.compile(
    r"(?<![\w./@{}$>~-])(?:\./)?((?:scripts|references|assets)/[\w./-]*\w\.\w{1,8})(?![\w/{<*$])"
)
_NO_FILE = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//|#|/|\{|<")
"""What a link begins with that names no file of the package: a scheme, an anchor, a placeholder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """One `## Heading`."""

    level: int
    title: str
    line: int
    """1-based."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """One file that the text speaks of."""

    target: str
    """As written, without `./`, anchor and query; relative to the skill's folder or the package."""
    place: Place
    is_link: bool
    """Written as a Markdown link, and not only named."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Skill:
    """One SKILL.md."""

    file: str
    """Its name within the package, with `/`."""
    text: str
    front: Mapping[str, JsonValue]
    """The frontmatter's members; empty without a frontmatter, and where it is no YAML mapping."""
    body: int
    """Index of the first line after the frontmatter."""
    flaw: tuple[str, Place] | None = None
    """Why the frontmatter cannot be read, and where."""

    @cached_property
    def lines(self) -> tuple[str, ...]:
        return tuple(line.removesuffix("\r") for line in self.text.split("\n"))

    @cached_property
    def code_lines(self) -> frozenset[int]:
        """Indexes of the lines in fenced code blocks, fences included."""
        return frozenset(_code_lines(self.lines, self.body))

    @cached_property
    def headings(self) -> tuple[Heading, ...]:
        """All headings outside of code blocks."""
        found = []
        for index in range(self.body, len(self.lines)):
            if index not in self.code_lines and (match := _HEADING.match(self.lines[index])):
                title = (match[2] or "").rstrip("# \t")
                found.append(Heading(level=len(match[1]), title=title.strip(), line=index + 1))
        return tuple(found)

    def section(self, heading: Heading) -> str:
        """The text below `heading`, up to the next one of its level or above."""
        following = (
            h.line for h in self.headings if h.line > heading.line and h.level <= heading.level
        )
        last = next(following, len(self.lines) + 1)
        return "\n".join(self.lines[heading.line : last - 1])

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        """Relative links, and files of `scripts/`, `references/` and `assets/`; each target once."""
        found: dict[str, Reference] = {}
        for index in range(self.body, len(self.lines)):
            for target, column, is_link in _find_targets(
                self.lines[index], index in self.code_lines
            ):
                place = Place("", index + 1, column + 1)
                found.setdefault(target, Reference(target=target, place=place, is_link=is_link))
        return tuple(found.values())


def read_skill(file: str, text: str) -> Skill:
    """Take a SKILL.md apart."""
    lines = text.split("\n")
    body = _end_of_frontmatter(lines)
    # the line of dashes stays a line, so that places are those of the file
    front, flaw = _read_frontmatter("\n" + "\n".join(lines[1 : body - 1])) if body else ({}, None)
    return Skill(file=file, text=text, front=MappingProxyType(front), body=body, flaw=flaw)


def _end_of_frontmatter(lines: list[str]) -> int:
    """Index of the line behind the frontmatter; 0 without one, and without a closing `---`."""
    if lines[0].rstrip() != "---":
        return 0
    ends = (index for index, line in enumerate(lines) if index and line.rstrip() in {"---", "..."})
    return next(ends, -1) + 1


def common_members(text: str) -> dict[str, JsonValue] | None:
    """The members where every line is `name: words`, which the reader of YAML says the same of.

    Importing that reader takes longer than checking a package; `None` leaves the text to it.
    """
    members: dict[str, JsonValue] = {}
    for line in text.removeprefix("\n").split("\n"):
        match = _COMMON_LINE.fullmatch(line.removesuffix("\r"))
        if match is None or not line.removesuffix("\r").isprintable():
            return None
        key, words = match[1], match[2].rstrip(" ")
        if ": " in words or " #" in words or words.endswith(":") or key in members:
            return None
        if {key.lower(), words.lower()} & _NO_WORDS:
            return None
        members[key] = words
    return members


def _read_frontmatter(text: str) -> tuple[dict[str, JsonValue], tuple[str, Place] | None]:
    """The frontmatter as the one reader of YAML has it."""
    if len(text) > MAX_FRONTMATTER:
        return {}, (f"it is longer than {MAX_FRONTMATTER:,} characters", Place("", 1, 1))
    common = common_members(text)
    if common is not None:
        return common, None
    # imported late, as source.py does
    from oas_compiler.text.yaml_text import read_yaml

    findings = Findings()
    found = read_yaml(text, findings)
    if found is not None:
        vet(found.value, found.marks, findings)
    if found is None or findings.errors:
        first = findings.errors[0]
        return {}, (first.message, Place("", max(first.line, 1), max(first.column, 1)))
    if found.value is not None and not isinstance(found.value, dict):
        return {}, ("it is no mapping of keys and values", Place("", 2, 1))
    return found.value or {}, None


def _code_lines(lines: tuple[str, ...], first: int) -> Iterator[int]:
    fence = ""
    for index in range(first, len(lines)):
        match = _FENCE.match(lines[index])
        if fence:
            yield index
            if match and match[1].startswith(fence) and lines[index].strip() == match[1]:
                fence = ""
        elif match:
            yield index
            fence = match[1]


def _find_targets(line: str, is_code: bool) -> Iterator[tuple[str, int, bool]]:
    """(target, column from 0, whether it is a link) of everything a line refers to."""
    if not is_code:
        prose = _INLINE_CODE.sub(lambda code: " " * len(code[0]), line)
        definition = _DEFINITION.match(prose)
        for match in [*([definition] if definition else []), *_LINK.finditer(prose)]:
            target = re.split(r"[#?]", match[1], maxsplit=1)[0].removeprefix("./")
            if target and not _NO_FILE.match(match[1]) and not set("{}<>*$") & set(target):
                yield target.replace("%20", " "), match.start(1), True
    for match in _FILE.finditer(line):
        yield match[1], match.start(1), False
