"""Finds the fixes of a flow that help: tries them on the text and checks the result.

In: a flow file whose findings carry fixes.  Out: the new bytes of each file, not written yet; the
applied fixes; the fixes that were left out and why; and the remaining findings.

    work = Mending()
    work.mend("agents/email/cinatra/oas.json")
    work.changes()      ->  [FileChange(file="agents/email/cinatra/oas.json", before=b"…", after=b"…")]

A fix is left out unless the new text decodes to the old value with the fix's edits, the findings of
the fix are gone, and no rule finds more than before.  Flows of one package share its package.json:
a `Mending` builds each change on the changes before it.  A file with several names is fixed under
its first name; a file that must not be written is not fixed.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import shutil
import stat
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Final, TypeAlias

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.findings.finding import Finding
from oas_compiler.ir import JsonValue
from oas_compiler.pipeline import check
from oas_compiler.report.source_text import masked
from oas_compiler.text.file_access import read_flow, read_unlinked, real_file, without_link
from oas_compiler.text.input_bounds import MAX_JSON_BYTES
from oas_compiler.text.safe_text import without_secrets
from oas_compiler.text_edits.editable_text import reads_back, rewriting_of, value_of
from oas_compiler.text_edits.json_edits import AnyRewriting, CannotEdit, applied

# ----------------------------------------------------------------------------
# The identity of a file on disk, and whether `--fix` may write it.
#
# identity("link.json") == identity("oas.json")    a link, symbolic or hard, is the file itself
# refusal("locked.json")                           ->  "locked.json is read-only"


Identity: TypeAlias = tuple[int, int]

_ANY_WRITER: Final = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def identity(file: str) -> Identity | None:
    """Device and number of the file behind a name; `None` where there is no file."""
    try:
        about = Path(file).stat()
    except (OSError, ValueError):
        return None
    return about.st_dev, about.st_ino


def refusal(file: str) -> str:
    """Why the file must not be written; empty when it may be."""
    try:
        about = real_file(file).stat()
    except (OSError, ValueError):
        return f"{file} cannot be read"
    if not stat.S_ISREG(about.st_mode):
        return f"{file} is no ordinary file"
    # A file without any write permission is not written by root either.
    if not about.st_mode & _ANY_WRITER or not os.access(file, os.W_OK):
        return f"{file} is read-only"
    return ""


BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
NOT_READ: Final = "it is no JSON and no YAML that can be changed"
NOT_READ_BACK: Final = "the changed text would not be read as it was meant"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """The planned new content of one file."""

    file: str
    before: bytes
    after: bytes
    within: str = ""
    """The folder below which the file was found; empty where its name was given."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A finding whose fix is not made."""

    finding: Finding
    why: str


@dataclass(slots=True)
class Mending:
    """All changes of one run of `--fix`."""

    env: Mapping[str, str] | None = None
    wanted: Callable[[Finding], bool] = lambda _finding: True
    """The findings to fix."""
    roots: Mapping[str, str] = field(default_factory=dict)
    """File → the folder below which it was found; see `oas_compiler.text.flow_files.Found`."""
    mended: list[Finding] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    _found: dict[str, bytes] = field(default_factory=dict)
    _after: dict[str, bytes] = field(default_factory=dict)
    _names: dict[Identity, str] = field(default_factory=dict)
    """File → the first name under which it was met."""
    _tried: set[tuple[str, str, str]] = field(default_factory=set)

    def check(self, flow: str) -> list[Finding]:
        """The findings of a flow with all planned changes."""
        return self.check_with(flow, self._after)

    def check_with(self, flow: str, texts: Mapping[str, bytes]) -> list[Finding]:
        """The findings of a flow, where its files have other texts."""
        root = self.roots.get(flow, "")
        return list(check(flow, env=self.env, unsaved=texts, within=root))

    def mend(self, flow: str) -> None:
        """Try the fixes of one flow file and of its package.json."""
        findings = self.check(flow)
        fixes = [finding for finding in findings if finding.fix and self.wanted(finding)]
        for file in dict.fromkeys(finding.file for finding in fixes):
            first = self._first_name(file)
            if first != file:
                self._leave_to(first, [one for one in fixes if one.file == file])
            elif not self._remember_file(file):
                self._leave_out_findings(fixes, file, NOT_READ)
            elif why := refusal(file):
                del self._after[file]
                self._leave_out_findings(fixes, file, why)
        tried = [finding for finding in fixes if finding.file in self._after]
        self._tried |= {_make_finding_key(one) for one in tried}
        if tried:
            self._mend_flow(flow, tried)

    def changes(self) -> list[FileChange]:
        """The changed files, in the order in which they were met."""
        return [
            FileChange(
                file=file,
                before=self._found[file],
                after=after,
                within=self.roots.get(file, ""),
            )
            for file, after in self._after.items()
            if after != self._found[file]
        ]

    def _remember_file(self, file: str) -> bool:
        """Remember the file's content; False where it is no text that can be changed."""
        if file in self._after:
            return True
        try:
            raw = read_flow(file, MAX_JSON_BYTES + 1, within=self.roots.get(file, ""))
        except (OSError, ValueError):
            return False
        try:
            rewriting_of(_decode_text(raw))
        except (ValueError, IndexError):
            return False
        self._found[file] = self._after[file] = raw
        return True

    def _first_name(self, file: str) -> str:
        known = identity(file)
        return file if known is None else self._names.setdefault(known, file)

    def _leave_to(self, first: str, findings: Sequence[Finding]) -> None:
        """Handle the fixes under a second name of a file; fixes that the first name also has are
        applied.
        """
        why = f"it is the same file as {first}; check it alone"
        known = [replace(one, file=first) for one in findings]
        left = [
            one
            for one, same in zip(findings, known, strict=True)
            if _make_finding_key(same) not in self._tried
        ]
        self.left_out += [LeftOut(one, why) for one in left]

    def _leave_out_findings(self, findings: Sequence[Finding], file: str, why: str) -> None:
        self.left_out += [LeftOut(one, why) for one in findings if one.file == file]

    def _mend_flow(self, flow: str, tried: list[Finding]) -> None:
        # The file may have changed between its check and this read.
        before = self.check(flow)
        trial = _Trial(self, flow, before)
        trial.add([finding for finding in tried if finding in before])
        self._after.update(trial.texts)
        self.mended += trial.taken
        self.left_out += trial.left_out


