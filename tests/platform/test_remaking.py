"""A platform made again: what it lacks is told by name, and what a process opens to it."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk.outside.http_calls.description import (
    SettingLacking,
    is_named,
    is_own,
    platform_from,
)

OWN = "https://cinatra.example"
CRM = "https://crm.example/v1"


def described(**changes: Any) -> dict[str, Any]:
    return {"kind": "http", "base_url": OWN, "allow": [CRM], **changes}


@pytest.mark.parametrize(
    ("changes", "env", "lacking"),
    [
        ({}, {"CINATRA_BRIDGE_TOKEN": "x" * 8}, ("CINATRA_BASE_URL", OWN)),
        ({}, {"CINATRA_BASE_URL": "https://other.example"}, ("CINATRA_BASE_URL", OWN)),
        ({"base_url": "http://10.0.0.5"}, {}, ("CINATRA_BASE_URL", "http://10.0.0.5")),
        ({}, {"CINATRA_BASE_URL": OWN, "OASFLOW_ALLOW": ""}, ("OASFLOW_ALLOW", CRM)),
        ({"allow": ["http://10.0.0.5"]}, {}, ("OASFLOW_ALLOW", "http://10.0.0.5")),
        (
            {"needs": ["CINATRA_CONTEXT_ATTEST_KEY"]},
            {"CINATRA_BASE_URL": OWN},
            ("CINATRA_CONTEXT_ATTEST_KEY", ""),
        ),
    ],
)
def test_what_a_process_lacks_is_told_by_name(
    changes: dict[str, Any], env: dict[str, str], lacking: tuple[str, str]
) -> None:
    with pytest.raises(SettingLacking) as refused:
        platform_from(described(**changes), env=env)
    assert (refused.value.setting, refused.value.value) == lacking


def test_what_is_wrong_with_a_description_is_nothing_that_lacks() -> None:
    with pytest.raises(ValueError, match="no setting") as refused:
        platform_from(described(more=1), env={})
    assert not isinstance(refused.value, SettingLacking)


def test_whoever_goes_on_opens_addresses_beside_those_of_the_description() -> None:
    more = "https://erp.example"
    for kept in (more, CRM):
        made: Any = platform_from(described(), env={}, allow=[kept])
        assert made.describe()["allow"] == list(dict.fromkeys([CRM, kept]))
    # The process's own list bounds what the description asks for, and adds nothing.
    listed: Any = platform_from(described(), env={"CINATRA_BASE_URL": OWN, "OASFLOW_ALLOW": f"{CRM} {more}"})  # fmt: skip
    assert listed.describe()["allow"] == [CRM]


@pytest.mark.parametrize(
    ("address", "env", "named"),
    [
        (OWN, {"CINATRA_BASE_URL": f"{OWN}/"}, True),
        (f"{OWN}/a", {"CINATRA_BASE_URL": OWN}, True),
        (OWN, {"CINATRA_BASE_URL": f"{OWN}/a"}, False),
        (CRM, {"OASFLOW_ALLOW": f"https://x.example {CRM}"}, True),
        ("https://crm.example", {"OASFLOW_ALLOW": CRM}, False),
        (CRM, {}, False),
    ],
)
def test_an_address_is_named_where_a_setting_covers_it(
    address: str, env: dict[str, str], named: bool
) -> None:
    assert is_named(address, env) is named


def test_the_own_platform_is_the_very_address() -> None:
    env = {"CINATRA_BASE_URL": f"{OWN}/a"}
    assert is_own(f"{OWN}/a/", env)
    assert not is_own(OWN, env)
    assert not is_own("no address", env)
    assert not is_own(OWN, {"CINATRA_BASE_URL": "no address"})
    assert not is_own(OWN, {})
