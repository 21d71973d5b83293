"""The attacks of one family, read from `book/<family>.yaml`.

family: templates
about: A template takes bounded work and bounded memory.
attacks:
  - door: request body              # what is attacked
    expect: TemplateError           # what must come of it, as `attempt` says it
    long: true                      # tried by scripts/attacks and --long alone; may be left out
    forms:                          # each form is one attack; its value is handed to `attempt`
      doubling: "{{ x ~ x ~ x }}"
twins:                              # harmless neighbours, which must go on working
  - door: request body
    expect: taken
    forms:
      joining: "{{ x ~ y }}"
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

BOOK = Path(__file__).with_name("book")
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""In C where it is there: every process of the tests reads the whole book before its first test."""
EVERY = 32
"""Of the further forms of a door, the default suite takes each thirty-second."""
EVERY_TWIN = 4
"""Of the further twins of a door, each fourth: a door that is shut for everybody shuts out the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """One row, or a harmless twin of one."""

    family: str
    door: str
    form: str
    value: Any
    """Whatever `attempt` needs to know of the form."""
    expect: str
    harmless: bool
    in_spread: bool
    """Whether the default suite tries it."""

    @property
    def id(self) -> str:
        return f"{self.door}-{self.form}".replace(" ", "_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One kind of attack."""

    name: str
    about: str
    attacks: tuple[Attack, ...]
    twins: tuple[Attack, ...]


def read_family(name: str) -> Family:
    """The family in `book/<name>.yaml`; raises `ValueError` naming a row that is said twice."""
    written = yaml.load((BOOK / f"{name}.yaml").read_text(encoding="utf-8"), Loader=LOADER)
    if written["family"] != name:
        raise ValueError(f"{name}.yaml says that it is the family {written['family']!r}")
    return Family(
        name=name,
        about=written["about"],
        attacks=_rows(name, written["attacks"], harmless=False),
        twins=_rows(name, written.get("twins", []), harmless=True),
    )


def _rows(family: str, blocks: list[dict[str, Any]], *, harmless: bool) -> tuple[Attack, ...]:
    rows: list[Attack] = []
    doors: set[str] = set()
    every = EVERY_TWIN if harmless else EVERY
    for block in blocks:
        for form, value in block["forms"].items():
            rows.append(
                Attack(
                    family=family,
                    door=block["door"],
                    form=str(form),
                    value=value,
                    expect=block["expect"],
                    harmless=harmless,
                    in_spread=not block.get("long")
                    and (block["door"] not in doors or len(rows) % every == 0),
                )
            )
            doors.add(block["door"])
    ids = [row.id for row in rows]
    double = next((id_ for id_ in ids if ids.count(id_) > 1), "")
    if double:
        raise ValueError(f"{family}.yaml has two rows {double!r}")
    return tuple(rows)
