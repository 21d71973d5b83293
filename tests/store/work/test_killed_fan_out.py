"""A worker killed in the middle of a fan-out without a gate, whose tool acts on the world."""

from __future__ import annotations

import os
import signal
from collections import Counter
from pathlib import Path

import pytest

from cinatra_sdk import HostParts, RunStore
from cinatra_sdk.outside.effects.door import current_key
from oas_compiler import Flow, compile_flow
from tests.flow.containers import around, mapped
from tests.flows import end, flow_of, port, start, tool
from tests.warm import FORKED

ITEMS, AT_ONCE = 60, 4


def appending(file: str, dies_at: str) -> Flow:
    """Appends each element and its key to the file; the process dies in the call of `dies_at`."""

    def write(x: str) -> str:
        with Path(file).open("a", encoding="utf-8") as lines:
            lines.write(f"{x} {current_key()}\n")
        if x == dies_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return f"wrote {x}"

    item = flow_of(
        start(port("x")), tool("call", "write", [port("x")], [port("y")]), end(port("y")),
        id_="item", edges=[("start", "x", "call", "x"), ("call", "y", "end", "y")],
    )  # fmt: skip
    made = around(mapped(item, kind="ParallelMapNode"), items=ITEMS)
    return compile_flow(made, tools={"write": write}, max_parallel=AT_ONCE)


def start_and_die(dsn: str, file: str, dies_at: str) -> None:
    flow = appending(file, dies_at)
    with RunStore.open(dsn, host=HostParts(tools=flow.host.tools)) as store:
        store.start(flow, {}, run_id="r1")


@pytest.mark.parametrize("dies_at", ["0", "30", "59"])
def test_a_fan_out_whose_worker_was_killed_repeats_only_calls_that_were_under_way(
    fresh_database: str, tmp_path: Path, dies_at: str
) -> None:
    file = str(tmp_path / "written")
    child = FORKED.Process(target=start_and_die, args=(fresh_database, file, dies_at))
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    before = Path(file).read_text(encoding="utf-8").splitlines()
    flow = appending(file, "")
    with RunStore.open(fresh_database, host=HostParts(tools=flow.host.tools)) as store:
        run = store.resume("r1")
        assert run.result() == {"ys": [f"wrote {number}" for number in range(ITEMS)]}
    written = Counter(Path(file).read_text(encoding="utf-8").splitlines())
    # Each element under one key: what was under way at the kill is the same line, once more.
    assert len(written) == ITEMS
    again = [line for line, times in written.items() if times > 1]
    assert set(again) <= set(before)
    assert any(line.split()[0] == dies_at for line in again)
    assert len(again) <= AT_ONCE
