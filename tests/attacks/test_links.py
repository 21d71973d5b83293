"""Links in a folder that is named: no command follows one out of it, with a package.json or without."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from typer.testing import CliRunner

from oas_compiler.cli.app import app_for
from oas_compiler.text import file_access, flow_files
from tests.attacks.book import Attack
from tests.attacks.families import Control, Place, tests_of
from tests.flows import api, end, flow_of, message, start

CANARY = "canary-5d1c"
COMMANDS: dict[str, tuple[str, ...]] = {
    "check a folder": ("check",), "check a tree": ("check",), "check a package": ("check",),
    "check with fixes": ("check", "--fix", "--yes"), "explain": ("explain",), "draw": ("draw",),
    "ir": ("ir",), "run": ("run", "--simulate"), "emit": ("emit",), "deps": ("deps",),
    "deps of a tree": ("deps",), "check a file by its name": ("check",),
    "a linked folder is checked": ("check",),
    "a linked folder is checked with what is below it": ("check",),
    "a linked folder is checked by its whole path": ("check",),
    "a linked folder is mended": ("check", "--fix", "--yes"),
    "a linked folder is explained": ("explain",), "a linked folder is drawn": ("draw",),
    "a linked folder is run": ("run", "--simulate"), "a linked folder is wired": ("wire-context", "--yes"),
    "the dependencies of a linked folder": ("deps",),
}  # fmt: skip
LINKED = "agent/cinatra"
ASKED = {
    "check a tree": ".", "deps of a tree": ".", "check a file by its name": "named.json",
    **{door: LINKED for door in COMMANDS if "linked folder" in door},
    "a linked folder is checked with what is below it": f"{LINKED}/../folder",
    "a linked folder is checked by its whole path": f"ROOT/tree/{LINKED}",
}  # fmt: skip


def make_flow() -> dict[str, Any]:
    """Whatever reads it says the canary: as a name, in a finding's excerpt, in a picture."""
    flow = flow_of(start(), api(CANARY), message("say", CANARY), end())
    wrong = {"component_type": CANARY, "id": "x"}
    return {**flow, "name": CANARY, "$referenced_components": {**flow["$referenced_components"], "x": wrong}}  # fmt: skip


def build_world(root: Path) -> None:
    flow = json.dumps(make_flow())
    texts = {
        "outside/flow.json": flow, "outside/folder/oas.json": flow,
        "outside/flow.yaml": yaml.safe_dump(json.loads(flow)), "outside/secret.txt": f"{CANARY}: [",
        "outside/package.json": json.dumps({"name": CANARY, "cinatra": CANARY}),
        "outside/SKILL.md": f"---\nname: {CANARY}\n---\n{CANARY}\n",
    }  # fmt: skip
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    (root / "agent" / "kept").mkdir(parents=True)


def plant(step: dict[str, str], root: Path, place: Place) -> None:
    name = step.get("link") or step.get("copy") or step["exchange"]
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    target = step.get("to", "").replace("ROOT", str(root)).replace("//", "/")
    if "copy" in step:
        path.write_text(json.dumps(make_flow()), encoding="utf-8")
    elif "link" in step:
        path.symlink_to(target)
    else:
        _exchange_late(path, root / "tree" / name, target, place)


def _exchange_late(path: Path, later: Path, target: str, place: Place) -> None:
    """An ordinary file or folder until it was found, and then a link; later: where it is by then."""
    harmless = json.dumps(flow_of(start(), end()))
    if path.suffix:
        path.write_text(harmless, encoding="utf-8")
    else:
        path.mkdir()
        (path / "oas.json").write_text(harmless, encoding="utf-8")
    before = file_access.read_flow

    def read(*given: Any, **more: Any) -> bytes:
        if not later.is_symlink():
            later.rename(later.with_name(f"was-{later.name}.txt"))
            later.symlink_to(target)
        return before(*given, **more)

    place.monkeypatch.setattr("oas_compiler.text.source.read_flow", read)


