"""One Postgres for all trials of a worker: `python -m tests.code_mutants.server`.

Prints its three addresses as one line of JSON, and stops at the end of its input.  A trial that
started one of its own would spend four seconds on it.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path

from cinatra_sdk.local_postgres.supervisor import LocalServer


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="ocm-"))
    server = LocalServer(folder)
    server.start()
    try:
        addresses = [server.superuser_dsn(), server.dsn(), server.owner_dsn()]
        print(json.dumps(addresses), flush=True)
        sys.stdin.read()
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
