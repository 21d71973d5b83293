from __future__ import annotations

import pytest

from tests.checks.guide.guide_case import agent, only, told
from tests.checks.rule_case import found

CODE = "OAS188"
AT = "/cinatra/agentDependencies"


def depending(folder, value, key="agentDependencies"):
    return agent(folder, cinatra={key: value})


@pytest.mark.parametrize(
    "good",
    [
        {},
        {"@test/mail": "^1.2.0"},
        {"@test/mail": ">=1.0.0 <2.0.0 || 3.x"},
        {"@test/mail": "*"},
        {"@test/mail": "1.2.3-rc.1"},
        {"mail": "~1.2"},
    ],
)
def test_an_object_of_names_and_ranges_is_fine(tmp_path, good):
    assert told(depending(tmp_path, good), CODE) == []


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (["@test/mail"], "a list"),
        ([{"@test/mail": "^1.0.0"}], "a list"),
        ("@test/mail", "a text"),
        (True, "a boolean"),
        (3, "a number"),
    ],
)
def test_any_other_form_is_an_error(tmp_path, bad, said):
    finding = only(depending(tmp_path, bad), CODE)
    assert (finding.severity, finding.pointer) == ("error", AT)
    assert said in finding.message
    assert finding.file == str(tmp_path / "package.json")


def test_the_hint_shows_the_list_as_an_object(tmp_path):
    finding = only(depending(tmp_path, ["@test/mail@^2.1.0", "@test/b"]), CODE)
    assert finding.hint == 'write {"@test/mail": "^2.1.0"}'


@pytest.mark.parametrize(
    "bad", ["latest", "workspace:*", "file:../mail", "1.2.3.4", "^", "not a range", 1, None, ["^1"], "^1" * 400]
)  # fmt: skip
def test_a_value_that_is_no_range_is_an_error_at_the_value(tmp_path, bad):
    assert found(depending(tmp_path, {"@test/mail": bad}), CODE) == [f"{AT}/@test~1mail"]


@pytest.mark.parametrize(
    "bad", ["@test/", "Mail Agent", "@test/mail@^1.0.0", "@a/b/c", "../mail", ""]
)
def test_a_key_that_is_no_package_name_is_an_error(tmp_path, bad):
    pointer = bad.replace("/", "~1")
    assert found(depending(tmp_path, {bad: "^1.0.0"}), CODE) == [f"{AT}/{pointer}"]


def test_a_version_inside_of_the_name_is_taken_apart_in_the_hint(tmp_path):
    finding = only(depending(tmp_path, {"@test/mail@^2.0.0": "^1.0.0"}), CODE)
    assert finding.hint.endswith('"@test/mail": "^2.0.0"')


def test_the_newer_list_has_ranges_too(tmp_path):
    def listed(version):
        entry = {
            "packageName": "@test/mail",
            "kind": "agent",
            "versionConstraint": {"kind": "semver-range", "range": version},
        }
        return depending(tmp_path, [entry], "dependencies")

    assert told(listed("^0.1.0"), CODE) == []
    assert found(listed("latest"), CODE) == ["/cinatra/dependencies/0/versionConstraint/range"]


def test_the_newer_list_is_a_list(tmp_path):
    assert found(depending(tmp_path, {"@test/mail": "^1.0.0"}, "dependencies"), CODE) == [
        "/cinatra/dependencies"
    ]
