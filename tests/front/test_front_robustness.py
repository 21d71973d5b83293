"""Whatever the input, only `CompileError` leaves the compiler.

Mutants of the real flows, by a seed that is printed; `OASFLOW_MUTANTS` sets how many (400),
`OASFLOW_SEED` repeats a run.
"""

from __future__ import annotations

import json
import os
import random

import pytest
from front_mutation import mutant
from front_samples import AGENTSPEC, CINATRA, as_bytes, plain, small

from oas_compiler import pipeline
from oas_compiler.checks.subject import Subject
from oas_compiler.diagnostics import CompileError, Diagnostics
from oas_compiler.pipeline import check, compile_ir
from oas_compiler.printer import print_ir
from oas_compiler.rules import Report, rule
from oas_compiler.source import read_source

COUNT = int(os.environ.get("OASFLOW_MUTANTS", "400"))
SEED = int(os.environ.get("OASFLOW_SEED", random.SystemRandom().randrange(2**32)))


def escapes(documents: list[bytes], count: int, seed: int) -> tuple[list[str], int, int]:
    """(exceptions that are no CompileError, mutants that compiled, mutants refused)."""
    dice = random.Random(seed)
    escaped: list[str] = []
    compiled = refused = 0
    for number in range(count):
        broken = mutant(dice.choice(documents), dice)
        try:
            print_ir(compile_ir(broken).ir)
            compiled += 1
        except CompileError as error:
            refused += 1
            if not error.diagnostics.errors or not str(error):
                escaped.append(f"mutant {number}: CompileError without an error")
        except Exception as error:
            escaped.append(f"mutant {number}: {type(error).__name__}: {error}")
    return escaped, compiled, refused


def documents() -> list[bytes]:
    """The real flows of both kinds as JSON, and two small ones that are always there."""
    found = [file.read_bytes() for file in CINATRA] + [as_bytes(small()), as_bytes(plain())]
    for file in AGENTSPEC:
        source = read_source(file, Diagnostics())
        assert source is not None
        found.append(json.dumps(source.value).encode())
    return found


@pytest.mark.skipif(not AGENTSPEC, reason="the folder of real input is absent")
def test_no_broken_yaml_text_raises_anything_but_compile_error():
    print(f"seed {SEED}")
    dice = random.Random(SEED)
    texts = [file.read_bytes() for file in AGENTSPEC]
    strange = (b"&a ", b"*a", b"!!str ", b"? ", b"- ", b"\t", b"{", b"[" * 80, b": ", b"\xff", b"|")
    for _ in range(COUNT):
        text = dice.choice(texts)
        at = dice.randrange(len(text))
        broken = text[:at] + dice.choice(strange) + text[at + dice.randrange(3) :]
        assert check(broken).findings or compile_ir(broken)


def test_no_mutant_of_a_real_flow_raises_anything_but_compile_error():
    print(f"seed {SEED}, {COUNT} mutants")
    escaped, compiled, refused = escapes(documents(), COUNT, SEED)
    print(f"{compiled} compiled, {refused} refused")
    assert not escaped, escaped[:5]
    # neither a harness that breaks nothing nor one that only breaks the text proves anything
    assert compiled > 0 or COUNT < 400
    assert refused > compiled or COUNT < 400


def test_the_harness_sees_an_exception_that_escapes(monkeypatch: pytest.MonkeyPatch):
    @rule(
        code="OAS000", name="faulty", severity="error", summary="", fix="", source="", needs="flow"
    )
    def faulty(subject: Subject, report: Report) -> None:
        if any(node.description == "" for flow in subject.flows for node in flow.nodes):
            raise LookupError("planted")

    monkeypatch.setattr(pipeline, "STRUCTURE", (*pipeline.STRUCTURE, faulty))
    escaped, _, _ = escapes(documents(), 60, 1)
    assert escaped
    assert all("LookupError: planted" in line for line in escaped)


@pytest.mark.long
def test_ten_thousand_mutants_raise_nothing_but_compile_error():
    print(f"seed {SEED}")
    escaped, compiled, refused = escapes(documents(), 10_000, SEED)
    print(f"{compiled} compiled, {refused} refused")
    assert escaped == []
