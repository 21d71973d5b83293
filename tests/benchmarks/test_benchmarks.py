"""The benchmarks run and give figures of the right shape; no test looks at a time."""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres import PostgresSaver

from benchmarks import __main__ as command
from benchmarks import (
    acting,
    checking,
    compiling,
    context,
    crowd,
    database,
    first_turn,
    governing,
    runs,
    shape_peers,
    shapes,
    steps,
)
from benchmarks.chain import TOPIC
from benchmarks.portable import PORTABLE, make_choices
from cinatra_sdk import RunStore
from cinatra_sdk.store.database import Database
from oas_compiler.checks.all_rules import RULES
from tests.warm import FORKED, may_be_warm

EXAMPLE = sorted(compiling.EXAMPLES.glob("**/oas.json"))[:1]
VARIANTS = {"compiled", "fused", "hand", "strings", "merged"}


@pytest.fixture
def little_garbage() -> Iterator[None]:
    """A benchmark collects garbage before each run: here, not among what the whole suite holds."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def one_file(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only file that there is to measure."""
    monkeypatch.setattr(compiling, "EXAMPLES", EXAMPLE[0].parents[1])
    return EXAMPLE[0]


def test_every_graph_of_the_chain_ends_with_the_same_text() -> None:
    made = steps.variants(3, 200, InMemorySaver())
    texts = {name: variant.run(name) for name, variant in made.items()}
    assert set(texts) == VARIANTS
    text = texts["hand"]
    # The last node saw the first 32 characters of the one before, which saw the topic.
    assert text.startswith(f"{TOPIC} 002 after [{TOPIC} 001 after ")
    assert set(texts.values()) == {text}


def test_both_acting_chains_make_the_same_calls_and_end_with_the_same_text() -> None:
    platforms = [acting.platform_of(3, 200) for _ in range(2)]
    made = acting.variants(3, InMemorySaver(), *platforms)
    texts = {name: variant.run(name) for name, variant in made.items()}
    assert set(texts) == {"compiled", "hand"}
    # The platform answers each node with a text of its own, as it stands.
    assert texts["hand"].startswith("{{ topic }} 002 after [")
    assert set(texts.values()) == {texts["hand"]}
    ours, theirs = (
        [(call.node, call.url, call.body) for call in platform.calls] for platform in platforms
    )
    assert ours == theirs
    assert len(ours) == 3


@pytest.mark.usefixtures("little_garbage")
def test_times_of_acting_chains_have_one_row_per_number_of_nodes_with_both_ratios() -> None:
    rows = acting.measure([1, 2], InMemorySaver(), size=100, repeat=1)
    assert [row["nodes"] for row in rows] == [1, 2]
    for row in rows:
        assert {"compiled_ms", "hand_ms", "ratio", "run_ratio"} <= set(row)


def test_the_compiled_chain_takes_a_start_and_an_end_step_more() -> None:
    saver = InMemorySaver()
    made = steps.variants(3, 200, saver)
    for name in VARIANTS - {"fused"}:
        made[name].run(name)
        # The saver keeps the input too, and the state before the first step.
        kept = len(list(saver.list({"configurable": {"thread_id": name}})))
        assert kept == made[name].supersteps + 2
    assert made["compiled"].supersteps == made["hand"].supersteps + 2 == 5


@pytest.mark.long
def test_times_have_one_row_per_number_of_nodes_with_both_ratios() -> None:
    rows = steps.measure([1, 2], None, size=100, repeat=1)
    assert [row["nodes"] for row in rows] == [1, 2]
    for row in rows:
        assert {f"{name}_ms" for name in VARIANTS} | {"ratio", "run_ratio"} <= set(row)


def test_bytes_are_counted_for_every_graph_and_a_merged_dict_costs_more(
    owner_database: str,
) -> None:
    with database.connection(owner_database) as rows:
        (row,) = steps.sizes([12], PostgresSaver(rows), rows, size=500)
        left = rows.execute("select count(*) as threads from checkpoints").fetchone()
        assert left == {"threads": 0}  # each thread is removed when it has been counted
    # Twelve outputs of 500 characters: a dict of all of them is written again at every step.
    assert row["merged_bytes"] > row["hand_bytes"] > 1000
    assert row["compiled_rows"] > 0
    assert row["ratio"] > 0


