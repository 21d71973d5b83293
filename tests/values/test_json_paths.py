"""Ways into a JSON value: the part of jq's language that looks things up."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk.data.json_paths import PathError, parse_path, take_path

VALUE = {"a": [{"n": 1, "my key": "x"}, {"n": None}], "t": "text", "none": None}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".", VALUE),
        (".t", "text"),
        (".a[0].n", 1),
        ('.a[0]."my key"', "x"),
        ('.a[0]["my key"]', "x"),
        (".a.[1].n", None),
        (".a[-1]", {"n": None}),
        (".a[7]", None),
        (".missing.deeper[3]", None),
        (".none.n", None),
        ("[.a[].n]", [1, None]),
        ("[ .t ]", ["text"]),
        ("[.a[0][]]", [1, "x"]),
    ],
)
def test_a_path_leads_to_a_part(path: str, found: Any) -> None:
    parsed = parse_path(path)
    assert parsed is not None
    assert take_path(parsed, VALUE) == found


@pytest.mark.parametrize(
    "expression",
    ["", "a", ".a[]", 'has("a")', ".a | length", ".a.b?", "[.[]|.n]", '."open', ".a..b", "[]"],
)
def test_whatever_does_more_than_looking_up_is_no_path(expression: str) -> None:
    assert parse_path(expression) is None


@pytest.mark.parametrize("path", [".t.n", ".t[0]", "[.t[]]", ".a.n"])
def test_a_step_that_does_not_fit_its_value_is_an_error(path: str) -> None:
    parsed = parse_path(path)
    assert parsed is not None
    with pytest.raises(PathError):
        take_path(parsed, VALUE)
