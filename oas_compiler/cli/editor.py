"""Lets a person edit a text in the person's own editor.

In: a text.  Out: the saved text, without the line end that editors add.

    edited("Bees", ".txt")  ->  "Bees on the roof"
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from cinatra_sdk.text.files import read_unlinked
from oas_compiler.cli.safe import clean, cut
from oas_compiler.cli.terminal import is_terminal

MAX_EDITED: Final = 8 * 1024 * 1024
"""Bytes of a saved text; longer than any answer."""


class EditorFailed(Exception):
    """Editing failed; the message says why, and where the written text is."""


class NoEditor(EditorFailed):
    """There is none on this machine, or not the one that the person chose."""


def edited(text: str, suffix: str) -> str:
    """`text` as it is after $VISUAL, else $EDITOR, else the first editor that there is.

    suffix: ending of the file's name, as `.json`; editors choose their mode by it.

    Raises: `EditorFailed`; then a file that is not UTF-8 text stays where it is.
    """
    command = _find_editor()
    number, name = tempfile.mkstemp(prefix="oasflow-", suffix=suffix)  # read by its owner alone
    path, keeps = Path(name), False
    try:
        with os.fdopen(number, "wb") as file:
            file.write(text.encode("utf-8", "backslashreplace"))
        saved = _run_editor(command, path)
        return saved.decode("utf-8-sig").removesuffix("\n").removesuffix("\r")
    except OSError as error:
        raise EditorFailed(f"the editor {command[0]}: {error.strerror}") from None
    except UnicodeDecodeError:
        keeps = True
        raise EditorFailed(f"what was saved is no text in UTF-8; it is kept in {name}") from None
    finally:
        if not keeps:
            path.unlink(missing_ok=True)


def _run_editor(command: list[str], path: Path) -> bytes:
    screen = None if is_terminal(sys.stdout) else sys.stderr
    # The person's own setting, run for them alone.
    code = subprocess.call([*command, str(path)], stdout=screen)  # noqa: S603 - see above
    if code != 0:
        raise EditorFailed(f"the editor {command[0]} ended with {code}; nothing was changed")
    return read_unlinked(path, MAX_EDITED)


def _find_editor() -> list[str]:
    """The program and its arguments: the person's own, else one that is mostly there."""
    missing = ""
    for variable in ("VISUAL", "EDITOR"):
        chosen = os.environ.get(variable, "").strip()
        if words := installed_command(chosen):
            return words
        if chosen and not missing:
            missing = f"{variable} is {cut(clean(chosen), 60)}, which cannot be run"
    if missing:
        raise NoEditor(missing)
    for usual in ("editor", "nano", "vi"):
        if words := installed_command(usual):
            return words
    raise NoEditor("there is no editor: set VISUAL or EDITOR")


def installed_command(line: str) -> list[str]:
    """The words of a command line whose program is on this machine; else none."""
    try:
        words = shlex.split(line)
    except ValueError:  # a quote that is not closed
        return []
    return words if words and shutil.which(words[0]) else []
