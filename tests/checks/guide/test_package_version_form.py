from __future__ import annotations

import pytest

from tests.checks.guide.guide_case import agent, flow, only, told
from tests.checks.rule_case import found

CODE = "OAS198"


@pytest.mark.parametrize(
    ("version", "better"),
    [("1.0", "1.0.0"), ("2", "2.0.0"), ("v3.1", "3.1.0"), (1, "1.0.0"), (1.5, "1.5.0")],
)
def test_a_version_has_three_numbers(tmp_path, version, better):
    finding = only(agent(tmp_path / "bad", manifest={"version": version}), CODE)
    assert (finding.pointer, finding.severity) == ("/version", "error")
    assert finding.file.endswith("package.json")
    assert finding.hint == f'write "{better}"'
    assert told(agent(tmp_path / "good", manifest={"version": better}), CODE) == []
    assert found(tmp_path / "bad", "OAS170") == []


@pytest.mark.parametrize("version", ["one", "1.0.0.0", "01.0.0", ["1.0.0"], True])
def test_what_is_no_number_at_all_gets_an_example(tmp_path, version):
    finding = only(agent(tmp_path, manifest={"version": version}), CODE)
    assert finding.hint == 'write it as "1.0.0"'


@pytest.mark.parametrize("version", ["1.0.0", "0.1.0-rc.1", "1.2.3+build.7", None, "", "  "])
def test_a_version_and_none_at_all_are_not_meant(tmp_path, version):
    assert told(agent(tmp_path, manifest={"version": version}), CODE) == []


def test_the_flow_is_not_blamed_for_it_and_nothing_is_copied(tmp_path):
    made = flow(about={"packageVersion": "1.0.0"})
    folder = agent(tmp_path, made, manifest={"version": "1.0"})
    assert told(folder, CODE) == [("package.json", 3, 2)]
    assert found(folder, "OAS126") == []


def test_a_number_in_the_flow_is_no_version_either(tmp_path):
    finding = only(agent(tmp_path / "bad", flow(about={"packageVersion": 1})), CODE)
    assert finding.pointer == "/metadata/cinatra/packageVersion"
    assert finding.hint == 'write "1.0.0"'
    assert told(agent(tmp_path / "good", flow(about={"packageVersion": "1.0.0"})), CODE) == []


def test_a_version_that_only_the_flow_has_is_looked_at(tmp_path):
    made = flow(about={"packageVersion": "1.0"})
    finding = only(agent(tmp_path, made, manifest={"version": None}), CODE)
    assert finding.pointer == "/metadata/cinatra/packageVersion"
