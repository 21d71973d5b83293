"""Which files of a tree are flows."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from oas_compiler.text.file_access import require_no_link_out
from oas_compiler.text.flow_files import flows_of, is_agent_spec

FLOW = '{"component_type": "Flow"}'


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(*names: str, text: str = FLOW) -> None:
    for name in names:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def found(*paths: str) -> list[str]:
    return list(flows_of(paths).files)


@pytest.mark.parametrize(
    "name", ["cinatra/oas.json", "oas.yaml", "agent.json", "cinatra/agent.yml"]
)
def test_the_folder_of_an_agent_is_its_flow_and_nothing_else(tree: Path, name: str) -> None:
    put(f"agents/a/{name}", "agents/a/examples/other.json")
    assert found("agents/a") == [f"agents/a/{name}"]


def test_a_tree_is_every_flow_below_it_in_a_stable_order(tree: Path) -> None:
    put("b/cinatra/oas.json", "a/oas.json", "a/more.json", "z.yaml", "c/deep/er/x.yml")
    put("z.yaml", text="component_type: Flow\n")
    put("c/deep/er/x.yml", text='"$referenced_components": {}\n')
    expected = ["z.yaml", "a/oas.json", "a/more.json", "b/cinatra/oas.json", "c/deep/er/x.yml"]
    assert found(".") == expected
    assert found("b", ".") == ["b/cinatra/oas.json", *(x for x in expected if x[0] != "b")]


def test_other_json_and_yaml_is_passed_over(tree: Path) -> None:
    put("tsconfig.json", text='{"compilerOptions": {}}')
    put("nested.json", text='{"examples": [{"component_type": "Flow"}]}')
    put("quoted.json", text='{"title": "component_type", "about": "$referenced_components"}')
    put("list.json", text='[{"component_type": "Flow"}]')
    put("below.yaml", text="flow:\n  component_type: Flow\n")
    put("notes.md", text=FLOW)
    put("api/oas.json", text='{"openapi": "3.1.0"}')
    put("only/x.json")
    assert found(".") == ["only/x.json"]


def test_a_broken_flow_is_still_one(tree: Path) -> None:
    put("cut.json", text='{"nodes": [], "component_type": "Flow", "x": {')
    put("a/cinatra/oas.json", text="not even JSON")
    assert found(".") == ["cut.json", "a/cinatra/oas.json"]


def test_what_is_hidden_installed_or_built_is_left_out_unless_it_is_named(tree: Path) -> None:
    skipped = [
        ".git/x.json",
        "a/.x.json",
        "node_modules/p/oas.json",
        "dist/oas.json",
        "a/build/x.json",
    ]
    put(*skipped, "a/x.json")
    assert found(".") == ["a/x.json"]
    assert found("node_modules", "dist") == ["node_modules/p/oas.json", "dist/oas.json"]


def test_a_link_to_a_folder_is_not_followed_so_a_loop_ends(tree: Path) -> None:
    put("a/x.json")
    Path("a/loop").symlink_to(tree)
    Path("twice").symlink_to("a")
    assert found(".") == ["a/x.json"]
    assert found("twice", "a") == ["twice/x.json"], "one file, though it has two names"


def test_a_file_given_twice_is_checked_once(tree: Path) -> None:
    put("a/x.json")
    assert found("a/x.json", "./a/x.json", str(tree / "a/x.json"), "a") == ["a/x.json"]


def test_what_is_not_there_stands_for_itself(tree: Path) -> None:
    put("empty/readme.txt")
    paths = ["none.json", "empty", "nul\0.json", "x" * 5000]
    assert found(*paths) == paths


def test_names_may_hold_any_bytes(tree: Path) -> None:
    name = os.fsdecode(b"a \xff\n\x1b[31m'\".json")
    put(name)
    assert found(".") == [name]


def test_a_folder_that_cannot_be_read_is_told(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put("a/x.json", "b/y.json")
    scan = os.scandir

    def refuse(path: str) -> object:  # root may read everything
        if os.fspath(path).endswith("b"):
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    result = flows_of(["."])
    assert result.files == ("a/x.json",)
    assert result.unreadable == ("./b",)


def test_a_pipe_is_not_waited_for(tree: Path) -> None:
    os.mkfifo("pipe.json")
    assert not is_agent_spec("pipe.json")
    assert found(".") == ["."]


def test_a_named_folder_is_no_link_out_of_the_folder_that_holds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("here/agents/kept", "elsewhere/below"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    Path("agents/far").symlink_to(tmp_path / "elsewhere")
    Path("agents/chain").symlink_to("far")
    Path("agents/near").symlink_to("kept")
    Path("linked").symlink_to("../elsewhere")
    (tmp_path / "machine").symlink_to("here")
    named = ["agents/far", "agents/far/", "agents/chain", "linked"]
    below = ["agents/far/below", "agents/far/..", "./linked/below"]
    for out in [*named, *below, *(str(Path.cwd() / one) for one in named), "../here/linked"]:
        with pytest.raises(OSError, match="a symbolic link leads out of the folder"):
            require_no_link_out(out)
    for inside in ["agents", "agents/near", ".", "..", "../here/agents", "no-such-folder"]:
        require_no_link_out(inside)
    # A link above what is named belongs to the machine.
    require_no_link_out(tmp_path / "machine" / "agents")
    require_no_link_out(tmp_path / "machine")
    require_no_link_out("../machine/agents")
