"""`langgraph dev` with the project's `langgraph.json`, as a real process, driven by its own SDK."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from langgraph_sdk import get_sync_client

from graphs.orchestrator_v1 import POLICY
from tests.studio_server import ROOT, studio

CAMPAIGN = {"campaign_goal": "Meet", "audience": "CTOs", "sender_email": "me@example.com"}
WAIVED = {"steps": [{"stepNumber": step, "requiresApproval": False} for step in (0, 1, 2, 3, 5)]}


@pytest.fixture(scope="module")
def left_before() -> dict[str, tuple[int, int]]:
    """What `langgraph dev`, run by hand in the repository as the README says, has left there."""
    return list_working_files()


@pytest.fixture(scope="module")
def server(
    left_before: dict[str, tuple[int, int]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The url of a server whose working files are outside the repository."""
    with studio(tmp_path_factory.mktemp("studio")) as url:
        yield url


def list_working_files() -> dict[str, tuple[int, int]]:
    """Name of a server's working file in the repository → its size and when it was changed (ns)."""
    found = {path.name: path.stat() for path in (ROOT / ".langgraph_api").glob("*")}
    return {name: (about.st_size, about.st_mtime_ns) for name, about in found.items()}


@pytest.fixture
def client(server: str) -> Iterator[Any]:
    with get_sync_client(url=server, api_key=None) as made:
        yield made


class Thread:
    """One run on the server."""

    def __init__(self, client: Any, graph: str) -> None:
        self._client = client
        self._graph = graph
        self.id = client.threads.create()["thread_id"]

    def send(self, given: Any = None, **more: Any) -> Any:
        return self._client.runs.wait(self.id, self._graph, input=given, raise_error=False, **more)

    def answer(self, answer: Any) -> Any:
        return self.send(command={"resume": {self.waiting["id"]: answer}})

    @property
    def waiting(self) -> Any:
        (interrupt,) = self._client.threads.get_state(self.id)["interrupts"]
        return interrupt

    @property
    def gate(self) -> str:
        gate: str = self.waiting["response_schema"]["x-gate"]["id"]
        return gate

    @property
    def values(self) -> Any:
        return self._client.threads.get_state(self.id)["values"]

    @property
    def status(self) -> Any:
        return self._client.threads.get(self.id)["status"]


def test_the_server_offers_both_graphs_with_their_descriptions(client: Any) -> None:
    found = {made["graph_id"]: made.get("description") for made in client.assistants.search()}
    assert set(found) == {"orchestrator_v1", "context_selection", "from_oas"}
    assert all(found.values())


def test_a_compiled_flow_waits_at_its_gate_and_completes_when_it_is_approved(client: Any) -> None:
    thread = Thread(client, "from_oas")
    thread.send({"inputs": {"guest": "Ada"}})
    assert thread.status == "interrupted"
    waiting = thread.waiting
    assert waiting["value"]["xRenderer"] == "@oasflow-examples/hello-gate:output"
    assert waiting["value"]["values"] == {"guest": "Ada", "greeting": "simulated greeting"}
    assert waiting["response_schema"]["required"] == ["approved"]
    assert thread.gate == "writing/review"
    result = thread.answer({"approved": True, "by": "ann"})
    assert result["status"] == "completed"
    assert result["outputs"] == {"greeting": "simulated greeting", "posted": False}
    assert thread.status == "idle"


def test_a_compiled_flow_ends_as_rejected_when_its_gate_is_rejected(client: Any) -> None:
    thread = Thread(client, "from_oas")
    thread.send({"inputs": {"guest": "Ada"}})
    result = thread.answer({"approved": False, "reason": "no"})
    assert result["status"] == "rejected"
    assert "node.post" not in thread.values


def test_a_compiled_flow_asks_for_a_missing_input_first(client: Any) -> None:
    thread = Thread(client, "from_oas")
    thread.send({"inputs": {}})
    assert thread.gate == "start"
    thread.answer({"approved": True, "value": "Ada"})
    assert thread.gate == "writing/review"


def test_the_orchestrator_goes_over_its_three_gates_and_completes(client: Any) -> None:
    thread = Thread(client, "orchestrator_v1")
    thread.send(CAMPAIGN)
    asked = []
    for _ in range(3):
        asked.append(thread.gate)
        result = thread.answer({"approved": True})
    assert asked == ["hitl_recipients_review", "hitl_drafts_review", "hitl_send_confirmation"]
    assert result == {"status": "completed", "stage_4_send_output": {"sent": 2}}


