"""What the compiler says of samples, examples and public flows; see README.md beside this file.

ir_text(path)     the text of NAME.ir.txt
told_of(path)     {"findings": "…", "ir": "…", "mermaid": "…", "svg": "…", "explained": "…", "schemas": "…"}
subjects()        every flow file that digests are kept of, by a name without a place
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from oas_compiler import CompileError, check
from oas_compiler.checks.compile_rules import READING
from oas_compiler.diff import diff
from oas_compiler.draw import lay_out, svg_text
from oas_compiler.draw.mermaid import mermaid_text
from oas_compiler.explain import explain
from oas_compiler.ir import FlowIR
from oas_compiler.ir.printout import ir_to_json, print_ir
from oas_compiler.pipeline import compile_ir
from oas_compiler.schema.flow_schemas import input_schema, output_schema

ROOT: Final = Path(__file__).resolve().parents[2]
FOLDER: Final = Path(__file__).resolve().parent
DIGESTS: Final = FOLDER / "digests.json"
CORPUS: Final = ROOT / "../shared/corpus"
_DIGITS: Final = 16


def samples() -> list[Path]:
    return sorted(path for path in FOLDER.glob("*.json") if path != DIGESTS)


def subjects() -> dict[str, Path]:
    """Flow files by name, such as `golden/kind_api` and `corpus/cinatra/author-agent`."""
    found = {f"golden/{path.stem}": path for path in samples()}
    for path in sorted(ROOT.glob("examples/*/cinatra/oas.json")):
        found[f"examples/{path.parts[-3]}"] = path
    for path in sorted(CORPUS.glob("cinatra/*/cinatra/oas.json")):
        found[f"corpus/cinatra/{path.parts[-3]}"] = path
    for path in sorted(CORPUS.glob("agentspec/**/*.yaml")):
        found[f"corpus/agentspec/{path.stem}"] = path
    return found


def ir_text(path: Path) -> str:
    """The compiled form; of a flow that does not compile its findings, without the file's place."""
    try:
        return print_ir(compile_ir(path, rules=READING).ir)
    except CompileError as error:
        return "".join(
            f"{finding.severity} {finding.code} line {finding.line}: {finding.message}\n"
            for finding in error.diagnostics
        )


def told_of(path: Path) -> dict[str, str]:
    """Everything that is said of a flow file by itself, each as text."""
    told = {"findings": _findings(path), "ir": ir_text(path)}
    flow = _compiled(path)
    if flow is None:
        return told
    return told | {
        "ir_json": _text(ir_to_json(flow)),
        "mermaid": mermaid_text(flow),
        "svg": svg_text(lay_out(flow)),
        "explained": _text(_without_place(explain(path).to_json(), path)),
        "schemas": _text([input_schema(flow), output_schema(flow)]),
    }


def differences(flows: dict[str, Path]) -> Iterator[tuple[str, str]]:
    """(name, text): how each flow that compiles differs from the one before it."""
    compiled = [(name, flow) for name, path in flows.items() if (flow := _compiled(path))]
    for (_, first), (name, second) in pairwise(compiled):
        yield name, _text(diff(first, second).to_json())


def all_told(flows: dict[str, Path]) -> dict[str, dict[str, str]]:
    told = {name: told_of(path) for name, path in flows.items()}
    # Samples of this project by themselves: their differences stay the same without the corpus.
    for own in (True, False):
        group = {n: p for n, p in flows.items() if n.startswith("corpus/") is not own}
        for name, text in differences(group):
            told[name]["diff"] = text
    return told


def digests_of(told: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    return {
        name: {
            what: hashlib.sha256(text.encode()).hexdigest()[:_DIGITS] for what, text in own.items()
        }
        for name, own in told.items()
    }


def _findings(path: Path) -> str:
    found = check(path)
    edits = [
        [finding.code, edit.pointer, edit.key, None if edit.value is None else edit.value.value()]
        for finding in found
        for edit in finding.fix
    ]
    return _text([_without_place(found.to_json(), path), edits])


def _compiled(path: Path) -> FlowIR | None:
    try:
        return compile_ir(path).ir
    except CompileError:
        return None


def _without_place(told: Any, path: Path) -> Any:
    """The same without the folder that the file is in."""
    package = path.parents[1] if path.parent.name == "cinatra" else path.parent
    text = json.dumps(told, ensure_ascii=False)
    for place in (str(package), os.path.normpath(package)):
        text = text.replace(json.dumps(place)[1:-1], ".")
    return json.loads(text)


def _text(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False)
