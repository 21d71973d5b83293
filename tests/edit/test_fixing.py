"""--fix: the author's text changes where an edit says so, and nowhere else."""

from __future__ import annotations

import copy
import json
import os
import shutil
import stat
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from cinatra_sdk.data.text.yaml_reader import read_yaml
from oas_compiler.edit import file_fixes
from oas_compiler.edit.file_fixes import NOT_READ_BACK, CannotWrite, FileChange, Mending, write
from oas_compiler.findings.finding import Edit, Finding, Findings
from oas_compiler.ir import Json, Place
from oas_compiler.pipeline import check
from oas_compiler.text.marks import child
from oas_compiler.text_edits.editable_text import reads_back
from oas_compiler.text_edits.json_edits import CannotEdit, Rewriting, Span, applied, keys_of, spans
from oas_compiler.text_edits.yaml_edits import YamlRewriting
from tests.checks.rule_case import package_of
from tests.flows import end, flow_of, gate, start

GONE = object()


def edit(pointer: str, value: Any) -> Edit:
    return Edit(pointer=pointer, value=None if value is GONE else Json.of(value))


def rewritten(text: str, *edits: tuple[str, Any]) -> str:
    rewriting = Rewriting(text)
    chosen = rewriting.chosen()
    for pointer, value in edits:
        chosen.take([edit(pointer, value)])
    return applied(text, chosen.replacements())


# ------------------------------------------------------------------------------------- spans


def test_a_span_reaches_from_the_first_to_the_last_character_of_a_value():
    text = ' {"a" : [7, "x\\"]"], "b/~": null}\n'
    root = spans(text)
    assert text[root.start : root.end] == text.strip()
    shown = {
        p: text[s.start : s.end] for p in ("/a", "/a/0", "/a/1", "/b~1~0") if (s := root.find(p))
    }
    assert shown == {"/a": '[7, "x\\"]"]', "/a/0": "7", "/a/1": '"x\\"]"', "/b~1~0": "null"}
    member = root.children["a"]
    assert text[member.member : member.after_key] == '"a"'
    assert root.find("/a/2") is None
    assert root.find("/a/0/x") is None


# ------------------------------------------------------------------------------------- layout

INDENTED = """{
    "id": "a",
    "tags": ["x", "y"],
    "empty": {},
    "lines": [
        1,
        2
    ]
}
"""


@pytest.mark.parametrize(
    ("edits", "old", "new"),
    [
        ([("/id", "b")], '"id": "a"', '"id": "b"'),
        ([("/id", GONE)], '    "id": "a",\n', ""),
        ([("/lines", GONE)], ',\n    "lines": [\n        1,\n        2\n    ]', ""),
        ([("/tags/0", GONE)], '["x", "y"]', '["y"]'),
        ([("/tags/1", GONE)], '["x", "y"]', '["x"]'),
        ([("/tags/0", GONE), ("/tags/1", GONE)], '["x", "y"]', "[]"),
        ([("/tags/-", "z")], '["x", "y"]', '["x", "y", "z"]'),
        ([("/tags/1", GONE), ("/tags/-", "z")], '["x", "y"]', '["x", "z"]'),
        ([("/lines/-", 3)], "        2\n", "        2,\n        3\n"),
        ([("/lines/0", GONE)], "        1,\n", ""),
        ([("/empty/k", [1])], "{}", '{\n        "k": [\n            1\n        ]\n    }'),
        ([("/new", True)], "        2\n    ]\n", '        2\n    ],\n    "new": true\n'),
        ([("/tags", {"k": 1})], '["x", "y"]', '{"k": 1}'),
        ([("/lines", {"k": 1})], "[\n        1,\n        2\n    ]", '{\n        "k": 1\n    }'),
    ],
)  # fmt: skip
def test_what_changes_looks_like_what_stands_around_it(edits, old, new):
    assert INDENTED.count(old) == 1
    assert rewritten(INDENTED, *edits) == INDENTED.replace(old, new)


