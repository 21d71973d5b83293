"""The dialogue of a command that changes files: the diff, the question, the writing.

`oasflow check --fix` mends with it, `oasflow wire-context` wires.

--- a/cinatra/oas.json                 on a terminal:  apply? [y/N]
+++ a/cinatra/oas.json                 --yes:          written without a question
@@ -3,4 +3,3 @@                        otherwise:      shown, nothing is written
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from rich.text import Text

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.cli.terminal.keyboard import Keyboard
from oas_compiler.cli.terminal.printable_text import clean
from oas_compiler.cli.terminal.streams import Terminal
from oas_compiler.edit.file_fixes import CannotWrite, FileChange, Mending, unified, write
from oas_compiler.report.formats import record
from oas_compiler.text.safe_text import without_secrets

NOT_WRITTEN: Final = "not_written"
"""Key of the record under which a failed write and its reason stand."""
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mender:
    """Applies fixes with the consent of the person at the terminal, or with `--yes`."""

    terminal: Terminal
    yes: bool
    diff_is_the_result: bool
    """Whether the diff goes to stdout; where a program reads stdout, the diff goes to stderr."""

    def mend(self, work: Mending, flows: Sequence[str]) -> dict[str, Any]:
        """Try all fixes, show them, and write them; returns a record of it as JSON."""
        before = [finding for flow in flows for finding in work.check(flow)]
        for flow in flows:
            work.mend(flow)
        changes = work.changes()
        after = [finding for flow in flows for finding in work.check(flow)] if changes else []
        diffs = {change.file: unified(change, before, after) for change in changes}
        applied, refused = False, ""
        if changes:
            for lines in diffs.values():
                self.show_diff(lines)
        for left in dict.fromkeys(work.left_out):
            where, why = left.finding.where, without_secrets(left.why)
            self.terminal.note(f"not mended: {where} {left.finding.code}: {why}")
        if not changes:
            self.terminal.say("nothing that --fix can mend")
        else:
            applied, refused = self.write(changes)
        mended = [record(finding) for finding in work.mended]
        done = {
            "applied": applied,
            "files": [{"file": file, "diff": "\n".join(lines)} for file, lines in diffs.items()],
            "mended": mended if applied else [],
            "would_mend": [] if applied else mended,
            "left_out": [
                {**record(left.finding), "why": without_secrets(left.why)} for left in work.left_out
            ],
        }
        return {**done, NOT_WRITTEN: refused} if refused else done

    def write(self, changes: Sequence[FileChange]) -> tuple[bool, str]:
        """Write the files if `--yes` or the person allows it, and say so.

        Returns whether all are written, and the reason of a failure.
        """
        if not self._may_write(len(changes)):
            return False, ""
        refused = _write_files(changes)
        if refused:
            self.terminal.error(refused)
            return False, refused
        for change in changes:
            self.terminal.say(f"written: {clean(change.file)}")
        return True, ""

    def _may_write(self, files: int) -> bool:
        """Whether `--yes` or the person at the terminal allows writing."""
        if self.yes:
            return True
        if not self.terminal.asks:
            self.terminal.say("nothing was written; --yes applies this")
            return False
        noun = "this file" if files == 1 else f"these {files} files"
        if Keyboard(self.terminal).agrees(f"apply to {noun}?"):
            return True
        self.terminal.say("nothing was written")
        return False

    def show_diff(self, lines: Sequence[str]) -> None:
        """The lines of a unified diff."""
        diff = Text("\n").join(_diff_line(line) for line in lines)
        if self.diff_is_the_result:
            self.terminal.show(diff)
        else:
            self.terminal.say(diff)


def _write_files(changes: Sequence[FileChange]) -> str:
    """Write the files; returns the reason of a failure, or an empty text."""
    try:
        write(changes)
    except CannotWrite as reason:
        return f"{reason}; check it again"
    except OSError as error:
        why = error.strerror or type(error).__name__
        return f"{error.filename or 'a file'}: {why}; not all files are written, check them again"
    return ""


def _diff_line(line: str) -> Text:
    bold = line.startswith(("--- ", "+++ "))
    return Text(clean(line), "bold" if bold else _COLOURS.get(line[:1], ""))
