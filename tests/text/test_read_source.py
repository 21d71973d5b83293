"""Reading: JSON, YAML, mappings and paths; positions; bounds."""

from __future__ import annotations

import collections
import errno
import hashlib
import json
import os
import tracemalloc
import types
from pathlib import Path
from typing import Any

import pytest

from oas_compiler.findings.finding import Findings
from oas_compiler.pipeline import check, compile_ir
from oas_compiler.report.diagnostics import CompileError
from oas_compiler.text.source import Source, read_source
from tests.samples import as_bytes, errors, only, small


def read(source: Any) -> Source:
    findings = Findings()
    found = read_source(source, findings)
    assert found is not None, [str(finding) for finding in findings]
    return found


def where(raw: bytes, pointer: str) -> tuple[int, int]:
    place = read(raw).place(pointer)
    return place.line, place.column


class TestPositions:
    JSON = b'{\n  "a": [1,\n    {"b/c": "\xc3\xa9", "~d": 2}],\n  "e\\u0041": true}'

    @pytest.mark.parametrize(
        ("pointer", "line", "column"),
        [
            ("", 1, 1),
            ("/a", 2, 3),
            ("/a/0", 2, 9),
            ("/a/1", 3, 5),
            ("/a/1/b~1c", 3, 6),
            ("/a/1/~0d", 3, 18),
            ("/eA", 4, 3),
        ],
    )
    def test_a_json_member_stands_at_its_key_and_an_element_at_itself(self, pointer, line, column):
        assert where(self.JSON, pointer) == (line, column)

    def test_what_does_not_exist_stands_where_its_container_does(self):
        assert where(self.JSON, "/a/1/missing/deeper") == (3, 5)
        assert where(self.JSON, "/a/77") == (2, 3)

    def test_yaml_members_and_elements_have_the_same_kind_of_place(self):
        raw = b"# note\na:\n- 1\n- b: x\n  c: [7, 8]\n"
        assert where(raw, "/a") == (2, 1)
        assert where(raw, "/a/0") == (3, 3)
        assert where(raw, "/a/1/c") == (5, 3)
        assert where(raw, "/a/1/c/1") == (5, 10)

    def test_a_byte_order_mark_is_accepted_and_shifts_no_column(self):
        assert where(b"\xef\xbb\xbf" + b'{"a": 1}', "/a") == (1, 2)

    def test_a_mapping_has_pointers_and_no_lines(self):
        place = read({"a": [1]}).place("/a/0")
        assert (place.pointer, place.line, place.column) == ("/a/0", 0, 0)


class TestYamlValues:
    def test_words_and_dates_of_yaml_1_1_stay_strings(self):
        raw = b"a: no\nb: on\nc: 2024-01-01\nd: 12:30:00\ne: 26.1.0\n"
        assert read(raw).value == {
            "a": "no",
            "b": "on",
            "c": "2024-01-01",
            "d": "12:30:00",
            "e": "26.1.0",
        }

    def test_scalars_follow_the_core_schema(self):
        raw = b'a: [true, False, null, ~, 7, -0x1, 0x1F, 0o17, 1.5, 1e3, "7", .5]\n'
        assert read(raw).value == {
            "a": [True, False, None, None, 7, "-0x1", 31, 15, 1.5, 1000.0, "7", 0.5]
        }

    def test_keys_are_their_json_text(self):
        raw = b"yes: a\n'no': b\ntrue: c\n1: d\n1.50: e\n"
        assert read(raw).value == {"yes": "a", "no": "b", "true": "c", "1": "d", "1.50": "e"}

    @pytest.mark.parametrize(
        ("raw", "code", "line"),
        [
            (b"a: &x 1\nb: 2\n", "OAS008", 1),
            (b"a: 1\nb: *x\n", "OAS008", 2),
            (b"a: 1\nb: !!python/object:os.system x\n", "OAS008", 2),
            (b"a: 1\n---\nb: 2\n", "OAS008", 2),
            (b"a: 1\n[b]: 2\n", "OAS008", 2),
            (b"a: 1\nnull: 2\n", "OAS008", 2),
            (b"a: 1\nb: 2\na: 3\n", "OAS005", 3),
            (b"1: a\n'1': b\n", "OAS005", 2),
            (b"a: .inf\n", "OAS007", 1),
            (b"a: 99999999999999999999999\n", "OAS007", 1),
            (b'a: "\\0"\n', "OAS007", 1),
            (b"a: [1\n", "OAS004", 2),
            (b"a: \x01\n", "OAS004", 1),
        ],
    )
    def test_what_is_not_json_is_refused_where_it_stands(self, raw, code, line):
        found = check(raw).errors[0]
        assert (found.code, found.place.line) == (code, line)

    def test_a_placeholder_without_quotes_is_told_to_have_some(self):
        found = check(b"a: 1\nurl: {{BASE_URL}}/api\n").errors[0]
        assert (found.code, found.place.line) == ("OAS008", 2)
        assert found.hint == "put a text that begins with {{ in quotes"


