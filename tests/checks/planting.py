"""Mistakes, planted one at a time into flows that have none: what a row of planted/*.yaml does.

    - name: an edge leads to a misspelt node
      package: newsletter-agent               # of examples/, or corpus/<agent>
      edits:
        - set: /control_flow_connections/0/to_node/$component_ref
          to: shwo_draft
      code: OAS010
      line: shwo_draft                        # stands in the line that the finding points at
      hint: show_draft                        # stands in the hint or the message

A row with `form: yaml` is about the flow written as YAML.  Edits: `set` and `remove` a pointer, `rename` the key at a pointer, `append` to the list at a
pointer, `text` to replace in the file as it stands, `write` the whole file, `line_ends` of the whole file;
`file` names another file of the package than its flow.  In a pointer, `^` stands for `/$referenced_components/`.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from oas_compiler import Finding, check
from tests.copies import copied

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT.parent / "shared" / "corpus" / "cinatra"
FLOW = "cinatra/oas.json"
_ROWS = Path(__file__).with_name("planted")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_FLOW_OF = {"json": FLOW, "yaml": "cinatra/oas.yaml"}
_KNOWN: dict[tuple[str, str], Counter[tuple[str, str]]] = {}
"""By package and form: the findings (code, message) that are there before any edit."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row of a file in planted/."""

    kind: str
    """The name of the file that it stands in."""
    name: str
    package: str
    edits: tuple[dict[str, Any], ...]
    form: str = "json"
    """`yaml` for a flow that is written as YAML; its edits change the text."""
    code: str = ""
    """Of the finding; empty for a change that is no mistake."""
    line: str = ""
    hint: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    """Codes of findings that are other mistakes, which the edit makes too."""

    @property
    def origin(self) -> Path:
        if self.package.startswith("corpus/"):
            return CORPUS / self.package.removeprefix("corpus/")
        return ROOT / "examples" / self.package


def rows() -> list[Row]:
    found = []
    for file in sorted(_ROWS.glob("*.yaml")):
        for row in yaml.load(file.read_text(encoding="utf-8"), Loader=_LOADER):
            hint = row.pop("hint", ())
            row["hint"] = (hint,) if isinstance(hint, str) else tuple(hint)
            row["edits"] = tuple(row["edits"])
            row["beside"] = tuple(row.pop("beside", ()))
            found.append(Row(kind=file.stem, **row))
    return found


def planted(row: Row, folder: Path) -> list[Finding]:
    """The findings that are there because of the edits."""
    package = folder / row.origin.name
    copied(row.origin, package)
    _lay_out(package, row.form)
    key = row.package, row.form
    if key not in _KNOWN:
        _KNOWN[key] = Counter((found.code, found.message) for found in check(package))
    known = _KNOWN[key].copy()
    for edit in row.edits:
        _apply(edit, package, _FLOW_OF[row.form])
    new = []
    for found in check(package):
        if known[found.code, found.message]:
            known[found.code, found.message] -= 1
        else:
            new.append(found)
    return new


def line_of(finding: Finding) -> str:
    """The line of the file that a finding points at."""
    lines = Path(finding.file).read_text(encoding="utf-8").splitlines()
    # the end of a file that ends too early is after its last line
    return lines[finding.line - 1] if 0 < finding.line <= len(lines) else ""


def _lay_out(package: Path, form: str) -> None:
    """Write the flow with one value a line, so that a line names one thing."""
    file = package / FLOW
    value = json.loads(file.read_text(encoding="utf-8"))
    if form == "yaml":
        file.unlink()
        text = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=10_000)
        (package / _FLOW_OF[form]).write_text(text, encoding="utf-8")
        return
    file.write_text(json.dumps(value, indent=2, ensure_ascii=False), encoding="utf-8")


def _apply(edit: dict[str, Any], package: Path, flow: str) -> None:
    file = package / edit.get("file", flow)
    if "write" in edit:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(edit["write"], encoding="utf-8")
        return
    text = file.read_text(encoding="utf-8")
    if "line_ends" in edit:
        file.write_bytes(text.replace("\n", edit["line_ends"]).encode())
        return
    if "text" in edit:
        assert edit["text"] in text, f"{edit['text']!r} is not in {file.name}"
        file.write_text(text.replace(edit["text"], edit["to"], 1), encoding="utf-8")
        return
    value = json.loads(text)
    value = _changed(value, edit)
    file.write_text(json.dumps(value, indent=2, ensure_ascii=False), encoding="utf-8")


def _changed(value: Any, edit: dict[str, Any]) -> Any:
    (what,) = edit.keys() & {"set", "remove", "rename", "append"}
    pointer = edit[what].replace("^", "/$referenced_components/")
    keys = [key.replace("~1", "/").replace("~0", "~") for key in pointer.split("/")[1:]]
    if what == "append":
        _at(value, keys).append(edit["to"])
        return value
    owner, key = _at(value, keys[:-1]), keys[-1]
    if isinstance(owner, list):
        if what == "remove":
            del owner[int(key)]
        else:
            owner[int(key)] = edit["to"]
    elif what == "set":
        owner[key] = edit["to"]
    else:
        members = list(owner.items())
        assert key in owner, f"{edit[what]} is not there"
        owner.clear()
        for name, member in members:
            if name != key:
                owner[name] = member
            elif what == "rename":
                owner[edit["to"]] = member
    return value


def _at(value: Any, keys: list[str]) -> Any:
    for key in keys:
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value
