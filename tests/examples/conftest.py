"""Shared by the tests of the examples.

`home`          a short folder for OASFLOW_HOME; a server that was left running in it is stopped
`shared_home`   the same, one per test module
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cinatra_sdk.local_postgres.server_folders import base_of
from cinatra_sdk.local_postgres.supervisor import LocalServer


@pytest.fixture
def home() -> Iterator[Path]:
    with _folder() as folder:
        yield folder


@pytest.fixture(scope="module")
def shared_home() -> Iterator[Path]:
    with _folder() as folder:
        yield folder


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    # Short, because the path of a socket may have 107 bytes; open for passing through, because
    # root may have to run the server as another user.
    folder = Path(tempfile.mkdtemp(prefix="oft-"))
    folder.chmod(0o711)
    server = LocalServer(folder / "postgres")
    try:
        yield folder
    finally:
        server.stop()
        shutil.rmtree(base_of(server.folder), ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)
