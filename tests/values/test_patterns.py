"""The one engine for authors' patterns says what Python's `re` says, in bounded steps."""

from __future__ import annotations

import contextlib
import json
import random
import re
import threading
import warnings
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk.data.patterns.automaton import automaton_of
from cinatra_sdk.data.patterns.search import Matcher, SearchStopped, most_steps, spoken
from cinatra_sdk.data.patterns.syntax import MAX_PATTERN, flaw, read
from cinatra_sdk.data.work_budget import TooMuchWork, Work

CORPUS = Path(__file__).resolve().parents[2].parent / "shared" / "corpus"
ATOMS = ["a", "b", "A", "1", "é", "\n", " ", "_", ".", "\\d", "\\w", "\\s", "\\D", "\\W", "\\S",
         "[ab]", "[^a]", "[a-c1]", "[^\\w]", "[\\s_]", "\\b", "\\B", "^", "$", "\\A", "\\Z",
         "[^\\d\\s]"]  # fmt: skip
REPEATED = ["*", "+", "?", "{2}", "{1,3}", "{0,2}", "{2,}", "*?", "+?", "??"]
MANY = 10**9


def random_pattern(chance: random.Random, depth: int) -> str:
    kind = chance.random()
    if depth <= 0 or kind < 0.4:
        return chance.choice(ATOMS)
    if kind < 0.6:
        return random_pattern(chance, depth - 1) + random_pattern(chance, depth - 1)
    one = random_pattern(chance, depth - 1)
    if kind < 0.7:
        return f"(?:{one}|{random_pattern(chance, depth - 1)})"
    return f"({one})" if kind < 0.78 else f"(?:{one}){chance.choice(REPEATED)}"


def differ(seed: int, patterns: int) -> int:
    """How many of `patterns` random ones were compared; fails at the first difference."""
    print("seed", seed)
    chance = random.Random(seed)
    compared = 0
    for _ in range(patterns):
        pattern = random_pattern(chance, chance.randint(1, 5))
        if flaw(pattern):
            continue
        automaton = automaton_of(read(pattern))
        if automaton is None:
            continue
        compared += 1
        for length in (0, 1, 2, 3, 5, 8):
            text = "".join(chance.choices("aabbA1é\n _.c", k=length))
            wanted = re.search(pattern, text) is not None
            assert automaton.finds(text, Work(MANY)) is wanted, (pattern, text)
    return compared


def test_the_automaton_says_what_python_says() -> None:
    assert differ(20261122, 3_000) > 2_500


@pytest.mark.long
def test_the_automaton_says_what_python_says_of_many_patterns() -> None:
    assert differ(random.SystemRandom().randrange(10**9), 40_000) > 30_000


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a*)*$", "(a|aa)+$", "(.*a){20}x", r"(\w+\s?)*$"])
def test_a_pattern_that_explodes_is_searched_in_steps_that_grow_with_the_text(pattern: str) -> None:
    def steps(length: int) -> int:
        work = Work(MANY)
        assert not Matcher(f"^{pattern.rstrip('$')}$").found("a" * length + "!", work)
        return MANY - work.left

    assert steps(4_000) < 3 * steps(2_000)


@pytest.mark.parametrize(
    "pattern", [r"(a+)\1", "(?=a)b", "(?!a)b", "(?<=a)b", "(?i)a", "(?m)^a", "(?>a)", "(?i:a)b"]
)
def test_what_an_automaton_cannot_say_is_left_to_pythons_engine(pattern: str) -> None:
    assert automaton_of(read(pattern)) is None
    for text in ("", "ab", "AB", "aab", "x\nab"):
        assert Matcher(pattern).found(text, Work(MANY)) is (re.search(pattern, text) is not None)


def test_the_bound_on_steps_is_one() -> None:
    """Patterns that are taken for short come back; what they cost grows as it was said."""
    assert most_steps(read("^[a-z]+$"), 1_000) < 10_000
    assert most_steps(read(r"^(?=.*[A-Z])(?=.*\d).{8,}$"), 1_000) < 100_000
    assert most_steps(read("(a+)+$"), 60) > 10**15
    assert most_steps(read("(ab|a|b)*c"), 200) > 10**15


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("(a", "it is no regular expression"),
        ("(?<=a+)b", "it looks behind for texts of different lengths"),
        ("(" * 101 + "a" + ")" * 101, "its groups nest deeper than 100"),
        ("(" * 4_000 + ")" * 4_000, "nest"),
        ("a" * (MAX_PATTERN + 1), "it is longer than 10,000 characters"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_named(pattern: str, said: str) -> None:
    flawed = flaw(pattern)
    assert flawed is not None
    assert said in str(flawed)


def test_a_pattern_is_read_without_compiling_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def compiling(*_: object) -> None:
        raise AssertionError("compiled")

    monkeypatch.setattr(re, "compile", compiling)
    assert flaw("(?i)" + "[Ā-￿]" * 1_900) is None


def test_searches_apart_share_the_budget() -> None:
    work = Work(100_000)
    matcher = Matcher(r"^(a+)+\1!$")
    # What a search costs is its processor time, so how many fit in is not said.
    with contextlib.suppress(TooMuchWork):
        for _ in range(1_000):
            assert matcher.found("a" * 30 + "!", work)
        pytest.fail("a thousand searches took no part of the budget")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (2, "2 seconds"),
        (1.25, "a second"),
        (0.837421, "half a second"),
        (0.100001, "a tenth of a second"),
        (0.01, "a hundredth of a second"),
    ],
)
def test_the_time_of_a_search_is_told_in_words(seconds: float, words: str) -> None:
    assert spoken(seconds) == words


def test_a_search_apart_is_limited_in_memory() -> None:
    with pytest.raises(SearchStopped, match=r"512 MB of memory|processor time"):
        Matcher("(?:){1000000000}").first("a")


def test_other_threads_go_on_while_a_pattern_is_searched() -> None:
    turns = []
    ended = threading.Event()

    def count() -> None:
        while not ended.wait(0.001):
            turns.append(1)

    other = threading.Thread(target=count)
    other.start()
    with pytest.raises(SearchStopped):
        Matcher(r"^(a+)+\1$").found("a" * 64 + "!", Work(200_000))
    ended.set()
    other.join()
    assert len(turns) > 10


def corpus_patterns() -> list[str]:
    found: set[str] = set()

    def collect(value: Any) -> None:
        if isinstance(value, dict):
            for key, member in value.items():
                if key in {"pattern", "regex_pattern"} and isinstance(member, str):
                    found.add(member)
                collect(member)
        elif isinstance(value, list):
            for item in value:
                collect(item)

    for path in CORPUS.rglob("*.json"):
        try:
            collect(json.loads(path.read_text(encoding="utf-8")))
        except ValueError:
            continue
    return sorted(found)


def test_patterns_of_real_files_find_what_they_found() -> None:
    if not CORPUS.is_dir():
        pytest.skip("the corpus of real flows is not beside this checkout")
    texts = ["", "a", "abc", "a-b", "A_1", "https://a.example/x", "ann@example.org", "2030-01-01",
             "@scope/name", "1.2.3", "é", "a\n", "#aabbcc", "a" * 300, "a-" * 100]  # fmt: skip
    for pattern in corpus_patterns():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled = re.compile(pattern)
        for text in texts:
            found = compiled.search(text) is not None
            assert Matcher(pattern).found(text, Work(MANY)) is found, (pattern, text)
