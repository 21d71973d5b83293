"""The files, imports and links that the documentation names are there."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
OTHERS = {"node_modules", *(path.name for path in ROOT.glob(".venv*"))}
"""Folders of other people's files."""
NOT_READ = {"decisions.md"}
"""Its paths have a test of their own, since an old decision may name a file that is gone."""
DOCUMENTS = sorted(
    path
    for path in (ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("*/**/README.md"))
    if path.name not in NOT_READ and not OTHERS.intersection(path.relative_to(ROOT).parts)
)
ROOMS = ("", "oas_compiler", "cinatra_sdk", "cinatra_sdk/postgres")
"""Folders in which a short path (`lower/names.py`) is looked for, beside the project's own."""
OURS = {path.name for path in ROOT.iterdir() if path.is_dir()}
OUR_SUFFIXES = (".py", ".sql")
"""Of short paths only these are ours; `cinatra/oas.json` is a file in the reader's own package."""


def find_paths(text: str) -> set[str]:
    """The paths in backticks that mean files or folders of this project."""
    found = set(re.findall(r"`([\w.<>*-]+/[\w./<>*-]*)`", text))
    found |= set(re.findall(r"(?<![\w/`.])((?:docs|tests|scripts)/[\w./-]*\w)", text))
    return {path for path in found if is_ours(path)}


def is_ours(path: str) -> bool:
    head = path.split("/", maxsplit=1)[0]
    return (head in OURS and not head.startswith(".")) or path.endswith(OUR_SUFFIXES)


def is_there(path: str) -> bool:
    # `checks/<group>/` and `kinds/NAME.py` stand for every file of that form.
    pattern = re.sub(r"<\w+>|\b[A-Z]{3,}(?=\.|$)|(?<=_)[A-Z]{3,}", "*", path).rstrip("/")
    return any(any((ROOT / room).glob(pattern)) for room in ROOMS)


def find_imports(program: str) -> list[tuple[str, str]]:
    """Module and name of each `from … import …` of this project's packages."""
    try:
        tree = ast.parse(program)
    except SyntaxError:
        return []  # an abridged program: "…" stands for what a reader fills in
    return [
        (node.module, name.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for name in node.names
        if node.module.split(".")[0] in {"cinatra_sdk", "oas_compiler", "graphs"}
    ]


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_path_that_a_document_names_is_there(document: Path) -> None:
    paths = find_paths(document.read_text(encoding="utf-8"))
    assert sorted(path for path in paths if not is_there(path)) == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_link_of_a_document_leads_to_a_file_and_a_heading(document: Path) -> None:
    lost = []
    links = re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)", without_code(document))
    for file, heading in links:
        target = (document.parent / file) if file else document
        if not target.exists() or (heading and heading not in headings_of(target)):
            lost.append(f"{file}#{heading}")
    assert lost == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_import_of_a_printed_program_succeeds(document: Path) -> None:
    for program in re.findall(r"```python\n(.*?)```", document.read_text("utf-8"), re.DOTALL):
        for module, name in find_imports(program):
            if not hasattr(importlib.import_module(module), name):
                importlib.import_module(f"{module}.{name}")


