"""Packs of rules from installed packages: the example of docs/adding-rules.md, and all that is refused."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from typer.testing import CliRunner

from oas_compiler import catalog, check
from oas_compiler.checks import rule_packs
from oas_compiler.checks.all_rules import RULES
from oas_compiler.checks.rule_packs import OWN, OWN_GROUPS, RulePack, load_own_pack, read_rule_packs
from oas_compiler.cli.app import app_for
from oas_compiler.findings.rule import CheckRule
from oas_compiler.ir import Place
from oas_compiler.report import rule_cards
from oas_compiler.rules import Report, Subject, rule
from tests.flows import api, end, flow_of, gate, start

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "docs" / "plugin-rules"

DELETES = flow_of(start(), gate("ask"), {**api("drop"), "http_method": "DELETE"}, end())
CLEAN = flow_of(start(), {**gate("ask"), "message": "Drop it?"}, api("drop"), end())


def forget_packs() -> None:
    for cached in (
        catalog.load_rule_packs,
        catalog.all_rules,
        catalog.list_pack_cards,
        catalog._by_name,
    ):
        cached.cache_clear()  # fmt: skip


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The package of the example, as installed."""
    about = tmp_path / "acme_rules-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-rules\nVersion: 0.1.0\n")
    registered = (EXAMPLE / "pyproject.toml").read_text().split("entry-points.")[1]
    (about / "entry_points.txt").write_text(registered.replace('"oasflow.rules"]', "[oasflow.rules]").replace('"', ""))  # fmt: skip
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(EXAMPLE)
    forget_packs()
    yield about
    monkeypatch.undo()
    sys.modules.pop("acme_rules", None)
    forget_packs()


def find_codes(flow: Any) -> list[str]:
    return [finding.code for finding in check(flow) if finding.code.startswith(("ACME", "OAS056"))]


@pytest.mark.usefixtures("installed")
def test_the_rules_of_a_package_are_applied() -> None:
    assert sorted(find_codes(DELETES)) == ["ACME001", "ACME002"]
    assert find_codes(CLEAN) == []


@pytest.mark.usefixtures("installed")
def test_its_rules_are_listed_selected_and_ignored(tmp_path: Path) -> None:
    file = tmp_path / "flow.json"
    file.write_text(json.dumps(DELETES))

    def run(*words: str) -> set[str]:
        output = (
            CliRunner()
            .invoke(app_for(["check"]), ["check", str(file), "--format", "json", *words])
            .stdout
        )
        return {finding["code"] for finding in json.loads(output)["files"][0]["findings"]}  # fmt: skip

    assert run("--select", "acme") == run("--select", "ACME") == {"ACME001", "ACME002"}
    assert run("--select", "acme-no-delete") == {"ACME001"}
    assert not {"ACME001", "ACME002"} & run("--ignore", "acme")
    assert "ACME001" in run("--ignore", "ACME002")
    assert rule_cards.list_groups()["acme"] == "Acme: what our agents may do"
    card = catalog.find("acme-gate-message")
    assert card is not None
    assert rule_cards.card_record(card)["group"] == "acme"
    assert rule_cards.nearest_rule("acme-no-delet") == 'did you mean "acme-no-delete"?'
    assert "ACME001" not in rule_cards.rules_document()


def test_without_the_package_nothing_of_it_is_applied() -> None:
    assert find_codes(DELETES) == []


# ------------------------------------------------------------------ oasflow's own packs


def test_the_packs_of_oasflow_are_registered_and_on() -> None:
    import tomllib

    registered = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    assert registered[rule_packs.GROUP] == dict(OWN)
    for name in OWN:
        assert set(load_own_pack(name).rules) <= set(RULES)
        assert rule_cards.list_pack_cards(name)
    entries = [EntryPoint(name, value, rule_packs.GROUP) for name, value in OWN.items()]
    assert read_rule_packs(entries, ()) == rule_packs.RulePacks(), "they are not added twice"


# ------------------------------------------------------------------ what is refused


def make_rule(look: Any = lambda subject, report: None, **changed: Any) -> CheckRule:
    card: Any = {
        "code": "ACME001", "name": "acme-one", "severity": "error", "summary": "A.", "fix": "B.",
        "source": "Acme", "needs": "flow", **changed,
    }  # fmt: skip
    return rule(**card)(look)


