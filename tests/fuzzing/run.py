"""Serves a platform with one run, and lets Schemathesis try all its routes.

    python -m tests.fuzzing.run SCHEMATHESIS [examples for each route] [its other options]
    X-Cinatra-A2A-Context-Id:fuzzed: 1912 requests, exit code 0
      seed 230019185721112418302251186343547432901

Ends with 1 where an answer breaks a rule.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from cinatra_sdk import HostParts
from cinatra_sdk.host.bridge.model_offers import Offer
from cinatra_sdk.host.model_routes import make_routes
from cinatra_sdk.host.passthrough.passthrough_route import ROUTE as PASSTHROUGH
from cinatra_sdk.host.passthrough.passthrough_route import Passthrough
from cinatra_sdk.local_postgres.supervisor import LocalServer
from cinatra_sdk.store.database import Database

ROOT = Path(__file__).resolve().parents[2]
RUN = "fuzzed"
PROVED = f"X-Cinatra-A2A-Context-Id:{RUN}"
PATHS = ("/api/llm-bridge", "/api/agents/passthrough")
"""Routes that have to answer somebody, so that what is tried is not their door alone."""
OASFLOW = Path(sys.executable).with_name("oasflow")
COMMON = ["runId", "agent_run_id", "triggerType", "cronExpression", "timezone", "scheduledAt", "enabled",
          "drafts", "id", "userResponse", "action"]  # fmt: skip
"""Names that tools take which describe no input."""
CHECKS = (
    "status_code_conformance,content_type_conformance,response_schema_conformance,"
    "negative_data_rejection,unsupported_method,fails_only_where_the_model_did,"
    "what_is_refused_asks_no_model,quotes_no_body,is_counted"
)


def main(schemathesis: str, examples: int = 150, *options: str) -> int:
    with tempfile.TemporaryDirectory() as home:
        env = {**os.environ, "OASFLOW_HOME": home, "PYTHONPATH": str(ROOT)}
        env = {key: value for key, value in env.items() if key != "DATABASE_URL"}
        try:
            start_run(env)
            tools = list_tools(home)
            with serve(env) as url:
                more = ("--max-examples", str(examples), *options)
                return fuzz(schemathesis, url, home, tools, more)
        finally:
            subprocess.run([OASFLOW, "db", "stop"], env=env, check=False, capture_output=True)


def start_run(env: dict[str, str]) -> None:
    """A run that waits at the gate of its context slots, so that the routes have a run to speak of."""
    agent = ROOT / "examples/product-text-agent"
    started = subprocess.run(
        [OASFLOW, "run", agent, "--simulate", "--set", "product=Tea", "--context",
         agent / "context.yaml", "--detach", "--run-id", RUN],
        env=env, check=False, capture_output=True, encoding="utf-8",
    )  # fmt: skip
    assert started.returncode == 3, started.stderr


def list_tools(home: str) -> dict[str, list[str]]:
    """Each tool by its name, with the names of its input."""
    with closing(Database.open(LocalServer(Path(home) / "postgres").dsn())) as database:
        route = make_routes(database, Offer.of([]), HostParts())[PASSTHROUGH]
    assert isinstance(route, Passthrough)
    named = {name: [*tool.schema.get("properties", ())] for name, tool in route.tools.items()}
    return {name: names or COMMON for name, names in named.items()}


@contextmanager
def serve(env: dict[str, str]) -> Iterator[str]:
    command = [OASFLOW, "platform", "serve", "--model", "any", "--host", "tests.fuzzing.lent:lend",
               "--context", ROOT / "examples/product-text-agent/context.yaml",
               "--bind", "127.0.0.1:0", "--json"]  # fmt: skip
    with subprocess.Popen(command, env=env, cwd=ROOT, stdout=subprocess.PIPE, text=True) as served:
        assert served.stdout is not None
        try:
            text = ""
            while not text.endswith("}\n"):
                line = served.stdout.readline()
                assert line, "the platform ended before it served"
                text += line
            yield json.loads(text)["url"]
        finally:
            served.send_signal(signal.SIGTERM)
            assert served.wait(20) == 0


def fuzz(
    schemathesis: str, url: str, home: str, tools: dict[str, list[str]], options: tuple[str, ...]
) -> int:
    """Twice: as the run that the store has, and as nobody's."""
    failed = 0
    for header in (PROVED, "X-Nobody:1"):
        tally = Path(home) / f"tally-{header[:5]}"
        env = {**os.environ, "FUZZED_TOOLS": json.dumps(tools), "PYTHONPATH": str(ROOT),
               "FUZZED_TALLY": str(tally), "SCHEMATHESIS_HOOKS": "tests.fuzzing.rules"}  # fmt: skip
        done = subprocess.run(
            [Path(schemathesis).absolute(), "run", f"{url}/openapi.json", "--checks", CHECKS, "--no-color", "--header",
             header, "--continue-on-failure", "--warnings", "off", *options],
            env=env, cwd=home, check=False, capture_output=True, encoding="utf-8",
        )  # fmt: skip
        tried = re.search(r"(\d+) generated", done.stdout)
        seed = re.search(r"Seed: (\d+)", done.stdout)
        print(f"{header}: {tried[1] if tried else 'no'} requests, exit code {done.returncode}")
        print(f"  seed {seed[1] if seed else '?'}")
        counted = Counter(tally.read_text("utf-8").splitlines() if tally.exists() else ())
        print("  " + ", ".join(f"{what}: {times}" for what, times in sorted(counted.items())))
        if done.returncode:
            print(done.stdout, done.stderr, sep="\n")
            failed = 1
        missed = [path for path in PATHS if not counted[f"{path} 200"]]
        if missed and header == PROVED:
            print(f"  no request reached what is behind {', '.join(missed)}")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 150, *sys.argv[3:]))
