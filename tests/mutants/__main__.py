"""`python -m tests.mutants`: many mutants under limits, a summary, and files of what failed.

Exit code 0: every mutant was answered as it must be.  1: at least one was not.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

from tests.mutants.campaign import Campaign, repeat


def main(arguments: list[str] | None = None) -> int:
    asked = _parser().parse_args(arguments)
    if asked.repeat:
        return repeat(asked.repeat, check=asked.check)
    print(f"seed {asked.seed}, {asked.count} mutants", flush=True)
    campaign = Campaign(
        seed=asked.seed, count=asked.count, check=asked.check, failures=asked.failures
    )
    found = campaign.run(jobs=asked.jobs)
    print(found.summary())
    return 1 if found.failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tests.mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--jobs", type=int, default=2, help="worker processes")
    parser.add_argument(
        "--check", default="oas_compiler:check", help="what judges: module:function"
    )
    parser.add_argument(
        "--failures",
        type=Path,
        default=Path(tempfile.gettempdir()) / "oasflow-mutants",
        help="folder for mutants that failed, made as small as possible",
    )
    parser.add_argument("--repeat", type=Path, help="judge one of those again, and nothing else")
    return parser


if __name__ == "__main__":
    sys.exit(main())