def read_one(
    made: Any, monkeypatch: pytest.MonkeyPatch, name: str = "acme"
) -> rule_packs.RulePacks:
    module: Any = ModuleType("acme_made")
    module.PACK = made
    monkeypatch.setitem(sys.modules, "acme_made", module)
    entry = EntryPoint(name, "acme_made:PACK", rule_packs.GROUP)
    monkeypatch.setattr(catalog, "_list_entries", lambda: [entry])
    return catalog.load_rule_packs.__wrapped__()


def pack_of(*rules: Any, title: Any = "Acme") -> RulePack:
    return RulePack(title=title, rules=rules)


async def wait(subject: Subject, report: Report) -> None:
    report("one")


def late(subject: Subject, report: Report) -> Any:
    yield report("one")


WRONG = [
    (None, "is no RulePack, but of the class NoneType"),
    (pack_of(), "`rules` is no tuple of rules"),
    (RulePack(title="x", rules=[make_rule()]), "`rules` is no tuple of rules"),  # type: ignore[arg-type]
    (pack_of(make_rule(), title=" "), "its title is no text"),
    (pack_of("x"), "'x' in `rules` was not made by @rule"),
    (pack_of(make_rule(code="OAS900")), 'the code "OAS900" is not two to eight capitals'),
    (pack_of(make_rule(code="acme1")), 'the code "acme1" is not'),
    (pack_of(make_rule(code="ACME001\n")), "is not two to eight capitals"),
    (pack_of(make_rule(name="Acme One")), 'the name "Acme One" of ACME001'),
    (pack_of(make_rule(severity="fatal")), "the severity of ACME001 is none of error, warning"),
    (pack_of(make_rule(needs="all")), "`needs` of ACME001 is none of document, flow"),
    (pack_of(make_rule(fix="")), "ACME001 says nothing as its summary or its fix"),
    (pack_of(make_rule(source=None)), "a member of a rule's card is no text"),
    (pack_of(make_rule(fixable=True)), "fixable"),
    (pack_of(make_rule(look=3)), "ACME001 has no function"),
    (pack_of(make_rule(look=wait)), "the function of ACME001 would not run"),
    (pack_of(make_rule(look=late)), "the function of ACME001 would not run"),
    (pack_of(make_rule(), make_rule(name="acme-two")), '"acme001" already'),
    (pack_of(make_rule(aliases=("V17",))), '"v17" already'),
    (pack_of(make_rule(name="one-edge-per-branch")), '"one-edge-per-branch" already'),
    (pack_of(make_rule(name="child-agent-circle")), '"child-agent-circle" already'),
    # What `--select` takes for something else: it would silence rules of oasflow.
    (pack_of(make_rule(name="guide")), 'the name "guide" of ACME001 reads as the beginning of codes'),
    (pack_of(make_rule(name="cinatra-host")), '"cinatra-host" of ACME001 is the name of a rule pack'),
    (pack_of(make_rule(aliases=("Cinatra-Host",))), "is the name of a rule pack"),
    (pack_of(make_rule(aliases=("OAS",))), 'the name "oas" of ACME001 reads as the beginning'),
    (pack_of(make_rule(aliases=("OAS1",))), 'the name "oas1" of ACME001 reads as the beginning'),
    (pack_of(make_rule(aliases=("OA\u017f",))), 'the name "oas" of ACME001 reads as the beginning'),
    (pack_of(make_rule(also=("OAS1",))), 'the name "oas1" of ACME001 reads as the beginning'),
    (pack_of(make_rule(also=("guide",))), 'the name "guide" of ACME001 reads as the beginning'),
    (pack_of(make_rule(aliases=("",))), "a name of ACME001 is empty"),
    # Cards that are none.
    (pack_of(make_rule(aliases=None)), "`aliases` or `also` of ACME001 is no tuple of texts"),
    (pack_of(make_rule(aliases=5)), "`aliases` or `also` of ACME001 is no tuple of texts"),
    (pack_of(make_rule(aliases="V99")), "`aliases` or `also` of ACME001 is no tuple of texts"),
    (pack_of(make_rule(also="V17")), "`aliases` or `also` of ACME001 is no tuple of texts"),
    (pack_of(make_rule(aliases=(5,))), "`aliases` or `also` of ACME001 is no tuple of texts"),
    (pack_of(make_rule(severity=["error"])), "a member of a rule's card is no text"),
    (pack_of(CheckRule(None, "document", print)), "in `rules` was not made by @rule"),  # type: ignore[arg-type]
    (pack_of(type("Own", (CheckRule,), {"__slots__": ()})(None, "flow", print)), "not made by @rule"),  # type: ignore[arg-type]
    (object.__new__(RulePack), "acme_made:PACK cannot be read: AttributeError"),
    (type("Own", (RulePack,), {})(title="x", rules=(make_rule(),)), "is no RulePack, but of the class Own"),
    (pack_of(object.__new__(CheckRule)), "acme_made:PACK cannot be read: AttributeError"),
]  # fmt: skip


