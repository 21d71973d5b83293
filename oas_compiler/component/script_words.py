"""Hints for templates that were written as JavaScript.

    "{{ name ? name : 'you' }}"   ->   write {{ name if name else 'you' }}
    "{{ a || b }}"                ->   write or instead of ||

In: a template that is not valid.  Out: a hint, or nothing where the cause is another one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_LONGEST: Final = 4_000
"""Characters of a template that are looked at; what people write in braces is shorter."""
_LONGEST_SHOWN: Final = 80
_QUOTED: Final = re.compile(r"'[^']*'|\"[^\"]*\"")
_WORDS: Final = (
    ("===", "write == instead of ==="),
    ("!==", "write != instead of !=="),
    ("?.", "write . instead of ?.: a member that is not there is looked up with | default('')"),
    ("??", "write {{ a | default(b) }} instead of ??"),
    ("||", "write or instead of ||"),
    ("&&", "write and instead of &&"),
)


def cure(template: str) -> str:
    """The hint; empty where nothing of JavaScript stands between braces."""
    for inside in _iterate_insides(template[:_LONGEST]):
        bare = _QUOTED.sub(lambda found: "_" * len(found[0]), inside)
        # the longer of two that begin alike decides: !== holds ==, ?? holds ?
        for word, hint in _WORDS:
            if word in bare:
                return hint
        question = bare.find("?")
        colon = bare.find(":", question)
        if 0 <= question < colon:
            return f"write {_format_conditional(inside, question, colon)}"
        if bare.lstrip().startswith("!"):
            return "write not instead of !"
    return ""


def _format_conditional(inside: str, question: int, colon: int) -> str:
    """`a ? b : c` as Jinja writes it, with the author's own words where they are short."""
    test, yes, no = (
        part.strip()
        for part in (inside[:question], inside[question + 1 : colon], inside[colon + 1 :])
    )
    if len(inside) > _LONGEST_SHOWN or not (test and yes and no):
        return "{{ b if a else c }} instead of a ? b : c"
    return f"{{{{ {yes} if {test} else {no} }}}}"


def _iterate_insides(template: str) -> Iterator[str]:
    """What stands between `{{` and `}}`, and between `{%` and `%}`."""
    at = 0
    while True:
        starts = [found for mark in ("{{", "{%") if (found := template.find(mark, at)) >= 0]
        if not starts:
            return
        start = min(starts)
        close = "}}" if template.startswith("{{", start) else "%}"
        stop = template.find(close, start + 2)
        stop = len(template) if stop < 0 else stop
        yield template[start + 2 : stop]
        at = stop + 2
