"""The programs of a package as text, never run: their names, and the places of their code.

    read_scripts(("scripts/a.py", "notes.md"), package.text)
        -> ((Script(file="scripts/a.py", language="python", …),), ())

A rule looks at `nodes` (Python that parses) or at `code`: the text in which comments and the
insides of strings are blank, so that `# import pg` is no import and every place stays the same.
"""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from oas_compiler.ir import Place
from oas_compiler.package.script_code import javascript_code, python_code, shell_code

Language = Literal["python", "javascript", "shell"]

LANGUAGES: Final[dict[str, Language]] = {
    **dict.fromkeys(("py", "pyw"), "python"),
    **dict.fromkeys(("js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"), "javascript"),
    **dict.fromkeys(("sh", "bash", "zsh", "ksh"), "shell"),
}
"""File suffix → language."""
MAX_SCRIPT_CHARACTERS: Final = 250_000
"""Of all programs of a package together; what an agent brings along is a hundredth of it."""
MAX_PYTHON_CHARACTERS: Final = 120_000
"""Of all Python programs that are parsed; a syntax tree is a thousand times larger than its text."""
_TESTS: Final = re.compile(
    r"(?:^|/)(?:tests?|__tests__|__mocks__)/|(?:^|/)(?:test_[^/]*|conftest)\.py$"
    r"|_test\.py$|\.(?:test|spec)\.\w+$|\.d\.[mc]?ts$",
    re.IGNORECASE,
)
"""Programs that the agent does not bring to a host."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Script:
    """One program."""

    file: str
    """Its name within the package, with `/`."""
    text: str
    language: Language
    may_parse: bool = True
    """Python only: whether parsing it stays within bounds."""

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every node of a Python program; empty when it does not parse, or is none."""
        if self.language != "python" or not self.may_parse:
            return ()
        try:
            with warnings.catch_warnings():
                # an odd escape in somebody's script is not ours to warn about
                warnings.simplefilter("ignore")
                return tuple(ast.walk(ast.parse(self.text)))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return ()

    @cached_property
    def code(self) -> str:
        """The text, equally long, without comments and without what stands in strings."""
        blank = {"python": python_code, "javascript": javascript_code, "shell": shell_code}
        return blank[self.language](self.text)

    def at(self, offset: int) -> Place:
        """The place of one character, counted from 0."""
        line = bisect_right(self._line_starts, offset)
        return Place("", line, offset - self._line_starts[line - 1] + 1)

    def at_node(self, node: ast.expr | ast.stmt | ast.keyword | ast.alias) -> Place:
        """The place of a node; Python counts its columns in bytes."""
        lines = self._python_lines
        line = lines[node.lineno - 1] if node.lineno <= len(lines) else ""
        before = line.encode("utf-8", "replace")[: node.col_offset]
        return Place("", node.lineno, len(before.decode("utf-8", "replace")) + 1)

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    @cached_property
    def _python_lines(self) -> list[str]:
        return re.split(r"\r\n|\r|\n", self.text)


def read_scripts(
    files: Iterable[str], text: Callable[[str], str | None]
) -> tuple[tuple[Script, ...], tuple[str, ...]]:
    """The programs among `files`, and the names of those that could not be read in full.

    `text` gives the text of a file, or `None` when it is none.
    """
    left, to_parse = MAX_SCRIPT_CHARACTERS, MAX_PYTHON_CHARACTERS
    scripts: list[Script] = []
    unread: list[str] = []
    for file in files:
        language = LANGUAGES.get(file.rpartition(".")[2].lower())
        if language is None or _TESTS.search(file):
            continue
        found = text(file) if left > 0 else None
        if found is None or len(found) > left:
            unread.append(file)
            continue
        left -= len(found)
        may_parse = len(found) <= to_parse
        to_parse -= len(found) if may_parse and language == "python" else 0
        scripts.append(Script(file=file, text=found, language=language, may_parse=may_parse))
    return tuple(scripts), tuple(unread)
