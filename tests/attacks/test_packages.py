"""Packages, trees and files that are named: only ordinary files that lie in them are read."""

from __future__ import annotations

import inspect
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cinatra_sdk.data.text import author_files
from cinatra_sdk.errors import InputInvalid
from cinatra_sdk.host.context_file import ContextFileError, read_context_file
from cinatra_sdk.outside.http_calls.simulation import StubError, read_stubs
from graphs.from_oas import flow_path
from oas_compiler import CompileError, check, compile_ir
from oas_compiler.cli.commands.flow_forms import _write_picture as write_picture
from oas_compiler.cli.terminal.argument_values import text_of
from oas_compiler.cli.terminal.exits import Halt
from oas_compiler.cli.terminal.findings_view import view_of_findings
from oas_compiler.deps import resolve
from oas_compiler.deps.lock import lock_of, lock_path, verify_lock, write_lock
from oas_compiler.edit.file_fixes import CannotWrite, FileChange, write
from oas_compiler.explain import explain
from oas_compiler.findings.finding import Finding, Findings
from oas_compiler.ir import Place as TextPlace
from oas_compiler.package.package import Package, find_package
from oas_compiler.report import source_text
from oas_compiler.report.source_text import SourceTexts
from oas_compiler.text import file_access as compiler_files
from oas_compiler.text.flow_files import flows_of
from tests.attacks.book import Attack
from tests.attacks.families import Control, Place, require_here, tests_of
from tests.flows import api, end, flow_of, start
from tests.warm import begin

CANARY = "canary-7f3a"
FLOW = json.dumps(flow_of(start(), end()))
READING = {"OAS001", "OAS002", "OAS003", "OAS004"}


@dataclass(slots=True)
class World:
    """A package, a child of it, a folder outside, and what stands in whose place."""

    root: Path
    form: str
    file: str
    target: str
    asked: str

    @property
    def agent(self) -> Path:
        return self.root / "agents" / "agent"

    @property
    def outside(self) -> Path:
        return self.root / "agents" / "outside"

    @property
    def path(self) -> Path:
        return self.agent / self.file


def world_of(attack: Attack, place: Place) -> World:
    form, file, target, asked = (*attack.value, "", "")[:4]
    world = World(place.folder, form, file, target, asked)
    for name, folder in {"{outside}": world.outside, "{agent}": world.agent}.items():
        world.target = world.target.replace(name, str(folder))
        world.asked = world.asked.replace(name, str(folder))
    manifest = {
        "name": "@x/agent", "version": "1.0.0",
        "cinatra": {"kind": "agent", "agentDependencies": {"@x/child": "*"}},
    }  # fmt: skip
    child = {"name": "@x/child", "version": "1.0.0", "cinatra": {"kind": "agent"}}
    secret = f"{CANARY}=1\n"
    written = {
        "agent/package.json": json.dumps(manifest), "agent/cinatra/oas.json": FLOW,
        "agent/kept/oas.json": FLOW, "agent/SKILL.md": "---\nname: a\ndescription: b\n---\nText.\n",
        "agent/scripts/a.py": "x = 1\n", "child/package.json": json.dumps(child),
        "child/cinatra/oas.json": FLOW, "outside/secret.json": secret,
        "outside/flow.json": FLOW.replace("The end", CANARY), "outside/folder/oas.json": secret,
        "outside/copy.json": "", "outside/copies/oas.json": FLOW, "beside/secret.json": secret,
        "outside/stubs.yaml": "draft: {subject: Hello}\n", "alone/empty": "",
    }  # fmt: skip
    for name, text in written.items():
        (world.root / "agents" / name).parent.mkdir(parents=True, exist_ok=True)
        (world.root / "agents" / name).write_text(text, encoding="utf-8")
    place.monkeypatch.setenv("OASFLOW_CANARY", CANARY)
    return world


# ------------------------------------------------------------------ what stands in a file's place


def plant(world: World, place: Place) -> None:
    PLANTS[world.form](world, place)


