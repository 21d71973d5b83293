"""`langgraph dev` with the project's `langgraph.json`, as a real process.

with studio(folder, OASFLOW_FLOWS=str(flows)) as url: …
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

ROOT = Path(__file__).resolve().parents[1]
START_SECONDS = 90
# Nothing of a test leaves this machine: no tracing, no analytics, no look for a newer version.
QUIET = {
    "LANGSMITH_TRACING": "false",
    "LANGGRAPH_NO_VERSION_CHECK": "true",
    "LANGGRAPH_CLI_NO_ANALYTICS": "1",
    "PYTHONPATH": str(ROOT),
    "NO_PROXY": "127.0.0.1",
    "no_proxy": "127.0.0.1",
}
INHERITED = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "SYSTEMROOT", "VIRTUAL_ENV")


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def is_ready(url: str) -> bool:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{url}/ok", timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def has_ended_within(process: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


@contextmanager
def studio(
    folder: Path, *, graphs: Mapping[str, str] = MappingProxyType({}), **more: str
) -> Iterator[str]:
    """The url of a server whose working files are in `folder`, outside the repository.

    graphs: further graphs beside the project's own, name to `module:variable`.
    more:   variables of its environment.
    """
    offered = json.loads((ROOT / "langgraph.json").read_text())
    offered["graphs"] |= {name: {"path": path} for name, path in graphs.items()}
    (folder / "langgraph.json").write_text(json.dumps(offered))
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "tests.studio_program", "dev", "--no-browser", "--no-reload"]
    command += ["--host", "127.0.0.1", "--port", str(port), "--n-jobs-per-worker", "2"]
    environment = {name: os.environ[name] for name in INHERITED if name in os.environ}
    log = folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment | QUIET | more,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            deadline = time.monotonic() + START_SECONDS
            while not is_ready(url):
                ended = has_ended_within(process, 0.2)
                assert not ended, log.read_text(errors="replace")[-4000:]
                assert time.monotonic() < deadline, log.read_text(errors="replace")[-4000:]
            yield url
        finally:
            process.terminate()
            if not has_ended_within(process, 30):
                process.kill()
                process.wait(timeout=30)
