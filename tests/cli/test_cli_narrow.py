"""What is shown in a terminal of 60, 80 and 120 columns: ids can be copied, and nothing is torn."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text
from typer.testing import CliRunner

from cinatra_sdk.events import RunEvent
from cinatra_sdk.gates.gate import Gate
from cinatra_sdk.runs import Run
from cinatra_sdk.store.runs.needs import CallToSettle, DeadLetter, GateToDecide
from cinatra_sdk.store.runs.settlement import UnknownEffect
from oas_compiler.cli.app import app_for
from oas_compiler.cli.commands.runs import event_view, print_event
from oas_compiler.cli.host.options import GivenOptions
from oas_compiler.cli.host.resources import Own
from oas_compiler.cli.host.run_requirements import Lacking
from oas_compiler.cli.host.run_resources import what_is_used
from oas_compiler.cli.terminal.findings_view import finding_lines
from oas_compiler.cli.terminal.layout import Lines, Listing, Member, Pieces, Words
from oas_compiler.cli.terminal.streams import Terminal, console_for
from oas_compiler.cli.view.needs_view import needs_table
from oas_compiler.cli.view.run_view import gate_view, outcome_view, run_view
from oas_compiler.cli.view.tables import runs_table
from oas_compiler.cli.view.values import Extent, values_view
from oas_compiler.findings.finding import Finding
from oas_compiler.ir import Place
from tests.flows import end, flow_node, flow_of, gate, port, start

RUN = "weekly-customer-newsletter-2026-11-22-a91bc77d0"
GATE = "recipients_selection_subflow/recipients-review_gate"
NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
WIDTHS = (40, 60, 80, 120)
NOTHING = Lacking((), GivenOptions())


def shown(thing: Any, width: int) -> list[str]:
    """The lines that are written; where one is longer, the terminal itself goes on in the next."""
    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None, legacy_windows=False).print(
        thing, crop=False
    )
    return [line.rstrip() for line in stream.getvalue().rstrip("\n").split("\n")]


def waiting(run: str = RUN, gate_id: str = GATE, name: str = "Review recipients") -> Run:
    form = {
        "id": gate_id, "node": "n", "visit": 1, "step": 3, "risk": "read_only", "name": name,
        "output": "x", "textOutput": True, "answerSchema": None, "outputSchema": None,
        "innerSchema": None,
    }  # fmt: skip
    payload = {"xRenderer": "r", "schema": {}, "values": {"who": "all"}}
    asked = {"interrupt": "i", "payload": payload, "response_schema": {"x-gate": form}}
    return Run(
        id=run, status="waiting", flow="Newsletter agent", tenant="acme", digest="ab" * 32,
        waiting=(Gate.from_json(asked),), updated_at=NOW - timedelta(minutes=5),
    )  # fmt: skip


def open_gate(run: Run) -> GateToDecide:
    """As the store lists it."""
    return GateToDecide(
        run_id=run.id, tenant=run.tenant, flow=run.flow, started_by="ann",
        opened_at=NOW - timedelta(minutes=5), gate=run.waiting[0],
    )  # fmt: skip


@pytest.mark.parametrize("width", WIDTHS)
def test_ids_are_never_broken(width: int) -> None:
    run = waiting()
    views = (
        needs_table([open_gate(run)], NOW, GivenOptions()),
        runs_table([run], NOW),
        gate_view(run.waiting[0]),
        outcome_view(run, GivenOptions(tenant="acme", own=Own(env=("CRM_KEY",)))),
    )
    for view in views:
        text = "\n".join(shown(view, width))
        assert GATE in text
    seen = run.waiting[0].shown[:16]
    assert f"oasflow approve {RUN}/{GATE} --shown {seen} --tenant acme --env CRM_KEY" in text


@pytest.mark.parametrize("width", WIDTHS)
def test_paths_ids_and_addresses_of_a_run_are_whole_below_its_headings(width: int) -> None:
    run = replace(
        waiting(), file="/srv/agents/newsletter-agent-of-the-week/cinatra/oas.json", status="rejected",
        waiting=(), platform={"kind": "http", "base_url": "https://cinatra.example.org/platform"},
    )  # fmt: skip
    decision = {
        "gate_id": GATE, "kind": "rejected", "decided_by": "ann.example@example.org",
        "decided_at": NOW, "reason": "not these", "answer": {"value": "x"},
    }  # fmt: skip
    view = run_view(run, [decision], [], NOW, needed=Lacking((), GivenOptions()))
    text = "\n".join(shown(view, width))
    for whole in (RUN, GATE, run.file, "ann.example@example.org", run.platform["base_url"]):
        assert str(whole) in text


LONG = "x" * 100_000
LONG_PARTS: dict[str, dict[str, Any]] = {
    "branch": {"branch": LONG},
    "error": {"status": "failed", "error": {"code": "node_failed", "message": LONG}},
    "reason of a stop": {"status": "stopped", "stopped_by": "ann", "stop_reason": LONG},
    "unreadable part": {"unreadable": (LONG,)},
    "output": {"outputs": {"out": LONG, LONG: 1, "rows": [{LONG: LONG}], "deep": {"a": {"b": LONG}}}},
    "input": {"input": {"in": LONG}},
    "message": {"messages": ({"id": "1", "text": LONG, "content": LONG},)},
    "name of a flow": {"flow": LONG, "file": LONG},
    "variable": {"variables": (LONG,)},
    "owner": {"tenant": LONG, "started_by": LONG},
}  # fmt: skip


@pytest.mark.parametrize("part", LONG_PARTS)
def test_no_part_of_a_run_is_shown_whole_however_long_it_is(part: str) -> None:
    """Control: with --full it is, and nobody reads of a cut."""
    run = replace(waiting(), waiting=(), updated_at=NOW, created_at=NOW, **LONG_PARTS[part])
    extent = Extent(way="oasflow show --full has all")
    told = " ".join(shown(run_view(run, [], [], NOW, needed=NOTHING, extent=extent), 120))
    assert len(told) < 15_000
    assert "is cut; oasflow show --full has all" in told or "more" in told
    whole = " ".join(
        shown(run_view(run, [], [], NOW, needed=NOTHING, extent=Extent(whole=True)), 120)
    )
    assert whole.count("x") >= len(LONG)
    assert "is cut" not in whole


@pytest.mark.parametrize("width", WIDTHS)
def test_what_is_used_is_broken_between_its_pieces_only(width: int) -> None:
    run = Run(
        id=RUN, status="waiting", flow="Newsletter agent", file="agents/newsletter/cinatra/oas.json",
        tenant="acme-industries-gmbh", started_by="ann@example.org", digest="ab" * 32,
        variables=("CRM_HOST", "CRM_KEY", "ZONE"),
        platform={"kind": "http", "base_url": "https://cinatra.example.org/platform", "allow": ["https://crm.example.com", "https://erp.example.com"]},
    )  # fmt: skip
    for pieces in what_is_used(run, Own(), "done", b""):
        lines = shown(Pieces([Text(piece) for piece in pieces], between=" "), width)
        assert " ".join(line.strip() for line in lines) == " ".join(pieces).strip()
        assert width < 60 or max(map(len, lines)) <= width


def test_a_list_is_a_table_where_there_is_room_and_blocks_where_there_is_none() -> None:
    needed = open_gate(waiting())
    table = needs_table([needed], NOW, GivenOptions())
    command = f"oasflow approve {RUN}/{GATE} --shown {needed.gate.shown[:16]}"
    assert shown(table, 400) == [
        f"{'RUN':{len(RUN)}}  NEEDS     {'AT':{len(GATE)}}  FLOW              STARTED BY  CONTENT   STEP  RISK       AGE    TENANT  COMMAND",
        f"{RUN}  decision  {GATE}  Newsletter agent  ann         who: all  3     read_only  5 min  acme    {command}",
    ]
    assert shown(table, 60) == [
        RUN,
        "  decision at",
        f"  {GATE}",
        "  5 min · risk read_only · step 3 · tenant acme",
        "  Newsletter agent · started by ann · who: all",
        f"  {command}",
    ]


FAILED = DeadLetter(
    run_id="letter-3", tenant="", code="platform_refused", since=NOW - timedelta(days=2),
    flow="お知らせメールの作成", started_by="山田太郎",
    message="the platform refused the call because its subject is empty (422)",
)  # fmt: skip
CALL = CallToSettle(
    run_id="n2", tenant="", flow="Payments", started_by="ben", since=NOW - timedelta(hours=3),
    risk="payment_send", call=UnknownEffect(
        key="7f3a91bc", kind="http", capability="POST /pay", path="charge", visit=1, item=None,
        attempts=1, begun_at=NOW, error={},
    ),
)  # fmt: skip


@pytest.mark.parametrize("width", [60, 80, 100, 120, 170])
def test_what_needs_a_person_is_told_with_flow_starter_and_content_at_every_width(
    width: int,
) -> None:
    gate = replace(open_gate(waiting()), tenant="")
    host = GivenOptions(own=Own(host="MODULE:FACTORY"))
    lines = shown(needs_table([gate, CALL, FAILED], NOW, GivenOptions(), {RUN: host}), width)
    commands = [line.strip() for line in lines if line.startswith("  oasflow ")]
    assert commands == [
        f"oasflow approve {RUN}/{GATE} --shown {gate.gate.shown[:16]} --host MODULE:FACTORY",
        """oasflow settle n2 7f3a91bc --happened --value '{"…": "…"}'""",
        "oasflow settle n2 7f3a91bc --did-not-happen",
        "oasflow resume letter-3",
    ]
    others = [line for line in lines if "  oasflow " not in line]
    assert max(map(cell_len, others)) <= width
    told = " ".join(others)
    for words in (
        "Newsletter agent", "ann", "who: all", "Payments", "ben", "POST /pay by charge", "payment_send",
        "お知らせメールの作成", "山田太郎", "the platform refused the call",
    ):  # fmt: skip
        assert words in told
    if width < 120:
        assert len(lines) <= 3 * 4 + 5


def test_a_content_behind_a_long_flow_has_a_line_of_its_own() -> None:
    long = replace(CALL, flow="A flow with a name of many words", run_id="n-" * 8)
    assert shown(needs_table([long], NOW, GivenOptions()), 60)[:4] == [
        "n-n-n-n-n-n-n-n- · settling at charge · 3 h",
        "  risk payment_send",
        "  A flow with a name of many words · started by ben",
        "  POST /pay by charge",
    ]


def test_a_list_at_a_usual_terminal_cuts_its_cells_and_never_its_commands() -> None:
    needed, width = open_gate(waiting()), 120
    head, row, command = shown(needs_table([needed], NOW, GivenOptions()), width)
    assert re.split(" {2,}", head) == [
        "RUN", "NEEDS", "AT", "FLOW", "STARTED BY", "CONTENT", "STEP", "RISK", "AGE", "TENANT",
    ]  # fmt: skip
    assert max(map(cell_len, (head, row))) <= width
    assert RUN not in row
    assert row.startswith(RUN[:8])
    assert "Newsletter agent" in row
    assert "…" in row
    assert command == f"  oasflow approve {RUN}/{GATE} --shown {needed.gate.shown[:16]}"


def test_a_column_of_words_is_broken_before_a_table_becomes_blocks() -> None:
    rows = [[Text("n1"), Text("some words that are longer than the room there is")]]
    assert shown(Listing(("run", "why"), rows, words=frozenset({"why"})), 30) == [
        "RUN  WHY",
        "n1   some words that are",
        "     longer than the room",
        "     there is",
    ]
    assert shown(Listing(("run", "why"), rows), 30) == [
        "n1", "  why  some words that are longer than the room there is",
    ]  # fmt: skip


def test_rows_of_values_become_lines_where_a_table_would_tear_its_words() -> None:
    values = {"people": [{"name": "Ann", "email": "ann.example@example.org", "city": "Oslo"}]}
    assert shown(values_view(values), 60)[1:] == [
        "  name   email                     city",
        "  ─────────────────────────────────────",
        "  Ann    ann.example@example.org   Oslo",
    ]
    assert shown(values_view(values), 30)[1:] == [
        "  -",
        "    name   Ann",
        "    email",
        "    ann.example@example.org",
        "    city   Oslo",
    ]


def test_words_are_broken_between_words_below_their_name() -> None:
    told = shown(Member("--env CRM_KEY", Text("a variable that it reads"), is_words=True), 40)
    assert told == ["  --env CRM_KEY  a variable that it", "                 reads"]
    narrow = shown(Member("--allow https://crm.example.com", Text("an address"), is_words=True), 40)
    assert narrow == ["  --allow https://crm.example.com", "      an address"]
    assert shown(Words(Text("one two three four five")), 18) == ["  one two three", "  four five"]


def long_flow() -> Any:
    inner = flow_of(start(), gate("recipients-review_gate"), end(id_="inner_end"), id_="inner-flow")
    inner["$referenced_components"]["inner_start"] = {
        **inner["$referenced_components"].pop("start"), "id": "inner_start"
    }  # fmt: skip
    for edge in inner["control_flow_connections"]:
        for side in ("from_node", "to_node"):
            if edge[side]["$component_ref"] == "start":
                edge[side] = {"$component_ref": "inner_start"}
    inner["start_node"] = {"$component_ref": "inner_start"}
    inner["nodes"][0] = {"$component_ref": "inner_start"}
    first = start(port("topic", default="x"), hidden=["topic"])
    return flow_of(first, flow_node("recipients_selection_subflow", inner), end())


@pytest.mark.parametrize(("columns", "plain"), [("60", ""), ("60", "1"), ("80", "")])
def test_a_run_can_be_answered_from_what_a_narrow_terminal_shows(
    screen: Any, here: Any, flow_file: Any, columns: str, plain: str
) -> None:
    begun = here(
        "run", flow_file(long_flow()), "--simulate", "--run-id", RUN, "--tenant", "acme-industries"
    )
    assert begun.code == 3, begun.err
    env = {"COLUMNS": columns, "NO_COLOR": plain}
    listed = screen("gates", **env)
    assert listed.ended() == 0
    place = f"\n  {GATE} ·" if columns == "60" else f" {GATE} ·"
    head = f"{RUN}\n  decision at{place}"
    assert head in listed.text
    assert "The test-flow · started by " in listed.text
    assert f"{RUN}/{GATE}" in listed.text, "the command has both of them whole"
    asked = screen("answer", RUN, **env)
    head = asked.wait_for("leave waiting [q]: ")
    assert head.startswith(f"run {RUN}:")
    assert f"\n    {GATE}\n" in head
    styles = set(re.findall(r"\x1b\[[0-9;]*m", asked.raw)) - {"\x1b[0m"}
    assert bool(styles) is not bool(plain)
    asked.type("r not these")
    asked.wait_for(f"run {RUN}  rejected")
    assert asked.ended() == 5
    told = "✗ The recipients_selection_subflow » The recipients-review_gate rejected by "
    assert told in " ".join(asked.text.split())
    assert max(map(len, asked.text.split("✗ ")[1].splitlines()[:2])) <= int(columns)


def test_a_long_name_of_a_node_is_broken_between_its_words() -> None:
    name = Text.assemble("  ", ("✓", "green"), " Resolve context » Finalize selected context")
    assert shown(Pieces([name, Text("approved by ann")], between="  "), 30) == [
        "  ✓ Resolve context »",
        "    Finalize selected context",
        "    approved by ann",
    ]


class At:
    """A stream that says it is a terminal, and keeps what was written."""

    def __init__(self) -> None:
        self.text = io.StringIO()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        return self.text.write(text)

    def flush(self) -> None:
        return None


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("say", ["error", "note"])
def test_errors_and_notes_are_broken_between_words_only(
    width: int, say: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(width))
    stream: Any = At()
    terminal = Terminal(console_for(stream), console_for(stream), as_json=False)
    path = "/srv/agents/newsletter-agent-of-the-week/cinatra/oas.json"
    message = f"run '{RUN}' was started with {path}, which is another file than the one given\n  hint: give {path}"
    getattr(terminal, say)(message)
    lines = stream.text.getvalue().split("\n")
    words = f"{say}: {message}".split()
    assert " ".join(lines).split() == words
    assert max(map(len, lines)) <= max(width, len(path) + 4)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_words_of_a_finding_are_broken_between_words_and_its_line_of_the_file_is_not(
    width: int,
) -> None:
    place = Place(line=12, column=3)
    message = "the gate 'recipients-review_gate' guards nothing behind the node that sends"
    hint = "put the gate in front of 'send_newsletter', or give it another risk class"
    finding = Finding(
        code="OAS300",
        severity="error",
        message=message,
        hint=hint,
        file="agents/newsletter/cinatra/oas.json",
        place=place,
    )
    source = '"description": "' + "sentence " * 9 + '"'
    lines = finding_lines(finding, source)
    told = shown(Lines(lines), width)
    assert " ".join(" ".join(told).split()) == " ".join(
        " ".join(one.plain for one in lines).split()
    )
    assert f"  12 | {source}" in told
    assert Lines(lines).plain.count("\n") == 3


def test_the_lines_of_an_author_stay_lines_and_what_a_terminal_obeys_is_shown() -> None:
    said = "Read both:\n  - the draft that was made from the notes of the meeting\n  - the list\x1b[31m"
    view = gate_view(replace(waiting().waiting[0], description=said))
    told = shown(view, 40)
    assert told[told.index("  Read both:") :][1:4] == [
        "    - the draft that was made from the", "    notes of the meeting", "    - the list␛[31m",
    ]  # fmt: skip


def test_the_list_of_commands_cuts_no_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    for width in WIDTHS:
        monkeypatch.setenv("COLUMNS", str(width))
        for command in ([], ["db"], ["schema"]):
            told = CliRunner().invoke(app_for(command), [*command, "-h"]).output
            assert "..." not in told.split("Commands:")[1]


# ------------------------------------------------------------------------ events

ITEM = "recipients_selection_subflow/each_recipient[37]/recipients-review_gate"
TOLD = RunEvent(
    kind="decision", name="rejected", path=ITEM, visit=2, seq=1234, at=NOW,
    data={"by": "ann@example.org", "reason": "the list of last week, and twice the same person"},
)  # fmt: skip


@pytest.mark.parametrize("width", WIDTHS)
def test_an_event_goes_on_below_its_time_and_its_path_stays_whole(width: int) -> None:
    first, *others = shown(event_view(TOLD), width)
    assert re.match(r" 1234  \d\d:\d\d:\d\d  decision rejected", first)
    assert others
    assert all(re.match(r" {7}\S", line) for line in others)
    assert all(len(line) <= width or ITEM in line for line in others)
    assert any(ITEM in line for line in (first, *others))
    assert "ann@example.org; the list of last week" in " ".join(" ".join(others).split())


def test_an_event_is_one_line_where_no_person_reads(capsys: pytest.CaptureFixture[str]) -> None:
    print_event(Terminal.open(), TOLD)
    (line,) = capsys.readouterr().out.splitlines()
    assert len(line) > max(WIDTHS)
    assert line.endswith(
        f"decision rejected  {ITEM} (visit 2)"
        "  ann@example.org; the list of last week, and twice the same person"
    )
