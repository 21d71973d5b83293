"""Whether a module still says what its flow file says, by the stamp in the module.

    compare(module, emitted, digest)   ->   Drift(reasons=("the flow file has changed since …",), diff="…")

    # oasflow emit 3: file 5f0c…, text 93b1…

In the stamp, `file` is the sha256 of the flow's bytes, `text` that of the module's syntax tree: so a changed
file and a changed module can be told apart, and a formatter changes neither.
"""

from __future__ import annotations

import ast
import difflib
import hashlib
import io
import re
import tokenize
from collections.abc import Iterator
from typing import Final

from cinatra_sdk.light_imports.records import dataclass

FORMAT: Final = 3
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


_MOST_LINES: Final = 200
"""Of a difference that is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """How far a module and its file are apart."""

    reasons: tuple[str, ...] = ()
    """In sentences; empty: the two agree."""
    note: str = ""
    """What is other, and changes nothing."""
    diff: str = ""
    """From the module to what the file says now."""
    by_hand: bool = False
    """Whether the module was changed by hand, so that writing it anew loses something."""

    @property
    def agrees(self) -> bool:
        return not self.reasons


class ModuleUnreadable(ValueError):
    """A file that is no module in UTF-8; says why."""


def decode_module(raw: bytes) -> str:
    """The text of a module, as Python reads it.

    Raises: `ModuleUnreadable`, also for a line that names another coding: Python would read other
    words than are shown.
    """
    try:
        coding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
        if coding not in ("utf-8", "utf-8-sig"):
            raise ModuleUnreadable(f"it says that its letters are coded as {coding}")
        return raw.decode(coding)
    except (SyntaxError, UnicodeDecodeError):
        raise ModuleUnreadable("it is no text in UTF-8") from None


def compare(module: str, emitted: str, digest: str) -> Drift:
    """module: its text.  emitted: what `emit_module` writes now.  digest: sha256 (hex) of the flow's bytes."""
    stamp, now = read_stamp(module), read_stamp(emitted)
    assert now is not None  # `emit_module` writes it
    if stamp is None:
        return Drift(
            reasons=("the module has no line of `oasflow emit`: it was not made by it",),
            by_hand=True,
        )
    try:
        untouched = is_untouched(stamp, module)
    except (SyntaxError, ValueError, RecursionError):
        return Drift(reasons=("the module is no Python that can be read",), by_hand=True)
    if untouched and stamp.text == now.text:
        changed = stamp.file != digest
        return Drift(note="the file has changed in what no run reads" if changed else "")
    reasons = _list_reasons(stamp, digest, untouched=untouched)
    return Drift(reasons=tuple(reasons), diff=_make_diff(module, emitted), by_hand=not untouched)


def is_own(module: str) -> bool:
    """Whether a module is as `oasflow emit` wrote it, so that nothing is lost when it is replaced."""
    stamp = read_stamp(module)
    try:
        return stamp is not None and is_untouched(stamp, module)
    except (SyntaxError, ValueError, RecursionError):
        return False


def _list_reasons(stamp: Stamp, digest: str, *, untouched: bool) -> list[str]:
    reasons = []
    if stamp.file != digest:
        reasons.append("the flow file has changed since the module was made")
    if not untouched:
        reasons.append("the module was changed by hand")
    if not reasons:
        older = stamp.format != FORMAT
        reasons.append(
            "another version of oasflow made the module"
            if older
            else "the module was made with other components, or by another version of oasflow"
        )
    return reasons


def _make_diff(before: str, after: str) -> str:
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), "the module", "the file now", lineterm="", n=2
    )
    shown = [line for line, _ in zip(lines, range(_MOST_LINES + 1), strict=False)]
    if len(shown) > _MOST_LINES:
        shown[_MOST_LINES:] = ["…"]
    return "\n".join(shown)
