"""Whatever the input, only `CompileError` leaves the compiler.

Mutants of the real flows, by a seed that is printed; `OASFLOW_MUTANTS` sets how many (400),
`OASFLOW_SEED` repeats a run.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable

import pytest
from front_mutation import mutant
from front_samples import CINATRA, SMALL, as_bytes

from oas_compiler import checks
from oas_compiler.diagnostics import CompileError, Diagnostics
from oas_compiler.ir import FlowIR
from oas_compiler.pipeline import compile_ir
from oas_compiler.printer import print_ir

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
    """The real flows; without them the small one, which has fewer kinds of node."""
    return [file.read_bytes() for file in CINATRA] or [as_bytes(SMALL)]


def test_no_mutant_of_a_real_flow_raises_anything_but_compile_error():
    print(f"seed {SEED}, {COUNT} mutants")
    escaped, compiled, refused = escapes(documents(), COUNT, SEED)
    print(f"{compiled} compiled, {refused} refused")
    assert not escaped, escaped[:5]
    # neither a harness that breaks nothing nor one that only breaks the text proves anything
    assert compiled > 0 or COUNT < 100
    assert refused > compiled or COUNT < 100


def test_the_harness_sees_an_exception_that_escapes(monkeypatch: pytest.MonkeyPatch):
    def faulty(flow: FlowIR, findings: Diagnostics) -> None:
        if any(node.description == "" for node in flow.nodes):
            raise LookupError("planted")

    rules: tuple[Callable[[FlowIR, Diagnostics], None], ...] = (*checks.RULES, faulty)
    monkeypatch.setattr(checks, "RULES", rules)
    escaped, _, _ = escapes(documents(), 60, 1)
    assert escaped
    assert all("LookupError: planted" in line for line in escaped)