def attempt(attack: Attack, place: Place) -> str:
    root = place.folder
    build_world(root)
    if attack.door == "check a package":
        manifest = {"name": "@x/agent", "version": "1.0.0", "cinatra": {"kind": "agent"}}
        (root / "agent" / "package.json").write_text(json.dumps(manifest), encoding="utf-8")
    for step in attack.value:
        (root / step.get("link", "none")).unlink(missing_ok=True)
        plant(step, root, place)
    place.monkeypatch.setenv("OASFLOW_HOME", str(root / "home"))
    place.monkeypatch.setenv("DATABASE_URL", "postgresql://nobody:hidden@127.0.0.1:1/none")
    # The folder outside is no part of what is named, also where the tree is.
    (root / "tree").mkdir()
    (root / "agent").rename(root / "tree" / "agent")
    (root / "outside").rename(root / "outside-for-good")
    (root / "outside").symlink_to("outside-for-good")
    (root / "tree" / "outside").symlink_to("../outside-for-good")
    place.monkeypatch.chdir(root if attack.door == "check a file by its name" else root / "tree")
    asked = ASKED.get(attack.door, "agent").replace("ROOT", str(root))
    words = [*COMMANDS[attack.door], asked]
    told = CliRunner().invoke(app_for(words), words, catch_exceptions=False)
    said = told.output + told.stderr
    assert told.exit_code in {0, 1, 2, 3}
    assert said
    if attack.harmless:
        return "read" if CANARY in said else "not read"
    return "opened" if CANARY in said else "kept out"


@contextmanager
def _without_roots(place: Place) -> Iterator[None]:
    """The tree says no longer below which folder a file was found."""
    real = flow_files.flows_of

    def found(paths: Any) -> Any:
        one = real(paths)
        return flow_files.Found(
            files=one.files, unreadable=one.unreadable, passed_over=one.passed_over
        )

    with place.monkeypatch.context() as patched:
        patched.setattr("oas_compiler.cli.commands.check.flows_of", found)
        yield


@contextmanager
def _read_by_path(place: Place) -> Iterator[None]:
    """Files are opened by their paths, as programs do that know no folders."""

    def read(file: Any, most: int, **_within: Any) -> bytes:
        return Path(file).read_bytes()[:most]

    with place.monkeypatch.context() as patched:
        patched.setattr("oas_compiler.text.source.read_flow", read)
        yield


@contextmanager
def _named_whatever(place: Place) -> Iterator[None]:
    """A folder that is named may be a link to anywhere."""
    with place.monkeypatch.context() as patched:
        for module in ("flow_files", "source"):
            patched.setattr(f"oas_compiler.text.{module}.require_no_link_out", lambda _folder: None)
        yield


CONTROLS = {
    "a folder that is named is no border": Control(
        open=_named_whatever, row="a_linked_folder_is_checked-absolute"
    ),
    "a folder that is explained is no border": Control(
        open=_named_whatever, row="a_linked_folder_is_explained-relative"
    ),
    "a tree forgets its root": Control(open=_without_roots, row="check_a_folder-a_relative_link"),
    "a tree forgets its root, and a file is exchanged": Control(
        open=_without_roots, row="check_a_tree-a_further_file_that_is_exchanged"
    ),
    "a file is read by its path": Control(open=_read_by_path, row="explain-a_linked_inner_folder"),
    "a package's file is read by its path": Control(
        open=_read_by_path, row="check_a_package-an_absolute_link"
    ),
}
test_attack, test_twin, test_control = tests_of("links", attempt, CONTROLS)


def test_a_hard_link_is_the_file_itself(place: Place) -> None:
    """Nothing tells a second name of a file from its first: such a file lies in the folder."""
    build_world(place.folder)
    os.link(place.folder / "outside" / "flow.json", place.folder / "agent" / "oas.json")
    words = ["check", str(place.folder / "agent")]
    assert CANARY in CliRunner().invoke(app_for(words), words).output
