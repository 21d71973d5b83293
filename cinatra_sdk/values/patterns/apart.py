r"""A search in a process of its own, which the kernel ends.

In: a pattern and a text.  Out: what was found and the seconds it took, or `SearchStopped`.

Python's engine holds the interpreter while it searches, and cannot be interrupted from inside
its process.  So a search that may take long is made in another one (some 20 ms), with limits on
processor time and memory.  It needs no terminal, and no standard input of the parent.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any, Final

from cinatra_sdk.values.work import TooMuchWork

SECONDS: Final = 2
"""Processor time of one search."""
MEGABYTES: Final = 512
"""Memory of one search; where the system limits none (macOS), the time bounds it."""
_PATIENCE: Final = 30
"""Seconds until such a process is given up, however little processor time it got."""

# The timer ends the process by a signal that Python leaves alone; the limit does where there is
# no such timer.  Compiling counts, too.
_PROGRAM: Final = """
import json, re, resource, signal, sys, time, warnings
pattern, text, first, seconds, size, group = json.load(sys.stdin)
warnings.simplefilter("ignore")
signal.setitimer(signal.ITIMER_PROF, seconds)
whole = int(seconds) + 1
for limit, most in ((resource.RLIMIT_CPU, whole), (resource.RLIMIT_AS, size), (resource.RLIMIT_CORE, 0)):
    try:
        resource.setrlimit(limit, (most, most))
    except (OSError, ValueError):
        pass
found = []
try:
    for match in re.finditer(pattern, text):
        found.append(match.group(group) or "")
        if first:
            break
except MemoryError:
    sys.exit(9)
json.dump([found, time.process_time()], sys.stdout)
"""
_NO_MEMORY: Final = 9


_WORDS: Final = (
    (1.0, "a second"),
    (0.5, "half a second"),
    (0.1, "a tenth of a second"),
    (0.0, "a hundredth of a second"),
)


class SearchStopped(TooMuchWork):
    """A search took too long or too much; the text names the rule."""


def spoken(seconds: float) -> str:
    """A time in words, rounded down: "2 seconds", "half a second"."""
    if seconds >= 2:
        return f"{int(seconds)} seconds"
    return next(words for least, words in _WORDS if seconds >= least)


def search_apart(
    pattern: str, text: str, *, first: bool, seconds: float = SECONDS, group: int = 0
) -> tuple[list[str], float]:
    """Every match (or the first), and the seconds of processor time.

    group: the group of a match that is taken; 0: the whole match.
    Raises: `SearchStopped`.
    """
    command = [sys.executable or "python3", "-I", "-S", "-c", _PROGRAM]
    question = json.dumps([pattern, text, first, seconds, MEGABYTES * 1024 * 1024, group])
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
            problem = f"it took more than {spoken(seconds)} of processor time"
        elif done.returncode == _NO_MEMORY:
            problem = f"it took more than {MEGABYTES} MB of memory"
        elif done.returncode:
            problem = f"its process ended with code {done.returncode}"
    if problem:
        raise SearchStopped(f"the search was stopped: {problem}")
    answer: Any = json.loads(done.stdout)
    return list(answer[0]), float(answer[1])
