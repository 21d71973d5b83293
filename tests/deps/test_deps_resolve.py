"""Child agents over a tree of packages: which one is taken, and what is wrong."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
from package_tree import listed, write_packages

from oas_compiler import deps
from oas_compiler.catalog.dependency_cards import DEPENDENCIES
from oas_compiler.deps import Resolution, resolve
from tests.flows import end, flow_node, flow_of, gate, port, start

CORPUS = Path(__file__).resolve().parents[2] / "../shared/corpus/cinatra"


def codes(resolution: Resolution) -> list[str]:
    return [finding.code for finding in resolution.findings]


def chosen(resolution: Resolution) -> list[tuple[str, str, str]]:
    """(dependent, child, version)."""
    return [
        (link.dependent.name, link.wanted.name, link.chosen.version if link.chosen else "")
        for link in resolution.links
    ]


def test_the_highest_version_in_the_range_is_taken(tmp_path: Path) -> None:
    tree = {
        "a": {"wants": {"b": "^1.2.0"}},
        "b-low": {"name": "@x/b", "version": "1.9.0"},
        "b-high": {"name": "@x/b", "version": "1.10.0"},
        "b-next": {"name": "@x/b", "version": "2.0.0"},
        "b-rc": {"name": "@x/b", "version": "1.11.0-rc.1"},
    }
    resolution = resolve(write_packages(tmp_path, tree) / "a")
    assert chosen(resolution) == [("@x/a", "@x/b", "1.10.0")]
    assert codes(resolution) == []
    assert resolution.links[0].versions == ("1.9.0", "1.10.0", "1.11.0-rc.1", "2.0.0")


def test_children_of_children_are_resolved_too(tmp_path: Path) -> None:
    tree = {"a": {"wants": {"b": "*"}}, "b": {"wants": {"c": "1.x"}}, "c": {}, "other": {}}
    resolution = resolve(write_packages(tmp_path, tree) / "a")
    assert chosen(resolution) == [("@x/a", "@x/b", "1.0.0"), ("@x/b", "@x/c", "1.0.0")]
    assert [package.name for package in resolution.packages] == ["@x/a", "@x/b", "@x/c"]
    assert [package.name for package in resolution.roots] == ["@x/a"]


def test_a_folder_with_many_packages_means_all_of_them(tmp_path: Path) -> None:
    tree = {"agents/a": {"wants": {"b": "*"}}, "agents/b": {}, "more/c": {"wants": {"b": "^1"}}}
    resolution = resolve(write_packages(tmp_path, tree))
    assert [package.name for package in resolution.roots] == ["@x/a", "@x/b", "@x/c"]
    assert codes(resolution) == []


@pytest.mark.parametrize("at", ["a", "a/package.json", "a/cinatra/oas.json", "a/cinatra"])
def test_a_package_is_named_by_its_folder_or_a_file_in_it(tmp_path: Path, at: str) -> None:
    tree = {"a": {"wants": {"b": "*"}, "flow": flow_of(start(), end())}, "b": {}}
    resolution = resolve(write_packages(tmp_path, tree) / at)
    assert chosen(resolution) == [("@x/a", "@x/b", "1.0.0")]


def test_a_missing_child_is_an_error_at_its_entry_and_an_optional_one_is_not(
    tmp_path: Path,
) -> None:
    required, optional = listed("gone"), listed("gone", requirement="optional")
    write_packages(tmp_path, {"a": {"listed": [required]}, "b": {"listed": [optional]}})
    (finding,) = resolve(tmp_path / "a").findings
    assert (finding.code, finding.severity) == ("DEP001", "error")
    assert finding.pointer == "/cinatra/dependencies/0/versionConstraint/range"
    assert finding.file == str(tmp_path / "a" / "package.json")
    line = (tmp_path / "a" / "package.json").read_text().splitlines()[finding.line - 1]
    assert line.strip() == '"range": "^1.0.0"'
    assert finding.hint == "name the folder it is in with --root"
    assert codes(resolve(tmp_path / "b")) == []


def test_a_slip_in_the_name_gets_the_nearest_one_and_another_agent_is_not_offered(
    tmp_path: Path,
) -> None:
    tree = {
        "a": {"wants": {"email-drafting-agnt": "*"}},
        "b": {"wants": {"email-delivery-agent": "*"}},
        "email-drafting-agent": {},
    }
    write_packages(tmp_path, tree)
    hints = [next(iter(resolve(tmp_path / name).findings)).hint for name in ("a", "b")]
    assert hints == [
        'did you mean "@x/email-drafting-agent"?', "name the folder it is in with --root",
    ]  # fmt: skip


def test_children_are_looked_for_in_the_folders_named(tmp_path: Path) -> None:
    tree = {"mine/a": {"wants": {"b": "*"}}, "theirs/b": {}}
    write_packages(tmp_path, tree)
    assert codes(resolve(tmp_path / "mine/a")) == ["DEP001"]
    assert codes(resolve(tmp_path / "mine/a", roots=[tmp_path / "theirs"])) == []
    found = resolve(tmp_path / "mine/a", roots=[tmp_path / "nowhere"])
    assert codes(found) == ["OAS001"]


def test_a_mismatch_says_which_versions_there_are(tmp_path: Path) -> None:
    tree = {
        "a": {"wants": {"b": "^2.0.0"}},
        "b1": {"name": "@x/b", "version": "1.0.0"},
        "b2": {"name": "@x/b", "version": "1.4.0"},
    }
    (finding,) = resolve(write_packages(tmp_path, tree) / "a").findings
    assert (finding.code, finding.severity) == ("DEP002", "error")
    assert finding.message.endswith("is in the range ^2.0.0; there is 1.0.0, 1.4.0")
    assert finding.pointer == "/cinatra/agentDependencies/@x~1b"
    assert finding.hint == ""


def test_a_prerelease_that_is_not_asked_for_is_explained(tmp_path: Path) -> None:
    tree = {"a": {"wants": {"b": "^2.0.0"}}, "b": {"version": "2.1.0-rc.1"}}
    write_packages(tmp_path, tree)
    (finding,) = resolve(tmp_path / "a").findings
    assert finding.hint.startswith("2.1.0-rc.1 is a prerelease")
    write_packages(tmp_path, {"a": {"wants": {"b": "^2.1.0-rc.0"}}})
    assert codes(resolve(tmp_path / "a")) == []


@pytest.mark.parametrize("wanted", ["workspace:*", "file:../b", "latest", "^^1", 7, None, ["^1"]])
def test_a_range_that_is_none_is_refused(tmp_path: Path, wanted: object) -> None:
    write_packages(tmp_path, {"a": {"wants": {"b": wanted}}, "b": {}})
    resolution = resolve(tmp_path / "a")
    assert codes(resolution) == ["DEP005"]
    assert resolution.links[0].status == "invalid"
    write_packages(tmp_path, {"a": {"wants": {"b": "^1.0.0"}}})
    assert codes(resolve(tmp_path / "a")) == []


def test_a_circle_is_shown_once_with_its_way(tmp_path: Path) -> None:
    tree = {"a": {"wants": {"b": "*"}}, "b": {"wants": {"c": "*"}}, "c": {"wants": {"b": "*"}}}
    write_packages(tmp_path, tree)
    (finding,) = resolve(tmp_path).findings
    assert finding.code == "DEP003"
    assert finding.message.endswith("@x/b@1.0.0 → @x/c@1.0.0 → @x/b@1.0.0")
    assert finding.file == str(tmp_path / "c" / "package.json")
    write_packages(tmp_path, {"c": {}})
    assert codes(resolve(tmp_path)) == []


def test_an_agent_that_needs_itself_is_a_circle(tmp_path: Path) -> None:
    write_packages(tmp_path, {"a": {"wants": {"a": "*"}}})
    (finding,) = resolve(tmp_path / "a").findings
    assert finding.message.endswith("@x/a@1.0.0 → @x/a@1.0.0")


def test_two_ways_to_one_child_are_no_circle(tmp_path: Path) -> None:
    tree = {"a": {"wants": {"b": "*", "c": "*"}}, "b": {"wants": {"c": "*"}}, "c": {}}
    assert codes(resolve(write_packages(tmp_path, tree))) == []


def test_one_version_in_two_folders_is_an_error_and_two_versions_are_not(tmp_path: Path) -> None:
    tree = {
        "a": {"wants": {"b": "*"}}, "b": {}, "copy/b": {},
        "unrelated": {}, "copy/unrelated": {}, "copy/a": {"wants": {"b": "*"}},
    }  # fmt: skip
    write_packages(tmp_path, tree)
    (finding,) = resolve(tmp_path / "a").findings
    assert finding.code == "DEP004"
    assert str(tmp_path / "b") in finding.message
    assert str(tmp_path / "copy/b") in finding.message
    write_packages(tmp_path, {"copy/b": {"version": "1.0.1"}})
    assert codes(resolve(tmp_path / "a")) == []


def test_many_copies_of_one_child_are_one_finding(tmp_path: Path) -> None:
    copies: dict[str, dict[str, object]] = {f"copy{i}/b": {} for i in range(8)}
    write_packages(tmp_path, {"a": {"wants": {"b": "*"}}, "b": {}, **copies})
    (finding,) = resolve(tmp_path / "a").findings
    assert finding.message.startswith(f"@x/b@1.0.0 is there 9 times, in {tmp_path}/b and in ")
    assert finding.message.endswith(f"{tmp_path}/copy4/b and 3 more")


def test_an_optional_child_in_no_fitting_version_is_a_warning_of_its_own(tmp_path: Path) -> None:
    entry = listed("b", "^2.0.0", requirement="optional")
    write_packages(tmp_path, {"a": {"listed": [entry]}, "b": {}})
    (finding,) = resolve(tmp_path / "a").findings
    assert (finding.code, finding.severity) == ("DEP011", "warning")
    write_packages(tmp_path, {"b": {"version": "2.0.0"}})
    assert codes(resolve(tmp_path / "a")) == []


def test_every_code_that_is_recorded_has_a_card_of_its_severity() -> None:
    recorded: dict[str, str] = {}
    for file in Path(deps.__file__).parent.glob("*.py"):
        for call in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(call, ast.Call):
                codes = [
                    str(node.value)
                    for given in (*call.args[:1], *(k.value for k in call.keywords[:1]))
                    for node in ast.walk(given)
                    if isinstance(node, ast.Constant) and str(node.value).startswith("DEP")
                ]
                recorded |= dict.fromkeys(codes, "")
    assert set(recorded) == {card.code for card in DEPENDENCIES}


def test_a_link_to_a_package_is_not_a_second_one(tmp_path: Path) -> None:
    write_packages(tmp_path, {"a": {"wants": {"b": "*"}}, "b": {}})
    (tmp_path / "again").symlink_to(tmp_path / "b", target_is_directory=True)
    found = resolve(tmp_path / "a", roots=[tmp_path, tmp_path / "again", tmp_path])
    assert codes(found) == []


def test_a_child_that_the_flow_runs_must_be_declared(tmp_path: Path) -> None:
    sub = flow_of(start(), end(), id_="sub")
    flow = flow_of(start(), flow_node("call", sub, packageName="@x/b"), end())
    write_packages(tmp_path, {"a": {"flow": flow}, "b": {}})
    (finding,) = resolve(tmp_path / "a").findings
    assert finding.code == "DEP006"
    assert finding.file == str(tmp_path / "a" / "cinatra" / "oas.json")
    assert finding.pointer.endswith("/call/metadata/cinatra/packageName")
    write_packages(tmp_path, {"a": {"flow": flow, "wants": {"b": "*"}}})
    assert codes(resolve(tmp_path / "a")) == []


def test_its_own_name_at_a_subflow_is_no_child(tmp_path: Path) -> None:
    sub = flow_of(start(), end(), id_="sub")
    flow = flow_of(start(), flow_node("call", sub, packageName="@x/a"), end())
    assert codes(resolve(write_packages(tmp_path, {"a": {"flow": flow}}) / "a")) == []


def test_map_and_list_with_two_ranges_are_a_warning_and_the_map_counts(tmp_path: Path) -> None:
    tree = {"a": {"wants": {"b": "^1.0.0"}, "listed": [listed("b", "^2.0.0")]}, "b": {}}
    resolution = resolve(write_packages(tmp_path, tree) / "a")
    assert chosen(resolution) == [("@x/a", "@x/b", "1.0.0")]
    assert [(f.code, f.severity) for f in resolution.findings] == [("DEP007", "warning")]
    write_packages(tmp_path, {"a": {"wants": {"b": "^1.0.0"}, "listed": [listed("b")]}})
    assert codes(resolve(tmp_path / "a")) == []


def test_only_agents_of_the_list_are_children(tmp_path: Path) -> None:
    entries = [listed("paper", kind="artifact"), listed("b"), "nonsense", {"kind": "agent"}]
    write_packages(tmp_path, {"a": {"listed": entries}, "b": {}})
    resolution = resolve(tmp_path / "a")
    assert chosen(resolution) == [("@x/a", "@x/b", "1.0.0")]


@pytest.mark.parametrize(
    ("constraint", "version"),
    [(None, "1.0.0"), ("^1.0.0", "1.0.0"), ({"kind": "exact", "version": "1.0.0"}, "1.0.0"),
     ({"kind": "semver-range"}, ""), (7, "")],
)  # fmt: skip
def test_other_forms_of_a_constraint_are_read_or_refused(
    tmp_path: Path, constraint: object, version: str
) -> None:
    entry = listed("b", versionConstraint=constraint)
    write_packages(tmp_path, {"a": {"listed": [entry]}, "b": {}})
    resolution = resolve(tmp_path / "a")
    assert chosen(resolution) == [("@x/a", "@x/b", version)]
    assert codes(resolution) == ([] if version else ["DEP005"])


@pytest.mark.parametrize("version", ["1.0", "", "one"])
def test_a_version_that_is_none_can_be_chosen_by_nobody(tmp_path: Path, version: str) -> None:
    tree = {"a": {"wants": {"b": "*"}}, "b": {"version": version}}
    write_packages(tmp_path, tree)
    assert codes(resolve(tmp_path / "a")) == ["DEP002"]
    assert codes(resolve(tmp_path / "b")) == ["DEP008"]


def test_what_is_installed_or_hidden_is_looked_into_only_when_named(tmp_path: Path) -> None:
    tree = {"a": {"wants": {"b": "*"}}, "node_modules/b": {}, ".hidden/b": {"version": "1.0.1"}}
    write_packages(tmp_path, tree)
    assert codes(resolve(tmp_path / "a")) == ["DEP001"]
    found = resolve(tmp_path / "a", roots=[tmp_path / "node_modules"])
    assert chosen(found) == [("@x/a", "@x/b", "1.0.0")]


def test_a_package_json_beside_it_that_is_broken_is_a_warning(tmp_path: Path) -> None:
    write_packages(tmp_path, {"a": {"wants": {"b": "*"}}, "b": {}})
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "package.json").write_text("{")
    resolution = resolve(tmp_path / "a")
    assert [(f.code, f.severity) for f in resolution.findings] == [("OAS004", "warning")]
    assert [f.code for f in resolve(tmp_path / "broken").findings.errors] == ["OAS004"]


@pytest.mark.parametrize("content", ["[]", "7", "null", '{"cinatra": 7}', '{"name": "x"}'])
def test_a_package_json_without_a_cinatra_object_is_no_agent(tmp_path: Path, content: str) -> None:
    write_packages(tmp_path, {"a": {}})
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "package.json").write_text(content)
    assert [package.name for package in resolve(tmp_path).roots] == ["@x/a"]
    assert [f.code for f in resolve(tmp_path / "plain").findings] == ["OAS001"]


@pytest.mark.parametrize("cinatra", [
    {"agentDependencies": 7}, {"agentDependencies": ["@x/b"]}, {"dependencies": {"a": 1}},
    {"dependencies": [7, None, {"packageName": 7, "kind": "agent"}]}, {},
])  # fmt: skip
def test_entries_of_any_other_form_are_no_children(
    tmp_path: Path, cinatra: dict[str, object]
) -> None:
    resolution = resolve(write_packages(tmp_path, {"a": {"cinatra": cinatra}}) / "a")
    assert (resolution.links, codes(resolution)) == ((), [])


@pytest.mark.parametrize("path", ["none", "", "a\0b", "x" * 5_000])
def test_a_path_that_cannot_be_read_is_a_finding(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    resolution = resolve(path)
    assert codes(resolution) == ["OAS001"]
    assert [finding.file for finding in resolution.findings] == [str(Path(path))]
    assert resolution.roots == ()


def test_a_long_chain_and_a_wide_tree_are_walked_without_recursion(tmp_path: Path) -> None:
    tree = {f"p{i:04}": {"wants": {f"p{i + 1:04}": "*"}} for i in range(1_500)}
    tree["p1500"] = {}
    write_packages(tmp_path, tree)
    resolution = resolve(tmp_path / "p0000")
    assert len(resolution.links) == 1_500
    assert codes(resolution) == []


def test_the_document_names_packages_and_their_children(tmp_path: Path) -> None:
    write_packages(tmp_path, {"a": {"wants": {"b": "^1.0.0", "c": "*"}}, "b": {}})
    document = resolve(tmp_path / "a").to_json()
    assert json.loads(json.dumps(document)) == document
    packages = document["packages"]
    assert isinstance(packages, list)
    assert packages[0] == {
        "name": "@x/a", "version": "1.0.0", "path": str(tmp_path / "a"), "root": True,
        "dependencies": [
            {"name": "@x/b", "range": "^1.0.0", "optional": False, "status": "ok",
             "version": "1.0.0", "path": str(tmp_path / "b")},
            {"name": "@x/c", "range": "*", "optional": False, "status": "missing",
             "version": None, "path": None},
        ],
    }  # fmt: skip
    assert (document["errors"], document["warnings"]) == (1, 0)


def test_the_library_form_needs_no_engine_and_no_terminal() -> None:
    code = (
        "import sys; from oas_compiler.deps import resolve; resolve('/nowhere'); "
        "heavy = {'langgraph', 'typer', 'rich', 'psycopg', 'jsonschema', 'pydantic', 'jinja2'}; "
        "print(sorted(heavy & {name.split('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the folder of real input is absent")
def test_the_public_agents_resolve_but_for_those_that_are_not_there() -> None:
    resolution = resolve(CORPUS)
    missing = {
        (link.dependent.name, link.wanted.name) for link in resolution.links if not link.chosen
    }
    scope = "@cinatra-ai"
    assert missing == {
        (f"{scope}/email-outreach-agent", f"{scope}/email-delivery-agent"),
        (f"{scope}/email-outreach-agent", f"{scope}/email-recipient-selection-agent"),
        (f"{scope}/email-outreach-agent", f"{scope}/skill-recommender-agent"),
        (f"{scope}/email-test-delivery-agent", f"{scope}/email-delivery-agent"),
    }
    # email-outreach holds a copy of email-drafting that has gone its own way
    assert codes(resolution) == ["DEP001"] * 4 + ["DEP012"]
    assert len(resolution.links) == 8


def copying(renderer: str = "@x/b:review", *, outputs: tuple[str, ...] = ("text",)) -> dict:
    inner = _child(renderer, outputs=outputs)
    return flow_of(start(), flow_node("run", inner, packageName="@x/b"), end(), id_="outer")


def _child(renderer: str = "@x/b:review", *, outputs: tuple[str, ...] = ("text",)) -> dict:
    ports = [port(title, default="") for title in outputs]
    return flow_of(start(), gate("review", renderer=renderer), end(*ports), id_="inner")


def test_a_copy_of_a_child_agent_that_differs_from_its_package_is_a_warning(tmp_path: Path) -> None:
    child = {"flow": _child()}
    own = {"wants": {"b": "^1.0.0"}, "flow": copying("@x/b:other", outputs=())}
    (finding,) = resolve(write_packages(tmp_path, {"a": own, "b": child})).findings
    assert (finding.code, finding.severity) == ("DEP012", "warning")
    assert finding.pointer == "/$referenced_components/inner"
    assert finding.message == (
        'the FlowNode "run" holds a copy that differs from @x/b@1.0.0: it lacks the output "text", '
        'a gate with the screen "@x/b:review" (read_only), and it has a gate with the screen '
        '"@x/b:other" (read_only)'
    )


def test_a_copy_with_other_ids_and_texts_is_still_one(tmp_path: Path) -> None:
    made = copying()
    made["$referenced_components"]["inner"]["description"] = "A copy."
    tree = {"a": {"wants": {"b": "^1.0.0"}, "flow": made}, "b": {"flow": _child()}}
    assert codes(resolve(write_packages(tmp_path, tree))) == []
