"""How long a file takes: load and check (no LangGraph yet), then lower to a graph.

In: the folders of flow files.  Out: one row of figures per file, and what the import costs.

Every repetition starts with empty caches: the figures are those of a file seen for the first time,
in a process that has imported everything.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.figures import forget_caches, milliseconds, timed
from cinatra_sdk import HostParts
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from oas_compiler import Flow, compile_ir
from oas_compiler.ir import FlowIR, FlowNode, ToolNode

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT / "../shared/corpus/cinatra"
EXAMPLES = ROOT / "examples"
LIMIT_MS = 60.0
"""Load and check of the largest file, by issue 2."""

_IMPORT = """
import json, sys, time
start = time.perf_counter()
import oas_compiler
oas_compiler.compile_ir  # a name is imported when it is first used
took = time.perf_counter() - start
oas_compiler.compile_ir(sys.argv[1])
print(json.dumps({"seconds": took, "langgraph": "langgraph" in sys.modules}))
"""


def flow_files(corpus: Path = CORPUS) -> tuple[list[Path], str]:
    """The files to measure, and why there are fewer than hoped for (empty: there are not)."""
    found = [*sorted(corpus.glob("**/oas.json")), *sorted(EXAMPLES.glob("**/oas.json"))]
    absent = "" if corpus.is_dir() else f"skipped: there is no corpus folder {corpus.name!r}"
    return found, absent


def measure(files: Sequence[Path], *, repeat: int) -> dict[str, Any]:
    """One row per file, the largest file's verdict, the import."""
    rows = [_row(path, repeat) for path in files]
    largest = max(rows, key=lambda row: row["bytes"])
    return {
        "files": rows,
        "largest": {
            "file": largest["file"],
            "check_median_ms": largest["check_ms"],
            "limit_ms": LIMIT_MS,
            "within": largest["check_ms"] < LIMIT_MS,
        },
        "import": import_cost(files[0], repeat=min(repeat, 5)),
    }


def import_cost(path: Path, *, repeat: int) -> dict[str, Any]:
    """`import oas_compiler` in fresh processes, and whether checking `path` drags LangGraph in."""
    runs = [_fresh_import(path) for _ in range(repeat)]
    return {
        "median_ms": round(statistics.median(run["seconds"] for run in runs) * 1e3, 1),
        "langgraph_after_check": any(run["langgraph"] for run in runs),
    }


def _fresh_import(path: Path) -> dict[str, Any]:
    command = [sys.executable, "-c", _IMPORT, str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def _row(path: Path, repeat: int) -> dict[str, Any]:
    compile_ir(path)  # modules that are imported late are imported now
    checks, lowers = [], []
    for _ in range(repeat):
        forget_caches()
        checks.append(timed(lambda: compile_ir(path)))
        forget_caches()
        compiled = compile_ir(path)
        tools = dict.fromkeys(_tools(compiled.ir), dict)
        flow = Flow(compiled=compiled, host=HostParts(platform=SimulatedPlatform(), tools=tools))
        lowers.append(timed(flow.graph))
    check, lower = milliseconds(checks), milliseconds(lowers)
    return {
        "file": path.parent.parent.name,
        "bytes": path.stat().st_size,
        "check_ms": check["median_ms"],
        "check_p95_ms": check["p95_ms"],
        "lower_ms": lower["median_ms"],
        "lower_p95_ms": lower["p95_ms"],
    }


def _tools(flow: FlowIR) -> Iterator[str]:
    for node in flow.nodes:
        if isinstance(node, ToolNode):
            yield node.tool_name
        elif isinstance(node, FlowNode):
            yield from _tools(node.subflow)
