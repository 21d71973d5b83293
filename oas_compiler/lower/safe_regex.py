r"""An author's pattern on anybody's text, in bounded time.

In: a pattern, and a text.  Out: what it found, or `MatchStopped`.

    Matcher(r"\d+").all("a1b22")        ->  ["1", "22"]
    Matcher(r"(a+)+$").first("aaaa…b")  ->  MatchStopped after 2 s of processor time

Python's `re` tries every way of matching, holds the interpreter while it does, and cannot be
interrupted from inside the process.  So a search of few steps is made here, and any other in a
process of its own, which the kernel ends.  The number of steps is estimated from above: a guess
that is too high costs a process (some 20 ms), never a run.
"""

from __future__ import annotations

import functools
import json
import re
import subprocess
import sys
from typing import Any, Final

SECONDS: Final = 2
"""Processor time of one search in a process of its own."""
_PATIENCE: Final = 30
"""Seconds until such a process is given up, however little processor time it got."""
_FEW: Final = 5_000_000
"""Steps of a search that is made here: some tenths of a second at most."""

_PROGRAM: Final = f"""
import json, re, resource, sys
resource.setrlimit(resource.RLIMIT_CPU, ({SECONDS}, {SECONDS}))
pattern, text, first = json.load(sys.stdin)
found = []
for match in re.finditer(pattern, text):
    found.append(match.group(0))
    if first:
        break
json.dump(found, sys.stdout)
"""
_TOKEN: Final = re.compile(
    r"""
      (?P<reference> \\[1-9] )
    | (?P<class>   \[ \^? \]? (?: \\. | [^\]\\] )* \] )
    | (?P<atom>    \\. | [^\\\[\](){}*+?|] )
    | (?P<opened>  \( (?: \?: | \?P<\w+> )? (?! \? ) )
    | (?P<flags>   \(\? [aimsu]+ \) )
    | (?P<closed>  \) )
    | (?P<many>    (?: [*+] | \{ (?P<least> \d* ) (?P<comma> ,? ) (?P<most> \d* ) \} | \? ) [?+]? )
    | (?P<either>  \| )
    """,
    re.VERBOSE | re.DOTALL,
)


class MatchStopped(Exception):
    """A search took too long; the text names the rule."""


class Matcher:
    """One pattern; it compiles, as the checks have made sure of."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._steps = _steps(pattern)

    def all(self, text: str) -> list[str]:
        """Every match, in order.

        Raises: `MatchStopped`.
        """
        return self._search(text, first=False)

    def first(self, text: str) -> str:
        """The first match, or an empty string.

        Raises: `MatchStopped`.
        """
        return (self._search(text, first=True) or [""])[0]

    def runs_here(self, text: str) -> bool:
        """Whether a search in `text` is short for sure."""
        if self._steps is None:
            return False
        fixed, repetitions = self._steps
        # Once more for the place where a match begins.
        steps: int = fixed * (len(text) + 1) ** (repetitions + 1)
        return steps <= _FEW

    def _search(self, text: str, *, first: bool) -> list[str]:
        if not self.runs_here(text):
            return _apart(self._pattern, text, first=first)
        if not first:
            return [match.group(0) for match in re.finditer(self._pattern, text)]
        found = re.search(self._pattern, text)
        return [found.group(0)] if found else []


@functools.lru_cache(maxsize=1024)
def _steps(pattern: str) -> tuple[int, int] | None:
    """Steps to match from one place: `(fixed, n)` stands for fixed * length ** n; None: unknown.

    Unknown are a choice inside a repetition, which multiplies with itself, and whatever is not
    read here: references back, looking around, comments.
    """
    fixed, repetitions = max(1, len(pattern)), 0
    choices = [False]  # of each open group: whether it holds a choice
    atom_chooses = False
    position = 0
    while position < len(pattern):
        token = _TOKEN.match(pattern, position)
        kind = token.lastgroup if token else None
        if token is None or kind in {None, "reference"}:
            return None
        position = token.end()
        if kind == "opened":
            choices.append(False)
        elif kind == "closed":
            atom_chooses = choices.pop()
            choices[-1] |= atom_chooses
        elif kind == "many":
            if atom_chooses:
                return None
            times = _times(token)
            repetitions += times is None
            fixed *= times or 1
            choices[-1] = True
        elif kind == "either":
            fixed *= 2
            choices[-1] = True
        if kind in {"atom", "class"}:
            atom_chooses = False
    return fixed, repetitions


def _times(token: re.Match[str]) -> int | None:
    """How many turns of a repetition there can be, none among them; None: no bound."""
    if token["many"].startswith("?"):
        return 2
    most = token["most"] or ("" if token["comma"] else token["least"])
    return int(most) + 1 if most else None


def _apart(pattern: str, text: str, *, first: bool) -> list[str]:
    """The search in a process of its own, which ends by itself or is ended."""
    command = [sys.executable, "-I", "-S", "-c", _PROGRAM]
    question = json.dumps([pattern, text, first])
    problem = ""
    try:
        done = subprocess.run(  # noqa: S603 - our own program; pattern and text are its input
            command, input=question, capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        problem = f"it did not end within {_PATIENCE} s"
    except OSError as error:
        problem = f"its process cannot be started: {type(error).__name__}"
    else:
        if done.returncode < 0:
            problem = f"it took more than {SECONDS} s of processor time"
        elif done.returncode:
            problem = f"its process ended with code {done.returncode}"
    if problem:
        raise MatchStopped(f"the search was stopped: {problem}")
    found: Any = json.loads(done.stdout)
    return list(found)
