"""Building blocks of the views of an explanation: tables without lines, and short safe texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from cinatra_sdk.contract import is_send_class
from oas_compiler.cli.safe import clean as _clean
from oas_compiler.cli.safe import cut
from oas_compiler.ir import Json
from oas_compiler.text.secrets import without_secrets

MAX_DEFAULT: Final = 40
MAX_NAME: Final = 48
MAX_LINES: Final = 20
NOTE: Final = "dim"


def clean(text: str, *, lines: bool = False) -> str:
    """A text of a flow, safe for a terminal and without text that looks like a credential."""
    return _clean(without_secrets(text), lines=lines)


def grid(columns: int) -> Table:
    """A table; only the last column may break, so names stay whole."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for index in range(columns):
        last = index == columns - 1
        table.add_column(
            no_wrap=not last, overflow="fold" if last else "ignore", min_width=0 if index else 5
        )
    return table


def name_of(text: str) -> str:
    """A name for a column that never breaks."""
    return cut(clean(text), MAX_NAME)


def word(text: str) -> Text:
    return Text(clean(text), style=NOTE)


def indented(thing: RenderableType, by: int = 4) -> Padding:
    return Padding(thing, (0, 0, 0, by), expand=False)


def lines_of(names: Sequence[str]) -> str:
    """Texts in lines; of many texts the first ones."""
    shown = [clean(name) for name in names[:MAX_LINES]]
    if len(shown) < len(names):
        shown.append(f"… and {len(names) - len(shown)} more; --json has all")
    return "\n".join(shown)


def short(value: Json) -> str:
    return cut(clean(value.text), MAX_DEFAULT)


def risk_style(risk: str) -> str:
    return "bold red" if is_send_class(risk) else NOTE
