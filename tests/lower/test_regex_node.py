"""An author's pattern on anybody's text, in bounded time."""

from __future__ import annotations

import asyncio
import random
import re

import pytest

from cinatra_sdk.data.patterns import search
from cinatra_sdk.data.patterns.search import Matcher, SearchStopped
from cinatra_sdk.errors import NodeFailed
from cinatra_sdk.testing import adrive, drive
from oas_compiler import compile_flow
from oas_compiler.lower.flow import Flow
from tests.flows import end, flow_of, node, port, start

HARD = "a" * 40 + "b"
"""`(a+)+$` tries some 10^12 ways on it."""

LINEAR = [r"\d+", r"^Subject: .*$", r"(?P<id>[A-Z]{2,5})-\d+", r"[]a]+", r"[^]\]]+", r"foo|bar",
          r"\((.*?)\)", "a?b", r"(?i)hello", r"(?:abc){3}", "x{2,}", r"\s*,\s*",
          "(a|b)*c", "((?:x{9}){9}){9}", r"(a*)\1", "(?=a+)a", "(?x) a + # comment (",
          "(?P<a>x*)(?P=a)", r"^(?=.*[A-Z])(?=.*\d).{8,}$"]  # fmt: skip
UNSURE = [r"(a+)+$", r"(ab|a)*c", r"(?:a?){50}", r"(a*)*\1", r"(?=(a+)+b)a", r"(?:a{1,9}){9}",
          "(?x) (a +)+ # comment (", r"(?P<a>(x*)*)(?P=a)", "a?" * 40 + "a" * 40, "a*" * 8 + "b"]  # fmt: skip


@pytest.mark.parametrize("pattern", LINEAR)
def test_a_pattern_of_few_steps_is_searched_here(pattern: str) -> None:
    assert Matcher(pattern).runs_here("some short text")


@pytest.mark.parametrize("pattern", UNSURE)
def test_a_pattern_that_may_take_long_is_searched_apart(pattern: str) -> None:
    re.compile(pattern)
    assert not Matcher(pattern).runs_here("a" * 30)


def test_a_long_text_sends_even_a_simple_pattern_apart() -> None:
    matcher = Matcher(r"\d+x")
    assert matcher.runs_here("1" * 500)
    assert not matcher.runs_here("1" * 5_000)
    assert matcher.all("1" * 5_000 + " 7x") == ["7x"]


@pytest.mark.parametrize("pattern", [*LINEAR, r"(a|b)*c", r"(a+)+$", r"(a*)\1", r"(?=a+)a"])
def test_both_places_find_what_python_finds(pattern: str) -> None:
    text = "abc (aa) 12, 7 \n[x]é foo xx bar AB-1 HELLO"
    expected = [match.group(0) for match in re.finditer(pattern, text)]
    assert Matcher(pattern).all(text) == expected
    assert Matcher(pattern).first(text) == (expected[0] if expected else "")


def test_nothing_found_is_an_empty_string_or_list() -> None:
    for pattern in (r"\d+", r"(\d+)+"):
        assert Matcher(pattern).first("none") == ""
        assert Matcher(pattern).all("none") == []


def test_text_that_is_no_ascii_comes_back_as_it_was() -> None:
    assert Matcher(r"(.+)+").all("é\u2028😀") == ["é\u2028😀"]


def test_a_search_without_an_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    # A tenth of the usual work: a busy machine gives that much before the process is given up.
    monkeypatch.setattr(search, "SECONDS", 0.2)
    with pytest.raises(SearchStopped, match="more than a tenth of a second of processor time"):
        Matcher(r"(a+)+$").first(HARD)


def test_no_random_pattern_that_is_searched_here_takes_many_steps() -> None:
    """Every pattern that is taken for short is run on the worst of texts: it must come back."""
    seed = 20261120
    print("seed", seed)
    chance = random.Random(seed)
    parts = ["a", "b", "a*", "a+", "a?", "a{0,9}", "(a)", "(a+)", "(?:a|b)", "(a)*", "(a+)+",
             "[ab]*", "\\w+", "(a|ab)(c|bcd)", "((a?){9})", "|"]  # fmt: skip
    ran = 0
    for _ in range(400):
        pattern = "".join(chance.choices(parts, k=chance.randint(1, 6)))
        text = "a" * chance.choice([10, 30, 100, 1_000]) + "!"
        matcher = Matcher(pattern)
        if matcher.runs_here(text):
            ran += 1
            assert matcher.all(text) == [match.group(0) for match in re.finditer(pattern, text)]
    assert ran > 100


def flow_with(pattern: str) -> Flow:
    plugin = {"component_plugin_name": "NodesPlugin", "component_plugin_version": "26.1.0"}
    found = node("PluginRegexNode", "find", regex_pattern=pattern, return_first_match_only=True,
                 inputs=[port("text")], outputs=[port("output")], **plugin)  # fmt: skip
    edges = [("start", "text", "find", "text"), ("find", "output", "end", "output")]
    return compile_flow(flow_of(start(port("text")), found, end(port("output")), edges=edges))


def test_a_pattern_that_explodes_fails_its_node_by_name_and_rule() -> None:
    failed = drive(flow_with(r"(a+)+$"), {"text": HARD})
    assert failed.status == "failed"
    assert isinstance(failed.error, NodeFailed)
    assert failed.error.node == "find"
    assert "node 'find': regex_pattern: the search was stopped" in str(failed.error)
    assert "repetition inside a repetition" in str(failed.error)
    assert "aaaa" not in str(failed.error)


def test_a_search_apart_leaves_the_event_loop_free() -> None:
    async def host() -> tuple[object, bool]:
        free = asyncio.Event()
        asyncio.get_running_loop().call_soon(free.set)
        result = await adrive(flow_with(r"(a|b)+c"), {"text": "xabac"})
        return result.outputs, free.is_set()

    # of a pattern with one group, what the group matched (last)
    assert asyncio.run(host()) == ({"output": "a"}, True)
