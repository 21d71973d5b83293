r"""Text from flows, gates and databases, made safe for a terminal and for the log of a build.

In: any string.  Out: the same words, without terminal control characters.

    clean("a\x1b[31mred")  ->  "a␛[31mred"          cut("x" * 500, 10)  ->  "xxxxxxxxx…"
    printed("::error::no")  ->  the same with another first colon, so that no build obeys the line

Control characters become visible pictures instead of vanishing: a person who decides at a gate
should see that they were there.
"""

from __future__ import annotations

import re
from typing import Final

from oas_compiler.text.safe_text import visible, without_secrets

_BREAKS: Final = re.compile("[\n\t\r\u2028\u2029]")
_COMMAND: Final = re.compile(r"^([^\S\n]*):(?=:)", re.MULTILINE)
"""The beginning of a line that GitHub's runner obeys, in any log of a build."""
_OLD_COMMAND: Final = re.compile(r"#(?=#[A-Za-z]*\[)")
"""`##[error]`, `##vso[…]`, `##teamcity[…]`: obeyed anywhere in a line."""
_COLON: Final = "\ua789"
_HASH: Final = "\u266f"


def clean(text: str, *, lines: bool = False) -> str:
    """`text` for people; with `lines` it keeps its line breaks, else they become spaces."""
    if text.isascii() and text.isprintable():
        return text
    if lines:
        text = text.replace("\r\n", "\n").replace("\t", "    ")
    return visible(_BREAKS.sub(_kept_break if lines else " ", text))


def cut(text: str, most: int) -> str:
    """The beginning of `text`, ending in `…` where it was cut."""
    return text if len(text) <= most else text[: most - 1] + "…"


def printed(text: str) -> str:
    """`text` as it may go to a stream; length, lines and tabs stay.

    Without escape characters, without credentials of well-known shapes or in urls, and without
    commands to build runners.  The last check of everything that a command prints for people.
    """
    shown = visible(text.replace("\r", " "))
    return without_commands(without_secrets(shown))


def without_commands(text: str) -> str:
    """`text` without workflow commands, with the same length and appearance."""
    if "::" in text:
        text = _COMMAND.sub(rf"\1{_COLON}", text)
    return _without_old(text)


def annotation(line: str) -> str:
    """A workflow command whose text cannot contain another workflow command."""
    return _without_old(clean(without_secrets(line)))


def _without_old(text: str) -> str:
    return _OLD_COMMAND.sub(_HASH, text) if "##" in text else text


def _kept_break(found: re.Match[str]) -> str:
    return "\n" if found[0] == "\n" else " "