class TestRefusals:
    @pytest.mark.parametrize(
        ("raw", "code", "line", "column"),
        [
            (b'{"a":}', "OAS004", 1, 6),
            (b'{"a": 1,\n "b" 2}', "OAS004", 2, 6),
            (b'{"a":\n"\xe9"}', "OAS003", 2, 2),
            (b'{"a": 1,\n "a": 2}', "OAS005", 2, 2),
            (b'{"a": {"b": 1,\n "\\u0062": 2}}', "OAS005", 2, 2),
            (b'{"a": NaN}', "OAS007", 1, 2),
            (b'{"a": -Infinity}', "OAS007", 1, 2),
            (b'{"a": 1e999}', "OAS007", 1, 2),
            (b'{"a": 9223372036854775808}', "OAS007", 1, 2),
            (b'{"a": ' + b"9" * 5000 + b"}", "OAS007", 1, 2),
            (b'{"a": "x\\u0000"}', "OAS007", 1, 2),
            (b'{"a\\u0000": 1}', "OAS007", 1, 2),
            (b'{"a": "\\ud800"}', "OAS007", 1, 2),
            (b"[" * 100_000, "OAS006", 1, 65),
            (b'{"a":' * 100_000, "OAS006", 1, 321),
        ],
    )
    def test_json_that_cannot_be_held_is_refused_where_it_stands(self, raw, code, line, column):
        found = check(raw).errors[0]
        assert (found.code, found.place.line, found.place.column) == (code, line, column)

    def test_both_halves_of_a_surrogate_pair_are_a_character(self):
        assert read(b'{"a": "\\ud83d\\ude00"}').value == {"a": "\N{GRINNING FACE}"}

    def test_the_largest_integers_are_kept(self):
        raw = b'{"a": 9223372036854775807, "b": -9223372036854775808}'
        assert read(raw).value == {"a": 2**63 - 1, "b": -(2**63)}

    def test_sixty_four_levels_are_read_and_one_more_is_refused(self):
        assert read(b"[" * 64 + b"]" * 64)
        assert errors(b"[" * 65 + b"]" * 65) == [("OAS006", "")]

    @pytest.mark.parametrize("opening", [b"x: " + b"[" * 70_000, b"- " * 70_000, b"? " * 70_000])
    def test_deep_yaml_is_refused_without_deep_recursion(self, opening):
        assert errors(opening)[0][0] in {"OAS006", "OAS008"}

    @pytest.mark.parametrize("raw", [b"", b"  \n\t", b"\xef\xbb\xbf", b"# only a comment\n"])
    def test_an_empty_document_says_so(self, raw):
        assert only(raw, "OAS004").message == "the document is empty"

    def test_every_duplicate_key_is_reported_in_one_run(self):
        raw = b'{"a": {"x": 1},\n "a": {"x": 2},\n "b": 1, "b": 2}'
        assert [found.place.line for found in check(raw).errors] == [2, 3]

    def test_size_is_bounded_by_format(self):
        assert errors(b"[" + b" " * (8 * 1024 * 1024) + b"]") == [("OAS002", "")]
        assert errors(b"a: 1\n#" + b" " * (512 * 1024)) == [("OAS002", "")]

    def test_the_number_of_values_is_bounded(self):
        assert errors(b"[" + b"1," * 500_000 + b"1]") == [("OAS006", "")]

    def test_a_long_unterminated_string_takes_linear_time(self):
        # a search that restarts at every quote would need 10^12 steps here
        assert errors(b'["' + b'\\"' * 1_000_000) == [("OAS004", "")]


