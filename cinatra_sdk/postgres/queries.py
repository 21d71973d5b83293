"""The statements of `sql/queries.sql` by name, and the migrations beside them.

QUERIES["load_run"]  ->  "select r.*, f.name as flow_name …"
"""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Final, LiteralString, cast

_NAME: Final = re.compile(r"^-- name: (\w+)\s*$", re.MULTILINE)


def _cast_statement(text: str) -> LiteralString:
    """The files are part of the package, so their text is as trustworthy as the code's own."""
    return cast("LiteralString", text.strip())  # type: ignore[redundant-cast]  # not redundant for every version


def _load_queries() -> dict[str, LiteralString]:
    text = files("cinatra_sdk.postgres").joinpath("sql/queries.sql").read_text("utf-8")
    parts = _NAME.split(text)[1:]
    return {name: _cast_statement(body) for name, body in zip(parts[::2], parts[1::2], strict=True)}


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