class _Trial:
    """Fixes of one flow, added as long as they help."""

    def __init__(self, work: Mending, flow: str, before: list[Finding]) -> None:
        self._work = work
        self._flow = flow
        self._before = _count_findings(before)
        self._start = dict(work._after)  # noqa: SLF001 - one piece of work in two classes
        self._rewritings: dict[str, AnyRewriting] = {}
        self._values: dict[str, JsonValue] = {}
        """What each file is read as before the edits."""
        self.texts = dict(self._start)
        self.taken: list[Finding] = []
        self.left_out: list[LeftOut] = []

    def add(self, fixes: list[Finding]) -> None:
        """Add all of `fixes` when that helps, else the halves of them that do."""
        fitting = self._select_fitting(fixes)
        if not fitting:
            return
        fixes = [*self.taken, *fitting]
        texts = self._rewrite_texts(fixes)
        why = "" if self._reads_back(texts, fixes) else NOT_READ_BACK
        if not why and not self._is_improvement(texts, fixes):
            why = "the file would not be better for it"
        if not why:
            self.taken += fitting
            self.texts = texts
        elif len(fitting) == 1:
            self.left_out.append(LeftOut(fitting[0], why))
        else:
            middle = len(fitting) // 2
            self.add(fitting[:middle])
            self.add(fitting[middle:])

    def _select_fitting(self, fixes: list[Finding]) -> list[Finding]:
        """Those of `fixes` whose edits fit the text, each other, and the accepted fixes."""
        chosen = {file: rewriting.chosen() for file, rewriting in self._rewritings.items()}
        for finding in self.taken:
            chosen[finding.file].take(finding.fix)
        found = []
        for finding in fixes:
            if finding.file not in chosen:
                chosen[finding.file] = self._rewriting(finding.file).chosen()
            try:
                chosen[finding.file].take(finding.fix)
            except CannotEdit as reason:
                self.left_out.append(LeftOut(finding, str(reason)))
            else:
                found.append(finding)
        return found

    def _rewriting(self, file: str) -> AnyRewriting:
        if file not in self._rewritings:
            self._rewritings[file] = rewriting_of(_decode_text(self._start[file]))
        return self._rewritings[file]

    def _rewrite_texts(self, fixes: list[Finding]) -> dict[str, bytes]:
        texts = dict(self._start)
        for file in dict.fromkeys(finding.file for finding in fixes):
            rewriting = self._rewriting(file)
            chosen = rewriting.chosen()
            for finding in fixes:
                if finding.file == file:
                    chosen.take(finding.fix)
            raw = applied(rewriting.text, chosen.replacements()).encode("utf-8")
            mark = BYTE_ORDER_MARK if self._start[file].startswith(BYTE_ORDER_MARK) else b""
            texts[file] = mark + raw
        return texts

    def _reads_back(self, texts: dict[str, bytes], fixes: list[Finding]) -> bool:
        """Whether each new text decodes to its old value with the edits."""
        for file in dict.fromkeys(finding.file for finding in fixes):
            edits = [edit for one in fixes if one.file == file for edit in one.fix]
            if file not in self._values:
                self._values[file] = value_of(_decode_text(self._start[file]))
            try:
                after = value_of(_decode_text(texts[file]))
            except ValueError:
                return False
            if not reads_back(self._values[file], after, edits):
                return False
        return True

    def _is_improvement(self, texts: dict[str, bytes], fixes: list[Finding]) -> bool:
        after = _count_findings(self._work.check_with(self._flow, texts))
        left = self._before - _count_findings(fixes)
        return not after - left


