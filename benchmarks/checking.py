"""How long `check` takes: the import, the first check of a process, each group of rules, each rule.

In: flow files.  Out: rows of figures; medians over fresh processes where a process counts.
With a peer's interpreter: both load the same files, in processes that take turns.
"""

from __future__ import annotations

import functools
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.compiling import CORPUS, ROOT
from benchmarks.figures import forget_caches, milliseconds
from oas_compiler import Diagnostics, check
from oas_compiler.checks.all_rules import RULES
from oas_compiler.checks.cinatra.rules import RULES as CINATRA
from oas_compiler.checks.context.rules import RULES as CONTEXT
from oas_compiler.checks.rule_packs import load_own_pack
from oas_compiler.checks.safety.rules import RULES as SAFETY
from oas_compiler.checks.sense.rules import RULES as SENSE
from oas_compiler.checks.structure.rules import RULES as STRUCTURE
from oas_compiler.checks.subject import Subject
from oas_compiler.package.package import find_package
from oas_compiler.pipeline import subject_of
from oas_compiler.text.source import read_source

IMPORT_LIMIT_MS = 250.0
CHECK_LIMIT_MS = 60.0
"""First check of the largest file after import, by issue 3."""
GROUPS = {
    "structure": STRUCTURE,
    "cinatra": CINATRA,
    "cinatra-host": load_own_pack("cinatra-host").rules,
    "context": CONTEXT,
    "guide": load_own_pack("guide").rules,
    "safety": SAFETY,
    "sense": SENSE,
}

_FRESH = """
import json, sys, time
start = time.perf_counter()
import oas_compiler
oas_compiler.check  # a name is imported when it is first used
imported = time.perf_counter()
light = sorted({name.split(".")[0] for name in sys.modules})
checking = time.perf_counter()
found = oas_compiler.check(sys.argv[1])
first = time.perf_counter()
oas_compiler.check(sys.argv[1])
again = time.perf_counter()
late = sorted({name.split(".")[0] for name in sys.modules} - set(light))
print(json.dumps({"import": imported - start, "first": first - checking, "again": again - first,
    "findings": len(found), "modules": light, "late": late}))
"""

_OURS = """
import json, sys, time
start = time.perf_counter()
import oas_compiler
oas_compiler.check
took = time.perf_counter() - start
rows, files = {}, sys.argv[1:]
first_of_a_kind = {path.rpartition(".")[2]: path for path in reversed(files)}
for path in [*first_of_a_kind.values(), *files]:
    raw = open(path, "rb").read().replace(b"{{CINATRA_BASE_URL}}", b"http://localhost")
    start = time.perf_counter()
    found = oas_compiler.check(raw)
    rows[path] = {"ms": (time.perf_counter() - start) * 1000,
        "codes": sorted({finding.code for finding in found.errors})}
print(json.dumps({"import": took * 1000, "files": rows}))
"""

_THEIRS = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
start = time.perf_counter()
from pyagentspec.serialization import AgentSpecDeserializer
took = time.perf_counter() - start
rows, files = {}, sys.argv[1:]
first_of_a_kind = {path.rpartition(".")[2]: path for path in reversed(files)}
for path in [*first_of_a_kind.values(), *files]:
    text = open(path, encoding="utf-8").read().replace("{{CINATRA_BASE_URL}}", "http://localhost")
    reader = AgentSpecDeserializer()
    load = reader.from_json if path.endswith(".json") else reader.from_yaml
    start = time.perf_counter()
    try:
        load(text)
        rows[path] = {"ms": (time.perf_counter() - start) * 1000}
    except Exception as error:
        rows[path] = {"failed": type(error).__name__}