def test_the_orchestrator_stops_at_a_rejection(client: Any) -> None:
    thread = Thread(client, "orchestrator_v1")
    thread.send(CAMPAIGN)
    thread.answer({"approved": True})
    result = thread.answer({"approved": False})
    assert result["status"] == "rejected"
    assert "stage_3_ai_review_output" not in thread.values
    assert thread.status == "idle"


@pytest.mark.parametrize("answer", [{"approved": "yes"}, {"approved": True, "goto": "end"}, "ok"])
def test_an_answer_that_does_not_fit_leaves_the_gate_open(client: Any, answer: Any) -> None:
    thread = Thread(client, "orchestrator_v1")
    thread.send(CAMPAIGN)
    result = thread.answer(answer)
    assert "__error__" in result
    assert thread.gate == "hitl_recipients_review"
    assert "recipients_decision" not in thread.values
    thread.answer({"approved": True})
    assert thread.gate == "hitl_drafts_review"


@pytest.mark.parametrize(
    ("graph", "given", "gate"),
    [
        ("orchestrator_v1", CAMPAIGN, "hitl_recipients_review"),
        ("from_oas", {"inputs": {"guest": "Ada"}}, "writing/review"),
    ],
)
def test_a_context_that_a_client_sends_is_not_the_hosts_word(
    client: Any, graph: str, given: Any, gate: str
) -> None:
    thread = Thread(client, graph)
    thread.send(given, context={"approval_policy": WAIVED, "run_id": "other", "tenant": "other"})
    assert thread.gate == gate
    assert thread.values["approval_policy"] != WAIVED
    assert thread.values["run"]["run_id"] == thread.id
    assert thread.values["run"]["tenant"] == ""


def test_an_update_and_a_jump_that_a_client_sends_pass_no_gate(client: Any) -> None:
    thread = Thread(client, "orchestrator_v1")
    thread.send(CAMPAIGN)
    forged = {"approval_policy": WAIVED, "send_decision": {"approved": True}}
    result = thread.send(command={"update": forged, "goto": "stage_4_send"})
    assert "__error__" in result
    client.threads.update_state(thread.id, forged, as_node="hitl_send_confirmation")
    assert "stage_4_send_output" not in thread.values
    assert "send_decision" not in thread.values
    assert thread.values["approval_policy"] == POLICY


def test_a_client_reads_why_a_thread_of_another_graph_goes_on_with_its_own_only(
    client: Any,
) -> None:
    thread = Thread(client, "from_oas")
    thread.send({"inputs": {"guest": "Ada"}})
    foreign = client.runs.wait(thread.id, "orchestrator_v1", input=CAMPAIGN, raise_error=False)
    assert foreign["__error__"]["error"] == "FlowChanged"
    assert "another graph began" in foreign["__error__"]["message"]
    (shown,) = client.threads.get(thread.id)["interrupts"].values()
    assert shown[0]["response_schema"]["x-gate"]["id"] == "writing/review"
    assert thread.send(command={"resume": {"approved": True}})["status"] == "completed"


def test_studios_drawing_shows_the_nodes_inside_a_subflow(client: Any) -> None:
    drawing = client.assistants.get_graph("from_oas", xray=True)
    assert "writing:review" in {node["id"] for node in drawing["nodes"]}


def test_the_input_forms_show_what_a_caller_sends_and_nothing_else(client: Any) -> None:
    ids = {made["graph_id"]: made["assistant_id"] for made in client.assistants.search()}
    schemas = {graph: client.assistants.get_schemas(id_) for graph, id_ in ids.items()}
    asked = {graph: set(made["input_schema"]["properties"]) for graph, made in schemas.items()}
    assert asked == {
        "orchestrator_v1": set(CAMPAIGN),
        "context_selection": {"parentRunId", "parentPackageName", "slotId", "projectId"},
        "from_oas": {"inputs"},
    }
    assert all(made["state_schema"] for made in schemas.values())


def test_a_client_cannot_make_the_server_compile_a_file_of_its_choice(client: Any) -> None:
    thread = Thread(client, "from_oas")
    result = thread.send(
        {"inputs": {"guest": "Ada"}}, config={"configurable": {"flow": "/etc/hostname"}}
    )
    assert "__error__" in result
    assert "OASFLOW_FLOWS" in result["__error__"]["message"]


def test_the_servers_working_files_are_not_in_the_repository(
    server: str, left_before: dict[str, tuple[int, int]]
) -> None:
    assert server.startswith("http://127.0.0.1:")
    assert list_working_files() == left_before


def test_what_a_server_run_by_hand_leaves_is_not_in_the_repository_either() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("this is no checkout")
    asked = ["git", "check-ignore", "--no-index", ".langgraph_api/store.pckl"]
    assert subprocess.run(asked, cwd=ROOT, check=False).returncode == 0