@pytest.mark.usefixtures("one_file")
def test_the_command_measures_a_file_and_writes_json(tmp_path: Path) -> None:
    target = tmp_path / "figures.json"
    asked = ["compile", "--repeat", "1", "--corpus", str(tmp_path), "--json", str(target)]
    assert command.main(asked) == 0
    result = json.loads(target.read_text(encoding="utf-8"))
    assert result["compile"]["import"]["langgraph_after_check"] is False
    assert {"file", "bytes", "check_ms", "lower_ms"} <= set(result["compile"]["files"][0])
    assert result["compile"]["largest"]["limit_ms"] == 60.0


@pytest.mark.usefixtures("one_file")
def test_the_check_benchmark_says_where_the_time_of_a_file_goes(tmp_path: Path) -> None:
    target = tmp_path / "figures.json"
    asked = ["check", "--repeat", "1", "--corpus", str(tmp_path), "--json", str(target)]
    assert command.main([*asked, "--slowest", "3", "--peer", str(tmp_path / "none")]) == 0
    result = json.loads(target.read_text(encoding="utf-8"))["check"]
    assert result["largest"]["heavy_after_import"] == []
    assert (result["largest"]["import_limit_ms"], result["largest"]["first_check_limit_ms"]) == (
        250,
        60,
    )
    parts = [row["part"].partition(" (")[0] for row in result["parts"]]
    assert parts == ["read, load and build", "walks", *checking.GROUPS]
    assert len(result["rules"]) == 3
    assert {"file", "bytes", "errors", "warnings", "check_ms"} <= set(result["files"][0])
    assert "there is no interpreter" in result["peer"]["skipped"]


def test_every_rule_is_in_a_group_of_the_check_benchmark() -> None:
    assert [rule for group in checking.GROUPS.values() for rule in group] == list(RULES)


def test_a_peer_is_compared_only_where_it_loads_and_we_find_no_error(tmp_path: Path) -> None:
    files = [Path("a/cinatra/oas.json"), Path("b/cinatra/oas.json"), Path("c/cinatra/oas.json")]
    for path in files:
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_bytes(b"{}")
    first, second, third = (str(tmp_path / path) for path in files)
    ours = {name: {"ms": 2.0, "codes": []} for name in (first, second)}
    ours[third] = {"ms": 1.0, "codes": ["OAS090"]}
    theirs = {first: {"ms": 8.0}, second: {"failed": "ValueError"}, third: {"ms": 9.0}}
    rounds = [{"ours": {"files": ours}, "theirs": {"files": theirs}}]
    rows = [checking._beside_row(tmp_path / path, rounds) for path in files]
    assert [row.get("ratio") for row in rows] == [4.0, None, 9.0]
    summary = checking._summary(rows)
    assert (summary["pyagentspec_loads"], summary["compared"]) == (2, 1)
    assert summary["ratio_median"] == 4.0


def test_a_missing_corpus_is_named_and_the_examples_are_measured_all_the_same(
    tmp_path: Path,
) -> None:
    files, absent = compiling.flow_files(tmp_path / "nothing")
    assert "no corpus folder 'nothing'" in absent
    assert set(EXAMPLE) <= set(files)


