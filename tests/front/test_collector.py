"""The garbage collector is as it was after every check, also when a rule raises."""

from __future__ import annotations

import gc
import threading

import pytest

from oas_compiler import check
from oas_compiler.cli.collector import collector_at_rest


@pytest.mark.parametrize("on", [True, False])
def test_the_collector_is_left_as_it_was(on):
    before = gc.isenabled()
    try:
        (gc.enable if on else gc.disable)()
        check({"component_type": "Flow"})
        assert gc.isenabled() is on
        with pytest.raises(LookupError), collector_at_rest():
            raise LookupError
        assert gc.isenabled() is on
    finally:
        (gc.enable if before else gc.disable)()


def test_it_rests_until_the_last_of_several_threads_has_left():
    inside, leave = threading.Event(), threading.Event()

    def stay() -> None:
        with collector_at_rest():
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=stay)
    with collector_at_rest():
        thread.start()
        assert inside.wait(10)
    assert not gc.isenabled()
    leave.set()
    thread.join()
    assert gc.isenabled()