def test_line_ends_tabs_and_tight_colons_stay_the_authors():
    text = '{\r\n\t"a": 1,\r\n\t"b": [\r\n\t\t1\r\n\t]\r\n}\r\n'
    expected = '{\r\n\t"b": [\r\n\t\t1,\r\n\t\t{\r\n\t\t\t"c": 2\r\n\t\t}\r\n\t]\r\n}\r\n'
    assert rewritten(text, ("/a", GONE), ("/b/-", {"c": 2})) == expected
    assert (
        rewritten('{"a":[1,2]}', ("/a/-", {"b": [3]}), ("/c", 4)) == '{"a":[1,2,{"b":[3]}],"c":4}'
    )


def test_escapes_are_written_where_the_author_writes_them():
    assert rewritten('{"a": "\\u00e9"}', ("/b", "ü")) == '{"a": "\\u00e9", "b": "\\u00fc"}'
    assert rewritten('{"a": "é"}', ("/b", "ü")) == '{"a": "é", "b": "ü"}'


def test_a_whole_document_can_be_replaced_but_not_removed():
    assert rewritten("[1]\n", ("", {"a": 1})) == '{"a": 1}\n'
    with pytest.raises(CannotEdit):
        rewritten("[1]\n", ("", GONE))


# ------------------------------------------------------------------------------------- conflicts


@pytest.mark.parametrize(
    "edits",
    [
        [("/id", "b"), ("/id", "b")],
        [("/id", GONE), ("/id", GONE)],
        [("/tags/-", "z"), ("/tags/-", "z")],
        [("/new", 1), ("/new", 1)],
    ],
)
def test_the_same_edit_twice_is_made_once(edits):
    assert rewritten(INDENTED, *edits) == rewritten(INDENTED, edits[0])


def test_different_elements_are_both_added():
    assert '["x", "y", "z", "w"]' in rewritten(INDENTED, ("/tags/-", "z"), ("/tags/-", "w"))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("/id", "b"), ("/id", "c")),
        (("/id", "b"), ("/id", GONE)),
        (("/new", 1), ("/new", 2)),
        (("/tags", GONE), ("/tags/0", "z")),
        (("/tags/0", "z"), ("/tags", GONE)),
        (("/tags", ["q"]), ("/tags/-", "z")),
        (("/tags/-", "z"), ("/tags", ["q"])),
        (("", {}), ("/id", "b")),
    ],
)
def test_an_edit_that_contradicts_an_earlier_one_is_refused(first, second):
    chosen = Rewriting(INDENTED).chosen()
    chosen.take([edit(*first)])
    before = chosen.replacements()
    with pytest.raises(CannotEdit, match="another fix"):
        chosen.take([edit("/fine", 1), edit(*second)])
    assert chosen.replacements() == before, "of a refused fix nothing is made"
    with pytest.raises(CannotEdit, match="another fix"):
        Rewriting(INDENTED).chosen().take([edit(*first), edit(*second)])


@pytest.mark.parametrize(
    "one", [("/none", GONE), ("/none/below", 1), ("/id/below", 1), ("/tags/7", "z"), ("/tags/x", 1)]
)
def test_an_edit_of_what_is_not_there_is_refused(one):
    with pytest.raises(CannotEdit):
        rewritten(INDENTED, one)


# ------------------------------------------------------------------------------------- property

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
)
keys = st.text(st.sampled_from('ab/~"\\é ,:{'), max_size=3)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)
layouts = st.sampled_from(
    [
        {"indent": 2},
        {"indent": "\t"},
        {"indent": 4, "ensure_ascii": False},
        {"separators": (",", ":")},
        {"ensure_ascii": False},
        {"indent": 0, "separators": (" ,", " : ")},
    ]
)


def places(span: Span, pointer: str = "") -> list[str]:
    """Every pointer of the document, and for each container one that does not exist yet."""
    found = [pointer]
    if span.opens:
        found.append(f"{pointer}/-" if span.opens == "[" else f"{pointer}/new")
    for key, below in span.children.items():
        found += places(below, child(pointer, key))
    return found