def test_of_a_very_large_chain_only_the_best_hand_written_graph_is_built(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(steps, "PATIENCE", 100)
    assert set(steps.variants(1, steps.PATIENCE, None)) == VARIANTS
    assert set(steps.variants(2, steps.PATIENCE, None)) == {"compiled", "fused", "hand"}


@pytest.mark.long
def test_resolving_a_slot_has_one_row_per_number_of_artifacts_and_kind_of_others(
    owner_database: str,
) -> None:
    opened = Database.open(owner_database)
    rows = context.measure(opened, [60, 30], eligible=10, repeat=2)
    opened.close()
    assert [(row["artifacts"], row["others"]) for row in rows] == [
        (30, "seen"),
        (30, "unseen"),
        (60, "seen"),
        (60, "unseen"),
    ]
    for row in rows:
        assert (row["candidates"], row["statements"], row["round_trips"]) == (10, 1, 1)
    assert [row["growth"] for row in rows[:2]] == [1.0, 1.0]


@pytest.mark.usefixtures("little_garbage")
def test_a_stored_run_and_one_by_hand_go_through_the_same_gates(owner_database: str) -> None:
    row = runs.measure(runs.one_gate(), owner_database, repeat=2)
    assert (row["flow"], row["gates"]) == ("one-gate", 1)
    for part in ("park", "answer", "whole"):
        assert row[f"{part}_ms"] > 0
        assert row[f"{part}_hand_ms"] > 0
        assert row[f"{part}_ratio"] > 0


@pytest.mark.usefixtures("little_garbage")
@pytest.mark.parametrize("saver", [None, InMemorySaver()], ids=["none", "memory"])
def test_every_shape_comes_to_what_its_hand_written_graph_does(saver: InMemorySaver | None) -> None:
    portable = [(name, make, (2,)) for name, make, _ in PORTABLE]
    rows = list(
        shapes.measure(saver, repeat=1, chains=(2,), loops=(2,), fans=(2,), portable=portable)
    )
    assert [row["shape"] for row in rows] == [
        "chain", "loop", "fan-out", "choices", "loop of tools", "fan-out of choices", "fan-out of tools",
    ]  # fmt: skip
    assert all(row["ratio"] > 0 for row in rows)


def test_a_peer_that_cannot_run_a_shape_says_so_in_its_row() -> None:
    # This interpreter has no WayFlow, so it refuses every file.
    with shape_peers.open_peers({"wayflow": Path(sys.executable)}, "none", None) as peers:
        (row,) = shapes.measure(
            None, repeat=1, chains=(), loops=(), fans=(),
            portable=[("choices", make_choices, (2,))], peers=peers,
        )  # fmt: skip
    assert row["wayflow_ms"] == "refused: ModuleNotFoundError"
    assert row["ratio"] > 0
    assert "by_wayflow" not in row


@pytest.mark.parametrize(
    ("where", "named"), [("none", ["adapter", "wayflow"]), ("memory", ["adapter"])]
)
def test_a_peer_without_checkpoints_takes_part_only_where_there_are_none(
    where: str, named: list[str]
) -> None:
    pythons = dict.fromkeys(("adapter", "wayflow"), Path(sys.executable))
    with shape_peers.open_peers(pythons, where, None) as peers:
        assert list(peers) == named


def test_a_crowd_of_parked_runs_is_answered_by_every_process(
    fresh_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if may_be_warm(os.environ):
        monkeypatch.setattr(multiprocessing, "get_context", lambda _kind: FORKED)
    (row,) = crowd.measure([6], fresh_database, processes=2)
    assert row["runs"] == 6
    assert row["ratio"] == pytest.approx(row["per_s"] / row["hand_per_s"], abs=0.01)
    with RunStore.open(fresh_database) as store:
        assert {run.status for run in store.list()} == {"completed"}
        assert len(store.list()) == 6


def test_a_first_turn_is_measured_for_every_size() -> None:
    rows = first_turn.measure([(5, 10), (50, 20)], repeat=1)
    assert [(row["notes_lines"], row["log_lines"]) for row in rows] == [(5, 10), (50, 20)]
    assert set(rows[0]) == {"notes_lines", "log_lines", "median_ms", "p95_ms", "peak_kb"}


def test_what_governance_costs_is_measured_per_run_and_per_call(fresh_database: str) -> None:
    rows = governing.measure(2, fresh_database, rules=1, repeat=1)
    assert [(row["where"], row["calls"], row["rules"]) for row in rows] == [
        ("memory", 2, 1), ("postgres", 2, 1),
    ]  # fmt: skip
    assert all({"ratio", "per_run_ms", "per_call_ms", "per_call_cpu_ms"} <= {*row} for row in rows)
