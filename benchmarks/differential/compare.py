"""Runs every case with the three runtimes and writes docs/agent-spec.md.

The peers are those of given interpreters, one for each, or are installed by pip into temporary
environments, which go afterwards: their packages do not go together.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from benchmarks.differential.cases import Case, list_cases
from benchmarks.differential.documents import list_documents
from benchmarks.differential.peers import TOOLS
from benchmarks.peer import interpreter
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from oas_compiler.report.diagnostics import CompileError

DOCUMENT: Final = Path(__file__).parents[2] / "docs" / "agent-spec.md"
PEERS: Final = {
    "adapter": ("pyagentspec[langgraph]==26.3.1",),
    "wayflow": ("wayflowcore==26.3.1",),
}
_HEAD: Final = """# Agent Spec: what runs, beside other runtimes

What each rule of the language means here is in [semantics.md](semantics.md) and [semantics-table.md](semantics-table.md).
The cases of upstream's own tests are in [pick-list.md](pick-list.md).

## Runs

The same files, inputs and answers through three runtimes: oasflow, the LangGraph adapter of pyagentspec 26.3.1, and WayFlow 26.3.1.
`python -m benchmarks.differential.compare --write` makes this page by running them; the peers are installed into environments of their own.
"refused" means that the file does not load, "failed" that the run ends with an error, "waits" that it waits for another answer.

| case | oasflow | adapter | WayFlow | where they differ |
|---|---|---|---|---|
"""


_TYPES: Final = """

## Component types

One small document for each type: whether it loads. Of ours this means that it compiles to a graph.
The peers connect to MCP servers while they load; there is none here, so that their refusals of MCP tools say nothing more.
An OciAgent is refused: its service has no public description.

| component | oasflow | adapter | WayFlow |
|---|---|---|---|
"""


def run_ours(case: Case) -> dict[str, Any]:
    """The same result as of the peers."""
    try:
        flow = compile_flow(case.flow, tools=TOOLS)
    except CompileError as error:
        codes = sorted({one.code for one in error.diagnostics.errors})
        return {"status": "refused", "why": ", ".join(codes)}
    try:
        ran = drive(flow, case.inputs, answers=list(case.answers))
    except Exception as error:  # noqa: BLE001 - what a run ends with is the result
        return {"status": "refused", "why": type(error).__name__}
    if ran.status == "completed":
        return {"status": "completed", "outputs": ran.outputs}
    if ran.status == "failed":
        return {"status": "failed", "why": type(ran.error).__name__}
    return {"status": "waits"}


def run_peer(python: Path, name: str, cases: Sequence[Any]) -> list[dict[str, Any]]:
    script = str(Path(__file__).with_name("peers.py"))
    text = json.dumps(cases)
    done = subprocess.run(
        [str(python), script, name], input=text, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{name}: {done.stderr.strip().splitlines()[-1:]}")
    found: list[dict[str, Any]] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def load_ours(document: dict[str, Any]) -> dict[str, Any]:
    try:
        flow = compile_flow(document, tools=TOOLS)
        flow.graph()
    except CompileError as error:
        codes = sorted({one.code for one in error.diagnostics.errors})
        return {"status": "refused", "why": ", ".join(codes)}
    return {"status": "loads"}


def format_result(result: dict[str, Any]) -> str:
    if result["status"] == "completed":
        text = json.dumps(result["outputs"], ensure_ascii=False)
        return f"`{text}`" if len(text) < 60 else f"`{text[:57]}…`"
    why = f" ({result['why']})" if result.get("why") else ""
    return f"{result['status']}{why}"


def list_rows(
    cases: Sequence[Case], ours: Sequence[Any], adapter: Sequence[Any], wayflow: Sequence[Any]
) -> Iterator[str]:
    for case, own, one, other in zip(cases, ours, adapter, wayflow, strict=True):
        same = _is_same(own, one) and _is_same(own, other)
        why = "" if same else case.why or "?"
        cells = [case.name, *map(format_result, (own, one, other)), why]
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _is_same(own: dict[str, Any], other: dict[str, Any]) -> bool:
    if own["status"] != other["status"]:
        return False
    return own["status"] != "completed" or own["outputs"] == other["outputs"]


def main() -> None:
    documents = dict(list_documents())
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--adapter", default="", help="the interpreter with pyagentspec[langgraph]")
    parser.add_argument("--wayflow", default="", help="the interpreter with wayflowcore")
    parser.add_argument("--write", action="store_true", help="write docs/agent-spec.md")
    options = parser.parse_args()
    cases = list(list_cases())
    results, loaded = [], []
    with ExitStack() as stack:
        for name, packages in PEERS.items():
            found = stack.enter_context(interpreter(getattr(options, name), packages))
            if isinstance(found, str):
                sys.exit(found)
            results.append(run_peer(found, name, [asdict(case) for case in cases]))
            loaded.append(run_peer(found, name, [{"flow": one} for one in documents.values()]))
    ours = [run_ours(case) for case in cases]
    rows = list(list_rows(cases, ours, *results))
    unexplained = [row for row in rows if row.endswith("| ? |")]
    kinds = [
        f"| {' | '.join((name, *map(format_result, row)))} |"
        for name, *row in zip(documents, map(load_ours, documents.values()), *loaded, strict=True)
    ]
    text = _HEAD + "\n".join(rows) + _TYPES + "\n".join(kinds) + "\n"
    if options.write:
        DOCUMENT.write_text(text, encoding="utf-8")
    else:
        print(text)
    if unexplained:
        sys.exit("differences without a reason:\n" + "\n".join(unexplained))


if __name__ == "__main__":
    main()