def made(value: Any, edits: list[Edit]) -> Any:
    """The edits on the decoded value, all pointers meaning the value as it was."""
    root = [copy.deepcopy(value)]
    removed: list[tuple[Any, Any]] = []
    appended: list[tuple[list[Any], Any]] = []
    steps: list[tuple[Any, Any, Edit]] = []
    for one in edits:
        around, key = root, 0
        for part in keys_of(one.pointer):
            around = around[key]
            key = int(part) if isinstance(around, list) and part != "-" else part
        steps.append((around, key, one))
    for around, key, one in steps:
        if one.value is None:
            removed.append((around, key))
        elif key == "-" and isinstance(around, list):
            appended.append((around, one.value.value()))
        else:
            around[key] = one.value.value()
    for around, key in sorted(removed, key=lambda pair: str(pair[1]).zfill(9), reverse=True):
        del around[key]
    for around, item in appended:
        around.append(item)
    return root[0]


@settings(max_examples=300, deadline=None)
@given(st.data(), values, layouts, st.booleans())
def test_the_text_says_afterwards_what_the_edits_say_and_the_rest_is_untouched(
    data, value, layout, windows
):
    text = json.dumps(value, **layout) + "\n"
    if windows:
        text = text.replace("\n", "\r\n")
    rewriting = Rewriting(text)
    chosen = rewriting.chosen()
    taken: list[Edit] = []
    for pointer in data.draw(st.lists(st.sampled_from(places(rewriting.root)), max_size=5)):
        remove = data.draw(st.booleans())
        one = edit(pointer, GONE if remove else data.draw(values))
        again = one.pointer in {other.pointer for other in taken}
        try:
            chosen.take([one])
        except CannotEdit:
            continue
        if not again or (pointer.endswith("/-") and one not in taken):
            taken.append(one)
    result = applied(text, chosen.replacements())
    assert json.loads(result) == made(json.loads(text), taken)
    assert reads_back(json.loads(text), json.loads(result), taken)
    assert result.endswith("\r\n" if windows else "\n")
    _same_spelling(rewriting, result, [one.pointer for one in taken])


def _same_spelling(before: Rewriting, result: str, edited: list[str]) -> None:
    """Every value that holds no edit, and stands in no list that lost an element, is as it was."""
    after = spans(result)
    for pointer in places(before.root):
        span = before.root.find(pointer)
        around = [pointer[:n] for n in range(len(pointer) + 1) if pointer[n : n + 1] in {"/", ""}]
        if span is None or any(one == pointer or one.startswith(f"{pointer}/") for one in edited):
            continue
        if pointer == "" or any(one in around for one in edited) or _moved(before, pointer, edited):
            continue
        now = after.find(pointer)
        assert now is not None, pointer
        assert result[now.start : now.end] == before.text[span.start : span.end]


def _moved(before: Rewriting, pointer: str, edited: list[str]) -> bool:
    """Whether an element before this one, or before one around it, may be gone."""
    for one in edited:
        parent = one.rpartition("/")[0]
        span = before.root.find(parent)
        if one and span is not None and span.opens == "[" and pointer.startswith(f"{parent}/"):
            return True
    return False


@settings(max_examples=300, deadline=None)
@given(st.data(), values, layouts)
def test_one_edit_changes_its_own_span_and_the_comma_beside_it_and_no_other_byte(
    data, value, layout
):
    text = json.dumps(value, **layout)
    rewriting = Rewriting(text)
    pointer = data.draw(st.sampled_from(places(rewriting.root)))
    one = edit(pointer, GONE if data.draw(st.booleans()) else data.draw(values))
    chosen = rewriting.chosen()
    try:
        chosen.take([one])
    except CannotEdit:
        return
    start, end = _may_change(rewriting.root, one)
    result = applied(text, chosen.replacements())
    assert result.startswith(text[:start])
    assert result.endswith(text[end:])
    assert len(result) >= start + len(text) - end


