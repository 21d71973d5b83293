"""`oasflow` for a shell, forked from a process that has imported it.

    with serve_oasflow(folder) as program:     # a small program in `folder`, and who forks for it
        subprocess.run(["bash", "-c", f"{program} check examples"])

Each call is a process of its own, with the arguments, variables, folder and streams that the shell
gave it, and ends as that process does.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.warm import FORKED, _become, _Handed

MAIN = "oas_compiler.cli:main"
ANSWER = 16
"""Bytes that hold an exit code."""
LONGEST = 1 << 20
"""Bytes of arguments and variables."""

CALLER = """\
#!{python} -ISE
import json, os, socket, sys
asked = json.dumps([sys.argv, dict(os.environ), os.getcwd()]).encode()
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as line:
    line.connect({address!r})
    socket.send_fds(line, [asked], [0, 1, 2])
    code = line.recv({answer})
os._exit(int(code or b"70"))
"""


@contextlib.contextmanager
def serve_oasflow(folder: Path) -> Iterator[Path]:
    """The path of the program."""
    program, address = folder / "oasflow", folder / "line"
    text = CALLER.format(python=sys.executable, address=str(address), answer=ANSWER)
    program.write_text(text, encoding="utf-8")
    program.chmod(0o755)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as door:
        door.bind(str(address))
        door.listen()
        serving = threading.Thread(target=_serve, args=(door,), daemon=True)
        serving.start()
        try:
            yield program
        finally:
            door.shutdown(socket.SHUT_RDWR)
            serving.join()


def _serve(door: socket.socket) -> None:
    """Carry out one call after the other, as a shell makes them."""
    while True:
        try:
            line, _ = door.accept()
        except OSError:  # the door was shut
            return
        with line:
            asked, streams, _, _ = socket.recv_fds(line, LONGEST, 3)
            line.send(str(_run(json.loads(asked), streams)).encode())


def _run(asked: Any, streams: list[int]) -> int:
    argv, env, folder = asked
    process = FORKED.Process(
        target=_become, args=(MAIN, argv, env, folder, [_Handed(one) for one in streams], False)
    )
    process.daemon = True
    try:
        process.start()
    finally:
        for one in streams:
            os.close(one)
    process.join()
    code = process.exitcode
    return code if code is not None and code >= 0 else 128 - (code or 0)
