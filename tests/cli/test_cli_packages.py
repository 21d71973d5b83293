"""`--packages DIR`: a flow calls another agent by the name of its package, and it is a run of its own."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest
from oasflow_process import Oasflow

from cinatra_sdk.host.passthrough import agent_runs
from tests.flows import api, end, flow_of, gate, port, start

HOST = "{{CINATRA_BASE_URL}}"
CHILD = "@x/drafts"


def child_flow(*, asks: bool = False, calls: str = "", child_id: str = "drafts") -> dict[str, Any]:
    url = f"{HOST}/api/llm-bridge"
    data: Any = {"user": "About {{ topic }}", "agent_id": CHILD}
    if calls:
        url, data = f"{HOST}/api/agents/passthrough", {
            "tool": calls, "input": {"topic": "{{ topic }}"}, "agent_run_id": "",
        }  # fmt: skip
    write = api("write", url=url, data=data, inputs=[port("topic")], outputs=[port("text")])
    return flow_of(
        start(port("topic")), *([gate("look")] if asks else []), write, end(port("text")),
        edges=[("start", "topic", "write", "topic"), ("write", "text", "end", "text")], id=child_id,
    )  # fmt: skip


@pytest.fixture
def tree(tmp_path: Path) -> Any:
    def put(flow: Any, *, name: str = CHILD, version: str = "1.0.0", folder: str = "a") -> str:
        package = tmp_path / "tree" / folder
        (package / "cinatra").mkdir(parents=True)
        about = {"name": name, "version": version, "license": "MIT",
                 "cinatra": {"kind": "agent", "packageType": "agent"}}  # fmt: skip
        (package / "package.json").write_text(json.dumps(about), "utf-8")
        (package / "cinatra" / "oas.json").write_text(json.dumps(flow), "utf-8")
        return str(tmp_path / "tree")

    return put


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "script.json"
    path.write_text(json.dumps({"*": [{"text": "T"}] * 3}), "utf-8")
    return f"scripted:{path}"


PARENT = child_flow(calls=CHILD, child_id="parent")


def shown(cli: Any, run: str) -> Any:
    return json.loads(cli("show", run, "--json").stdout)


def children(cli: Any) -> list[Any]:
    return [one for one in json.loads(cli("runs", "--json").stdout)["runs"] if one["id"] != "r1"]


def test_a_child_is_a_run_of_its_own_and_its_outputs_are_the_answer(
    cli: Any, flow_file: Any, tree: Any, script: str
) -> None:
    done = cli(
        "run", flow_file(PARENT), "--set", "topic=bees", "--model", script, "--run-id", "r1",
        "--packages", tree(child_flow()), "--json",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["outputs"] == {"text": "T"}
    (child,) = children(cli)
    assert child["status"] == "completed"
    assert shown(cli, child["id"])["inputs"] == {"topic": "bees"}


def test_a_parent_waits_for_a_child_that_asks_and_goes_on_with_its_answer(
    cli: Any, flow_file: Any, tree: Any, script: str
) -> None:
    folder = tree(child_flow(asks=True))
    made = cli(
        "run", flow_file(PARENT), "--set", "topic=bees", "--model", script, "--run-id", "r1",
        "--packages", folder,
    )  # fmt: skip
    assert made.exit_code == 3, made.output
    (child,) = children(cli)
    told = " ".join(made.output.split())
    assert f"@x/drafts has not ended yet (run {child['id']})" in told
    assert "waits for the run that it began" in told
    (open_gate,) = json.loads(cli("gates", "--json").stdout)["gates"]
    assert (open_gate["run"], open_gate["id"]) == (child["id"], "look")
    refused = cli("approve", "r1")
    assert refused.exit_code == 4
    assert "it waits for a run that it began: see oasflow gates" in " ".join(refused.output.split())
    assert cli("approve", child["id"]).exit_code == 0
    done = shown(cli, "r1")
    assert (done["status"], done["outputs"]) == ("completed", {"text": "T"})
    assert [one["id"] for one in children(cli)] == [child["id"]], "no second child"


def test_a_rejected_child_is_no_answer(cli: Any, flow_file: Any, tree: Any, script: str) -> None:
    cli(
        "run", flow_file(PARENT), "--set", "topic=bees", "--model", script, "--run-id", "r1",
        "--packages", tree(child_flow(asks=True)),
    )  # fmt: skip
    (child,) = children(cli)
    assert cli("reject", child["id"]).exit_code != 0
    ended = shown(cli, "r1")
    assert ended["status"] == "failed"
    assert "@x/drafts was rejected" in ended["error"]["message"]
    again = cli("resume", "r1")
    assert again.exit_code == 6
    assert "@x/drafts was rejected" in again.output


def test_the_newest_version_counts_and_a_changed_file_changes_no_run(
    cli: Any, flow_file: Any, tree: Any, script: str, tmp_path: Path
) -> None:
    tree(child_flow(asks=True), version="1.9.0")
    folder = tree(child_flow(asks=True, child_id="newer"), version="1.10.0", folder="b")
    cli(
        "run", flow_file(PARENT), "--set", "topic=bees", "--model", script, "--run-id", "r1",
        "--packages", folder,
    )  # fmt: skip
    (child,) = children(cli)
    for file in (tmp_path / "tree").rglob("oas.json"):
        file.write_text("{}", "utf-8")
    assert cli("approve", child["id"]).exit_code == 0
    assert shown(cli, "r1")["status"] == "completed"


def test_agents_that_call_each_other_without_end_are_stopped(
    cli: Any, flow_file: Any, tree: Any, script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_runs, "MOST_DEEP", 4)
    folder = tree(child_flow(calls="@x/other"))
    tree(child_flow(calls=CHILD, child_id="other"), name="@x/other", folder="b")
    done = cli(
        "run", flow_file(PARENT), "--set", "topic=bees", "--model", script, "--run-id", "r1",
        "--packages", folder,
    )  # fmt: skip
    assert done.exit_code == 6
    said = [shown(cli, one["id"])["error"]["message"] for one in children(cli)]
    assert len(said) == 4
    assert sum("more than 4 agents call one another in a row" in one for one in said) >= 1


def test_a_package_that_is_not_in_the_tree_is_refused_by_its_name(
    cli: Any, flow_file: Any, tree: Any, script: str
) -> None:
    folder = tree(child_flow(), name="@x/drafter")
    done = cli("run", flow_file(PARENT), "--set", "topic=bees", "--model", script, "--packages", folder)  # fmt: skip
    assert done.exit_code == 6
    assert 'the tool "@x/drafts" is not one that flows may call here' in done.output


@pytest.mark.parametrize(
    ("options", "about"),
    [
        (["--packages", "gone", "--model", "S"], "this is no folder"),
        (["--packages", ".", "--simulate"], "--packages goes with --model"),
    ],
)
def test_folders_are_checked_first(
    offline: Any, flow_file: Any, tree: Any, script: str, options: Any, about: str
) -> None:
    folder = tree(child_flow())
    given = [script if one == "S" else folder if one == "." else one for one in options]
    refused = offline("run", flow_file(PARENT), "--set", "topic=b", *given)
    assert refused.exit_code == 2
    assert about in refused.output


def test_a_package_that_does_not_compile_is_left_out_with_a_warning(
    cli: Any, flow_file: Any, tree: Any, script: str
) -> None:
    folder = tree(child_flow())
    tree({"component_type": "Flow"}, name="@x/broken", folder="b")
    done = cli(
        "run", flow_file(PARENT), "--set", "topic=bees", "--model", script, "--packages", folder
    )
    assert done.exit_code == 0, done.output
    assert "@x/broken@1.0.0 is no child agent here" in done.output


def test_a_served_platform_runs_children_for_runs_of_other_processes(
    oasflow: Oasflow, flow_file: Any, tree: Any, script: str
) -> None:
    pytest.importorskip("uvicorn")
    token = {"CINATRA_BRIDGE_TOKEN": "bridge-0123"}
    server = oasflow.begin(
        "platform", "serve", "--model", script, "--packages", tree(child_flow()),
        "--bind", "127.0.0.1:0", **token,
    )  # fmt: skip
    url = re.search(r"http://127\.0\.0\.1:\d+", server.stdout.readline())[0]  # type: ignore[index]
    own = {**token, "CINATRA_BASE_URL": url}
    done = oasflow("run", flow_file(PARENT), "--set", "topic=b", "--run-id", "r1", "--json", **own)
    assert done.json["outputs"] == {"text": "T"}, done.err
    runs = oasflow("runs", "--json").json["runs"]
    assert sorted(one["status"] for one in runs) == ["completed", "completed"]
    server.send_signal(signal.SIGTERM)
    assert server.wait(timeout=60) == 0