def _may_change(root: Span, one: Edit) -> tuple[int, int]:
    span = root.find(one.pointer)
    if span is not None and one.value is not None:
        return span.start, span.end
    around = root.find(one.pointer.rpartition("/")[0])
    assert around is not None
    siblings = list(around.children.values())
    if span is None:
        return (siblings[-1].end,) * 2 if siblings else (around.start + 1, around.end - 1)
    index = siblings.index(span)
    return (
        siblings[index - 1].end if index else around.start + 1,
        siblings[index + 1].member if index + 1 < len(siblings) else around.end - 1,
    )


# ------------------------------------------------------------------------------------- planning


def finding(code: str, file: str, *fix: Edit, pointer: str = "") -> Finding:
    return Finding(
        code=code, severity="error", message=code, place=Place(pointer), file=file, fix=fix
    )


class Rules:
    """A check made for a test: what it finds follows from the members of the document."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.checked: list[Any] = []
        monkeypatch.setattr(file_fixes, "check", self)

    def __call__(
        self, flow: str, *, env: Any = None, unsaved: Any = (), within: str = ""
    ) -> Findings:
        raw = dict(unsaved).get(flow) or Path(flow).read_bytes()
        document = json.loads(raw.removeprefix(file_fixes.BYTE_ORDER_MARK))
        self.checked.append(document)
        found = [
            finding("OAS901", flow, edit(f"/{key}", GONE), pointer=f"/{key}")
            for key in document
            if key.startswith("old")
        ]
        if "trap" in document and "oldTrap" not in document:
            found.append(finding("OAS902", flow))
        if document.get("loud") == 1:
            found.append(finding("OAS903", flow, edit("/loud", 2)))
        if document.get("loud") == 2:
            found += [finding("OAS903", flow)]
        return Findings(found)


@pytest.fixture
def rules(monkeypatch: pytest.MonkeyPatch) -> Rules:
    return Rules(monkeypatch)


def planned(path: Path, document: Any) -> Mending:
    path.write_text(json.dumps(document, indent=2), encoding="utf-8")
    work = Mending()
    work.mend(str(path))
    return work


def test_all_fixes_that_help_are_made_at_once(rules, tmp_path):
    work = planned(tmp_path / "a.json", {"old1": 1, "keep": 2, "old2": 3})
    (change,) = work.changes()
    assert json.loads(change.after) == {"keep": 2}
    assert [one.pointer for one in work.mended] == ["/old1", "/old2"]
    assert work.left_out == []
    assert (tmp_path / "a.json").read_bytes() == change.before, "nothing is written while planning"


def test_a_fix_that_lets_a_new_finding_appear_is_left_out_and_the_others_are_made(rules, tmp_path):
    document = {"old1": 1, "oldTrap": 2, "trap": 3, "old2": 4}
    work = planned(tmp_path / "a.json", document)
    (change,) = work.changes()
    assert json.loads(change.after) == {"oldTrap": 2, "trap": 3}
    assert [one.finding.pointer for one in work.left_out] == ["/oldTrap"]
    del document["trap"]
    assert planned(tmp_path / "b.json", document).left_out == []


def test_a_fix_after_which_the_rule_still_finds_something_is_left_out(rules, tmp_path):
    work = planned(tmp_path / "a.json", {"loud": 1})
    assert work.changes() == []
    assert [one.finding.code for one in work.left_out] == ["OAS903"]


def test_only_wanted_findings_are_mended(rules, tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"old1": 1, "old2": 2}', encoding="utf-8")
    work = Mending(wanted=lambda one: one.pointer == "/old2")
    work.mend(str(path))
    assert json.loads(work.changes()[0].after) == {"old1": 1}


def test_a_byte_order_mark_stays(rules, tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(b'\xef\xbb\xbf{"old1": 1, "k": 2}\r\n')
    work = Mending()
    work.mend(str(path))
    assert work.changes()[0].after == b'\xef\xbb\xbf{"k": 2}\r\n'


def test_a_comment_in_yaml_keeps_its_line_and_that_is_said(tmp_path):
    path = tmp_path / "oas.yaml"
    about = "component_type: Flow\nmetadata:\n  cinatra:\n    type: flow\n    executionMode: auto"
    path.write_text(f"{about}   # as before\n", encoding="utf-8")
    work = Mending()
    work.mend(str(path))
    assert work.changes() == []
    assert "a comment would be lost" in {one.why for one in work.left_out}
    path.write_text(f"{about}\n# the end\n", encoding="utf-8")
    work = Mending()
    work.mend(str(path))
    assert work.changes()[0].after.decode() == about.rpartition("\n")[0] + "\n# the end\n"


def test_flows_of_one_package_share_the_changes_of_its_package_json(monkeypatch, tmp_path):
    manifest = str(tmp_path / "package.json")
    Path(manifest).write_text('{"old1": 1, "old2": 2, "name": "x"}', encoding="utf-8")

    def found(flow: str, *, env: Any = None, unsaved: Any = (), within: str = "") -> Findings:
        about = json.loads(dict(unsaved).get(manifest) or Path(manifest).read_bytes())
        key = "old1" if flow == "a.json" else "old2"
        fix = edit(f"/{key}", GONE)
        return Findings([finding("OAS901", manifest, fix)] if key in about else [])

    monkeypatch.setattr(file_fixes, "check", found)
    work = Mending()
    for flow in ("a.json", "b.json"):
        work.mend(flow)
    (change,) = work.changes()
    assert (change.file, change.after) == (manifest, b'{"name": "x"}')


def test_a_flow_and_its_package_are_checked_as_they_would_be(tmp_path):
    flow = flow_of(start(), gate("review"), end())
    about = {"type": "flow", "packageName": "@acme/a", "packageVersion": "0.1.0"}
    flow["metadata"] = {"cinatra": about}
    package_of(tmp_path, flow, {"name": "@acme/a", "version": "0.2.0"})
    path, manifest = str(tmp_path / "cinatra" / "oas.json"), str(tmp_path / "package.json")

    def drifts(**unsaved: Any) -> bool:
        texts = {path: unsaved.get("flow"), manifest: unsaved.get("manifest")}
        held = {file: json.dumps(text).encode() for file, text in texts.items() if text}
        return "OAS126" in {one.code for one in check(path, unsaved=held)}

    assert drifts()
    assert not drifts(manifest={"name": "@acme/a", "version": "0.1.0"})
    about["packageVersion"] = "0.2.0"
    assert not drifts(flow=flow)
    broken = check(path, unsaved={manifest: b"{"})
    assert ("OAS004", manifest) in {(one.code, one.file) for one in broken}
    broken = check(path, unsaved={path: b"{"})
    assert [(one.code, one.file) for one in broken] == [("OAS004", path)]


@pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
def test_a_file_with_two_names_is_mended_under_the_first(rules, tmp_path, link):
    path, other = tmp_path / "a.json", tmp_path / "b.json"
    path.write_text('{"old1": 1, "keep": 2}', encoding="utf-8")
    getattr(other, link)(path)
    work = Mending()
    for flow in (path, other):
        work.mend(str(flow))
    assert [(one.file, one.after) for one in work.changes()] == [(str(path), b'{"keep": 2}')]
    assert [one.file for one in work.mended] == [str(path)]
    assert work.left_out == []


def test_a_fix_that_only_the_second_name_of_a_file_needs_is_left_out_and_said(rules, tmp_path):
    path, other = tmp_path / "a.json", tmp_path / "b.json"
    path.write_text('{"old1": 1, "old2": 2, "keep": 3}', encoding="utf-8")
    other.symlink_to(path)
    wanted = {(str(path), "/old1"), (str(other), "/old2")}
    work = Mending(wanted=lambda one: (one.file, one.pointer) in wanted)
    work.mend(str(path))
    work.mend(str(other))
    assert [one.file for one in work.changes()] == [str(path)]
    assert [(one.finding.file, one.finding.pointer) for one in work.left_out] == [
        (str(other), "/old2")
    ]
    assert work.left_out[0].why == f"it is the same file as {path}; check it alone"


def test_a_read_only_file_is_left_out_and_the_others_are_mended(rules, tmp_path):
    names = [tmp_path / "a.json", tmp_path / "b.json"]
    for path in names:
        path.write_text('{"old1": 1, "keep": 2}', encoding="utf-8")
    names[0].chmod(0o444)
    work = Mending()
    for path in names:
        work.mend(str(path))
    assert [one.file for one in work.changes()] == [str(names[1])]
    assert [one.why for one in work.left_out] == [f"{names[0]} is read-only"]


# ------------------------------------------------------------------------------------- writing


def test_a_change_is_written_with_the_mode_of_the_file_and_leaves_nothing_else(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(b"1")
    path.chmod(0o640)
    write([FileChange(file=str(path), before=b"1", after=b"2")])
    assert path.read_bytes() == b"2"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [one.name for one in tmp_path.iterdir()] == ["a.json"]


def test_a_symbolic_link_stays_and_its_target_changes(tmp_path):
    (tmp_path / "real.json").write_bytes(b"1")
    (tmp_path / "link.json").symlink_to("real.json")
    write([FileChange(file=str(tmp_path / "link.json"), before=b"1", after=b"2")])
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_bytes() == b"2"


def test_nothing_is_written_when_one_of_the_files_has_changed(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"1")
    (tmp_path / "b").write_bytes(b"somebody else")
    changes = [FileChange(file=str(tmp_path / n), before=b"1", after=b"2") for n in ("a", "b")]
    with pytest.raises(CannotWrite, match="has changed"):
        write(changes)
    assert (tmp_path / "a").read_bytes() == b"1"
    assert (tmp_path / "b").read_bytes() == b"somebody else"
    (tmp_path / "b").unlink()
    with pytest.raises(CannotWrite, match="has changed"):
        write(changes)


def test_a_read_only_file_is_not_written(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(b"1")
    monkeypatch.setattr(os, "access", lambda _path, _mode: False)  # root may write everything
    with pytest.raises(CannotWrite, match="read-only"):
        write([FileChange(file=str(path), before=b"1", after=b"2")])
    assert path.read_bytes() == b"1"


def test_nobody_writes_what_nobody_may_write(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"1")
    path.chmod(0o444)
    with pytest.raises(CannotWrite, match="read-only"):
        write([FileChange(file=str(path), before=b"1", after=b"2")])
    assert path.read_bytes() == b"1"
    path.chmod(0o644)
    write([FileChange(file=str(path), before=b"1", after=b"2")])
    assert path.read_bytes() == b"2"


def test_a_hard_link_stays_one(tmp_path):
    path, other = tmp_path / "a", tmp_path / "b"
    path.write_bytes(b"1234")
    path.chmod(0o640)
    other.hardlink_to(path)
    write([FileChange(file=str(path), before=b"1234", after=b"2")])
    assert path.samefile(other)
    assert other.read_bytes() == b"2"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a", "b"]


def test_a_hard_link_holds_its_old_text_when_the_disk_refuses(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(b"1234")
    (tmp_path / "b").hardlink_to(path)
    synced = []

    def refuse(descriptor: int) -> None:
        synced.append(os.fstat(descriptor).st_ino)
        if len(synced) == 3:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match="No space"):
        write([FileChange(file=str(path), before=b"1234", after=b"2")])
    assert len(synced) == 4, "the new text aside, the old text aside, the new one, the old one"
    assert path.read_bytes() == b"1234"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a", "b"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file to somebody else")
def test_the_owner_and_every_bit_of_the_mode_stay(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"1")
    os.chown(path, 1000, 1001)
    path.chmod(0o6640)
    write([FileChange(file=str(path), before=b"1", after=b"2")])
    about = path.stat()
    assert path.read_bytes() == b"2"
    assert (about.st_uid, about.st_gid, stat.S_IMODE(about.st_mode)) == (1000, 1001, 0o6640)


def test_a_file_whose_owner_cannot_be_kept_is_written_in_place(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(b"1")
    number = path.stat().st_ino

    def refuse(*_arguments: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(shutil, "copystat", refuse)
    write([FileChange(file=str(path), before=b"1", after=b"2")])
    assert path.read_bytes() == b"2"
    assert path.stat().st_ino == number
    assert [one.name for one in tmp_path.iterdir()] == ["a"]


def test_a_disk_that_refuses_leaves_the_file_and_no_half_written_one(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(b"1")

    def refuse(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match="No space"):
        write([FileChange(file=str(path), before=b"1", after=b"2")])
    assert path.read_bytes() == b"1"
    assert [one.name for one in tmp_path.iterdir()] == ["a"]


# ------------------------------------------------------------------------------ names and YAML


def test_a_misspelt_key_gets_its_name_and_nothing_else_changes(tmp_path):
    right = json.dumps(flow_of(start(), gate("ask"), end()), indent=1)
    wrong = right.replace('"$referenced_components"', '"$referencedComponents"', 1)
    wrong = wrong.replace('"start_node"', '"startNode"', 1).replace('"to_node"', '"to"', 1)
    path = tmp_path / "oas.json"
    path.write_text(wrong, encoding="utf-8")
    assert [one.code for one in check(path)] == ["OAS023"] * 3
    work = Mending()
    work.mend(str(path))
    (change,) = work.changes()
    assert change.after.decode() == right
    assert len(work.mended) == 3


def test_a_key_gets_no_name_that_is_there():
    text = '{"url": null, "uri": "x", "end": 1}'
    for key in ("url", "end"):
        with pytest.raises(CannotEdit):
            Rewriting(text).chosen().take([Edit(pointer="/uri", key=key)])
    chosen = Rewriting(text).chosen()
    chosen.take([Edit(pointer="/uri", key="address")])
    with pytest.raises(CannotEdit):
        chosen.take([Edit(pointer="/end", key="address")])
    with pytest.raises(CannotEdit):
        chosen.take([edit("/uri", 7)])


YAML = """\
# about the flow
id: "a"   # its id
'na me': x
nodes:
  # the first one
  - $component_ref: start
  - {ref: [1, 2], name: "b"}   # in braces
  - plain
