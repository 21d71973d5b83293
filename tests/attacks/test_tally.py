"""The tally tells an attack that did not start from one that was refused and from a door that opened."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.attacks.book import read_family
from tests.attacks.families import DID_NOT_START
from tests.attacks.tally import count_not_started, count_reports, write_table
from tests.sources import ROOT

BOOK = """
family: shop
about: A shop whose server starts for some.
attacks:
  - door: shop
    expect: refused
    forms: {refused: refused, opened: opened, no server: server, no program: program, skipped: skip, no device: device, no run: run, a bug of the harness: bug}
twins:
  - door: shop
    expect: refused
    forms: {works: refused, no server: server}
"""
MODULE = """
import subprocess
from pathlib import Path

import pytest

from tests.attacks import book

book.BOOK = Path(__file__).parent

from contextlib import contextmanager

from tests.attacks.families import Control, require_here, require_start, tests_of

@pytest.fixture
def server():
    raise OSError("the port is taken")

OPEN = []

def attempt(attack, place):
    how = attack.value
    if how == "server":
        place.request.getfixturevalue("server")
    if how == "program":
        subprocess.run(["/no/such/program"], check=True)
    if how == "skip":
        pytest.skip("not on this system")
    require_here(how != "device", "a device of shops")
    require_start(how != "run", "the run to attack failed")
    return {}["bug"] if how == "bug" else "opened" if OPEN else how

@contextmanager
def opened(place):
    OPEN.append(1)
    yield
    OPEN.clear()

CONTROLS = {
    "a door": Control(open=opened, row="shop-refused"),
    "nobody notices": Control(open=lambda place: contextmanager(lambda: (yield))(), row="shop-refused"),
    "no server": Control(open=opened, row="shop-no_server"),
}
test_attack, test_twin, test_control = tests_of("shop", attempt, CONTROLS)
"""


def attack_shop(folder: Path, *more: str, **env: str) -> subprocess.CompletedProcess[str]:
    (folder / "shop.yaml").write_text(BOOK)
    (folder / "test_shop.py").write_text(MODULE)
    options = (
        "-p",
        "tests.attacks.conftest",
        "-q",
        "-m",
        "long or not long",
        "-p",
        "no:cacheprovider",
    )
    config = ("-c", str(ROOT / "pyproject.toml"), "--rootdir", str(folder))
    return subprocess.run(
        [sys.executable, "-m", "pytest", str(folder / "test_shop.py"), *options, *config, *more],
        cwd=ROOT, env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **env}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def read_table(text: str) -> list[int]:
    (line,) = [line for line in text.splitlines() if line.startswith("shop ")]
    return [int(cell) for cell in line.split()[1:]]


def test_a_row_whose_server_cannot_start_is_neither_refused_nor_opened(tmp_path: Path) -> None:
    done = attack_shop(tmp_path)
    assert "refused  OPENED  DID NOT START  NOT HERE" in done.stdout, done.stdout + done.stderr
    # refused, opened, 5 attacks with a twin and a control, one for want of a device, twins, controls
    assert read_table(done.stdout) == [1, 1, 7, 1, 1, 0, 1, 1]
    assert done.returncode == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize(("env", "code"), [({}, 0), ({"OASFLOW_EVERY_ATTACK": "1"}, 1)])
def test_the_command_fails_where_an_attack_was_skipped(
    env: dict[str, str], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OASFLOW_EVERY_ATTACK", raising=False)
    done = attack_shop(tmp_path, "-k", "skipped or (twin and works)", **env)
    assert read_table(done.stdout) == [0, 0, 1, 0, 1, 0, 0, 0]
    assert done.returncode == code


def test_what_the_machine_lacks_is_told_and_does_not_fail_the_command(tmp_path: Path) -> None:
    few = ("-k", "no_device or (twin and works)")
    done = attack_shop(tmp_path, *few, OASFLOW_EVERY_ATTACK="1")
    assert read_table(done.stdout) == [0, 0, 0, 1, 1, 0, 0, 0], done.stdout + done.stderr
    assert "not here, for want of a device of shops: test_attack[shop-no_device]" in done.stdout
    assert done.returncode == 0


def test_what_the_machine_lacks_excuses_no_other_attack(tmp_path: Path) -> None:
    done = attack_shop(tmp_path, "-k", "no_device or no_run", OASFLOW_EVERY_ATTACK="1")
    assert read_table(done.stdout)[:4] == [0, 0, 1, 1]
    assert done.returncode == pytest.ExitCode.TESTS_FAILED


def report(nodeid: str, when: str = "call", **properties: str) -> Any:
    given = [(name.replace("_", " "), value) for name, value in properties.items()]
    return SimpleNamespace(nodeid=nodeid, when=when, user_properties=given)


ROWS = "tests/attacks/test_rows.py"
A_ROW = f"{ROWS}::test_attack[a]"


@pytest.mark.parametrize(
    ("outcome", "made", "column"),
    [
        ("passed", report(A_ROW, attack="rows"), "refused"),
        ("failed", report(A_ROW, attack="rows"), "OPENED"),
        ("failed", report(A_ROW, attack="rows", did_not_start="rows"), "DID NOT START"),
        ("skipped", report(A_ROW, attack="rows", did_not_start="rows"), "DID NOT START"),
        ("skipped", report(A_ROW, attack="rows", not_here="root"), "NOT HERE"),
        ("failed", report(A_ROW, attack="rows", not_here="root", did_not_start="rows"), "DID NOT START"),
        ("error", report(A_ROW, "setup", attack="rows", not_here="root"), "DID NOT START"),
        ("error", report(A_ROW, "setup"), "DID NOT START"),
        ("failed", report(A_ROW, "???"), "DID NOT START"),
        ("skipped", report(f"{ROWS}::test_twin[a]", "setup"), "DID NOT START"),
        ("passed", report(f"{ROWS}::test_control[a]", control="rows"), "controls caught"),
    ],
    ids=["refused", "opened", "broke off", "skipped", "not here", "not here, and broke off",
         "not here, and its fixture failed", "its fixture failed", "its process died",
         "skipped by a mark", "control"],
)  # fmt: skip
def test_a_report_is_counted_once_and_as_what_it_is(outcome: str, made: Any, column: str) -> None:
    assert count_reports({outcome: [made]}) == {("rows", column): 1}


def test_a_module_that_is_not_imported_counts_all_of_its_rows() -> None:
    broken = SimpleNamespace(nodeid=ROWS)
    family = read_family("rows")
    counted = count_reports({"error": [broken]})
    assert count_not_started(counted) == len(family.attacks) + len(family.twins)
    assert count_reports({"error": [SimpleNamespace(nodeid="tests/cli/test_x.py")]}) == {}


def test_the_end_of_a_test_that_was_counted_is_not_counted_again() -> None:
    both = {"passed": [report(A_ROW, attack="rows")], "error": [report(A_ROW, "teardown")]}
    assert count_reports(both) == {("rows", "refused"): 1}
    assert write_table(count_reports({})) == []
    assert DID_NOT_START.upper() in write_table(count_reports(both))[0]
