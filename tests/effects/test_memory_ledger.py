"""`MemoryLedger` keeps the rules of a ledger."""

from __future__ import annotations

from dataclasses import astuple

import pytest

from cinatra_sdk.outside.effects.door import Ledger
from cinatra_sdk.outside.effects.effect import EffectResult
from cinatra_sdk.outside.effects.memory_ledgers import MemoryLedger
from tests.effects.ledger_contract import Bench, LedgerContract
from tests.effects.samples import effect, result


class InMemory:
    """One run in this process."""

    def __init__(self) -> None:
        self.newest = MemoryLedger()

    def activation(self) -> Ledger:
        self.newest = self.newest.next_activation()
        return self.newest

    def stored(self) -> str:
        return repr([astuple(row) for row in self.newest.rows.values()])

    def status(self, key: str) -> str:
        return self.newest.rows[key].status

    def settle(self, key: str, made: EffectResult | None) -> None:
        self.newest.settle(key, made)


class TestMemoryLedger(LedgerContract):
    @pytest.fixture
    def bench(self) -> Bench:
        return InMemory()


def test_a_row_says_what_was_done_and_nothing_that_was_sent() -> None:
    ledger, made = MemoryLedger(), effect(risk="mail_send", visit=3, item=2)
    ledger.begin(made)
    ledger.finish(made, result())
    row = ledger.rows["k1"]
    assert (row.run_id, row.kind, row.capability, row.path) == (
        "r1", "http", "POST /mail", "outer/send",
    )  # fmt: skip
    assert (row.visit, row.item, row.risk, row.attempts) == (3, 2, "mail_send", 1)
    assert row.request_sha256 == made.request_sha256
    assert "ann" not in repr(row)


def test_a_result_that_the_caller_changes_stays_as_it_was() -> None:
    ledger, value = MemoryLedger(), {"ids": [1]}
    ledger.begin(effect())
    ledger.finish(effect(), result(value))
    value["ids"].append(2)
    assert ledger.rows["k1"].result == '{"value": {"ids": [1]}, "artifacts": []}'