text: >-
  folded # no comment
  text
meta:
    empty: {}
    list: []
    deep:
        one: 1

        two: 'it''s'
# the end
"""


def yaml_pointers(value: Any, at: str = "") -> list[str]:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    found = []
    for key, member in items:
        found.append(child(at, str(key)))
        if isinstance(member, (dict, list)):
            found += yaml_pointers(member, found[-1])
    return found


def changed_value(value: Any, one: Edit) -> Any:
    value = copy.deepcopy(value)
    *above, key = keys_of(one.pointer)
    owner = value
    for name in above:
        owner = owner[int(name)] if isinstance(owner, list) else owner[name]
    if one.key:
        members = [(one.key if name == key else name, member) for name, member in owner.items()]
        owner.clear()
        owner.update(members)
    elif one.value is None:
        del owner[int(key) if isinstance(owner, list) else key]
    elif isinstance(owner, list):
        owner[int(key) : int(key) + 1] = [one.value.value()]
    else:
        owner[key] = one.value.value()
    return value


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_change_of_yaml_is_the_change_of_its_value_and_keeps_every_comment(newline):
    text = YAML.replace("\n", newline)
    before = read_yaml(text).value
    comments = [line[line.index("# ") :] for line in YAML.splitlines() if "# " in line]
    comments.remove("# no comment")
    done = 0
    for pointer in yaml_pointers(before):
        added = f"{pointer.rpartition('/')[0]}/new"
        for one in (
            Edit(pointer=pointer, key="renamed"),
            edit(pointer, GONE),
            edit(pointer, {"x": ["y"]}),
            edit(added, "z: w"),
        ):
            chosen = YamlRewriting(text).chosen()
            try:
                chosen.take([one])
            except CannotEdit:
                continue
            after = applied(text, chosen.replacements())
            assert read_yaml(after).value == changed_value(before, one), one
            assert all(comment in after for comment in comments), one
            assert set("\r\n").isdisjoint(after.replace(newline, "")), one
            done += 1
    assert done > 40


@pytest.mark.parametrize(
    ("text", "one"),
    [
        # Lines that end with a carriage return alone are lines of YAML: what follows would go along.
        ("old: 1\rgate: 2\nlast: 3\n", edit("/old", GONE)),
        ("list:\r- a\n- b\r- c\n", edit("/list/1", GONE)),
        # A text in lines of its own would get a line break, blank lines, or a comment.
        ("a: 1\ntext: |\n  no line break at its end", edit("/new", 1)),
        ("a:\n  - |\n    no line break at its end", edit("/a/-", 1)),
        ("text: |+\n  keeps what follows\n\nold: 1\n\nlast: 2\n", edit("/old", GONE)),
        ("a:\n  text: |\n    one\n  old:\n    # about it\nlast: 2\n", edit("/a/old", GONE)),
    ],
)
def test_what_would_change_another_value_of_yaml_is_refused(text, one):
    assert read_yaml(text).value is not None
    with pytest.raises((CannotEdit, ValueError)):
        YamlRewriting(text).chosen().take([one])


def test_a_text_of_yaml_that_ends_its_last_line_gets_neighbours():
    for text in (
        "a: 1\ntext: |\n  ends\n",
        "a: 1\ntext: |+\n  keeps\n\n",
        'text: "|"',
        "text: ' >'",
    ):
        for one in (edit("/new", 1), edit("/a", GONE)):
            chosen = YamlRewriting(text).chosen()
            before = read_yaml(text).value
            if one.value is None and "a" not in before:
                continue
            chosen.take([one])
            after = applied(text, chosen.replacements())
            assert read_yaml(after).value == changed_value(before, one), one


def test_a_finding_in_yaml_is_mended(tmp_path):
    path = tmp_path / "oas.yaml"
    plain = json.loads(json.dumps(flow_of(start(), gate("ask"), end())))
    made = yaml.safe_dump(plain, sort_keys=False)
    right = made.replace("nodes:", "# every node\nnodes:   # once", 1)
    path.write_text(right.replace("start_node:", "startnode:", 1), encoding="utf-8")
    work = Mending()
    work.mend(str(path))
    (change,) = work.changes()
    assert change.after.decode() == right


@pytest.mark.parametrize(
    ("edits", "after"),
    [
        ([Edit(pointer="/a", key="z")], {"z": {"x": [1, True]}, "b": None}),
        ([edit("/a/x/0", GONE), edit("/a/x/-", "n")], {"a": {"x": [True, "n"]}, "b": None}),
        ([edit("/b", GONE), edit("/c", 1)], {"a": {"x": [1, True]}, "c": 1}),
        ([Edit(pointer="/a", key="z"), edit("/a/x", [])], {"z": {"x": []}, "b": None}),
    ],
)
def test_a_text_reads_back_as_its_edits_say_and_as_nothing_else(edits, after):
    before = {"a": {"x": [1, True]}, "b": None}
    assert reads_back(before, after, edits)
    assert not reads_back(before, {**after, "more": 1}, edits)
    assert not reads_back(before, before, edits)
    assert not reads_back({"a": 1}, {"a": True}, [])


def test_a_fix_whose_text_does_not_read_back_is_not_written(tmp_path, monkeypatch):
    text = json.dumps(flow_of(start(), gate("ask"), end()), indent=1)
    path = tmp_path / "oas.json"
    path.write_text(text.replace('"start_node"', '"startNode"', 1), encoding="utf-8")

    def elsewhere(text: str, replacements: Any) -> str:
        # the findings are the same ones as after the right change
        return applied(text, replacements).replace('"The ask"', '"The task"', 1)

    monkeypatch.setattr(file_fixes, "applied", elsewhere)
    work = Mending()
    work.mend(str(path))
    assert work.changes() == []
    assert [one.why for one in work.left_out] == [NOT_READ_BACK]