def without_code(document: Path) -> str:
    text = re.sub(r"^```.*?^```$", "", document.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`", "", text)


def headings_of(document: Path) -> set[str]:
    """The anchors that GitHub makes of the headings of a page."""
    titles = re.findall(r"^#+ (.+)$", document.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_a_lost_path_and_a_lost_heading_are_noticed(tmp_path: Path) -> None:
    # Control: each of the searches finds a mistake that is there.
    assert find_paths("`tests/gone.py`, `lower/gone.py`, `cinatra/oas.json`, see docs/gone.md.") == {
        "tests/gone.py", "lower/gone.py", "docs/gone.md",
    }  # fmt: skip
    assert not is_there("tests/gone.py")
    assert is_there("checks/<group>/")
    assert is_there("oas_compiler/kinds/NAME.py")
    page = tmp_path / "page.md"
    page.write_text("# The `ir` of a flow, `x=`\n", "utf-8")
    assert headings_of(page) == {"the-ir-of-a-flow-x"}
    assert find_imports("from cinatra_sdk.x import y\n") == [("cinatra_sdk.x", "y")]


# ------------------------------------------------------------------ the decisions and the glossary

NO_PATH = {
    "*/": "a pattern that a shell reads",
    "../agent/x": "a link in a package of an author",
    "n/a": "a text that a person answers",
    "langgraph/": "a folder that was refused",
    "cinatra_sdk/langgraph/": "a folder that was refused",
    "api/": "a folder that was left for later",
}
"""What stands in backticks in docs/decisions.md with a slash, and is no path of this project, each with its reason."""
HOUSES = (
    "oas_compiler",
    "cinatra_sdk",
    "graphs",
    "tests",
    "examples",
    "scripts",
    "docs",
    "benchmarks",
)
"""Folders in which the end of a path is looked for."""
THEN = r"`[^`\n]*` \(then\)"
"""The name that a file had when a decision was made, and that no file has now."""


def find_decided_paths(text: str) -> set[str]:
    """The paths in backticks, each form of `flow/{plan,visit}`; without those of then."""
    today = re.sub(THEN, "", text)
    written = set(re.findall(r"`([\w.<>*{},-]+(?:/[\w./<>*{},-]*|\.py))`", today))
    return {path for form in written for path in open_braces(form)}


def open_braces(form: str) -> list[str]:
    head, brace, rest = form.partition("{")
    if not brace:
        return [form]
    inner, _, tail = rest.partition("}")
    return [head + word + tail for word in inner.split(",")]


def is_found(path: str) -> bool:
    """Whether a file or folder has the path, or ends with it: `gates.py` is a file of some folder."""
    return is_there(path) or any(
        any((ROOT / room).glob(f"**/{path.rstrip('/')}")) for room in HOUSES
    )


def test_every_path_of_a_decision_is_there_or_was_there_then() -> None:
    paths = find_decided_paths((ROOT / "docs/decisions.md").read_text("utf-8")) - set(NO_PATH)
    assert sorted(path for path in paths if not is_found(path)) == []


def test_every_exception_of_the_decisions_is_used() -> None:
    assert set(NO_PATH) <= find_decided_paths((ROOT / "docs/decisions.md").read_text("utf-8"))


def test_a_path_of_a_decision_that_is_gone_is_noticed() -> None:
    text = "`lower/gone.py` and `old.py` (then), `cli/{view,gone}`, `gone.py`, `drawing/`, `x.y`"
    found = find_decided_paths(text)
    assert found == {"lower/gone.py", "cli/view", "cli/gone", "gone.py", "drawing/"}
    assert {path for path in found if is_found(path)} == {"cli/view"}


WORDS = """
    activation admission branch budget bundle capability claim critic cursor delegation door envelope
    evidence fence frame gateway journal lease ledger lend pack pin plan replay rulebook seal settle
    site slot stop sweep transcript turn visit wiring
"""
"""Words of flows, of the store and of governance that a reader of the code meets."""
ROW = r"^\| \*\*(.+?)\*\* \| (.+) \| (.*?) ?\|$"


def read_glossary() -> list[tuple[str, str, str]]:
    """Word, meaning and places of each row."""
    return re.findall(ROW, (ROOT / "docs/glossary.md").read_text("utf-8"), re.MULTILINE)


def test_the_words_of_flows_and_governance_have_rows_with_their_modules() -> None:
    places = {word: re.findall(r"`([^`]+)`", where) for word, _, where in read_glossary()}
    assert [word for word in WORDS.split() if not places.get(word)] == []
    assert [path for paths in places.values() for path in paths if not (ROOT / path).exists()] == []


def test_each_line_of_the_glossary_is_a_row_and_the_rows_stand_in_the_order_of_the_alphabet() -> (
    None
):
    lines = (ROOT / "docs/glossary.md").read_text("utf-8").splitlines()
    rows = read_glossary()
    assert len(rows) == len([line for line in lines if line.startswith("| **")])
    words = [word.lower() for word, _, _ in rows]
    assert words == sorted(set(words))


# ------------------------------------------------------------------ docstrings of folders

FOLDERS = sorted(
    path.parent for package in ("oas_compiler", "cinatra_sdk", "graphs") for path in (ROOT / package).rglob("__init__.py")
)  # fmt: skip
REST = "all others "
"""At the head of a line: the modules that are named nowhere else, together."""


def describe_folder(folder: Path) -> str:
    tree = ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))
    return ast.get_docstring(tree) or ""


