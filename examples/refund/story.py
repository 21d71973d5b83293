"""The refund of order 881, approved and rejected, with the record of each; every sentence is checked.

In: nothing.  Out: a story on stdout; exit code 0 when every sentence was found to be true, else 1.

    ./scripts/refund                       in a temporary folder that is removed again
    OASFLOW_HOME=~/demo ./scripts/refund   the data stay there
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
for folder in (ROOT, ROOT / "examples", HERE):
    sys.path.insert(0, str(folder))

from demo import (  # noqa: E402 - after the path
    NotAsTold,
    Stage,
    bold,
    chapter,
    require,
    say,
    stage,
)

from cinatra_sdk import FlowError, RunStore  # noqa: E402 - after the path
from cinatra_sdk.local_postgres import LocalServerError  # noqa: E402 - after the path

TENANT = "tenant_acme_prod"
CUSTOMER_DESK = "usr_771"
LEAD = "user_finance_lead_77"
OASFLOW = Path(sys.executable).with_name("oasflow")
PATIENCE = 600.0
"""Seconds that one process may take."""
MOST_SHOWN = 12
"""Lines of a record that the story shows."""
WAITS, DONE, REJECTED, REFUSED = 3, 0, 5, 2
"""Exit codes of `oasflow`."""


def park(run_id: str) -> None:
    """Process A: start the refund, say where it waits, and stay until somebody ends this process."""
    import host

    parts = host.lend()
    request = json.loads((HERE / "request.json").read_text(encoding="utf-8"))
    with RunStore.open(host=parts) as store:
        about = {"tenant": TENANT, "by": CUSTOMER_DESK}
        run = store.start(parts.graphs[0], {"request": request}, run_id, **about)  # type: ignore[arg-type]  # a flow
        print(run.status, flush=True)
        while True:
            signal.pause()


class Story:
    """The processes of the story, and what they left behind."""

    def __init__(self, on: Stage) -> None:
        self.on = on
        self.ledger = on.folder / "refunds.jsonl"
        self.environment = {
            **on.environment, "REFUNDS": str(self.ledger), "PYTHONPATH": f"{HERE}:{ROOT}",
        }  # fmt: skip

    def start_and_kill(self, run_id: str) -> int:
        process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, str(HERE / "story.py"), "park", run_id], cwd=ROOT, text=True,
            env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        hanging = threading.Timer(PATIENCE, process.kill)
        hanging.start()
        try:
            assert process.stdout is not None
            said = process.stdout.readline().strip()
        finally:
            hanging.cancel()
            process.send_signal(signal.SIGKILL)
            process.communicate()
        require(said == "waiting", f"process A parks its run; it said {said!r}")
        return process.pid

    def oasflow(self, *arguments: str, ends_with: int) -> str:
        """One command in a process of its own; gives what it prints."""
        done = subprocess.run(  # noqa: S603 - our own program
            [str(OASFLOW), *arguments], cwd=ROOT, env=self.environment, text=True, check=False,
            capture_output=True, stdin=subprocess.DEVNULL, timeout=PATIENCE,
        )  # fmt: skip
        told = f"`oasflow {' '.join(arguments)}` ends with {ends_with}; it ended with {done.returncode}"
        require(done.returncode == ends_with, f"{told}\n{done.stdout}{done.stderr}")
        return done.stdout

    def list_refunds(self) -> list[dict[str, Any]]:
        if not self.ledger.exists():
            return []
        return [json.loads(line) for line in self.ledger.read_text().splitlines()]

    def show_record(self, run_id: str, status: str) -> str:
        """The last record of a run, as `oasflow records` prints it."""
        listed = self.oasflow("records", run_id, "--tenant", TENANT, "--json", ends_with=DONE)
        record = json.loads(listed)["records"][0]["record"]
        require(record["status"] == status, f"the record is {status}; it is {record['status']}")
        shown = self.oasflow("records", record["record_id"], "--tenant", TENANT, ends_with=DONE)
        lines = shown.splitlines()
        for line in lines[:MOST_SHOWN]:
            say(line)
        if len(lines) > MOST_SHOWN:
            say(f"… {len(lines) - MOST_SHOWN} more lines: oasflow records {record['record_id']}")
        name: str = record["record_id"]
        return name


def tell(on: Stage) -> None:
    story = Story(on)
    first, second = (f"refund-{uuid.uuid4().hex[:4]}" for _ in range(2))
    of_acme = ("--tenant", TENANT, "--host", "host:lend")
    chapter("1  A refund of 4200 rupees: above 2000, finance has to approve it")
    pid = story.start_and_kill(first)
    say(
        f"process A   looks up the order, asks the policy, waits at GATE_FINANCE_APPROVAL; killed ({pid})"
    )
    require(story.list_refunds() == [], "nothing is paid before the gate")
    chapter("2  Somebody who is not in finance cannot approve it")
    story.oasflow("approve", first, "--as", "bob", *of_acme, ends_with=REFUSED)
    say(
        f"$ oasflow approve {first} --as bob         refused: the gate asks for the role finance_lead"
    )
    chapter("3  Finance approves exactly what it was shown")
    story.oasflow("approve", first, "--as", LEAD, "--reason", "checked", *of_acme, ends_with=DONE)
    say(f"$ oasflow approve {first} --as {LEAD}")
    paid = story.list_refunds()
    require(len(paid) == 1 and paid[0]["amount_inr"] == 4200, f"4200 is paid once; it is {paid}")
    say(f"paid once: {paid[0]['transaction_id']}, 4200 INR, under the key {paid[0]['key']}")
    name = story.show_record(first, "DECIDED")
    chapter("4  Another refund is rejected")
    story.start_and_kill(second)
    story.oasflow(
        "reject", second, "--as", LEAD, "--reason", "a duplicate", *of_acme, ends_with=REJECTED
    )
    say(f"$ oasflow reject {second} --as {LEAD}")
    require(len(story.list_refunds()) == 1, "nothing more is paid")
    story.show_record(second, "REJECTED")
    chapter("5  An auditor derives the first decision again, and verifies the export")
    packs = str(HERE / "packs")
    story.oasflow("replay", name, "--packs", packs, "--tenant", TENANT, ends_with=DONE)
    say(f"$ oasflow replay {name}    comes out the same; nothing was called")
    file = on.folder / "records.jsonl"
    story.oasflow("records", "--export", str(file), "--transcripts", ends_with=DONE)
    verify = [
        sys.executable,
        "-I",
        "-S",
        str(ROOT / "cinatra_sdk/governance/records/verifier.py"),
        str(file),
    ]
    done = subprocess.run(verify, capture_output=True, text=True, check=False)  # noqa: S603 - our own program
    require(done.returncode == 0, f"the export holds; {done.stdout}{done.stderr}")
    for number, line in enumerate(done.stdout.splitlines()):
        say(f"{'' if number else '$ python verifier.py records.jsonl':<39} {line}")
    file.write_text(file.read_text(encoding="utf-8").replace("4200", "42"), encoding="utf-8")
    done = subprocess.run(verify, capture_output=True, text=True, check=False)  # noqa: S603 - our own program
    require(done.returncode == 1, "a changed export is noticed")
    say("                                      and with one amount changed: it does not hold")
    print()
    print(bold("Every sentence above was checked."))


def main(arguments: Sequence[str] = ()) -> int:
    if arguments[:1] == ["park"]:
        park(arguments[1])
        return 0
    try:
        with stage() as on:
            tell(on)
    except NotAsTold as error:
        print(f"refund: this is not true: {error}", file=sys.stderr)
    except (FlowError, LocalServerError, subprocess.TimeoutExpired) as error:
        print(f"refund: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        return 130
    else:
        return 0
    return 1


if __name__ == "__main__":
    # What is started is also taken down when somebody stops the story from outside.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main(sys.argv[1:]))