print(json.dumps({"import": took * 1000, "files": rows}))
"""

_HEAVY = ("langgraph", "langchain_core", "jsonschema", "jinja2", "yaml", "typer", "psycopg")


def measure(files: Sequence[Path], *, repeat: int, slowest: int) -> dict[str, Any]:
    """The figures of our own; `files` are flow files, checked with their package."""
    largest = max(files, key=lambda path: path.stat().st_size)
    fresh = [_fresh(largest) for _ in range(repeat)]
    first, imports = _median(fresh, "first"), _median(fresh, "import")
    return {
        "largest": {
            "file": largest.parent.parent.name,
            "bytes": largest.stat().st_size,
            "findings": fresh[0]["findings"],
            "import_ms": imports,
            "import_limit_ms": IMPORT_LIMIT_MS,
            "first_check_ms": first,
            "first_check_limit_ms": CHECK_LIMIT_MS,
            "second_check_ms": _median(fresh, "again"),
            "within": imports < IMPORT_LIMIT_MS and first < CHECK_LIMIT_MS,
            "heavy_after_import": [name for name in _HEAVY if name in fresh[0]["modules"]],
            "heavy_after_check": [name for name in _HEAVY if name in fresh[0]["late"]],
        },
        "parts": _parts(largest, repeat),
        "rules": _rules(largest, repeat)[:slowest],
        "files": [_row(path, repeat) for path in files],
    }


def _fresh(path: Path) -> dict[str, Any]:
    command = [sys.executable, "-c", _FRESH, str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def _median(runs: Sequence[dict[str, Any]], name: str) -> float:
    return round(statistics.median(run[name] for run in runs) * 1e3, 1)


def _row(path: Path, repeat: int) -> dict[str, Any]:
    check(path)  # modules that are imported late are imported now
    times = []
    for _ in range(repeat):
        forget_caches()
        times.append(_seconds(lambda: check(path)))
    found = check(path)
    return {
        "file": path.parent.parent.name,
        "bytes": path.stat().st_size,
        "errors": len(found.errors),
        "warnings": len(found.warnings),
        "check_ms": milliseconds(times)["median_ms"],
        "check_p95_ms": milliseconds(times)["p95_ms"],
    }


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _read_subject(path: Path) -> Subject:
    """What the rules look at, with its package."""
    findings = Diagnostics()
    read = read_source(path, findings)
    assert read is not None, f"{path} cannot be read"
    made = subject_of(read, findings, None, None)
    return replace(made, package=find_package(read.file, findings))


def _parts(path: Path, repeat: int) -> list[dict[str, Any]]:
    """Where the time of one check goes: before the rules, walks that rules share, each group."""
    times: dict[str, list[float]] = {}
    for _ in range(repeat):
        forget_caches()
        made: list[Subject] = []
        times.setdefault("read, load and build", []).append(
            _seconds(lambda: made.append(_read_subject(path)))  # noqa: B023 - run at once
        )
        (subject,) = made
        walks = ("components", "texts", "flows")
        times.setdefault("walks", []).append(
            _seconds(lambda: [getattr(subject, name) for name in walks])  # noqa: B023
        )
        for name, rules in GROUPS.items():
            took = sum(_of_rule(rule, subject) for rule in rules)
            times.setdefault(f"{name} ({len(rules)} rules)", []).append(took)
    medians = {name: statistics.median(found) * 1e3 for name, found in times.items()}
    whole = sum(medians.values())
    return [
        {"part": name, "ms": round(took, 2), "share": f"{took / whole:.0%}"}
        for name, took in medians.items()
    ]


def _of_rule(rule: Any, subject: Subject) -> float:
    there = {
        "document": True,
        "flow": subject.flow is not None,
        "cinatra": subject.is_cinatra,
        "package": subject.package is not None,
    }
    return _seconds(functools.partial(rule, subject, Diagnostics())) if there[rule.needs] else 0.0


def _rules(path: Path, repeat: int) -> list[dict[str, Any]]:
    """Every rule, the slowest first; what several rules share is charged to the first of them."""
    times: dict[str, list[float]] = {rule.card.code: [] for rule in RULES}
    for _ in range(repeat):
        forget_caches()
        subject = _read_subject(path)
        _ = subject.components, subject.texts, subject.flows
        for rule in RULES:
            times[rule.card.code].append(_of_rule(rule, subject))
    names = {rule.card.code: rule.card.name for rule in RULES}
    found = [
        {"code": code, "name": names[code], "ms": round(statistics.median(took) * 1e3, 3)}
        for code, took in times.items()
    ]
    return sorted(found, key=lambda row: -row["ms"])


# --- beside pyagentspec -----------------------------------------------------------------------


def peer_files(corpus: Path = CORPUS) -> list[Path]:
    """The flows of Cinatra, then the files of Agent Spec that stand beside them."""
    found = sorted(corpus.glob("**/oas.json"))
    return found + sorted((corpus.parent / "agentspec").glob("*.yaml"))


def beside(files: Sequence[Path], python: Path, *, repeat: int) -> dict[str, Any]:
    """Both load the same files in fresh processes, one after the other, taking turns to begin.

    The first JSON and the first YAML file are loaded once more before, so that what is imported late
    counts for neither.
    """
    rounds: list[dict[str, Any]] = []
    for number in range(repeat):
        pair = [("ours", sys.executable, _OURS), ("theirs", str(python), _THEIRS)]
        found = {name: _loads(who, code, files) for name, who, code in pair[:: (-1) ** number]}
        rounds.append(found)
    rows = [_beside_row(path, rounds) for path in files]
    return {"import": _import_row(rounds), "files": rows, "summary": _summary(rows)}


def _loads(python: str, code: str, files: Sequence[Path]) -> dict[str, Any]:
    command = [python, "-c", code, *map(str, files)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT) if python == sys.executable else ""}
    done = subprocess.run(
        command,
        cwd=Path(python).parent,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise SystemExit(f"{python}: {lines[-1] if lines else 'failed'}")
    result: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return result


def _import_row(rounds: Sequence[dict[str, Any]]) -> dict[str, Any]:
    ours = [found["ours"]["import"] for found in rounds]
    theirs = [found["theirs"]["import"] for found in rounds]
    return {
        "oasflow_ms": round(statistics.median(ours), 1),
        "pyagentspec_ms": round(statistics.median(theirs), 1),
        "ratio": _ratio(theirs, ours),
    }


def _beside_row(path: Path, rounds: Sequence[dict[str, Any]]) -> dict[str, Any]:
    ours = [found["ours"]["files"][str(path)] for found in rounds]
    theirs = [found["theirs"]["files"][str(path)] for found in rounds]
    own = [found["ms"] for found in ours]
    row = {
        "file": path.parent.parent.name if path.name == "oas.json" else path.stem,
        "bytes": path.stat().st_size,
        "oasflow_ms": round(statistics.median(own), 2),
        "errors": " ".join(ours[0]["codes"]),
    }
    if "failed" in theirs[0]:
        return {**row, "pyagentspec_ms": f"fails: {theirs[0]['failed']}"}
    other = [found["ms"] for found in theirs]
    shown = {"pyagentspec_ms": round(statistics.median(other), 2), "ratio": _ratio(other, own)}
    return {**row, **shown}


def _ratio(theirs: Sequence[float], ours: Sequence[float]) -> float:
    """Above 1: the peer takes longer.  Median of the rounds, each within itself."""
    return round(statistics.median(a / b for a, b in zip(theirs, ours, strict=True)), 1)


def _summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Only of files that the peer loads and that we check to the end: without an error."""
    loaded = [row for row in rows if "ratio" in row]
    clean = [row["ratio"] for row in loaded if not row["errors"]]
    return {
        "files": len(rows),
        "pyagentspec_loads": len(loaded),
        "compared": len(clean),
        "ratio_median": round(statistics.median(clean), 1) if clean else None,
        "ratio_lowest": min(clean, default=None),
        "ratio_highest": max(clean, default=None),
    }