def _clear(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() and not path.is_symlink():
        path.rename(path.with_name(f"{path.name}-before"))
    else:
        path.unlink(missing_ok=True)


def _link(world: World, _place: Place) -> None:
    if world.target.startswith(("/proc/", "/dev/")):
        require_here(Path("/proc/self/environ").exists(), "a system with /proc")
    _clear(world.path)
    world.path.symlink_to(world.target)


def _link_by_path(world: World, place: Place) -> None:
    place.monkeypatch.setattr(author_files, "HAS_DIR_FD", False)
    _link(world, place)


def _chain(world: World, _place: Place) -> None:
    _clear(world.path)
    (world.agent / "first").symlink_to(world.target)
    (world.agent / "second").symlink_to("first")
    world.path.symlink_to(world.agent / "second")


def _circle(world: World, _place: Place) -> None:
    _clear(world.path)
    other = world.path.with_name("round")
    world.path.symlink_to(other.name)
    other.symlink_to(world.path.name)


def _fifo(world: World, _place: Place) -> None:
    _clear(world.path)
    os.mkfifo(world.path)


def _fifo_link(world: World, _place: Place) -> None:
    _clear(world.path)
    os.mkfifo(world.agent / "pipe")
    world.path.symlink_to(world.agent / "pipe")


def _socket(world: World, place: Place) -> None:
    _clear(world.path)
    place.monkeypatch.chdir(world.path.parent)  # the name of a socket is short
    listening = socket.socket(socket.AF_UNIX)
    place.request.addfinalizer(listening.close)
    listening.bind(world.path.name)


def _device(world: World, _place: Place) -> None:
    _clear(world.path)
    try:
        os.mknod(world.path, 0o020666, os.makedev(1, 5))  # /dev/zero
    except (PermissionError, AttributeError):
        require_here(False, "the right to make a device: root")


def _denied(world: World, place: Place) -> None:
    real = os.open

    def refuse(path: Any, *args: Any, **options: Any) -> int:  # root may read everything
        if str(path).endswith(world.path.name):
            raise PermissionError(13, "Permission denied")
        return real(path, *args, **options)

    place.monkeypatch.setattr(os, "open", refuse)


def _huge(world: World, _place: Place) -> None:
    _clear(world.path)
    with world.path.open("wb") as file:
        file.truncate(1 << 40)  # a hole: nothing is on the disk


def _exchanged(world: World, place: Place) -> None:
    """The file becomes a link right after it was looked at."""
    if not world.path.exists():
        world.path.write_text("harmless", encoding="utf-8")
    real = os.stat
    waiting = [world.path.name, str(world.path)]

    def look(path: Any, **options: Any) -> os.stat_result:
        about = real(path, **options)
        if str(path) in waiting:
            waiting.clear()
            _clear(world.path)
            world.path.symlink_to(world.target)
        return about

    place.monkeypatch.setattr(author_files.os, "stat", look)


def _exchanged_late(world: World, place: Place) -> None:
    """The file becomes a link when nothing but its opening is left."""
    if not world.path.exists():
        world.path.write_text("harmless", encoding="utf-8")
    real = os.open
    waiting = [world.path.name, str(world.path)]

    def exchange(path: Any, *args: Any, **options: Any) -> int:
        if str(path) in waiting:
            waiting.clear()
            _clear(world.path)
            world.path.symlink_to(world.target)
        return real(path, *args, **options)

    place.monkeypatch.setattr(author_files.os, "open", exchange)


def _exchanged_by_path(world: World, place: Place) -> None:
    place.monkeypatch.setattr(author_files, "HAS_DIR_FD", False)
    _exchanged(world, place)


def _many_links(world: World, _place: Place) -> None:
    last = "SKILL.md"
    for number in range(1, int(world.target)):
        (world.agent / f"n{number}").symlink_to(last)
        last = f"n{number}"
    world.path.symlink_to(last)


def _up_and_down(world: World, _place: Place) -> None:
    """Links whose targets go up and down hundreds of times each."""
    (world.agent / "d").mkdir()
    for number in range(30):
        (world.agent / f"u{number}").symlink_to("d/../" * 700 + f"u{number + 1}")
    world.path.symlink_to("u0")


def _hard_link(world: World, _place: Place) -> None:
    _clear(world.path)
    world.path.hardlink_to(world.target)


def _folder(world: World, _place: Place) -> None:
    world.path.mkdir()


def _bytes(world: World, _place: Place) -> None:
    world.path.write_bytes(CANARY.encode() + b"\xff\xfe")


def _text(world: World, _place: Place) -> None:
    world.path.write_text(world.target, encoding="utf-8")


def _nothing(_world: World, _place: Place) -> None:
    """The world as it is."""


def _deep(world: World, place: Place) -> None:
    """More folders inside each other than the stack has frames; removed without a stack, too."""
    top = world.agent / "deep"
    place.request.addfinalizer(lambda: subprocess.run(["rm", "-rf", str(top)], check=True))
    twenty = "d/" * 20
    (top / twenty).mkdir(parents=True)
    limit = sys.getrecursionlimit()
    place.request.addfinalizer(lambda: sys.setrecursionlimit(limit))
    sys.setrecursionlimit(len(inspect.stack(0)) + 160)
    for _ in range(11):
        (top / "d").rename(top / "before")
        (top / twenty).mkdir(parents=True)
        (top / "before").rename(top / twenty / "d")


def _long(world: World, _place: Place) -> None:
    world.asked = "x" * 300


PLANTS: Mapping[str, Callable[[World, Place], None]] = {
    "link": _link, "link by path": _link_by_path, "chain": _chain, "circle": _circle,
    "fifo": _fifo, "fifo link": _fifo_link, "socket": _socket, "device": _device,
    "denied": _denied, "huge": _huge, "exchanged": _exchanged, "exchanged late": _exchanged_late,
    "exchanged by path": _exchanged_by_path, "many links": _many_links, "up and down": _up_and_down,
    "hard link": _hard_link, "folder": _folder, "bytes": _bytes, "text": _text, "none": _nothing,
    "name": _nothing, "long": _long, "deep": _deep,
}  # fmt: skip

# ------------------------------------------------------------------ doors


def outcome(findings: Findings | list[Finding], seen: str = "") -> str:
    """The code of a finding that nothing was read, or that something came in from outside."""
    listed = list(findings)
    told = view_of_findings(listed).plain + seen + json.dumps([str(one) for one in listed])
    if CANARY in told or "\n" in "".join(one.message for one in listed):
        return "opened"
    # What is larger than any flow could be opened and not be read.
    codes = {"OAS001" if one.code == "OAS002" else one.code for one in listed}
    return min(codes & READING, default="no findings of reading")


def check_a_folder(world: World) -> str:
    return outcome(check(world.agent))


def check_by_name(world: World) -> str:
    return outcome(check(world.agent / "cinatra" / "oas.json"))


def check_inside(world: World) -> str:
    before = Path.cwd()
    os.chdir(world.agent / "cinatra")
    try:
        return outcome(check("oas.json"))
    finally:
        os.chdir(before)


def check_by_a_link(world: World) -> str:
    link = world.root / "a link"
    link.symlink_to(world.agent)
    return outcome(check(link))


def check_alone(world: World) -> str:
    found = check(world.path)
    codes = {one.code for one in found}
    return min(codes & READING, default="no findings of reading")


def check_a_tree(world: World) -> str:
    found = flows_of([str(world.root / "agents")])
    assert str(world.agent / "cinatra" / "oas.json") in found.files
    return outcome([one for file in found.files if "/agent/" in file for one in check(file)])


def further_files(world: World) -> str:
    (world.agent / "cinatra").rename(world.agent / "other")
    found = flows_of([str(world.agent)])
    assert str(world.path) not in found.files
    return "passed over" if str(world.path) in found.passed_over else "not told"


def explain_a_flow(world: World) -> str:
    try:
        explained = explain(world.agent)
    except CompileError as error:
        return outcome(error.diagnostics, str(error))
    return outcome(explained.findings, json.dumps(explained.to_json()))


def compile_a_flow(world: World) -> str:
    try:
        compiled = compile_ir(world.agent)
    except CompileError as error:
        return outcome(error.diagnostics, str(error))
    return outcome([], compiled.source_bytes.decode())


def ask_deps(world: World) -> str:
    resolution = resolve(world.agent)
    return outcome(resolution.findings, json.dumps(resolution.to_json()))


def ask_the_shelf(world: World) -> str:
    resolution = resolve(world.agent)
    told = [one for one in resolution.findings if one.code != "DEP001"]
    return outcome(told, json.dumps(resolution.to_json()))


def digest(world: World) -> str:
    resolution = resolve(world.agent)
    (entry,) = lock_of(resolution)["packages"]  # type: ignore[misc]
    return "no digest" if entry["sha256"] is None else "opened"  # type: ignore[index,call-overload]


def compare_the_lock(world: World) -> str:
    resolution = resolve(world.agent)
    return outcome(verify_lock(lock_path(resolution), lock_of(resolution)))


def opened_package(world: World) -> tuple[Package, str]:
    """The package, and everything that can be had of its files."""
    package = find_package(str(world.agent / "cinatra" / "oas.json"), Findings())
    assert package is not None
    texts = [package.text(file) or "" for file in package.files]
    texts += [package.part(file, size) for file, size in package.scan.parts]
    texts += [skill.text for skill in package.skills] + [one.text for one in package.scripts]
    return package, "".join(texts)


def files_of_the_author(world: World) -> str:
    package, texts = opened_package(world)
    name = world.path.relative_to(world.agent).as_posix()
    findings = list(check(world.agent))
    if CANARY in texts or name in package.files or outcome(findings) == "opened":
        return "opened"
    told = [one for one in findings if one.code == "OAS215"]
    return "OAS215" if told and all(one.message.isprintable() for one in told) else "not told"


def folders_of_the_author(world: World) -> str:
    package, texts = opened_package(world)
    inside = any(file.startswith(f"{world.file}/") for file in package.files)
    return "opened" if inside or CANARY in texts else "not looked into"


def one_file(world: World) -> str:
    package = Package(root=world.agent, source=None)
    text = package.text(world.asked or world.file)
    if text is None:
        return "not there"
    return "read" if CANARY not in text and text != "" else "opened"


def mend(world: World) -> str:
    file = world.agent / (world.file if world.file.endswith("package.json") else "cinatra/oas.json")
    before = file.read_bytes() if file.is_file() else FLOW.encode()
    (world.outside / "copy.json").write_bytes(before)
    try:
        write([FileChange(file=str(file), before=before, after=b"changed")])
    except CannotWrite:
        assert (world.outside / "copy.json").read_bytes() == before
        assert (world.outside / "copies" / "oas.json").read_bytes() == FLOW.encode()
        return "not written"
    return "written"


def put(world: World, act: Callable[[], Any]) -> str:
    """Whether a command put its file in place; what else stood there is as it was."""
    before = os.lstat(world.path) if os.path.lexists(world.path) else None
    refused = False
    try:
        act()
    except (Halt, OSError):
        refused = True
    assert (world.outside / "copy.json").read_text(encoding="utf-8") == ""
    assert not (world.outside / "nothing").exists()
    if not refused:
        return "written" if world.path.read_text(encoding="utf-8") else "nothing written"
    after = os.lstat(world.path)
    same = before is not None and (before.st_ino, before.st_mode) == (after.st_ino, after.st_mode)
    return "left alone" if same else "opened"


def put_a_picture(world: World) -> str:
    return put(world, lambda: write_picture(world.path, "<svg/>"))


def put_a_lock(world: World) -> str:
    resolution = resolve(world.agent)
    return put(world, lambda: write_lock(lock_path(resolution), lock_of(resolution)))


def record(world: World) -> str:
    """A pipe would be waited for, so a process of its own is asked, which can be ended."""
    flow = world.root / "call.json"
    flow.write_text(json.dumps(flow_of(start(), api("work"), end())), encoding="utf-8")
    program = (sys.executable, "-m", "tests.attacks.recording")
    given = (str(flow), str(world.path))
    done = begin("tests.attacks.recording:run", program, given, os.environ)
    try:
        told = "".join(done.communicate(timeout=60))
    except subprocess.TimeoutExpired:
        done.kill()
        return "waited for"
    if done.returncode == 0:
        return "taken" if world.path.read_text(encoding="utf-8") else "nothing written"
    return "PlatformError" if "cannot be written" in told else told


def show_a_line(world: World) -> str:
    file = world.path if "alone" in world.file else world.agent / "cinatra" / "oas.json"
    finding = Finding(
        code="OAS024", severity="error", message="m", place=TextPlace("/a", 1, 1), file=str(file)
    )
    line = SourceTexts([finding]).line(finding)
    return "no line" if line is None else "opened" if CANARY in line else "a line"


def choose(world: World) -> str:
    try:
        path = flow_path(world.asked, {"OASFLOW_FLOWS": str(world.agent)})
    except InputInvalid:
        return "InputInvalid"
    return "taken" if path.read_text(encoding="utf-8") == FLOW else "opened"


def choose_a_folder(world: World) -> str:
    path = flow_path("agent", {"OASFLOW_FLOWS": str(world.agent.parent)})
    try:
        return outcome([], compile_ir(path).source_bytes.decode())
    except CompileError as error:
        return outcome(error.diagnostics)


def walk_deep(world: World) -> str:
    if world.asked == "check":
        (world.agent / "cinatra").rename(world.agent / "deep" / "kept")
        return "looked through" if flows_of([str(world.agent)]).files else "nothing found"
    if world.asked == "deps":
        return "looked through" if resolve(world.root / "agents").roots else "nothing found"
    package, _texts = opened_package(world)
    return "looked through" if "SKILL.md" in package.files else "nothing found"


def named(read: Callable[[str], Any], refusal: type[Exception]) -> Callable[[World], str]:
    def attempt_it(world: World) -> str:
        try:
            read(str(world.path))
        except refusal as error:
            chain = [error, error.__cause__, error.__context__]
            return "opened" if CANARY in "".join(map(str, chain)) else refusal.__name__
        return "taken"

    return attempt_it


def read_inputs(world: World) -> str:
    try:
        return f"opened {len(text_of(str(world.path), '--input'))}"
    except Halt as halt:
        return "opened" if CANARY in str(halt) else str(halt.code)


DOORS: Mapping[str, Callable[[World], str]] = {
    "check a folder": check_a_folder,
    "check the flow by its own name": check_by_name,
    "check from inside the package": check_inside,
    "check by a link to the package": check_by_a_link,
    "check a file outside of any package": check_alone,
    "check a tree of packages": check_a_tree,
    "further files of a tree": further_files,
    "explain a flow": explain_a_flow,
    "compile a flow": compile_a_flow,
    "the manifest of a check": check_a_folder,
    "the manifest of deps": ask_deps,
    "a manifest on the shelf of deps": ask_the_shelf,
    "the flow that a lock file digests": digest,
    "the lock file": compare_the_lock,
    "the settings that explain reads": explain_a_flow,
    "files of the author": files_of_the_author,
    "folders of the author": folders_of_the_author,
    "one file of a package, asked for by name": one_file,
    "mend a file": mend,
    "a picture": put_a_picture,
    "a lock file that is written": put_a_lock,
    "a record": record,
    "show the line of a finding": show_a_line,
    "a flow that a client of a server chooses": choose,
    "a folder that a client of a server chooses": choose_a_folder,
    "a tree deeper than any stack": walk_deep,
    "a stubs file": named(read_stubs, StubError),
    "a context file": named(read_context_file, ContextFileError),
    "a file of inputs": read_inputs,
}


def attempt(attack: Attack, place: Place) -> str:
    world = world_of(attack, place)
    plant(world, place)
    return DOORS[attack.door](world)


# ------------------------------------------------------------------ controls


def patched(
    target: object, name: str, value: Any
) -> Callable[[Place], AbstractContextManager[Any]]:
    @contextmanager
    def opened(place: Place) -> Iterator[None]:
        with place.monkeypatch.context() as patch:
            patch.setattr(target, name, value)
            yield

    return opened


def followed(folder: author_files.Folder, name: str, most: int) -> bytes:
    return Path(folder.path, name).read_bytes()[:most]


def only_named(path: Any, most: int) -> bytes:
    return Path(path).read_bytes()[:most]


CONTROLS = {
    "links of a package are followed": Control(
        open=patched(author_files.Folder, "read", followed), row="check_a_folder-an_absolute_link"
    ),
    "a flow that is named belongs to no package": Control(
        open=patched(compiler_files, "package_around", lambda _file: None),
        row="check_the_flow_by_its_own_name-an_absolute_link",
    ),
    "a link is followed when it is opened": Control(
        open=patched(author_files, "_NO_LINK", 0),
        row="one_file_of_a_package,_asked_for_by_name-exchanged_at_the_last_moment",
    ),
    "lines are shown of whatever a name leads to": Control(
        open=patched(source_text, "read_shown", only_named),
        row="show_the_line_of_a_finding-a_file_outside_of_any_package",
    ),
    "files are written through links": Control(
        open=patched(compiler_files, "package_around", lambda _file: None),
        row="mend_a_file-a_link_that_came_after_the_check",
    ),
    "whatever has the name is replaced": Control(
        open=patched(author_files, "refuse_unless_ordinary", lambda _mode: None),
        row="a_picture-a_pipe",
    ),
    "what is not ordinary is read": Control(
        open=patched(author_files, "refuse_unless_ordinary", lambda _mode: None),
        row="a_file_of_inputs-a_pipe",
    ),
}

test_attack, test_twin, test_control = tests_of("packages", attempt, CONTROLS)
