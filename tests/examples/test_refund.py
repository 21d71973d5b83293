"""`./scripts/refund`, as its README says: from a fresh start to a verified export."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.examples.readme_commands import commands_of, run
from tests.sources import ROOT


def test_the_story_of_the_refund_is_true(tmp_path: Path) -> None:
    story = ROOT / "examples" / "refund" / "story.py"
    environment = {
        k: v for k, v in os.environ.items() if not k.startswith(("CINATRA_", "OASFLOW_"))
    }
    done = subprocess.run(
        [sys.executable, str(story)], capture_output=True, text=True, check=False, cwd=tmp_path,
        env={**environment, "OASFLOW_HOME": str(tmp_path / "home")},
    )  # fmt: skip
    try:
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.rstrip().endswith("Every sentence above was checked.")
        assert "paid once" in done.stdout
        assert done.stderr == ""
        by_hand = (ROOT / "examples" / "refund" / "README.md").read_text("utf-8")
        programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        reader = {
            **environment, "OASFLOW_HOME": str(tmp_path / "home"), "PATH": programs,
            "REFUNDS": str(tmp_path / "refunds.jsonl"),
            "PYTHONPATH": "",  # the README sets it, and only a new interpreter reads it
        }  # fmt: skip
        assert run(commands_of(by_hand.partition("## By hand")[2]), folder=ROOT, env=reader) == []
    finally:
        oasflow = Path(sys.executable).with_name("oasflow")
        subprocess.run(
            [oasflow, "db", "stop"], env={**environment, "OASFLOW_HOME": str(tmp_path / "home")},
            check=False, capture_output=True,
        )  # fmt: skip
