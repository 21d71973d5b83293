"""The line by which a module says what it was made of.

# oasflow emit 1: file 5f0c…, text 93b1…

`file` is the sha256 of the flow's bytes, `text` that of what the module says in Python: so a changed
file and a changed module can be told apart, and a formatter changes neither.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

FORMAT: Final = 1
"""Raise it when the same file becomes another text."""
_LINE: Final = re.compile(
    r"^# oasflow emit (\d{1,6}): file ([0-9a-f]{64}), text ([0-9a-f]{64})\r?$", re.MULTILINE
)
_NOT_SAID: Final = frozenset({"ctx", "kind", "type_comment"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """What the line says."""

    format: int
    file: str
    text: str


def write_stamp(text: str, digest: str) -> str:
    """The line; text: the module.  digest: of the flow's bytes."""
    return f"# oasflow emit {FORMAT}: file {digest}, text {_hash(text)}"


def read_stamp(module: str) -> Stamp | None:
    """The stamp of a module; None where it has none, or several."""
    lines = list(_LINE.finditer(module))
    if len(lines) != 1:
        return None
    found = lines[0]
    return Stamp(format=int(found[1]), file=found[2], text=found[3])


def is_untouched(stamp: Stamp, module: str) -> bool:
    """Whether the module says what it said when it was written.

    Raises: `SyntaxError` where it is no Python.
    """
    return stamp.text == _hash(module)


def _hash(module: str) -> str:
    digest = hashlib.sha256()
    for word in _list_words(ast.parse(module)):
        digest.update(word.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()


def _list_words(node: object) -> Iterator[str]:
    """The syntax tree as words that are the same under every version of Python.

    What is empty or absent is left out: newer versions have more such fields.
    """
    if isinstance(node, ast.Constant):
        yield _write_constant(node.value)
    elif isinstance(node, ast.AST):
        yield f"({type(node).__name__}"
        for name, value in ast.iter_fields(node):
            if name not in _NOT_SAID and value not in (None, [], ""):
                yield name
                yield from _list_words(value)
        yield ")"
    elif isinstance(node, list):
        yield "["
        for item in node:
            yield from _list_words(item)
        yield "]"
    else:
        yield _write_constant(node)


def _write_constant(value: object) -> str:
    """A text by its letters: which of them `repr` escapes depends on the version of Python."""
    return ascii(value) if isinstance(value, (str, bytes)) else f"{type(value).__name__} {value!r}"
