"""Excerpts, messages and modules: no literal credential of a file is in what is said about the file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from oas_compiler import CompileError, check, compile_ir
from oas_compiler.checks.credentials.credential_cover import Labels
from oas_compiler.cli.app import app_for
from oas_compiler.cli.terminal.exits import Exit
from oas_compiler.emit import python_module as emitting
from oas_compiler.report import source_text
from tests.attacks.book import Attack
from tests.attacks.families import Control, Place, tests_of
from tests.flows import api, end, flow_of, port, start

SECRET = "q7Rz2LkP9xWv4Ty8" + "Bn3Md6Hs1Jf5Gc0AeUoViXp"  # in two: no scanner takes it for one
KNOWN = "sk-" + "a1B2c3D4e5F6g7H8i9J0k1L2"
SHORT = "Zx9kQ2mW7pLr4Tv8"
"""Too short to look random: its name alone says what it is."""
WORDS = ("Wintertag-im-Mai", "correcthorsebattery", "8374928374928371")
"""Words and a number, without blanks: their names alone say what they are."""
SERVICES = " ".join(
    f"{start}{SECRET[:22]}"
    for start in ("glpat-", "sk_live_", "rk_live_", "xapp-1-A0-", "xoxe-", "whsec_", "github_pat_", "AIza",
                  "npm_", "hf_", "gsk_", "shpat_", "SG.", "dop_v1_")
)  # fmt: skip
_FEWEST = 12
"""Characters of a credential in a row that count as shown."""
_LONG = "bees and flowers " * 30


# ------------------------------------------------------------------ files


def make_flow(spec: Mapping[str, Any]) -> dict[str, Any]:
    """A flow that calls once, with the fields of the form in their places."""
    call = {**api("call", outputs=[port("done")]), **spec.get("call", {})}
    given = spec.get("input", port("topic", default="bees"))
    flow = flow_of(
        start(given), call, end(port("done")), edges=[(call["id"], "done", "end", "done")]
    )
    more = {}
    if "model" in spec:
        more["gpt"] = {"id": "gpt", "name": "gpt", "model_id": "gpt-5", **spec["model"]}
    if "toolbox" in spec:
        program = {"component_type": "StdioTransport", "id": "io", "name": "io", "command": "x"}
        more["io"] = {**program, **spec["toolbox"], "timeout": "soon"}
    flow["$referenced_components"] |= more
    return flow


def _write_block(text: str) -> str:
    return text.replace(f"Bearer {SECRET}", f"|\n          Bearer {SECRET}")


def _write_folded(text: str) -> str:
    return text.replace(SECRET, f'"{SECRET[:20]}\\\n            {SECRET[20:]}"')


def _write_anchor(text: str) -> str:
    return f"kept: &kept {SECRET}\n" + text.replace(f": {SECRET}", ": *kept")


def _as_yaml(flow: dict[str, Any]) -> str:
    return yaml.safe_dump(json.loads(json.dumps(flow)), width=10_000)


def _escape(flow: dict[str, Any]) -> str:
    return json.dumps(flow, indent=1).replace(
        SECRET[:3], "".join(f"\\u{ord(c):04x}" for c in SECRET[:3])
    )


LAYOUTS: dict[str, tuple[str, Callable[[dict[str, Any]], str]]] = {
    "lines": ("flow.json", lambda flow: json.dumps(flow, indent=1)),
    "one line": ("flow.json", json.dumps),
    "escaped": ("flow.json", _escape),
    "yaml": ("flow.yaml", _as_yaml),
    "yaml block": ("flow.yaml", lambda flow: _write_block(_as_yaml(flow))),
    "yaml folded": ("flow.yaml", lambda flow: _write_folded(_as_yaml(flow))),
    "yaml anchor": ("flow.yaml", lambda flow: _write_anchor(_as_yaml(flow))),
    "cut": ("flow.json", lambda flow: json.dumps(flow, indent=1).partition(SECRET)[0] + SECRET),
    "key twice": (
        "flow.json",
        lambda flow: json.dumps(flow, indent=1).replace(
            f'"X-Api-Key": "{SECRET}"', f'"X-Api-Key": "{SECRET}", "X-Api-Key": "{SECRET}"'
        ),
    ),
}  # fmt: skip


def write_file(spec: Mapping[str, Any], folder: Path) -> Path:
    filled = json.loads(
        json.dumps(spec).replace("SECRET", spec.get("secret", SECRET)).replace("KNOWN", KNOWN).replace("LONG", _LONG)
        .replace("SHORT", SHORT).replace("SERVICES", SERVICES)
    )  # fmt: skip
    name, write = LAYOUTS[spec.get("layout", "lines")]
    file = folder / name
    file.write_text(write(make_flow(filled)), encoding="utf-8")
    return file


# ------------------------------------------------------------------ what is said


COMMANDS: dict[str, tuple[str, ...]] = {
    "explain": ("explain",), "explain as JSON": ("explain", "--json"),
    "draw": ("draw",), "ir": ("ir",), "ir as JSON": ("ir", "--json"),
    "run": ("run", "--simulate"), "run as JSON": ("run", "--simulate", "--json"),
    "emit": ("emit",), "schema": ("schema", "input"), "deps": ("deps",),
    "wire-context": ("wire-context",), "check": ("check",),
    "check with some rules": ("check", "--select", "OAS05,OAS02,OAS06,OAS00,OAS03,OAS04"),
    "check for GitHub": ("check", "--format", "github"),
    "check as SARIF": ("check", "--format", "sarif"), "check as JSON": ("check", "--json"),
    "check with fixes": ("check", "--fix"),
}  # fmt: skip


def hear(door: str, file: Path) -> str:
    """Everything that comes of the door: what is printed, and what is raised."""
    if door == "an error in Python":
        try:
            compile_ir(file)
        except CompileError as error:
            return str(error) + repr(error.diagnostics) + "\n".join(map(str, check(file)))
        return "\n".join(map(str, check(file)))
    words = ["diff", str(file), str(file)] if door == "diff" else [*COMMANDS[door], str(file)]
    told = CliRunner().invoke(app_for(words), words, catch_exceptions=False)
    assert told.exit_code != Exit.BUG
    return told.output + told.stderr


def is_shown(secret: str, text: str) -> bool:
    """Whether enough of a credential to be used or searched for stands in a text, in any layout."""
    plain = "".join(text.split())
    runs = (secret[at : at + _FEWEST] for at in range(len(secret) - _FEWEST + 1))
    return any(run in plain for run in runs)


def attempt(attack: Attack, place: Place) -> str:
    place.monkeypatch.setenv("DATABASE_URL", "postgresql://nobody:hidden@127.0.0.1:1/none")
    place.monkeypatch.setenv("OASFLOW_HOME", str(place.folder / "home"))
    place.monkeypatch.chdir(place.folder)
    file = write_file(attack.value, place.folder)
    told = hear(attack.door, file)
    assert told, "the command says something"
    if attack.harmless:
        return "shown" if attack.value["secret"] in told else "hidden"
    return (
        "opened"
        if any(is_shown(one, told) for one in (SECRET, KNOWN, SHORT, *WORDS))
        else "kept out"
    )


# ------------------------------------------------------------------ doors, opened on purpose


def _without_stars(place: Place) -> AbstractContextManager[Any]:
    place.monkeypatch.setattr(source_text, "masked", lambda text, _findings: text)
    return _nothing()


def _without_text_search(place: Place) -> AbstractContextManager[Any]:
    from oas_compiler.report import source_text

    place.monkeypatch.setattr(source_text, "find_written_secrets", lambda _text: [])
    return _nothing()


def _without_labels(place: Place) -> AbstractContextManager[Any]:
    place.monkeypatch.setattr(Labels, "covered", lambda _self, subject: subject.document.value)
    return _nothing()


def _without_refusal(place: Place) -> AbstractContextManager[Any]:
    place.monkeypatch.setattr(emitting, "require_no_credential", lambda _source, _module: None)
    return _nothing()


@contextmanager
def _nothing() -> Iterator[None]:
    yield


def _without_wider_rule(place: Place) -> AbstractContextManager[Any]:
    from oas_compiler.checks.credentials import credential_cover

    place.monkeypatch.setattr(credential_cover, "find_written", lambda _text: ())
    return _nothing()


CONTROLS = {
    "only what check reports is covered": Control(
        open=_without_wider_rule, row="ir_as_JSON-in_a_fragment"
    ),
    "lines are shown as they are": Control(open=_without_stars, row="explain-in_a_header"),
    "only findings say what a credential is": Control(
        open=_without_text_search, row="draw-in_a_header"
    ),
    "YAML is shown as it is": Control(open=_without_stars, row="ir-in_YAML"),
}
test_attack, test_twin, test_control = tests_of("excerpts", attempt, CONTROLS)


def test_part_of_a_credential_is_found_in_any_layout() -> None:
    assert is_shown(SECRET, f"x {SECRET[3:16]} y")
    assert is_shown(SECRET, f"{SECRET[:8]}\n   {SECRET[8:20]}")
    assert not is_shown(SECRET, SECRET[: _FEWEST - 1])


def _clean_flow(**call: Any) -> dict[str, Any]:
    return {"call": {"url": "https://shop.example.org/x", **call}}


@pytest.mark.parametrize("opened", ["labels", "module"])
def test_what_is_shown_of_a_flow_without_errors_is_covered_too(opened: str, place: Place) -> None:
    spec = _clean_flow(headers={"X-Api-Key": SECRET})
    door = "ir" if opened == "labels" else "emit"
    file = write_file(spec, place.folder)
    assert not is_shown(SECRET, hear(door, file))
    with _without_labels(place) if opened == "labels" else _without_refusal(place):
        assert is_shown(SECRET, hear(door, file)), "the control"
