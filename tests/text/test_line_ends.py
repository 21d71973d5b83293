"""Lines of files that are too long to be held, from both ends, compared with the plain way."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from cinatra_sdk.data.text import folders
from cinatra_sdk.data.text.folders import lines_backward, lines_forward, without_end


@dataclass
class Held:
    """A file of a test, which counts the bytes that are taken of it."""

    content: bytes
    taken: int = 0
    asked: list[tuple[int, int]] = field(default_factory=list)

    @property
    def size(self) -> int:
        return len(self.content)

    def read_at(self, offset: int, most: int) -> bytes:
        piece = self.content[offset : offset + most]
        self.taken += len(piece)
        self.asked.append((offset, most))
        return piece


def backward(content: bytes, longest: int = 100, most: int = 10**9) -> tuple[list[bytes], int, int]:
    left_out: list[None] = []
    stopped: list[None] = []
    lines = lines_backward(
        Held(content),
        longest=longest,
        most=most,
        left_out=lambda: left_out.append(None),
        stopped=lambda: stopped.append(None),
    )
    return list(lines), len(left_out), len(stopped)


def forward(content: bytes, longest: int = 100) -> tuple[list[str], int]:
    left_out: list[None] = []
    lines = lines_forward(Held(content), longest=longest, left_out=lambda: left_out.append(None))
    return list(lines), len(left_out)


def test_lines_come_from_the_end() -> None:
    assert backward(b"a\nb\n\nc") == ([b"c", b"", b"b", b"a"], 0, 0)
    assert backward(b"a\n") == ([b"", b"a"], 0, 0)
    assert backward(b"") == ([b""], 0, 0)


def test_a_line_that_is_too_long_is_left_out_from_both_ends() -> None:
    assert backward(b"a\n" + b"x" * 101 + b"\nb") == ([b"b", b"a"], 1, 0)
    assert forward(b"a\n" + b"x" * 101 + b"\nb") == (["a\n", "b"], 1)
    assert forward(b"x" * 101) == ([], 1)
    assert backward(b"x" * 101) == ([], 1, 0)
    assert forward(b"x" * 100) == (["x" * 100], 0)


def test_looking_back_ends_after_so_many_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "BLOCK", 4)
    assert backward(b"1\n2\n3\n4\n5\n6\n", most=4) == ([b"", b"6"], 0, 1)
    assert backward(b"5\n6\n", most=4) == ([b"", b"6", b"5"], 0, 0)


def test_small_blocks_and_letters_of_several_bytes_change_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seed = random.randrange(2**32)
    print("seed", seed)
    chance = random.Random(seed)
    for _ in range(300):
        block = chance.choice([1, 2, 3, 7, 64])
        monkeypatch.setattr(folders, "BLOCK", block)
        monkeypatch.setattr(folders, "BLOCK", block)
        words = [chance.choice(["a", "ü", "語", "\n", "\r\n", "\u2028", "xx"]) for _ in range(40)]
        text, longest = "".join(words), chance.choice([3, 5, 1000])
        lines = text.split("\n")
        ended = [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
        kept = [line for line in ended if len(line.removesuffix("\n")) <= longest]
        assert forward(text.encode(), longest) == (kept, len(ended) - len(kept))
        raw = [line.encode() for line in reversed(lines)]
        short = [line for line in raw if len(line) <= longest]
        assert backward(text.encode(), longest) == (short, len(raw) - len(short), 0)


def test_a_file_that_is_cut_while_it_is_read_ends_the_lines() -> None:
    class Cut(Held):
        @property
        def size(self) -> int:
            return len(self.content) + 100

    held = Cut(b"a\nb\n")
    told: list[None] = []
    lines = lines_backward(
        held, longest=9, most=99, left_out=lambda: None, stopped=lambda: told.append(None)
    )
    assert list(lines) == []
    assert list(lines_forward(held, longest=9, left_out=lambda: None)) == ["a\n", "b\n"]


def test_only_a_line_feed_and_a_return_before_it_are_taken_off() -> None:
    assert [without_end(line) for line in ("a\n", "a\r\n", "a\r", "a", "\n")] == [
        "a", "a", "a\r", "a", "",
    ]  # fmt: skip
