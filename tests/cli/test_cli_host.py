"""`--host MODULE:FACTORY`: runs of the command line with what a program of the operator lends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from oasflow_process import Oasflow
from printed import hashed

from cinatra_sdk import HttpPlatform, RunStore, SimulatedPlatform
from graphs.orchestrator_v1 import flow as orchestrator
from oas_compiler import compile_flow
from tests.flows import api, end, flow_of, gate, port, start

TOOLS = Path(__file__).resolve().parents[2] / "examples" / "tools-agent"
READS = flow_of(
    start(),
    gate("first"),
    api("work", url="{{CRM_URL}}/work", outputs=[port("done")]),
    end(port("done")),
    edges=[("work", "done", "end", "done")],
)
PARTS = """\
from cinatra_sdk import HostParts
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.outside.http_calls.protocol import Credentials

print("imported", __name__)

class Told(SimulatedPlatform):
    def call(self, call):
        with open("calls", "a") as calls:
            calls.write(f"{call.url} {call.credentials.run_token}\\n")
        return super().call(call)

def lend():
    print("called")
    platform = Told({"work": {"done": "by the host"}})
    env = {"CRM_URL": "https://crm.of.the.host", "OTHER": "x"}
    return HostParts(platform=platform, env=env, credentials_for=tokens)

def tokens(run):
    return Credentials(run_token=f"token-of-the-run-{run.id}")
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a flow and `parts.py`, in which commands are typed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "flow.json").write_text(json.dumps(READS), "utf-8")
    (tmp_path / "own_parts.py").write_text(PARTS, "utf-8")
    return tmp_path


def host(name: str = "own_parts:lend") -> tuple[str, str]:
    return ("--host", name)


# ------------------------------------------------------------------ runs


