"""npm's version ranges: what admits what, and what is no range at all.

The expected values were worked out from npm's documentation of ranges.
"""

from __future__ import annotations

import random
import subprocess
import sys

import pytest

from cinatra_sdk.data.version_ranges import (
    MAX_LENGTH,
    highest,
    in_order,
    is_range,
    is_version,
    refusal,
    satisfies,
)


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        # caret: the first number that is not 0 stays
        ("^1.2.3", ["1.2.3", "1.9.0"], ["1.2.2", "2.0.0", "0.9.9"]),
        ("^0.2.3", ["0.2.3", "0.2.9"], ["0.3.0", "0.2.2", "1.0.0"]),
        ("^0.0.3", ["0.0.3"], ["0.0.4", "0.1.0"]),
        ("^0.0", ["0.0.0", "0.0.9"], ["0.1.0"]),
        ("^0.x", ["0.0.1", "0.9.9"], ["1.0.0"]),
        ("^1.x", ["1.0.0", "1.9.9"], ["2.0.0", "0.9.9"]),
        ("^ 1.2.3", ["1.4.0"], ["2.0.0"]),
        # tilde: patches, and minors where only the major is given
        ("~1.2.3", ["1.2.3", "1.2.9"], ["1.3.0", "1.2.2"]),
        ("~1.2", ["1.2.0", "1.2.9"], ["1.3.0"]),
        ("~1", ["1.0.0", "1.9.0"], ["2.0.0"]),
        ("~0.2.3", ["0.2.3", "0.2.9"], ["0.3.0"]),
        ("~>1.2", ["1.2.7"], ["1.3.0"]),
        # x-ranges
        ("1.2.x", ["1.2.0", "1.2.7"], ["1.3.0"]),
        ("1.*", ["1.0.0", "1.9.9"], ["2.0.0"]),
        ("1", ["1.0.0", "1.9.9"], ["2.0.0"]),
        ("*", ["0.0.0", "7.1.0"], []),
        ("x", ["0.0.0", "7.1.0"], []),
        ("", ["0.0.0", "7.1.0"], []),
        ("  ", ["0.0.0", "7.1.0"], []),
        # comparators, conjunctions, alternatives
        (">=1.2.0 <2", ["1.2.0", "1.9.9"], ["1.1.9", "2.0.0"]),
        (">1.2", ["1.3.0"], ["1.2.9"]),
        ("<=1.2", ["1.2.9", "0.1.0"], ["1.3.0"]),
        ("> 1.2.3", ["1.2.4"], ["1.2.3"]),
        ("1.0.0 || >=2.0.0 <3", ["1.0.0", "2.5.0"], ["1.0.1", "3.0.0"]),
        ("^1||^3", ["1.1.0", "3.0.0"], ["2.0.0"]),
        # hyphen: a partial upper end admits everything below the next
        ("1.2.3 - 2.3.4", ["1.2.3", "2.3.4"], ["1.2.2", "2.3.5"]),
        ("1.2 - 2", ["1.2.0", "2.9.9"], ["1.1.9", "3.0.0"]),
        # a leading v and =, blanks around
        ("v1.2.3", ["1.2.3"], ["1.2.4"]),
        ("=1.2.3", ["1.2.3"], ["1.2.4"]),
        ("^v1.2", ["1.3.0"], ["2.0.0"]),
        ("\t ^1.0.0 \n", ["1.5.0"], ["2.0.0"]),
        ("1.2.3", ["1.2.3", "v1.2.3", "1.2.3+build"], ["1.2.4", "1.2.3-rc.1"]),
        ("~1.2+build", ["1.2.5"], ["1.3.0"]),
    ],
)  # fmt: skip
def test_a_range_admits_what_npm_says(text: str, inside: list[str], outside: list[str]) -> None:
    assert is_range(text)
    assert [version for version in inside if not satisfies(version, text)] == []
    assert [version for version in outside if satisfies(version, text)] == []


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("^1.2.3", [], ["1.3.0-rc.1", "2.0.0-rc.1"]),
        ("*", [], ["1.0.0-rc.1"]),
        (">=1.0.0", [], ["2.0.0-rc.1"]),
        ("^1.2.3-beta.2", ["1.2.3-beta.2", "1.2.3-beta.10", "1.2.3", "1.3.0"],
         ["1.2.3-beta.1", "1.3.0-beta.3", "2.0.0-beta.9"]),
        (">=2.0.0-rc.1 <2.0.1", ["2.0.0-rc.1", "2.0.0-rc.2", "2.0.0"], ["2.0.0-beta.9"]),
        ("* || >2.0.0-rc.0", ["1.0.0"], ["2.0.0-rc.1"]),
    ],
)  # fmt: skip
def test_a_prerelease_is_admitted_only_where_the_range_names_one_of_the_same_numbers(
    text: str, inside: list[str], outside: list[str]
) -> None:
    assert [version for version in inside if not satisfies(version, text)] == []
    assert [version for version in outside if satisfies(version, text)] == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("latest", "a name that only a registry could resolve"),
        ("next", "a name that only a registry could resolve"),
        ("workspace:*", 'a place ("workspace:")'),
        ("workspace:^1.0.0", 'a place ("workspace:")'),
        ("file:../other", 'a place ("file:")'),
        ("link:../other", 'a place ("link:")'),
        ("git+ssh://host/x.git", 'a place ("git+ssh:")'),
        ("npm:@x/b@^1.0.0", 'a place ("npm:")'),
        ("user/repository", "a place"),
        ("^^1.0.0", "not a version range of npm"),
        ("1.2.3.4", "not a version range of npm"),
        ("01.2.3", "not a version range of npm"),
        ("1.x.3", "not a version range of npm"),
        (">=1.0.0, <2", "not a version range of npm"),
        ("1.0.0 || latest", "not a version range of npm"),
        ("^", "not a version range of npm"),
        ("1.2.3 -2.0.0", "not a version range of npm"),
        ("99999999999999999999.0.0", "not a version range of npm"),
        ("\uff11.2.3", "not a version range of npm"),
        ("1٣.0.0", "not a version range of npm"),
        ("1" * 300, f"longer than {MAX_LENGTH} characters"),
        (7, "no text"),
        (None, "no text"),
        ({"range": "^1"}, "no text"),
    ],
)  # fmt: skip
def test_what_is_no_range_is_refused_in_plain_words(text: object, why: str) -> None:
    assert not is_range(text)
    assert refusal(text).startswith(why)
    if isinstance(text, str):
        assert not satisfies("1.0.0", text)
        assert highest(["1.0.0"], text) is None