class TestMappings:
    def test_any_mapping_of_plain_values_compiles(self):
        for wrap in (dict, collections.OrderedDict, types.MappingProxyType, collections.UserDict):
            assert not errors(wrap(small()))

    def test_subclasses_become_the_plain_values_they_carry(self):
        class Text(str):
            __slots__ = ()

        class Number(int):
            pass

        value = read({"a": Text("x"), "b": Number(3), "c": (1, 2)}).value
        assert value == {"a": "x", "b": 3, "c": [1, 2]}
        assert isinstance(value, dict)
        assert [type(part) for part in value.values()] == [str, int, list]

    def test_the_source_shares_nothing_with_the_mapping(self):
        given = {"a": [1]}
        found = read(given)
        given["a"].append(2)
        assert found.value == {"a": [1]}

    @pytest.mark.parametrize(
        ("value", "code"),
        [
            ({1: "x"}, "OAS009"),
            ({None: "x"}, "OAS009"),
            ({"a": object()}, "OAS009"),
            ({"a": {1, 2}}, "OAS009"),
            ({"a": b"x"}, "OAS009"),
            ({"a": float("nan")}, "OAS007"),
            ({"a": "\ud800"}, "OAS007"),
            ({"a": 2**64}, "OAS007"),
        ],
    )
    def test_what_is_not_json_is_refused(self, value, code):
        assert [found for found, _ in errors(value)] == [code]

    def test_containers_that_contain_themselves_are_refused(self):
        itself: dict[str, Any] = {}
        itself["a"] = itself
        loop: list[Any] = []
        loop.append(loop)
        assert errors(itself)[0][0] == "OAS006"
        assert errors({"a": loop})[0][0] == "OAS006"

    def test_a_small_object_that_unfolds_without_end_is_refused(self):
        value: Any = {"k": 1}
        for _ in range(50):
            value = {"x": value, "y": value}
        assert errors(value)[0][0] == "OAS006"

    def test_a_mapping_that_raises_is_refused_and_not_passed_on(self):
        class Broken(collections.UserDict):
            def __getitem__(self, key):
                raise RuntimeError(key)

        assert errors(Broken(a=1)) == [("OAS009", "")]

    def test_something_else_than_a_source_is_refused(self):
        assert errors(None) == [("OAS001", "")]
        assert errors(7) == [("OAS001", "")]


class TestPaths:
    @pytest.mark.parametrize(
        "name", ["cinatra/oas.json", "oas.json", "agent.json", "cinatra/agent.json"]
    )
    def test_a_folder_means_the_flow_in_it(self, tmp_path: Path, name):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(as_bytes(small()))
        assert compile_ir(tmp_path).file == str(file)

    def test_a_folder_prefers_cinatra_oas_json(self, tmp_path: Path):
        (tmp_path / "cinatra").mkdir()
        (tmp_path / "cinatra/oas.json").write_bytes(as_bytes(small()))
        (tmp_path / "oas.json").write_bytes(b"not json")
        assert compile_ir(str(tmp_path)).ir.id == "small"

    def test_a_string_is_a_path_even_when_it_looks_like_json(self):
        assert only("{}", "OAS001").file == "{}"

    def test_the_suffix_decides_for_a_path(self, tmp_path: Path):
        file = tmp_path / "flow.yaml"
        file.write_text("component_type: Flow\nid: [\n")
        assert only(file, "OAS004").message.startswith("not YAML")
        other = tmp_path / "flow.json"
        other.write_text("component_type: Flow\n")
        assert only(other, "OAS004").message.startswith("not JSON")

    def test_the_content_decides_where_no_suffix_does(self, tmp_path: Path):
        file = tmp_path / "flow"
        file.write_bytes(as_bytes(small()))
        assert not errors(file)

    def test_a_missing_path_an_empty_folder_and_a_bad_name_are_findings(self, tmp_path: Path):
        assert only(tmp_path / "absent.json", "OAS001").file == str(tmp_path / "absent.json")
        assert "holds no flow" in only(tmp_path, "OAS001").message
        assert only("a\0b", "OAS001")
        assert only("x" * 5000, "OAS001")

    def test_a_file_without_permission_is_a_finding(self, tmp_path: Path, monkeypatch):
        file = tmp_path / "flow.json"
        file.write_bytes(as_bytes(small()))

        def refuse(path: str, *_args: object, **_options: object) -> None:
            # root may read every file, so the refusal is played
            raise PermissionError(errno.EACCES, "Permission denied", path)

        monkeypatch.setattr(os, "open", refuse)
        found = only(file, "OAS001")
        assert found.message == f"cannot read {file}: Permission denied"

    def test_findings_name_the_file_as_given(self, tmp_path: Path):
        file = tmp_path / "flow.json"
        file.write_bytes(b'{"component_type": "Flwo"}')
        assert str(check(file).errors[0]).startswith(f"{file}:1:2 error OAS026 ")


