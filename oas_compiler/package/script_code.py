"""A program's text in, its code out: comments and the insides of strings become blanks.

    fetch("a b") // see fetch     ->     fetch("   ")

The text keeps its length and its lines, so an offset means the same place in both.  This is no
parser: it knows where strings, comments, templates and regular expressions end, and nothing
else.  Whatever is thrown at it, every character is looked at a bounded number of times.
"""

from __future__ import annotations

import re
from typing import Final

_JAVASCRIPT: Final = re.compile(
    r"//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)"
    r'|"[^"\\\n]*(?:\\[\s\S][^"\\\n]*)*"?' + r"|'[^'\\\n]*(?:\\[\s\S][^'\\\n]*)*'?"
    r"|`|[{}]|/"
)
_TEMPLATE: Final = re.compile(r"\\[\s\S]|`|\$\{")
_PATTERN: Final = re.compile(
    r"/[^/\\\[\n]*(?:(?:\\[^\n]|\[[^\]\\\n]*(?:\\[^\n][^\]\\\n]*)*\]?)[^/\\\[\n]*)*/?"
)
_BEFORE_PATTERN: Final = re.compile(
    r"(?:^|[(,=:\[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|in|of|do|else|void|await|yield))$"
)
"""A slash after one of these begins a regular expression, after anything else it divides."""
_PYTHON: Final = re.compile(
    r"#[^\n]*"
    r'|"""[^"\\]*(?:(?:\\[\s\S]|"(?!""))[^"\\]*)*(?:""")?'
    r"|'''[^'\\]*(?:(?:\\[\s\S]|'(?!''))[^'\\]*)*(?:''')?"
    r'|"[^"\\\n]*(?:\\[\s\S][^"\\\n]*)*"?' + r"|'[^'\\\n]*(?:\\[\s\S][^'\\\n]*)*'?"
)
_SHELL: Final = re.compile(r"(?:(?<=[\s;&|(])|^)#[^\n]*|\\[\s\S]|'[^']*'?", re.MULTILINE)


def python_code(text: str) -> str:
    """Python: comments and strings; the code in an f-string is blank too."""
    return _PYTHON.sub(lambda found: _blank_string_or_comment(found[0]), text)


def shell_code(text: str) -> str:
    """Shell: comments and single quotes; in double quotes a shell still runs `$(…)`."""
    return _SHELL.sub(lambda found: _blank_string_or_comment(found[0]), text)


def javascript_code(text: str) -> str:
    """JavaScript and TypeScript; what stands in `${…}` of a template is code."""
    return _JavaScript(text).read()


def _blank_text(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _blank_string_or_comment(piece: str) -> str:
    """Quotes of a string stay, what is between them goes; of a comment nothing stays."""
    quote = piece[0]
    if quote not in {'"', "'"}:
        return _blank_text(piece)
    closed = len(piece) > 1 and piece[-1] == quote
    return quote + _blank_text(piece[1:-1] if closed else piece[1:]) + (quote if closed else "")


class _JavaScript:
    """One pass over a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._out: list[str] = []
        self._position = 0
        self._before = ""
        """The last code before the position, without white space: tells `/` from `/…/`."""
        self._braces: list[str] = []
        """What each open brace belongs to: `{` of code, or `${` of a template."""
        self._divides_until = 0

    def read(self) -> str:
        while match := _JAVASCRIPT.search(self._text, self._position):
            self._code_to(match.start())
            self._read_piece(match[0])
        self._code_to(len(self._text))
        return "".join(self._out)

    def _code_to(self, end: int) -> None:
        code = self._text[self._position : end]
        self._out.append(code)
        self._position = end
        self._before = code.rstrip()[-12:] or self._before

    def _read_piece(self, piece: str) -> None:
        if piece.startswith(("//", "/*")):
            self._append_code(_blank_text(piece), len(piece), "")
        elif piece[0] in {'"', "'"}:
            self._append_code(_blank_string_or_comment(piece), len(piece), '"')
        elif piece == "`":
            self._append_code(piece, 1, piece)
            self._read_template()
        elif piece == "/":
            self._read_slash()
        elif piece == "{":
            self._braces.append("{")
            self._append_code(piece, 1, piece)
        else:
            opened = self._braces.pop() if self._braces else "{"
            # behind the brace of a block a slash may begin a pattern, behind an object it cannot
            self._append_code(piece, 1, ")")
            if opened == "${":
                self._read_template()

    def _append_code(self, code: str, length: int, before: str) -> None:
        self._out.append(code)
        self._position += length
        self._before = before or self._before

    def _read_template(self) -> None:
        """Inside of a template, up to its end or its next `${`."""
        start = self._position
        for match in _TEMPLATE.finditer(self._text, start):
            if match[0] in {"`", "${"}:
                self._out.append(_blank_text(self._text[start : match.start()]))
                self._position = match.start()
                if match[0] == "${":
                    self._braces.append("${")
                self._append_code(match[0], len(match[0]), match[0])
                return
        self._append_code(_blank_text(self._text[start:]), len(self._text) - start, "")

    def _read_slash(self) -> None:
        if self._position >= self._divides_until and _BEFORE_PATTERN.search(self._before):
            found = _PATTERN.match(self._text, self._position)
            assert found is not None
            if len(found[0]) > 1 and found[0].endswith("/"):
                self._append_code("/" + _blank_text(found[0][1:-1]) + "/", len(found[0]), ")")
                return
            # nothing closes it on this line: look no further there
            self._divides_until = found.end()
        self._append_code("/", 1, "/")