def _decode_text(raw: bytes) -> str:
    return raw.removeprefix(BYTE_ORDER_MARK).decode("utf-8")


def _make_finding_key(finding: Finding) -> tuple[str, str, str]:
    return finding.file, finding.code, finding.pointer


def _count_findings(findings: Sequence[Finding]) -> Counter[tuple[str, str]]:
    # Not by place or message: both may name a line or an index that the change moves.
    return Counter((finding.file, finding.code) for finding in findings)


# ----------------------------------------------------------------------------
# Writes new text to disk, completely or not at all, and never over another program's change.
#
#     write([FileChange(file="oas.json", before=b"…", after=b"…")])
#
# A file is replaced by a complete new file with the same owner, group, mode and extended attributes.
# A file that has several names, or whose owner cannot be kept, is written in place instead; a copy of
# the old text lies beside it meanwhile.  Where the name is a symbolic link, the link stays and its
# target changes; a link that leads out of a package is refused.


class CannotWrite(Exception):
    """A file has changed since its check, or must not be written; it stays as it is."""


def write(changes: Iterable[FileChange]) -> None:
    """Write every change.

    Raises:
        CannotWrite: when any of the files changed since it was read, or is read-only; all are
            looked at before the first is written.
        OSError: when the disk refuses; files before this one are written then, complete.

    """
    files = [(_resolve_target(change), change) for change in changes]
    for path, change in files:
        _refuse_if_changed(path, change)
        why = refusal(change.file)
        if why:
            raise CannotWrite(why)
    for path, change in files:
        _write_file(path, change)


def _resolve_target(change: FileChange) -> Path:
    """The path to write to, in which no part is a link."""
    try:
        return real_file(change.file, change.within)
    except OSError:
        raise CannotWrite(f"{change.file} has changed since it was checked") from None


def _refuse_if_changed(path: Path, change: FileChange) -> None:
    try:
        same = read_unlinked(path, len(change.before) + 1) == change.before
    except OSError:
        same = False
    if not same:
        raise CannotWrite(f"{change.file} has changed since it was checked")


def _write_file(path: Path, change: FileChange) -> None:
    about = path.stat()
    written = _write_temp_file(path, change.after)
    try:
        if about.st_nlink == 1 and _looks_like(written, path, about):
            # Checked again as late as possible: only the rename comes after.
            _refuse_if_changed(path, change)
            written.replace(path)
            return
    finally:
        with contextlib.suppress(OSError):
            written.unlink()
    _write_in_place(path, change, about)


def _write_temp_file(path: Path, text: bytes) -> Path:
    """A new file in the same folder, on disk; only its owner may read it."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".oasflow-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
    return Path(name)


def _looks_like(written: Path, path: Path, about: os.stat_result) -> bool:
    """Give `written` the owner, mode and attributes of `path`; False when that is not allowed."""
    own = written.stat()
    try:
        if (own.st_uid, own.st_gid) != (about.st_uid, about.st_gid):
            os.chown(written, about.st_uid, about.st_gid)
        # After the owner, because a change of owner removes the bits for set-user-id.
        shutil.copystat(path, written)
        os.utime(written)
    except OSError:
        return False
    return stat.S_IMODE(written.stat().st_mode) == stat.S_IMODE(about.st_mode)


def _write_in_place(path: Path, change: FileChange, about: os.stat_result) -> None:
    """Write new text into the same file; the old text is restored if the disk refuses."""
    _refuse_if_changed(path, change)
    kept = _write_temp_file(path, change.before)
    try:
        _overwrite_file(path, change.after)
    except BaseException:
        _overwrite_file(path, change.before)  # if this fails too, the copy stays
        kept.unlink()
        raise
    kept.unlink()
    if stat.S_IMODE(path.stat().st_mode) != stat.S_IMODE(about.st_mode):
        with contextlib.suppress(OSError):  # not the owner: the system removed a bit
            path.chmod(stat.S_IMODE(about.st_mode))


def _overwrite_file(path: Path, text: bytes) -> None:
    with open(path, "r+b", opener=without_link) as file:
        file.write(text)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())


# ----------------------------------------------------------------------------
# A change of a file as a unified diff for people: credentials starred, line ends left out.
#
# --- agents/a/oas.json
# +++ agents/a/oas.json, mended
# @@ -3,4 +3,3 @@


def unified(change: FileChange, before: Iterable[Finding], after: Iterable[Finding]) -> list[str]:
    """The lines of the diff; the findings of both states tell which values are secret."""
    return list(
        difflib.unified_diff(
            _split_safe_lines(change.before, change.file, before),
            _split_safe_lines(change.after, change.file, after),
            change.file,
            change.file,
            lineterm="",
        )
    )


def _split_safe_lines(raw: bytes, file: str, findings: Iterable[Finding]) -> list[str]:
    text = raw.decode("utf-8-sig", errors="replace")
    safe = masked(text, [finding for finding in findings if finding.file == file])
    return [without_secrets(line.removesuffix("\r")) for line in safe.split("\n")]