@pytest.mark.parametrize(("made", "why"), WRONG, ids=[why[:40] for _, why in WRONG])
def test_a_wrong_pack_is_refused_whole(
    made: Any, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = read_one(made, monkeypatch)
    assert found.packs == {}
    (refusal,) = found.refused
    assert why in refusal.message
    assert 'the rule pack "acme"' in refusal.message


def test_an_object_that_answers_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent:
        def __getattr__(self, name: str) -> Any:
            raise ValueError("boom")

        def __call__(self, subject: Subject, report: Report) -> None:
            report("hit")

    for made in (Silent(), pack_of(Silent()), pack_of(make_rule(Silent()))):
        found = read_one(made, monkeypatch)
        assert (found.packs == {}) == bool(found.refused)


def test_a_word_that_selects_rules_of_oasflow_goes_on_doing_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each name of a pack that is taken leaves what every other word selects as it was."""
    words = ("OAS", "OAS0", "OAS1", "DEP0", "guide", "cinatra-host", "V17", "V25", "OAS044")
    before = {word: rule_cards.begins_with(word) or rule_cards.rules_called(word) for word in words}
    names = [*words, *map(str.lower, words), "acme-two", "safety", "A-1"]
    for name in names:
        for changed in ({"name": name}, {"aliases": (name,)}, {"also": (name,)}):
            found = read_one(pack_of(make_rule(**changed)), monkeypatch)
            with monkeypatch.context() as patch:
                patch.setattr("oas_compiler.catalog.load_rule_packs", lambda found=found: found)
                for cached in (catalog.all_rules, catalog.list_pack_cards, catalog._by_name):
                    cached.cache_clear()
                for word, cards in before.items():
                    now = rule_cards.begins_with(word) or rule_cards.rules_called(word)
                    assert set(cards) <= set(now), (name, changed, word)
    forget_packs()


def test_what_a_package_prints_is_no_report(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def say(subject: Subject, report: Report) -> None:
        print("hi from the rule")

    found = read_one(pack_of(make_rule(say)), monkeypatch)
    monkeypatch.setattr("oas_compiler.catalog.load_rule_packs", lambda: found)
    before = sys.stdout
    check(CLEAN)
    assert sys.stdout is before
    out, err = capsys.readouterr()
    assert (out, err) == ("", "hi from the rule\n")


@pytest.mark.usefixtures("installed")
def test_a_package_that_prints_when_it_is_imported_prints_to_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "acme_rules.py").write_text("print('hello')\nPACK = None\n")
    sys.path.insert(0, str(tmp_path))
    try:
        assert find_codes(CLEAN) == ["OAS056"]
    finally:
        sys.path.remove(str(tmp_path))
    assert capsys.readouterr() == ("", "hello\n")


def clear(subject: Subject, report: Report) -> None:
    report("cleared")
    subject.document.value.clear()  # type: ignore[union-attr]


def change_deep(subject: Subject, report: Report) -> None:
    subject.components[-1].value["id"] = "other"


def change_and_fail(subject: Subject, report: Report) -> None:
    change_deep(subject, report)
    raise KeyError("x")


@pytest.mark.parametrize("look", [clear, change_deep, change_and_fail])
def test_a_rule_that_changes_the_document_is_named_and_silences_no_other(
    look: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(subject: Subject, report: Report) -> None:
        report(json.dumps(subject.document.value, sort_keys=True))

    second = make_rule(read, code="ACME002", name="acme-two")
    alone, both = (
        read_one(pack_of(*rules), monkeypatch) for rules in ((second,), (make_rule(look), second))
    )
    told = []
    for found in (alone, both):
        monkeypatch.setattr("oas_compiler.catalog.load_rule_packs", lambda found=found: found)
        told.append([one for one in check(CLEAN) if one.code.startswith(("ACME", "OAS056"))])
    (wanted,), findings = told
    assert [one.message for one in findings if one.code == "ACME002"] == [wanted.message]
    (failed,) = [one for one in findings if one.code != "ACME002"]
    assert failed.code == "OAS056"
    assert ("it changes the document" in failed.message) == (look is not change_and_fail)


def test_names_of_packs_are_held_to_a_form_and_to_one_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    good = pack_of(make_rule())
    assert list(read_one(good, monkeypatch).packs) == ["acme"], "the control"
    assert OWN_GROUPS | OWN.keys() >= {*rule_cards.GROUPS}
    assert rule_cards.GROUPS.keys() >= OWN_GROUPS
    for name in (
        "Acme", "acme_rules", "a b", "guide", "oas", "oas05", "oa", "dep", "safety", "deps",
        "one-edge-per-branch", "v17",
    ):  # fmt: skip
        assert read_one(good, monkeypatch, name).packs == {}
    twice = [
        EntryPoint("acme", f"acme_made:{member}", rule_packs.GROUP) for member in ("PACK", "A")
    ]
    (refusal,) = read_rule_packs(twice, ()).refused
    assert "several packages register a pack of this name" in refusal.message
    (refusal,) = read_rule_packs(
        [EntryPoint("acme", "acme_gone:PACK", rule_packs.GROUP)], ()
    ).refused
    assert "acme_gone:PACK cannot be imported: ModuleNotFoundError" in refusal.message


def test_a_pack_that_cannot_be_used_is_told_at_every_file(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (installed / "entry_points.txt").write_text("[oasflow.rules]\nacme = acme_rules:GONE\n")
    forget_packs()
    (finding,) = [one for one in check(CLEAN) if one.code == "OAS056"]
    assert 'the rule pack "acme" of the package "acme-rules" cannot be used' in finding.message
    assert rule_cards.Selection.of(select=["OAS044"]).wants(finding)
    assert not rule_cards.Selection.of(ignore=["OAS056"]).wants(finding)


def raise_error(subject: Subject, report: Report) -> None:
    report("one")
    raise SystemExit(0)


def keep(subject: Subject, report: Report) -> Any:
    return (report("one") for _ in range(1))


def cancel(subject: Subject, report: Report) -> None:
    raise asyncio.CancelledError


def give_away(subject: Subject, report: Report) -> None:
    raise KeyError("password=hunter2secret")


FAILING = [
    (raise_error, "SystemExit at test_rule_packs.py:"),
    (cancel, "CancelledError at test_rule_packs.py:"),
    (give_away, "KeyError at test_rule_packs.py:"),
    (keep, "TypeError: it gives a generator, and a rule only calls report"),
    (
        lambda subject, report: next(map(wait, [subject], [report])),
        "TypeError: it gives a coroutine",
    ),
    (lambda subject, report: report("x", file="/etc/passwd"), "ValueError: a file of its findings"),
    (lambda subject, report: report("x", file="../x"), "ValueError: a file of its findings"),
    (lambda subject, report: report("x", Place(line="5")), "TypeError: a place of its findings"),
    (lambda subject, report: report("x", Place(pointer=5)), "TypeError: a place of its findings"),
    (
        lambda subject, report: report("x", Place(column=10**30)),
        "TypeError: a place of its findings",
    ),
    (lambda subject, report: report("x", Place(line=-1)), "TypeError: a place of its findings"),
    (lambda subject, report: report(None), "TypeError at test_rule_packs.py:"),
    (lambda subject, report: report("x", "not a place"), "TypeError"),
    (lambda subject, report: report("x", fix=("no edit",)), "AssertionError"),
    (lambda subject: None, "TypeError"),
]


@pytest.mark.parametrize(("look", "why"), FAILING)
def test_a_rule_that_fails_is_named_and_takes_its_findings_with_it(
    look: Any, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = read_one(pack_of(make_rule(look)), monkeypatch)
    monkeypatch.setattr("oas_compiler.catalog.load_rule_packs", lambda: found)
    findings = [one for one in check(CLEAN) if one.code in {"ACME001", "OAS056"}]
    (finding,) = findings
    assert finding.code == "OAS056"
    assert f'the rule ACME001 of the package "acme" fails with {why}' in finding.message
    assert "hunter2" not in str(finding)


def test_texts_of_a_rule_move_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    found = read_one(
        pack_of(make_rule(lambda s, report: report("a\x1b[2J\nb", hint="\x07"))), monkeypatch
    )
    monkeypatch.setattr("oas_compiler.catalog.load_rule_packs", lambda: found)
    (finding,) = [one for one in check(CLEAN) if one.code == "ACME001"]
    assert finding.message == "a␛[2J b"
    assert "\x07" not in finding.hint
