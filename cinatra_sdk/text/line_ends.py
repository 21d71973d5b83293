r"""Lines of a file that is too long to be held: streamed from its beginning, or read from its end.

    list(lines_forward(file, longest=100, left_out=…))      ["first\n", "second\n", "last"]
    list(lines_backward(file, longest=100, most=1_000, …))  [b"last", b"second", b"first"]

Only `\n` ends a line, with or without `\r` before it: U+2028, form feeds and lone `\r` are letters
of a line.  A line longer than `longest` is left out, and never held.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator

from cinatra_sdk.text.unlinked import BLOCK, Readable, read_blocks


def lines_forward(file: Readable, *, longest: int, left_out: Callable[[], None]) -> Iterator[str]:
    """The lines of a UTF-8 text, each with its end; `left_out` hears of each that is too long.

    Raises: `UnicodeDecodeError`.
    """
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    rest, is_inside_long = "", False
    for block in read_blocks(file):
        pieces = (rest + decoder.decode(block)).split("\n")
        rest = pieces.pop()
        for piece in pieces:
            if is_inside_long or len(piece) > longest:
                left_out()
                is_inside_long = False
            else:
                yield piece + "\n"
        if is_inside_long or len(rest) > longest:
            rest, is_inside_long = "", True
    rest += decoder.decode(b"", final=True)
    if is_inside_long:
        left_out()
    elif rest:
        yield rest


def lines_backward(
    file: Readable,
    *,
    longest: int,
    most: int,
    left_out: Callable[[], None],
    stopped: Callable[[], None],
) -> Iterator[bytes]:
    r"""The lines, the last one first, without `\n`; `left_out` hears of each that is too long.

    Calls `stopped` and ends where `most` bytes were read and lines are left.
    """
    end, rest, is_inside_long = file.size, b"", False
    while end > 0:
        if file.size - end >= most:
            stopped()
            return
        start = max(0, end - BLOCK)
        block = file.read_at(start, end - start)
        if len(block) < end - start:
            return  # the file was cut meanwhile
        pieces = (block + rest).split(b"\n")
        end, rest = start, pieces[0]
        for piece in reversed(pieces[1:]):
            if is_inside_long or len(piece) > longest:
                left_out()
                is_inside_long = False
            else:
                yield piece
        if is_inside_long or len(rest) > longest:
            rest, is_inside_long = b"", True
    if is_inside_long:
        left_out()
    else:
        yield rest.removeprefix(codecs.BOM_UTF8)


def without_end(line: str) -> str:
    r"""The line without `\n` or `\r\n`."""
    return line.removesuffix("\n").removesuffix("\r") if line.endswith("\n") else line
