"""What is broken: every real flow that is at hand, alone, as a package, and as YAML.

In: the corpus beside the project and `examples/`.  Out: `Seed`s; of two small flows at least,
so that the harness also runs where the corpus is absent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal, TypeAlias

from oas_compiler import Diagnostics
from oas_compiler.text.source import read_source
from tests.flows import api, end, flow_of, gate, port, start

ROOT: Final = Path(__file__).resolve().parents[2]
CORPUS: Final = ROOT.parent / "shared" / "corpus"

Given: TypeAlias = Literal["bytes", "mapping", "folder"]
"""How `check` gets it: the bytes of a document, the decoded document, a folder on disk."""


@dataclass(frozen=True, kw_only=True)
class Seed:
    """Something real to break."""

    name: str
    files: Mapping[str, bytes]
    """Name to bytes; a document that stands alone is the only one."""
    given: Given

    @property
    def document(self) -> str:
        """The name of the flow's file."""
        return next(iter(self.files))

    @property
    def weight(self) -> int:
        """How often it is chosen: flows of Cinatra are what the rules are about."""
        return 1 if ".yaml" in self.document or self.name.endswith(" as JSON") else 3


@cache
def seeds() -> tuple[Seed, ...]:
    """All of them, in an order that does not depend on the machine."""
    return tuple(_all())


def _all() -> Iterator[Seed]:
    folders = sorted(CORPUS.glob("cinatra/*")) + sorted((ROOT / "examples").glob("*-agent"))
    for folder in folders:
        flow = folder / "cinatra" / "oas.json"
        yield Seed(name=folder.name, files={"oas.json": flow.read_bytes()}, given="bytes")
        yield Seed(name=f"{folder.name} package", files=dict(_package(folder)), given="folder")
    for path in sorted(CORPUS.glob("agentspec/**/*.yaml")):
        raw = path.read_bytes()
        yield Seed(name=path.stem, files={"oas.yaml": raw}, given="bytes")
        source = read_source(raw, Diagnostics())
        if source is not None:
            as_json = json.dumps(source.value, indent=1).encode()
            yield Seed(name=f"{path.stem} as JSON", files={"oas.json": as_json}, given="bytes")
    small = flow_of(
        start(port("topic")),
        gate("ask", output=port("answer")),
        api("send", data={"text": "{{ answer }}"}, outputs=[port("sent", "boolean")]),
        end(port("sent", "boolean")),
        edges=[("ask", "answer", "send", "answer"), ("send", "sent", "end", "sent")],
    )
    for given in ("bytes", "mapping"):
        yield Seed(name="small", files={"oas.json": json.dumps(small).encode()}, given=given)


def _package(folder: Path) -> Iterator[tuple[str, bytes]]:
    """The flow first, then what an author keeps beside it."""
    yield "cinatra/oas.json", (folder / "cinatra" / "oas.json").read_bytes()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if name != "cinatra/oas.json" and path.suffix in {".json", ".md", ".yaml"}:
            yield name, path.read_bytes()