def find_lies(text: str, folder: Path) -> list[str]:
    """The modules and folders that the docstring names and the folder lacks, then the reverse."""
    names = set(re.findall(r"(?<![\w/`*])\w+(?:\.py|/)(?=[\s,;:.)`]|$)", text))
    lost = {name for name in names if not (folder / name).exists() and not is_folder(name)}
    lost |= {path for path in re.findall(r"[\w/]+/\w+\.py", text) if not is_there(path)}
    entries = [line for line in text.splitlines() if re.match(r"\s*\w+\.py\s", line)]
    if len(entries) < 2 or any(line.strip().startswith(REST) for line in text.splitlines()):
        return sorted(lost)
    here = {path.name for path in folder.glob("*.py")} - {"__init__.py"}
    here |= {f"{path.parent.name}/" for path in folder.glob("*/__init__.py")}
    return sorted(lost) + sorted(here - names)


def is_folder(name: str) -> bool:
    """Whether the name is one of a package's own folders: `kinds/`."""
    return name.endswith("/") and any((ROOT / room / name).is_dir() for room in ROOMS)


@pytest.mark.parametrize("folder", FOLDERS, ids=name_of)
def test_the_docstring_of_a_folder_names_its_modules(folder: Path) -> None:
    assert find_lies(describe_folder(folder), folder) == []


MODULES = sorted(
    path for package in ("oas_compiler", "cinatra_sdk", "graphs") for path in (ROOT / package).rglob("*.py")
)  # fmt: skip
OF_USERS = {"scripts/a.py", "scripts/send.py", "a.py", "shop/refunds.py", "shop/newsletter.py"}
"""Files in the packages of users, which heads of modules give as examples."""
PROGRAMS = {"verifier.py"}
"""Modules that are called by their name: their heads show how."""


def find_wrong_names(text: str, module: Path) -> list[str]:
    """The modules that a head names and that are not there, and the module itself."""
    names = set(re.findall(r"(?<![\w/.])[\w/]+\.py\b", text)) - OF_USERS
    return sorted(
        name
        for name in names
        if not is_found(name) or (name == module.name and name not in PROGRAMS)
    )  # fmt: skip


def test_heads_of_modules_name_other_modules_that_are_there() -> None:
    wrong = {}
    for module in MODULES:
        head = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
        if names := find_wrong_names(head, module):
            wrong[name_of(module)] = names
    assert wrong == {}


def test_a_head_that_names_itself_or_a_lost_module_is_noticed() -> None:
    head = "See `visit.py`, `gone.py`, `scripts/send.py` and lower/flow.py."
    assert find_wrong_names(head, ROOT / "cinatra_sdk/flow/visit/visit.py") == [
        "gone.py",
        "visit.py",
    ]


@pytest.mark.parametrize("package", ["cinatra_sdk", "oas_compiler"])
def test_the_docstring_of_a_package_names_its_folders(package: str) -> None:
    words = set(re.findall(r"\w+", describe_folder(ROOT / package)))
    assert set(importlib.import_module(package).FLOORS) <= words


def test_a_module_that_is_named_wrongly_or_left_out_is_noticed(tmp_path: Path) -> None:
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).touch()
    assert find_lies("Words.\n\na.py   one;  b.py  two\nc.py   three", tmp_path) == []
    assert find_lies("Words.\n\na.py   one\nb.py   two", tmp_path) == ["c.py"]
    assert find_lies("Words.\n\na.py   one\nall others  more\nb.py   two", tmp_path) == []
    assert find_lies("Words, with d.py and e/.", tmp_path) == ["d.py", "e/"]
