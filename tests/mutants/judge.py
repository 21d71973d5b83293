"""One mutant in, everything that is wrong with what `check` says about it out.

    judge(mutant, check, folder)  ->  Verdict(problems=("raises: LookupError in rules.py:12 …",), …)

What must hold of every document, whatever is in it:
* `check` returns Diagnostics and raises nothing; `compile_ir` raises nothing but CompileError;
* a flow that compiles can be printed, drawn and compared;
* each finding has a code with a card, the card's severity, and a message that a line can hold;
* its place is inside the text that it names, and its pointer leads to a value;
* the document was read, or a finding OAS001 to OAS009 says why not;
* the findings can be written as JSON and as SARIF.
"""

from __future__ import annotations

import json
import shutil
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

from oas_compiler import CompileError, Diagnostics, Finding, compile_ir
from oas_compiler.catalog import all_rules
from oas_compiler.diff import diff
from oas_compiler.draw import lay_out, svg_text
from oas_compiler.draw.mermaid import mermaid_text
from oas_compiler.ir.printout import print_ir
from oas_compiler.text.source import read_source
from tests.mutants.mutations import Mutant

Check: TypeAlias = Callable[[Any], Diagnostics]
LONGEST: Final = 2_000
"""Characters of a message and its hint; what is longer quotes too much of the document."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What came of one mutant."""

    problems: tuple[str, ...] = ()
    """The first words, up to `|`, name the problem; what follows is about this mutant."""
    codes: tuple[str, ...] = ()
    """Codes of all findings."""
    read: bool = False
    """Whether the document could be read."""


def signature(problem: str) -> str:
    """What two mutants with the same flaw have in common."""
    return problem.partition("|")[0].strip()


def judge(made: Mutant, check: Check, folder: Path, *, thorough: bool = True) -> Verdict:
    """Ask `check`, and look at the answer; `folder` is where packages are written.

    `thorough` also compiles, and writes the findings out as reports.
    """
    source = _source(made, folder)
    try:
        found = check(source)
    except Exception as error:
        return Verdict(problems=(_raised("raises", error),))
    own = Diagnostics()
    read = read_source(source, own)
    problems = [*_of_findings(made, found, folder, value=None if read is None else [read.value])]
    if read is None and not any("OAS001" <= finding.code <= "OAS009" for finding in found.errors):
        problems.append(
            "unread | the document was not read, and no finding OAS001 to OAS009 says why"
        )
    if thorough:
        problems += [*_of_reports(found), *_of_compiling(source)]
    codes = tuple(finding.code for finding in found)
    return Verdict(problems=tuple(problems), codes=codes, read=read is not None)


def _source(made: Mutant, folder: Path) -> Any:
    raw = made.files[made.document]
    if made.given == "bytes":
        return raw
    if made.given == "mapping":
        return json.loads(raw)
    write(made, folder)
    return folder


def write(made: Mutant, folder: Path) -> None:
    """The files of a mutant, and nothing else, in `folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, raw in made.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)


def _raised(what: str, error: BaseException) -> str:
    """Names the innermost line of ours, which is what two equal flaws share."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "site-packages" not in frame.filename] or frames
    place = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else "?"
    return f"{what}: {type(error).__name__} in {place} | {str(error)[:200]}"


@cache
def _severities() -> Mapping[str, str]:
    return {card.code: card.severity for card in all_rules()}


def _of_findings(
    made: Mutant, found: Diagnostics, folder: Path, *, value: list[Any] | None
) -> Iterator[str]:
    """`value`: the document in a list of one; `None` when it was not read."""
    texts = {str(folder / name): raw for name, raw in made.files.items()}
    if made.given == "bytes":
        texts = {"": made.files[made.document]}
    flow = str(folder / made.document) if made.given == "folder" else ""
    lengths = {name: [len(line) for line in _lines(raw)] for name, raw in texts.items()}
    for finding in found:
        yield from _of_card(finding)
        if len(finding.message) + len(finding.hint) > LONGEST:
            yield f"{finding.code} has a message that is too long | {finding.message[:80]}"
        name = flow if not finding.file else finding.file
        if made.given == "mapping":
            lines = None
        elif name in lengths:
            lines = lengths[name]
        else:
            yield f"{finding.code} names a file that is none of the package's | {name}"
            continue
        readable = value is not None if name == flow else _decodes(texts[name])
        yield from _of_place(finding, lines, known=readable)
        if value is not None and name == flow and not _leads(value[0], finding.pointer):
            yield f"{finding.code} has a pointer that leads nowhere | {finding.pointer[:200]}"


def _of_card(finding: Finding) -> Iterator[str]:
    severity = _severities().get(finding.code)
    if severity is None:
        yield f"{finding.code} has no card | {finding.message[:80]}"
    elif severity != finding.severity:
        yield f"{finding.code} is {finding.severity}, its card says {severity} |"
    if not finding.message or "\n" in finding.message or "\n" in finding.hint:
        yield f"{finding.code} has no message, or one of several lines | {finding.message[:80]!r}"


def _of_place(finding: Finding, lines: list[int] | None, *, known: bool) -> Iterator[str]:
    """`lines`: length of each line of the text; `None` where there is no text."""
    line, column = finding.line, finding.column
    if lines is None:
        if line or column:
            yield f"{finding.code} has a line in a document without text | {line}:{column}"
    elif not line:
        if known:
            yield f"{finding.code} has no line though the text is known | {finding.pointer[:80]}"
    elif not (line <= len(lines) and 1 <= column <= lines[line - 1] + 1):
        yield f"{finding.code} stands outside of the text | {line}:{column}"


def _lines(raw: bytes) -> list[str]:
    """As an editor counts them; bytes that are no text count one each."""
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    try:
        return raw.decode().split("\n")
    except UnicodeDecodeError:
        return raw.decode("latin-1").split("\n")


def _decodes(raw: bytes) -> bool:
    """Whether another file than the flow could be read; asked of what `json` takes."""
    try:
        return isinstance(json.loads(raw.decode("utf-8-sig")), (dict, list))
    except (ValueError, RecursionError):
        return False


def _leads(value: Any, pointer: str) -> bool:
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            return False
    return True


def _of_reports(found: Diagnostics) -> Iterator[str]:
    for name in ("to_json", "to_sarif"):
        try:
            json.dumps(getattr(found, name)(), ensure_ascii=False, allow_nan=False).encode()
        except Exception as error:
            yield _raised(f"{name} raises", error)


def _of_compiling(source: Any) -> Iterator[str]:
    try:
        flow = compile_ir(source).ir
    except CompileError as error:
        if not error.diagnostics.errors:
            yield "compile_ir raises a CompileError without an error |"
    except Exception as error:
        yield _raised("compile_ir raises", error)
    else:
        for show in (
            print_ir,
            mermaid_text,
            lambda it: svg_text(lay_out(it)),
            lambda it: diff(it, it),
        ):
            try:
                show(flow)
            except Exception as error:
                yield _raised("showing the compiled flow raises", error)
