from __future__ import annotations

import pytest

from tests.checks.guide.guide_case import only, script, told

CODE = "OAS195"
GOOD = """const graphInput = {
  prompt,
  ...(run.inputParams as Record<string, unknown>), // user params FIRST
  bearer_token: "",
  approval_policy: template.metadata?.cinatra?.approvalPolicy ?? null,
};
"""
BAD = """const graphInput = {
  prompt,
  bearer_token: "",
  approval_policy: template.metadata?.cinatra?.approvalPolicy ?? null,
  ...(run.inputParams as Record<string, unknown>),
};
"""


def test_authoritative_keys_stand_behind_the_spread(tmp_path):
    assert told(script(tmp_path, GOOD, "a.ts"), CODE) == []
    package = script(tmp_path, BAD, "a.ts")
    assert told(package, CODE) == [("a.ts", 3, 3), ("a.ts", 4, 3)]


def test_it_is_an_error(tmp_path):
    finding = only(script(tmp_path, "x({bearer_token, ...run.inputParams})", "a.js"), CODE)
    assert finding.severity == "error"


@pytest.mark.parametrize(
    "text",
    [
        'const a = { "bearer_token": "", ...run.inputParams };',
        "const a = { 'approval_policy': p, ...inputParams };",
        "const a = { bearer_token, ...input_params };",
        'const a = { b: { bearer_token: "", ...run.inputParams } };',
        'const a = { bearer_token: f({ x: [1, 2] }), ...run["inputParams"] };',
        'const a = { bearer_token: "", ...{ ...x }, ...run.inputParams, c: 1 };',
        'call(a, { bearer_token: "", ...inputParams });',
        "const a = `${f({ bearer_token, ...inputParams })}`;",
        "return ok ? { bearer_token: t, ...inputParams } : {};",
        "const a = { bearer_token: '', ...run.inputParams, ...other };",
        "const a = { ...run.inputParams, bearer_token: '', ...run.inputParams };",
        "const a = { r: /[}]/, bearer_token: '', ...run.inputParams };",
    ],
)
def test_every_shape_of_it_is_seen(tmp_path, text):
    assert len(told(script(tmp_path, text, "a.ts"), CODE)) == 1


@pytest.mark.parametrize(
    "text",
    [
        'const a = { ...run.inputParams, bearer_token: "" };',
        'const a = { bearer_token: "", ...run.inputParams, bearer_token: "" };',
        'const a = { bearer_token: "", ...defaults };',
        "const { bearer_token, ...inputParams } = state;",
        "const { bearer_token: token, ...inputParams } = state;",
        "const f = ({ bearer_token, ...inputParams }) => inputParams;",
        "function f({ bearer_token, ...inputParams }: State) { return 1; }",
        'const a = { b: { bearer_token: "" }, ...run.inputParams };',
        'const a = { bearer_token: "", b: { ...run.inputParams } };',
        "const a = [bearer_token, ...run.inputParams];",
        "f(bearer_token, ...run.inputParams);",
        '// { bearer_token: "", ...run.inputParams }',
        "const a = '{ bearer_token: 1, ...run.inputParams }';",
        "const a = { x: bearer_token, ...run.inputParams };",
        "}}}) ] { ... ,",
    ],
)
def test_what_keeps_the_key_or_only_looks_alike_is_fine(tmp_path, text):
    assert told(script(tmp_path, text, "a.ts"), CODE) == []


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ('x = {"bearer_token": "", **run.input_params}\n', 6),
        ('x = {"a": 1, "approval_policy": p, **(input_params or {})}\n', 14),
        ('x = {"bearer_token": "", **run["inputParams"], "b": 1}\n', 6),
        ('x = {"bearer_token": ""} | input_params\n', 6),
    ],
)
def test_python_has_the_same_trap(tmp_path, text, column):
    assert told(script(tmp_path, text), CODE) == [("scripts/work.py", 1, column)]


@pytest.mark.parametrize(
    "text",
    [
        'x = {**run.input_params, "bearer_token": ""}\n',
        'x = {"bearer_token": "", **defaults}\n',
        'x = {"bearer_token": "", **input_params, "bearer_token": ""}\n',
        'x = input_params | {"bearer_token": ""}\n',
        'x = {"a": {"bearer_token": ""}, **input_params}\n',
    ],
)
def test_python_that_keeps_the_key_is_fine(tmp_path, text):
    assert told(script(tmp_path, text), CODE) == []