def test_a_range_has_no_refusal() -> None:
    assert [refusal(text) for text in ("^1.0.0", "*", "", "1 - 2", "v1")] == [""] * 5


def test_the_highest_is_by_number_and_not_by_text() -> None:
    there = ["1.9.0", "1.10.0", "1.2.0", "2.0.0", "1.11.0-rc.1", "no version"]
    assert highest(there, "^1.0.0") == "1.10.0"
    assert highest(there, ">=3") is None
    assert highest([], "*") is None


def test_versions_are_put_in_order_and_what_is_none_stands_first() -> None:
    mixed = ["1.0.0", "1.0.0-rc.1", "x", "0.9.0", "1.0.0-rc.2", "1.0.0-alpha"]
    expected = ["x", "0.9.0", "1.0.0-alpha", "1.0.0-rc.1", "1.0.0-rc.2", "1.0.0"]
    assert in_order(mixed) == expected
    assert in_order(reversed(mixed)) == expected


def test_a_version_has_three_numbers() -> None:
    assert [v for v in ("1.2.3", "v1.2.3", "1.2.3-rc.1", "1.2.3+b") if not is_version(v)] == []
    no_versions = ("1.2", "1", "", "latest", "1.2.3.4", "^1.2.3", "1.2.03", 1, None)
    assert [v for v in no_versions if is_version(v)] == []


def test_no_text_makes_the_library_raise() -> None:
    dice = random.Random(20_261_120)
    signs = "0123456789.xX*^~<>=|- v+abz/:,!\t\n\x00é"
    for _ in range(5_000):
        text = "".join(dice.choice(signs) for _ in range(dice.randrange(0, 14)))
        version = "".join(dice.choice(signs) for _ in range(dice.randrange(0, 9)))
        assert is_range(text) == (refusal(text) == "")
        satisfies("1.2.3", text)
        satisfies(version, "*")
        highest([version, "1.0.0"], text)


def test_the_library_is_loaded_at_the_first_question() -> None:
    code = (
        "import sys, oas_compiler.deps, cinatra_sdk.data.version_ranges as r; "
        "assert 'nodesemver' not in sys.modules; r.is_range('^1'); "
        "assert 'nodesemver' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
