"""Every error has one HTTP status and one code, and one form of body."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import pytest

import cinatra_sdk
import oas_compiler
from cinatra_sdk.api import HTTP_ERRORS, make_error, status_of
from cinatra_sdk.context.selection_errors import ContextError
from cinatra_sdk.errors import (
    FlowError,
    GateUnreadable,
    InputInvalid,
    NotAllowed,
    NotConfigured,
    RunExists,
    RunNotCompleted,
    RunNotFound,
    StoreError,
    StoreUnreachable,
)
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.platform import PlatformError, PlatformUnreachable

OWN_STATUS = {"ContextError", "GovernanceRefused"}


def list_classes(kind: type[Exception]) -> Iterator[type[Exception]]:
    if kind.__module__.startswith(("cinatra_sdk", "oas_compiler")):
        yield kind
    for below in kind.__subclasses__():
        yield from list_classes(below)


def import_everything() -> None:
    for package in (cinatra_sdk, oas_compiler):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)


def test_every_class_of_the_trees_stands_in_the_table_with_its_code() -> None:
    import_everything()
    classes = {
        kind.__name__: kind for top in (FlowError, PlatformError) for kind in list_classes(top)
    }
    assert {*classes} == {*HTTP_ERRORS}
    for name, kind in classes.items():
        assert HTTP_ERRORS[name].code == kind.code, name  # type: ignore[attr-defined]  # both trees have it
        status = HTTP_ERRORS[name].status
        assert (status is None) == (name in OWN_STATUS), name
        assert status is None or 400 <= status < 600


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (RunNotFound("there is no run 'n1'"), 404, "run_not_found"),
        (RunExists("there is a run 'n1' already"), 409, "run_exists"),
        (NotAllowed("ann may not", code="four_eyes"), 403, "four_eyes"),
        (ContextError("slot_missing", "no slot"), 404, "slot_missing"),
        (GovernanceRefused("BUDGET_EXCEEDED", "used up"), 429, "BUDGET_EXCEEDED"),
        (RunNotCompleted("it waits", status="waiting"), 409, "waiting"),
        (PlatformUnreachable("no response", node="post"), 502, "platform_unreachable"),
    ],
    ids=lambda given: type(given).__name__,
)
def test_an_error_is_told_with_its_status_and_its_own_code(
    error: FlowError | PlatformError, status: int, code: str
) -> None:
    assert (status_of(error), make_error(error)["code"]) == (status, code)


def test_a_class_of_somebody_else_has_the_status_of_the_class_above() -> None:
    kind = type("TooLong", (InputInvalid,), {})
    assert status_of(kind("too long")) == 422


def test_the_detail_says_what_a_person_can_do_and_nothing_for_programs() -> None:
    error = NotConfigured("no address", hint="give --base-url", in_python="HostParts(settings=…)")
    assert make_error(error)["detail"] == "no address (give --base-url)"


@pytest.mark.parametrize(
    ("kind", "status", "says"),
    [(StoreUnreachable, 503, "cannot be reached now"), (StoreError, 500, "refuses this")],
)
def test_a_database_is_not_described_to_strangers(
    kind: type[StoreError], status: int, says: str
) -> None:
    error = kind("the role 'crm' lacks a right in the database crm at db.internal", hint="see --db")
    told = make_error(error)
    assert (status_of(error), told["code"]) == (status, "store_error")
    assert says in told["detail"]
    assert not any(word in told["detail"] for word in ("crm", "internal", "--db"))
    assert "db.internal" in str(error), "the log of the operator has it"
    assert "n1" in make_error(GateUnreadable("gate 'n1'"))["detail"], "what is of a run is told"
