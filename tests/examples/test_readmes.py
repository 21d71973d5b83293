"""The READMEs of the examples: what they say is typed into a real shell, and must be so."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from cinatra_sdk.local_postgres.supervisor import LocalServer
from tests.examples.readme_commands import Command, commands_of, run

REPOSITORY = Path(__file__).resolve().parents[2]
TOLD = ("refund",)
"""Examples whose README names a program that checks what it tells (test_refund.py does the rest)."""
READMES = sorted(
    readme
    for readme in (REPOSITORY / "examples").glob("*/README.md")
    if readme.parent.name not in TOLD
)
SPREAD = ("shop-desk", "tools-agent")
"""Read by default; the others with the long tests.

The commands of the newsletter are by default those of the README and of the demo."""


def shell(home: Path) -> dict[str, str]:
    """The environment of a reader who has the programs and no settings."""
    programs = Path(sys.executable).parent
    return {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "OASFLOW_HOME": str(home),
    }


def test_every_example_has_a_readme() -> None:
    packages = [file.parents[1] for file in (REPOSITORY / "examples").glob("*/cinatra/oas.json")]
    documents = [file.parent for file in (REPOSITORY / "examples").glob("*/agent.yaml")]
    assert sorted([*packages, *documents]) == [readme.parent for readme in READMES]
    assert len(packages) >= 4
    assert documents


@pytest.mark.parametrize(
    "readme",
    [
        pytest.param(
            readme,
            id=readme.parent.name,
            marks=[] if readme.parent.name in SPREAD else [pytest.mark.long],
        )
        for readme in READMES
    ],
)
def test_every_command_of_a_readme_does_what_it_says(readme: Path, shared_home: Path) -> None:
    commands = commands_of(readme.read_text(encoding="utf-8"))
    assert sum(len(command.shows) for command in commands) >= 3
    assert run(commands, folder=REPOSITORY, env=shell(shared_home)) == []
    # The last command stops the server that the others have started.
    assert commands[-1] == Command(line="oasflow db stop")
    assert not LocalServer(shared_home / "postgres").status().running


def test_a_readme_that_says_what_is_not_so_is_noticed(tmp_path: Path) -> None:
    # Control: exit code, output and the end of the shell are all looked at.
    markdown = "```sh\nfalse\n\necho one \\\n  two\n# shows: one two\n# shows: three\n```\n"
    wrong = run(commands_of(markdown), folder=tmp_path, env=os.environ)
    assert wrong == [
        "false\nexit 1, not 0:\n",
        "echo one \\\n  two\ndoes not show 'three':\none two\n",
    ]
    (early,) = run(commands_of("```sh\nexit 3\n# exit 3\n```\n"), folder=tmp_path, env=os.environ)
    assert early.startswith("the shell ended early")


def test_a_misspelt_expectation_is_refused() -> None:
    with pytest.raises(ValueError, match="# exits 3"):
        commands_of("```sh\ntrue\n# exits 3\n```\n")


def test_only_sh_blocks_are_commands() -> None:
    assert commands_of("```\na picture\n```\n\n```sh\nfalse\n# exit 1\n```\n") == [
        Command(line="false", exit=1)
    ]
