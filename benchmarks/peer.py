"""The same files in the reference implementations: never a dependency, an environment of their own.

In: flow files.  Out: one row per file with our time, theirs and the ratio, or why theirs failed.
pyagentspec and wayflowcore are those of a given interpreter, or are installed by pip into a
temporary folder, which goes afterwards.
They cannot read `{{CINATRA_BASE_URL}}` in a url, so it is replaced for them by an address.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PACKAGES = ("pyagentspec==26.3.1", "wayflowcore==26.3.1")

_LOAD = """
import json, statistics, sys, time
try:
    if sys.argv[1] == "pyagentspec":
        from pyagentspec.serialization import AgentSpecDeserializer
        load = AgentSpecDeserializer().from_json
    else:
        from wayflowcore.agentspec import AgentSpecLoader
        load = AgentSpecLoader().load_json
except ImportError as error:
    sys.exit(f"cannot be imported: {error}")
rows = {}
for path in sys.argv[3:]:
    text = open(path, encoding="utf-8").read().replace("{{CINATRA_BASE_URL}}", "http://localhost")
    times = []
    try:
        for _ in range(int(sys.argv[2])):
            start = time.perf_counter()
            load(text)
            times.append(time.perf_counter() - start)
        rows[path] = {"ms": statistics.median(times) * 1000}
    except Exception as error:
        rows[path] = {"failed": type(error).__name__}
print(json.dumps(rows))
"""


def measure(
    files: Sequence[Path], ours: Sequence[dict[str, Any]], *, repeat: int, python: str = ""
) -> dict[str, Any]:
    """Rows of figures; `{"skipped": why}` when the peers cannot be installed."""
    with interpreter(python, PACKAGES) as found:
        if isinstance(found, str):
            return {"skipped": found}
        theirs = {
            name: _load(found, name, files, repeat) for name in ("pyagentspec", "wayflowcore")
        }
    rows = []
    for path, own in zip(files, ours, strict=True):
        row: dict[str, Any] = {"file": own["file"], "oasflow_ms": own["check_ms"]}
        for name, found in theirs.items():
            row |= _beside(name, found if isinstance(found, str) else found[str(path)], own)
        rows.append(row)
    return {"files": rows}


def _beside(name: str, found: Any, own: dict[str, Any]) -> dict[str, Any]:
    if isinstance(found, str):
        return {f"{name}_ms": found}
    if "failed" in found:
        return {f"{name}_ms": f"fails: {found['failed']}"}
    took = round(found["ms"], 1)
    return {f"{name}_ms": took, f"{name}_ratio": round(took / own["check_ms"], 1)}


@contextmanager
def interpreter(given: str, packages: Sequence[str]) -> Iterator[Path | str]:
    """The interpreter at `given`, or of a new environment with these packages, or why there is none."""
    if given:
        python = Path(given).absolute()
        yield python if python.is_file() else f"skipped: there is no interpreter {given}"
        return
    with tempfile.TemporaryDirectory(prefix="oasflow-peer-") as folder:
        yield _install(Path(folder), packages)


def _install(folder: Path, packages: Sequence[str]) -> Path | str:
    python = folder / "bin" / "python"
    steps = [
        [sys.executable, "-m", "venv", str(folder)],
        [str(python), "-m", "pip", "install", "--quiet", *packages],
    ]
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True, check=False)
        if done.returncode:
            lines = done.stderr.strip().splitlines()
            return f"skipped: {lines[-1][:200] if lines else 'pip failed'}"
    return python


def _load(python: Path, name: str, files: Sequence[Path], repeat: int) -> Any:
    command = [str(python), "-c", _LOAD, name, str(repeat), *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"fails: {(done.stderr.strip().splitlines() or ['?'])[-1][:100]}"
    return json.loads(done.stdout.strip().splitlines()[-1])
