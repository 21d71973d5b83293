"""The commands of a README, as its reader would type them, and what it says that they do.

In: Markdown.  Out: one `Command` per logical line of its `sh` blocks; `run` types all of them into
one shell, in order, and gives each one's exit code and output.

    ```sh
    oasflow approve "$RUN"      ->  Command(line='oasflow approve "$RUN"', exit=3, shows=("Confirm",))
    # exit 3
    # shows: Confirm
    ```

No `# exit` means 0.  Any other comment in a block is refused, so that a misspelt one proves nothing.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from tests.warm import may_be_warm, read_at_start
from tests.warm_program import serve_oasflow

BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = "readme-command-ended"
PROGRAM = "oasflow "


@dataclass(frozen=True, kw_only=True)
class Command:
    line: str
    exit: int = 0
    shows: tuple[str, ...] = ()


def commands_of(markdown: str) -> list[Command]:
    commands: list[Command] = []
    for block in BLOCK.findall(markdown):
        for line in block.replace("\\\n", "\\\0").splitlines():
            if not line.strip():
                continue
            if not line.startswith("#"):
                commands.append(Command(line=line.replace("\0", "\n")))
            elif match := re.fullmatch(r"# exit (\d+)", line):
                commands[-1] = replace(commands[-1], exit=int(match[1]))
            elif match := re.fullmatch(r"# shows: (.+)", line):
                commands[-1] = replace(commands[-1], shows=(*commands[-1].shows, match[1]))
            else:
                raise ValueError(f"not a line of the convention: {line!r}")
    return commands


def run(commands: Sequence[Command], *, folder: Path, env: Mapping[str, str]) -> list[str]:
    """Every way in which what the README says is not so; empty when all of it is.

    The first `oasflow` is the program that the shell finds, the others are forked from a warm process.
    """
    env = {**read_at_start(os.environ), **env}  # a reader has a locale, too
    with ExitStack() as stack:
        lines = [f"{each.line}\nprintf '{MARK} %s\\n' $?\n" for each in commands]
        first = next(
            (at for at, each in enumerate(commands) if each.line.startswith(PROGRAM)), None
        )
        if first is not None and may_be_warm(env):
            home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="oft-")))
            forked = stack.enter_context(serve_oasflow(home))
            lines.insert(first + 1, f'oasflow() {{ "{forked}" "$@"; }}\n')
        return _run_script("".join(lines), commands, folder=folder, env=env)


def _run_script(
    script: str, commands: Sequence[Command], *, folder: Path, env: Mapping[str, str]
) -> list[str]:
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=dict(env), text=True, check=False, timeout=600,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    pieces = re.split(rf"{MARK} (\d+)\n", done.stdout)
    ends = list(zip(pieces[0::2], map(int, pieces[1::2]), strict=False))
    problems = [] if len(ends) == len(commands) else [f"the shell ended early: {done.stdout}"]
    for command, (output, code) in zip(commands, ends, strict=False):
        if code != command.exit:
            problems.append(f"{command.line}\nexit {code}, not {command.exit}:\n{output}")
        problems += [
            f"{command.line}\ndoes not show {text!r}:\n{output}"
            for text in command.shows
            if text not in output
        ]
    return problems
