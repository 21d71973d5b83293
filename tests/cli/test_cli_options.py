"""The options that commands have in common: one record, whose fields typer reads as options."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from oas_compiler.cli.app import app_for
from oas_compiler.cli.commands.gates import approve
from oas_compiler.cli.commands.runs import show
from oas_compiler.cli.host.options import DriveOptions, StoreOptions, with_options
from oas_compiler.cli.terminal.exits import Exit


def test_the_fields_of_a_record_stand_where_its_parameter_stands() -> None:
    names = list(inspect.signature(with_options(approve)).parameters)
    assert names == ["targets", "shown", "reason", *(one.name for one in fields(DriveOptions))]
    assert list(inspect.signature(with_options(show)).parameters) == [
        "run", "full", "events", "tenant", "db", "as_json",
    ]  # fmt: skip


def test_a_command_gets_its_record_filled_from_the_options() -> None:
    got: list[StoreOptions] = []

    def look(*, where: StoreOptions) -> Exit:
        got.append(where)
        return Exit.OK

    app = typer.Typer()
    app.command()(with_options(look))
    done = CliRunner().invoke(
        app, ["--db", "postgresql://db/runs", "--json"], env={"OASFLOW_TENANT": "acme"}
    )
    assert done.exit_code == 0
    assert got == [StoreOptions(tenant="acme", db="postgresql://db/runs", as_json=True)]
    assert got[0].owner == "acme"
    assert StoreOptions().owner is None


def test_a_command_without_a_record_stays_as_it_is() -> None:
    def count(number: int = 1) -> Exit:
        return Exit(number)

    parameters = inspect.signature(count, eval_str=True).parameters
    assert inspect.signature(with_options(count)).parameters == parameters
    assert with_options(count)(number=2) == Exit.USAGE


def test_the_words_of_a_command_are_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    command = typer.main.get_command(app_for(["approve"])).commands["approve"]  # type: ignore[attr-defined]
    made = type(command).make_parser
    parsed: list[list[str]] = []

    def count(self: Any, ctx: Any) -> Any:
        parser = made(self, ctx)
        parse = parser.parse_args

        def counting(args: list[str]) -> Any:
            parsed.append(list(args))
            return parse(args)

        parser.parse_args = counting
        return parser

    monkeypatch.setattr(type(command), "make_parser", count)
    command.make_context("approve", ["n1", "--as", "ann"])
    assert parsed == [["n1", "--as", "ann"]]
