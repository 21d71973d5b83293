"""The statements of `sql/queries.sql` by name, and the migrations beside them.

QUERIES["load_run"]  ->  "select r.*, f.name as flow_name …"
"""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Final, LiteralString, NamedTuple, cast

_NAME: Final = re.compile(r"^-- (name|part): (\w+)\s*$", re.MULTILINE)
_PARAMETER: Final = re.compile(r"%\((\w+)\)s|%%")
_INCLUDE: Final = re.compile(r"^-- include: (\w+)\s*$", re.MULTILINE)


def _cast_statement(text: str) -> LiteralString:
    """The files are part of the package, so their text is as trustworthy as the code's own."""
    return cast("LiteralString", text.strip())  # type: ignore[redundant-cast]  # not redundant for every version


def _load_queries() -> dict[str, LiteralString]:
    text = files("cinatra_sdk.postgres").joinpath("sql/queries.sql").read_text("utf-8")
    pieces = _NAME.split(text)[1:]
    named = list(zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True))
    parts = {name: body.strip() for kind, name, body in named if kind == "part"}

    def include(body: str) -> LiteralString:
        return _cast_statement(_INCLUDE.sub(lambda found: parts[found[1]], body))

    return {name: include(body) for kind, name, body in named if kind == "name"}


class Statement(NamedTuple):
    """A statement whose parameters are numbered, as the server has them."""

    text: LiteralString
    names: tuple[str, ...]
    """Of its parameters, in their order."""


def _number_parameters(query: LiteralString) -> Statement:
    names: dict[str, int] = {}

    def number(found: re.Match[str]) -> str:
        return "%" if found[0] == "%%" else f"${names.setdefault(found[1], len(names) + 1)}"

    return Statement(_cast_statement(_PARAMETER.sub(number, query)), tuple(names))


def migrations() -> list[tuple[str, LiteralString]]:
    """(version, SQL) of every migration, in order."""
    folder = files("cinatra_sdk.postgres").joinpath("sql")
    names = sorted(entry.name for entry in folder.iterdir() if re.match(r"\d{3}_", entry.name))
    return [(name[:3], _cast_statement(folder.joinpath(name).read_text("utf-8"))) for name in names]


def rights() -> LiteralString:
    """The statements that give the role `{role}` rows only."""
    return _cast_statement(
        files("cinatra_sdk.postgres").joinpath("sql/rights.sql").read_text("utf-8")
    )


QUERIES: Final = _load_queries()

STATEMENTS: Final = {name: _number_parameters(query) for name, query in QUERIES.items()}
"""The same statements by name, prepared for `psycopg.RawCursor`.

psycopg parses a statement with named parameters again at each call where it is long, which takes
longer than to carry it out.
"""
