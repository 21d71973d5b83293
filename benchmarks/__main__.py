"""`python -m benchmarks check|compile|steps|acting|shapes|runs|crowd|context|first-turn|governing|all`: the tables on stdout, the same as JSON in a file."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks import (
    acting,
    checking,
    compiling,
    context,
    crowd,
    database,
    first_turn,
    governing,
    peer,
    runs,
    shape_peers,
    shapes,
    steps,
)
from benchmarks.figures import table
from cinatra_sdk.store.database import Database


def main(arguments: list[str] | None = None) -> int:
    asked = _parser().parse_args(arguments)
    result: dict[str, Any] = {
        "machine": {"cores": os.cpu_count(), "python": platform.python_version()}
    }
    if asked.what in {"check", "all"}:
        result["check"] = _check(asked)
    if asked.what in {"compile", "all"}:
        result["compile"] = _compile(asked)
    if asked.what in {"steps", "all"}:
        result["steps"] = _steps(asked, result["machine"])
    if asked.what in {"acting", "all"}:
        result["acting"] = _acting(asked, result["machine"])
    if asked.what in {"shapes", "all"}:
        result["shapes"] = _shapes(asked)
    if asked.what in {"runs", "all"}:
        result["runs"] = _runs(asked)
    if asked.what in {"crowd", "all"}:
        result["crowd"] = _crowd(asked)
    if asked.what in {"context", "all"}:
        result["context"] = _context(asked, result["machine"])
    if asked.what in {"first-turn", "all"}:
        result["first-turn"] = first_turn.measure(repeat=asked.repeat or 41)
        print(table("a first turn (ms)", result["first-turn"]), flush=True)
    if asked.what in {"governing", "all"}:
        result["governing"] = _governing(asked)
    if asked.json is not None:
        asked.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(f"\n{result['machine']}")
    return 0


def _governing(asked: argparse.Namespace) -> list[dict[str, Any]]:
    with ExitStack() as stack:
        dsn = stack.enter_context(database.server(asked.dsn))
        rows = [
            row
            for calls, rules in ((20, 1), (20, 20), (100, 20))
            for row in governing.measure(calls, dsn, rules=rules, repeat=asked.repeat or 9)
        ]
    print(table("a call under a pack (ms)", rows), flush=True)
    return rows


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument(
        "what",
        choices=[
            "check",
            "compile",
            "steps",
            "acting",
            "shapes",
            "runs",
            "crowd",
            "context",
            "first-turn",
            "governing",
            "all",
        ],
    )
    parser.add_argument(
        "--repeat",
        type=int,
        help="rounds (check and compile: 15, context: 41, steps and acting: by size)",
    )
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument(
        "--corpus", type=Path, default=compiling.CORPUS, help="folder of flow files"
    )
    parser.add_argument(
        "--peer",
        nargs="?",
        const="",
        metavar="PYTHON",
        help="also the peers: of this interpreter, or installed by pip into a temporary folder",
    )
    for name in shape_peers.PACKAGES:
        parser.add_argument(
            f"--{name}", metavar="PYTHON", help=f"shapes: also {name}, of this interpreter"
        )
    parser.add_argument("--slowest", type=int, default=15, help="check: how many rules to show")
    parser.add_argument("--nodes", type=int, nargs="+", default=[10, 100, 300])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10000], help="of one output")
    parser.add_argument(
        "--artifacts", type=int, nargs="+", default=[1000, 10000, 100000], help="context: how many"
    )
    parser.add_argument(
        "--parked", type=int, nargs="+", default=[100, 1000, 5000], help="crowd: how many runs"
    )
    parser.add_argument("--eligible", type=int, default=1000, help="context: how many of them")
    parser.add_argument("--where", nargs="+", choices=_PLACES, default=_PLACES)
    parser.add_argument(
        "--dsn", help="an empty Postgres; else the embedded one in a temporary folder"
    )
    return parser


_PLACES = ["none", "memory", "postgres"]


def _check(asked: argparse.Namespace) -> dict[str, Any]:
    repeat = asked.repeat or 15
    files, absent = compiling.flow_files(asked.corpus)
    if absent:
        print(absent)
    if not files:
        return {"skipped": absent}
    result = checking.measure(files, repeat=repeat, slowest=asked.slowest)
    print(f"largest file: {result['largest']}\n")
    print(table("check: where the time goes (largest file)", result["parts"]), "\n")
    print(table("check: the slowest rules (largest file)", result["rules"]), "\n")
    print(table("check: every file, cold caches", result["files"]), "\n", flush=True)
    if asked.peer is not None:
        with peer.interpreter(asked.peer, peer.PACKAGES[:1]) as python:
            shown = (
                {"skipped": python}
                if isinstance(python, str)
                else checking.beside(
                    checking.peer_files(asked.corpus), python, repeat=min(repeat, 9)
                )
            )
        result["peer"] = shown
        print(shown.get("skipped") or table("beside pyagentspec: check, load", shown["files"]))
        print(f"\nimport: {shown.get('import')}\nsummary: {shown.get('summary')}\n")
    return result


def _compile(asked: argparse.Namespace) -> dict[str, Any]:
    repeat = asked.repeat or 15
    files, absent = compiling.flow_files(asked.corpus)
    if absent:
        print(absent)
    if not files:
        return {"skipped": absent}
    result = compiling.measure(files, repeat=repeat)
    print(table("compile: load + check, then lower (ms)", result["files"]))
    print(f"\nlargest file: {result['largest']}\nimport: {result['import']}\n")
    if asked.peer is not None:
        result["peer"] = peer.measure(
            files, result["files"], repeat=min(repeat, 5), python=asked.peer
        )
        shown = result["peer"]
        print(shown.get("skipped") or table("peers: load (ms)", shown["files"]))
    return result


def _steps(asked: argparse.Namespace, machine: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {"aim": steps.AIM}
    for where in asked.where:
        with steps.place(where, asked.dsn) as (saver, rows):
            times = _times(asked, saver, steps.measure)
            print(table(f"time per superstep, checkpoints: {where} (ms)", times), "\n", flush=True)
            result[where] = {"times": times}
            if rows is not None:
                machine["postgres"] = database.version(rows)
                found = [
                    row
                    for size in asked.sizes
                    for row in steps.sizes(asked.nodes, saver, rows, size=size)
                ]
                print(table("bytes and rows per superstep in Postgres", found), "\n", flush=True)
                result[where]["bytes"] = found
    return result


def _acting(asked: argparse.Namespace, machine: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for where in asked.where:
        with steps.place(where, asked.dsn) as (saver, rows):
            if rows is not None:
                machine["postgres"] = database.version(rows)
            found = _times(asked, saver, acting.measure)
            title = f"time per superstep of nodes that act, checkpoints: {where} (ms)"
            print(table(title, found), "\n", flush=True)
            result[where] = found
    return result


def _shapes(asked: argparse.Namespace) -> dict[str, Any]:
    result: dict[str, Any] = {}
    with ExitStack() as stack:
        given = {name: getattr(asked, name) for name in shape_peers.PACKAGES}
        names = [name for name in given if given[name] or asked.peer is not None]
        pythons = stack.enter_context(shape_peers.find_interpreters(names, given))
        for where in asked.where:
            with (
                steps.place(where, asked.dsn) as (saver, rows),
                shape_peers.open_peers(pythons, where, rows) as peers,
            ):
                found = list(shapes.measure(saver, repeat=asked.repeat or 9, peers=peers))
            title = f"whole runs of three shapes, checkpoints: {where} (ms)"
            print(table(title, found), "\n", flush=True)
            result[where] = found
    return result


def _runs(asked: argparse.Namespace) -> list[dict[str, Any]]:
    found = []
    with database.server(asked.dsn) as address:
        for source in runs.list_sources(asked.corpus):
            found.append(runs.measure(source, address, repeat=asked.repeat or 25))  # noqa: PERF401 - each takes a while
    print(table("whole runs on Postgres, ours and by hand (ms)", found), "\n", flush=True)
    return found


def _crowd(asked: argparse.Namespace) -> list[dict[str, Any]]:
    with database.server(asked.dsn) as dsn:
        rows = crowd.measure(asked.parked, dsn)
    print(table("parked runs answered by four processes, ours and by hand", rows), "\n", flush=True)
    return rows


def _context(asked: argparse.Namespace, machine: dict[str, Any]) -> list[dict[str, Any]]:
    with database.server(asked.dsn) as address:
        opened = Database.open(address)
        try:
            with opened.connection() as rows:
                machine["postgres"] = database.version(rows)
            found = context.measure(
                opened, asked.artifacts, eligible=asked.eligible, repeat=asked.repeat or 41
            )
        finally:
            opened.close()
    print(table("resolving a context slot (ms)", found), flush=True)
    return found


def _times(
    asked: argparse.Namespace, saver: steps.Saver, measure: Callable[..., list[dict[str, Any]]]
) -> list[dict[str, Any]]:
    found = []
    for nodes in asked.nodes:
        for size in asked.sizes if saver is not None else asked.sizes[:1]:
            rounds = asked.repeat or max(9, min(41, 1500 // nodes))
            found += measure([nodes], saver, size=size, repeat=rounds)
    return found


if __name__ == "__main__":
    sys.exit(main())
