"""A process that starts a run whose model is a server, and is killed once its answer is stored."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from cinatra_sdk import HttpPlatform, RunStore
from cinatra_sdk.store.work.run_ledger import RunLedger
from oas_compiler import compile_flow
from tests.models.llm_flows import ask_flow


def main(dsn: str, url: str, run_id: str) -> None:
    finish = RunLedger.finish

    def die(self: Any, *args: Any) -> None:
        finish(self, *args)
        os.kill(os.getpid(), signal.SIGKILL)

    RunLedger.finish = die  # type: ignore[method-assign]
    flow = ask_flow(component_type="OpenAiCompatibleConfig", model_id="m", url=url)
    with RunStore.open(dsn) as store:
        made = compile_flow(flow, platform=HttpPlatform(None, allow=[url]))
        store.start(made, {"topic": "bees"}, run_id)


def run() -> None:
    main(*sys.argv[1:])


if __name__ == "__main__":
    run()
