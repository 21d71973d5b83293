"""`oasflow emit`: what is written, what is refused, and what `--check` says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.flows import api, end, flow_of, gate, port, start

FLOW = flow_of(
    start(port("topic", default="x")),
    api("write", outputs=[port("draft")], data={"user": "{{ topic }}"}),
    gate("review"),
    end(port("draft")),
    edges=[("start", "topic", "write", "topic"), ("write", "draft", "end", "draft")],
)


def test_a_module_is_written_and_checked(offline: Any, flow_file: Any, tmp_path: Path) -> None:
    file, module = flow_file(FLOW), str(tmp_path / "own.py")
    written = offline("emit", file, "-o", module)
    assert written.exit_code == 0, written.output
    assert offline("emit", file, "-o", module, "--check").exit_code == 0
    again = offline("emit", file, "-o", module)
    assert again.exit_code == 0, again.output


def test_without_a_file_the_module_is_the_output(offline: Any, flow_file: Any) -> None:
    told = offline("emit", flow_file(FLOW))
    assert told.exit_code == 0
    compile(told.stdout, "module", "exec")


def test_the_output_is_the_module_as_it_would_be_written(
    offline: Any, flow_file: Any, tmp_path: Path
) -> None:
    # Made safe for a screen, it would be another program.
    flow = {**FLOW, "name": "Uses \u2028 and \x1b[31m"}
    told = offline("emit", flow_file(flow))
    offline("emit", flow_file(flow), "-o", str(tmp_path / "own.py"))
    assert told.stdout == (tmp_path / "own.py").read_text()


KEY = "sk-abcdefghijklmnopqrstuvwx1234567890"
RANDOM = "q7Rz2LkP9xWv4Ty8Bn3Md6Hs1Jf5Gc0AeUoViXp"
WRITTEN: Any = {
    "in a prompt": {"data": {"user": f"{KEY} {{{{ topic }}}}"}},
    "in a header": {"headers": {"X-Api-Key": RANDOM}},
    "in the body": {"data": {"token": RANDOM, "user": "{{ topic }}"}},
    "in the query": {"url": f"{{{{CINATRA_BASE_URL}}}}/api/write?api_key={RANDOM}"},
    "in the address": {"url": f"https://bob:{RANDOM}@shop.example.org/write"},
    "short, by its name": {"headers": {"X-Api-Key": "ab1"}},
    "in several lines": {"data": {"user": f"one {{{{ topic }}}}\ntwo {KEY}\n" + "three " * 40}},
    "in quotes": {"data": {"user": f'say "{KEY}" {{{{ topic }}}}'}},
}


@pytest.mark.parametrize("place", WRITTEN)
def test_no_credential_gets_into_a_module(
    place: str, offline: Any, flow_file: Any, tmp_path: Path
) -> None:
    parts = FLOW["$referenced_components"]
    call = {**parts["write"], **WRITTEN[place]}
    file = flow_file({**FLOW, "$referenced_components": {**parts, "write": call}})
    made = tmp_path / "own.py"
    for more in ((), ("-o", str(made)), ("-o", str(made), "--check"), ("-o", str(made), "--force")):
        told = offline("emit", file, *more)
        assert told.exit_code == 2
        assert "credential written out" in told.stderr
        assert 'the ApiNode "write" at ' in told.stderr
        for secret in (KEY, RANDOM, '"ab1"', "'ab1'"):
            assert secret not in told.stdout + told.stderr
    assert not made.exists()


def test_a_placeholder_gets_into_a_module(offline: Any, flow_file: Any) -> None:
    parts = FLOW["$referenced_components"]
    call = {**parts["write"], "headers": {"X-Api-Key": "{{API_KEY}}"}}
    told = offline("emit", flow_file({**FLOW, "$referenced_components": {**parts, "write": call}}))
    assert (told.exit_code, "{{API_KEY}}" in told.stdout) == (0, True)


def test_json_needs_a_file_for_the_module(offline: Any, flow_file: Any) -> None:
    told = offline("emit", flow_file(FLOW), "--json")
    assert told.exit_code == 2
    assert "add -o MODULE.py" in json.loads(told.stdout)["error"]["message"]


def test_a_module_in_another_coding_does_not_agree(
    offline: Any, flow_file: Any, tmp_path: Path
) -> None:
    # Python would read another program than is shown and compared.
    module = tmp_path / "own.py"
    offline("emit", flow_file(FLOW), "-o", str(module))
    module.write_text("# -*- coding: unicode_escape -*-\n" + module.read_text())
    told = offline("emit", flow_file(FLOW), "-o", str(module), "--check")
    assert told.exit_code == 2
    assert "coded as unicode" in told.output


def test_the_command_that_would_lose_changes_says_so(
    offline: Any, flow_file: Any, tmp_path: Path
) -> None:
    module = tmp_path / "own.py"
    offline("emit", flow_file(FLOW), "-o", str(module))
    module.write_text(module.read_text().replace("The review", "Look"))
    told = offline("emit", flow_file(FLOW), "-o", str(module), "--check")
    assert "--force writes it anew, without the changes that were made by hand" in told.stderr


def test_a_changed_flow_has_drifted(offline: Any, flow_file: Any, tmp_path: Path) -> None:
    module = str(tmp_path / "own.py")
    offline("emit", flow_file(FLOW), "-o", module)
    other = flow_file({**FLOW, "name": "Another"})
    told = offline("emit", other, "-o", module, "--check")
    assert told.exit_code == 1
    assert "the flow file has changed since the module was made" in told.stdout
    found = json.loads(offline("emit", other, "-o", module, "--check", "--json").stdout)
    assert found["agrees"] is False


def test_a_module_that_was_edited_is_not_replaced_unless_forced(
    offline: Any, flow_file: Any, tmp_path: Path
) -> None:
    module = tmp_path / "own.py"
    offline("emit", flow_file(FLOW), "-o", str(module))
    edited = module.read_text().replace("The review", "Look")
    module.write_text(edited)
    refused = offline("emit", flow_file(FLOW), "-o", str(module))
    assert refused.exit_code == 2
    assert "--force" in refused.output
    assert module.read_text() == edited
    assert offline("emit", flow_file(FLOW), "-o", str(module), "--force").exit_code == 0
    assert "Look" not in module.read_text()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--check",), "add -o MODULE.py"),
        (("-o", "graph.txt"), "is no module"),
        (("-o", "my-graph.py"), "is no module"),
        (("-o", "nothing_there.py", "--check"), "there is no file"),
        (("-o", "no_folder/own.py"), "there is no folder"),
    ],
)
def test_a_wrong_option_is_named(
    offline: Any, flow_file: Any, arguments: tuple[str, ...], says: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    told = offline("emit", flow_file(FLOW), *arguments)
    assert told.exit_code == 2
    assert says in told.output


def test_a_flow_with_errors_is_not_emitted(offline: Any, flow_file: Any, tmp_path: Path) -> None:
    broken = {**FLOW, "control_flow_connections": []}
    told = offline("emit", flow_file(broken), "-o", str(tmp_path / "own.py"))
    assert told.exit_code != 0
    assert not (tmp_path / "own.py").exists()


def test_a_folder_in_the_place_of_the_module_is_named(
    offline: Any, flow_file: Any, tmp_path: Path
) -> None:
    (tmp_path / "own.py").mkdir()
    told = offline("emit", flow_file(FLOW), "-o", str(tmp_path / "own.py"))
    assert told.exit_code in (2, 74)
    assert "Traceback" not in told.output