class TestDigest:
    def test_bytes_are_hashed_exactly_as_read(self, tmp_path: Path):
        raw = b"\xef\xbb\xbf" + as_bytes(small()) + b"\n\n"
        file = tmp_path / "flow.json"
        file.write_bytes(raw)
        for source in (raw, file):
            compiled = compile_ir(source)
            assert compiled.source_bytes == raw
            assert compiled.digest == hashlib.sha256(raw).hexdigest()

    def test_a_mapping_is_hashed_as_canonical_json(self):
        flow = small(flow={"name": "Größe"})
        raw = json.dumps(flow, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
        turned = dict(reversed(flow.items()))
        assert compile_ir(flow).source_bytes == raw
        assert compile_ir(turned).digest == hashlib.sha256(raw).hexdigest()

    def test_environment_values_do_not_change_the_digest(self):
        raw = as_bytes(small())
        filled = compile_ir(raw, env={"CINATRA_BASE_URL": "http://host"})
        assert filled.digest == compile_ir(raw).digest

    def test_compile_error_carries_all_findings_and_check_never_raises(self):
        with pytest.raises(CompileError) as caught:
            compile_ir(b'{"a": NaN, "b": NaN}')
        assert len(caught.value.diagnostics.errors) == 2
        assert list(check(b'{"a": NaN, "b": NaN}')) == list(caught.value.diagnostics)


@pytest.mark.parametrize(
    ("scalar", "hint"),
    [("017", 'write 17, or "017"'), ("1_0", "quote it"), ("no", 'write "no" in quotes, or false')],
)
def test_a_scalar_that_others_read_otherwise_gets_the_spelling_that_all_agree_on(scalar, hint):
    findings = check(f"component_type: Flow\nx: {scalar}\n".encode())
    (finding,) = [one for one in findings if one.code == "OAS018"]
    assert finding.hint.startswith(hint)


def test_half_of_a_surrogate_pair_in_a_key_is_reported_in_text_that_can_be_written():
    findings = check(b'{"component_type": "Flow", "field\\ud800s": 1}')
    assert "OAS007" in [one.code for one in findings]
    written = json.dumps([findings.to_json(), findings.to_sarif()], ensure_ascii=False).encode()
    assert "field\ufffds".encode() in written


def test_escapes_take_no_memory_of_their_own():
    raw = json.dumps({"component_type": "Flow", "name": "\n" * 500_000}).encode()
    check(raw)
    tracemalloc.start()
    check(raw)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 * len(raw)


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (r'{"a\"]": [1, {"b\\": "x\\\"}"}]}', {'/a"]': 2, '/a"]/1/b\\': 15}),
        (r'{"\u0041": {"a": "\\"}, "c": 2}', {"/A": 2, "/A/a": 13, "/c": 25}),
    ],
)
def test_escapes_hide_no_bracket_and_no_key(text, places):
    source = read_source(text.encode(), Findings())
    assert source is not None
    assert source.value == json.loads(text)
    assert {pointer: source.place(pointer).column for pointer in places} == places
