"""Codes: each stands for one rule, has one card, and docs/diagnostics.md is made of the cards."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from oas_compiler import checks
from oas_compiler.catalog import READER_RULES, all_rules, find
from oas_compiler.checks.all_rules import RULES
from oas_compiler.findings.rule import CheckRule, Rule
from oas_compiler.report import rule_cards

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "oas_compiler"
CODE = re.compile(r"OAS\d{3}")
GROUPS = ("structure", "cinatra", "context", "guide", "safety", "sense")
CARDS = pytest.mark.parametrize("card", all_rules(), ids=lambda card: card.code)


def reading_files() -> Iterator[Path]:
    """Modules that record findings without being rules."""
    elsewhere = {"lower", "cli", "checks", "catalog"}
    for file in sorted(PACKAGE.rglob("*.py")):
        if not elsewhere & set(file.relative_to(PACKAGE).parts):
            yield file


def recorded() -> dict[str, set[str]]:
    """code -> severities with which it is recorded outside checks/."""
    found: dict[str, set[str]] = defaultdict(set)
    for file in reading_files():
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
                continue
            code = call.args[0] if call.args else None
            if isinstance(code, ast.Constant) and CODE.fullmatch(str(code.value)):
                severity = "warning" if call.func.attr == "warning" else "error"
                found[str(code.value)].add(severity)
    return found


def rule_modules() -> list[tuple[str, str, list[CheckRule]]]:
    """(group, module, the rules that the module makes) of every module of the groups."""
    found = []
    for group in GROUPS:
        package = importlib.import_module(f"{checks.__name__}.{group}")
        for info in pkgutil.iter_modules(package.__path__):
            module = importlib.import_module(f"{package.__name__}.{info.name}")
            own = [
                value
                for value in vars(module).values()
                if isinstance(value, CheckRule) and value.look.__module__ == module.__name__
            ]
            found.append((group, info.name, own))
    return found


MODULES = [entry for entry in rule_modules() if entry[2]]


def test_what_reading_and_building_record_has_exactly_the_cards_of_the_catalog():
    assert {code: {card.severity} for code, card in by_code(READER_RULES).items()} == recorded()


def by_code(cards: tuple[Rule, ...]) -> dict[str, Rule]:
    return {card.code: card for card in cards}


def test_every_code_has_one_card():
    assert [code for code, n in Counter(card.code for card in all_rules()).items() if n > 1] == []
    assert all(re.fullmatch(r"(?:OAS|DEP)\d{3}", card.code) for card in all_rules())


def test_every_name_and_alias_means_one_rule_whatever_its_case():
    names = Counter(name.casefold() for card in all_rules() for name in card.names)
    assert [name for name, n in names.items() if n > 1] == []


@CARDS
def test_a_card_says_what_is_wrong_what_to_do_where_it_comes_from_and_how_it_looks(card: Rule):
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+|syntax", card.name)
    assert card.summary.strip()
    assert card.summary.endswith(".")
    assert card.fix.strip()
    assert card.fix.endswith((".", ")"))
    assert card.source.strip()
    assert card.bad.strip()
    assert card.good.strip()
    assert card.bad != card.good


@CARDS
def test_a_rule_is_found_by_each_of_its_names(card: Rule):
    assert [find(name.swapcase()) for name in card.names] == [card] * len(card.names)


def test_an_unknown_name_is_no_rule():
    assert find("OAS000") is None


@pytest.mark.parametrize("group", GROUPS)
def test_the_order_of_a_group_lists_every_rule_of_its_folder_once(group: str):
    listed = importlib.import_module(f"{checks.__name__}.{group}.rules").RULES
    if group == "cinatra":
        listed += importlib.import_module(f"{checks.__name__}.{group}.host_rules").RULES
    made = [rule for at, _, rules in MODULES if at == group for rule in rules]
    assert sorted(rule.card.code for rule in listed) == sorted(rule.card.code for rule in made)


def test_a_module_makes_one_rule_that_is_named_like_it():
    assert [
        name for _, name, (first, *more) in MODULES if more or first.look.__name__ != name
    ] == []


def test_no_two_modules_of_any_group_share_a_name():
    # Each group has its order in a module of one name.
    names = Counter(name for _, name, _ in rule_modules() if name != "rules")
    assert [name for name, n in names.items() if n > 1] == []


def test_every_rule_has_its_own_test_file():
    missing = [
        f"{group}/test_{name}.py"
        for group, name, _ in MODULES
        if not (ROOT / "tests" / "checks" / group / f"test_{name}.py").is_file()
    ]
    assert missing == []


def test_every_rule_of_checks_is_in_a_group():
    assert {rule.card.code for rule in RULES} == {
        rule.card.code for _, _, rules in MODULES for rule in rules
    }


def test_the_document_is_what_the_script_would_write():
    written = (ROOT / "docs" / "diagnostics.md").read_text(encoding="utf-8")
    assert written == rule_cards.rules_document()


def test_the_script_compares_and_writes(tmp_path: Path):
    """In a copy, so that nothing of the checkout changes."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / "docs").mkdir()
    script = tmp_path / "scripts" / "rules-doc"
    script.write_bytes((ROOT / "scripts" / "rules-doc").read_bytes())
    (tmp_path / "oas_compiler").symlink_to(PACKAGE, target_is_directory=True)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(script), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    stale = run("--check")
    assert stale.returncode == 1
    assert "run scripts/rules-doc" in stale.stderr
    assert run().returncode == 0
    assert (tmp_path / "docs" / "diagnostics.md").read_text("utf-8") == rule_cards.rules_document()
    assert run("--check").returncode == 0


def test_the_table_has_one_row_for_each_card():
    rows = re.findall(
        r"^\| ((?:OAS|DEP)\d{3}) \| (error|warning) \|", rule_cards.rules_document(), re.MULTILINE
    )
    assert rows == [(card.code, card.severity) for card in all_rules()]


def test_a_code_without_a_section_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rule_cards, "SECTIONS", rule_cards.SECTIONS[1:])
    with pytest.raises(LookupError, match="OAS001"):
        rule_cards.rules_document()


def test_the_stages_after_reading_record_no_code_of_reading():
    """Exit code 2 of the command line means that the document could not be read."""
    folders = ("document", "build", "types", "checks")
    files = [file for folder in folders for file in (PACKAGE / folder).rglob("*.py")]
    assert len(files) > 100
    for file in files:
        assert not re.search(r'"OAS00\d"', file.read_text(encoding="utf-8")), file
