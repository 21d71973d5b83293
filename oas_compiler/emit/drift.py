"""Whether a module still says what its flow file says.

compare(module, emitted, digest)   ->   Drift(reasons=("the flow file has changed since …",), diff="…")

Formatting and comments of a module count for nothing.
"""

from __future__ import annotations

import difflib
import io
import tokenize
from dataclasses import dataclass
from typing import Final

from oas_compiler.emit.module import Emitted
from oas_compiler.emit.stamp import FORMAT, Stamp, is_untouched, read_stamp

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


def compare(module: str, emitted: Emitted, digest: str) -> Drift:
    """module: its text.  digest: sha256 (hex) of the flow's bytes."""
    stamp, now = read_stamp(module), read_stamp(emitted.text)
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
    return Drift(
        reasons=tuple(reasons), diff=_make_diff(module, emitted.text), by_hand=not untouched
    )


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
