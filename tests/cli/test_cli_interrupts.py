"""Ctrl-C at a prompt is heard at once, whenever it comes."""

from __future__ import annotations

import os
import sys

import pytest
from oasflow_screen import Screen

# Threads that want the interpreter stretch the moment between Python's last look for signals and
# its reading to milliseconds, as the end of a run's background work does.
CHILD = """
import sys, threading
from oas_compiler.cli.terminal.keyboard import typed_line

def busy():
    while True:
        sum(range(50))

for _ in range(3):
    threading.Thread(target=busy, daemon=True).start()
read = {"typed_line": typed_line, "readline": sys.stdin.readline}[sys.argv[1]]
try:
    sys.stderr.write("ready: ")
    sys.stderr.flush()
    line = read()
except KeyboardInterrupt:
    sys.stderr.write("interrupted")
    sys.exit(130)
sys.stderr.write(f"typed {line!r}")
"""


@pytest.fixture
def child():
    opened: list[Screen] = []

    def begin(read: str = "typed_line") -> Screen:
        opened.append(Screen([sys.executable, "-c", CHILD, read], dict(os.environ)))
        opened[-1].wait_for("ready: ")
        return opened[-1]

    yield begin
    for one in opened:
        one.close()


def is_heard(child, read: str = "typed_line", *, patience: float) -> bool:
    seen = child(read)
    seen.press("C")
    try:
        seen.wait_for("interrupted", patience=patience)
    except AssertionError:
        return False
    assert seen.ended() == 130
    return True


def test_an_interrupt_right_after_the_prompt_is_heard(child):
    for _ in range(8):
        assert is_heard(child, patience=60)


@pytest.mark.long
def test_an_interrupt_is_heard_in_300_rounds_and_a_plain_read_misses_some(child):
    assert all(is_heard(child, patience=60) for _ in range(300))
    # Control: without the wait for signals some are heard after the next line only.
    assert not all(is_heard(child, "readline", patience=3) for _ in range(300))


def test_lines_are_read_as_they_are_typed(child):
    seen = child()
    seen.type("grün")
    seen.wait_for(r"typed 'grün\n'")
    assert seen.ended() == 0


def test_the_end_of_the_input_is_no_line(child):
    seen = child()
    seen.press("D")
    seen.wait_for("typed ''")


def test_a_part_of_a_line_is_handed_over_at_the_second_ctrl_d(child):
    seen = child()
    os.write(seen._master, b"half\x04\x04")
    seen.wait_for("typed 'half'")