def test_a_flow_with_python_tools_is_run_and_answered(
    oasflow: Oasflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(TOOLS)
    run = oasflow("run", ".", "--set", "order_id=A-17", "--run-id", "r1", *host("run:lend"))
    assert run.code == 3, run.err
    answered = "oasflow answer r1/approve_refund --shown HASH --text '…'"
    assert f"{answered} --host run:lend" in hashed(run.out), "the next command, whole"
    without = oasflow("answer", "r1", "--text", "broken")
    assert without.code == 2
    reason = "a function of yours that lends the tools that it calls: look_up_order, refund_order"
    assert ("--host MODULE:FACTORY" in without.err, reason in without.err) == (True, True)
    assert "oasflow answer r1/" in without.err
    shown = oasflow("show", "r1").out
    assert reason in shown
    assert f"{answered} --host MODULE:FACTORY" in hashed(shown)
    done = oasflow("answer", "r1", "--text", "broken", "--json", *host("run:lend"))
    assert (done.code, done.json["outputs"]) == (0, {"receipt": "receipt-A-17"})
    assert "refund_order pays 240 euro" in done.err, "what a tool prints is no part of the document"


def test_platform_variables_and_tokens_come_from_the_host(oasflow: Oasflow, here: Path) -> None:
    run = oasflow("run", "flow.json", "--run-id", "r1", *host())
    assert run.code == 3, run.err
    done = oasflow("approve", "r1", "--json", *host())
    assert (done.code, done.json["outputs"]) == (0, {"done": "by the host"})
    assert "imported" in done.err
    called = (here / "calls").read_text("utf-8")
    assert called == "https://crm.of.the.host/work token-of-the-run-r1\n"
    assert oasflow("show", "r1", "--json").json["variables"] == ["CRM_URL"], "not OTHER"


def test_options_come_before_the_host(oasflow: Oasflow, here: Path) -> None:
    env = ("--env", "CRM_URL=https://crm.of.the.line")
    assert oasflow("run", "flow.json", "--run-id", "r1", *env, *host()).code == 3
    assert oasflow("resume", "r1", "--detach", *env, *host()).code == 3
    assert oasflow("approve", "r1", *env, *host()).code == 0
    assert (here / "calls").read_text("utf-8").startswith("https://crm.of.the.line/work ")
    assert oasflow("run", "flow.json", "--simulate", "--yes", "--run-id", "r2", *host()).code == 0
    assert "r2" not in (here / "calls").read_text("utf-8"), "--simulate calls nothing"


def test_resume_goes_on_with_the_host_after_a_failure(oasflow: Oasflow, here: Path) -> None:
    broken = PARTS.replace('"by the host"', "3")
    (here / "own_parts.py").write_text(broken, "utf-8")
    assert oasflow("run", "flow.json", "--run-id", "r1", *host()).code == 3
    assert oasflow("approve", "r1", *host()).code == 6
    (here / "own_parts.py").write_text(PARTS, "utf-8")
    assert oasflow("resume", "r1", *host()).code == 0


def test_a_simulation_runs_the_tools_that_its_own_option_gives_and_says_so(
    oasflow: Oasflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(TOOLS)
    line = ("run", ".", "--set", "order_id=A-17", "--simulate", "--run-id", "r1")
    without = oasflow(*line)
    assert without.code == 1
    assert "--host MODULE:FACTORY, also beside --simulate" in without.out + without.err
    run = oasflow(*line, *host("run:lend"))
    assert run.code == 3, run.err
    told = "the tools of --host really run, calls of platforms are simulated:"
    assert f"{told} look_up_order, refund_order" in " ".join(run.err.split())
    done = oasflow("answer", "r1", "--text", "broken", "--json", *host("run:lend"))
    assert done.json["outputs"] == {"receipt": "receipt-A-17"}


def test_a_simulation_runs_no_tools_that_nobody_named_and_approves_none_by_yes(
    oasflow: Oasflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(TOOLS)
    line = ("run", ".", "--set", "order_id=A-17", "--simulate")
    yes = oasflow(*line, "--yes", *host("run:lend"))
    assert yes.code == 2
    assert "leave out --yes" in yes.err
    implied = oasflow(*line, OASFLOW_HOST="run:lend", PYTHONPATH=str(TOOLS))
    assert implied.code == 2, implied.err
    way = "give the tools that may run with --simulate --host MODULE:FACTORY"
    assert way in " ".join(implied.err.split())


def test_a_hand_written_graph_is_answered_at_the_command_line(
    oasflow: Oasflow, fresh_database: str
) -> None:
    given = {"campaign_goal": "Meet", "audience": "CTOs", "sender_email": "me@example.com"}
    with RunStore.open(fresh_database) as store:
        store.start(orchestrator, given, "r1")
    without = oasflow("approve", "r1")
    assert without.code == 2
    assert "--host MODULE:FACTORY" in without.err
    assert "lends the hand-written graph graphs.orchestrator_v1:" in without.err
    lent = host("graphs.orchestrator_v1:lend")
    gates = ("hitl_recipients_review", "hitl_drafts_review", "hitl_send_confirmation")
    with RunStore.open(fresh_database) as store:
        for gate, code in zip(gates, (3, 3, 0), strict=True):
            (waiting,) = store.get("r1").waiting
            assert waiting.node == gate
            assert oasflow("approve", f"r1/{waiting.id}", *lent).code == code
    assert oasflow("show", "r1", "--json").json["status"] == "completed"


# ------------------------------------------------------------------ mistakes


MISTAKES = [
    ("own_parts", "of the form module:factory"),
    (":lend", "of the form module:factory"),
    ("own_prts:lend", "there is no module 'own_prts'"),
    ("own_parts.py:lend", "as Python does, without .py"),
    ("./own_parts:lend", "as Python does, without .py"),
    ("own_parts:lendd", "has no 'lendd' (did you mean \"lend\"?)"),
    ("own_parts:HostParts.nothing", "has no 'HostParts.nothing'"),
    ("own_parts:tokens", "takes arguments"),
    ("own_parts:__name__", "is a str, and no function"),
    ("os:getcwd", "returns a str, and not HostParts"),
]
BROKEN = [
    ("raise ValueError('sk-secret')", "cannot be imported: it raises ValueError (own_parts.py, line 1)"),
    ("import sys\nsys.exit(0)", "cannot be imported: it ends the process (own_parts.py, line 2)"),
    ("def lend(:", "it is no Python (own_parts.py, line 1)"),
    ("import not_there_at_all", "needs the module 'not_there_at_all'"),
    ("def lend():\n    return {}['sk-secret']", "it raises KeyError (own_parts.py, line 2)"),
    ("def lend():\n    raise SystemExit('sk-secret')", "it ends the process (own_parts.py, line 2)"),
    ("async def lend():\n    pass", "returns a coroutine, and not HostParts"),
    ("def lend():\n    pass", "returns a NoneType, and not HostParts"),
    ("from cinatra_sdk import HostParts\nlend = HostParts()", "name a function that returns it"),
    ("from cinatra_sdk import HostParts\ndef lend():\n    return HostParts(env={'DATABASE_URL': 'sk-secret'})", "it raises PlaceholderRefused"),
]  # fmt: skip


def tell(oasflow: Any, name: str, *command: str) -> str:
    done = oasflow(*command, *host(name))
    assert done.code == 2, (done.code, done.err)
    assert "Traceback" not in done.err
    assert "sk-secret" not in done.out + done.err
    (line,) = [line for line in done.err.splitlines() if line.startswith("error: ")]
    return line


@pytest.mark.parametrize(("name", "told"), MISTAKES)
def test_a_mistake_in_the_name_is_one_sentence(
    oasflow: Oasflow, here: Path, name: str, told: str
) -> None:
    assert told in tell(oasflow, name, "run", "flow.json")


@pytest.mark.parametrize(("text", "told"), BROKEN)
def test_a_mistake_in_the_module_is_one_sentence(
    oasflow: Oasflow, here: Path, text: str, told: str
) -> None:
    (here / "own_parts.py").write_text(text, "utf-8")
    assert told in tell(oasflow, "own_parts:lend", "run", "flow.json")


@pytest.mark.parametrize("command", [("resume", "r1"), ("approve", "r1"), ("answer", "r1", "--text", "x")])  # fmt: skip
def test_every_command_that_goes_on_with_a_run_takes_the_option(
    oasflow: Oasflow, here: Path, command: tuple[str, ...]
) -> None:
    assert "there is no module 'nowhere'" in tell(oasflow, "nowhere:lend", *command)


def test_a_broken_host_keeps_nobody_from_rejecting(oasflow: Oasflow, here: Path) -> None:
    """Nothing runs after a rejection: a host is imported for its signer, and a mistake of it is told."""
    assert oasflow("run", "flow.json", "--run-id", "r1", *host()).code == 3
    (here / "own_parts.py").write_text("raise ValueError", "utf-8")
    rejected = oasflow("reject", "r1", *host())
    assert (rejected.code, "the host is not used" in rejected.err) == (5, True)


# ------------------------------------------------------------------ the environment


def test_the_variable_names_a_module_of_the_path_and_none_of_the_current_folder(
    oasflow: Oasflow, here: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    variable = {"OASFLOW_HOST": "own_parts:lend"}
    refused = oasflow("run", "flow.json", **variable)
    assert refused.code == 2
    assert "OASFLOW_HOST names an installed module, or one of PYTHONPATH" in refused.err
    assert "imported" not in refused.err, "a folder of somebody else chooses no module"
    folder = tmp_path_factory.mktemp("installed")
    (folder / "own_parts.py").write_text(PARTS, "utf-8")
    variable["PYTHONPATH"] = str(folder)
    done = oasflow("run", "flow.json", "--run-id", "r1", **variable)
    assert done.code == 3, done.err
    assert "--host" not in done.out, "the variable is there for the next command, too"


def test_a_file_chooses_no_module(oasflow: Oasflow, here: Path) -> None:
    """A file that names a module in every place where one might be looked for."""
    (here / "a_trap.py").write_text("import pathlib\npathlib.Path('sprung').touch()\n", "utf-8")
    flow = json.loads(json.dumps(READS))
    flow["metadata"] = {"host": "a_trap:x", "cinatra": {"host": "a_trap:x", "loader": "a_trap"}}
    flow["host"] = "a_trap:x"
    (here / "flow.json").write_text(json.dumps(flow), "utf-8")
    oasflow("run", "flow.json", "--run-id", "r1", *host())
    oasflow("approve", "r1", *host())
    assert not (here / "sprung").exists()
    oasflow("run", "flow.json", *host("a_trap:x"))
    assert (here / "sprung").exists(), "the control: the option does import it"


class Mine(SimulatedPlatform):
    def describe(self) -> dict[str, Any]:
        return {"kind": "mine"}


@pytest.mark.parametrize(
    ("platform", "reason"),
    [
        (Mine(), "a platform of the kind 'mine', which only its host can make"),
        (
            HttpPlatform(
                None,
                allow=["https://crm.example"],
                headers_for={"https://crm.example": lambda: {"X-Key": "k"}},
            ),
            "a platform with its host's headers for https://crm.example",
        ),
    ],
    ids=["another kind", "headers of the host"],
)
def test_show_says_what_only_a_program_of_the_operator_can_lend(
    cli: Any, fresh_database: str, monkeypatch: pytest.MonkeyPatch, platform: Any, reason: str
) -> None:
    with RunStore.open(fresh_database) as store:
        store.start(compile_flow(flow_of(start(), gate("ok"), end()), platform=platform), {}, "r1")
    shown = cli("show", "r1").stdout
    assert f"a function of yours that lends {reason}" in " ".join(shown.split())
    assert "oasflow approve r1/ok --shown HASH --host MODULE:FACTORY" in hashed(shown)
    refused = cli("approve", "r1", "--json")
    assert refused.exit_code == 2
    assert json.loads(refused.stdout)["error"]["command"].endswith("--host MODULE:FACTORY")
    monkeypatch.setenv("OASFLOW_HOST", "own_parts:lend")
    assert "MODULE:FACTORY" not in cli("show", "r1").stdout
    assert cli("reject", "r1", "--host", "").exit_code == 5


def test_show_names_no_host_where_none_is_needed(cli: Any, fresh_database: str) -> None:
    with RunStore.open(fresh_database) as store:
        flow = compile_flow(flow_of(start(), gate("ok"), end()), platform=SimulatedPlatform())
        store.start(flow, {}, "r1")
    assert "--host" not in cli("show", "r1").stdout
