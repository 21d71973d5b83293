"""The package's front door: its names, its lazy import, and platforms made from descriptions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import cinatra_sdk.outside.http_calls
from cinatra_sdk.outside.http_calls.description import platform_from
from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform

ROOT = Path(__file__).resolve().parents[2]


def test_a_name_that_the_package_does_not_have_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = cinatra_sdk.outside.http_calls.Nothing


def test_a_simulation_loads_no_http_library_no_database_and_no_engine():
    program = (
        "import sys; from cinatra_sdk.platform import SimulatedPlatform, platform_from; "
        "platform_from({'kind': 'simulated'}, env={}); "
        "print([m for m in ('httpx2', 'psycopg', 'langgraph', 'oas_compiler') if m in sys.modules])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "[]"


def test_a_simulated_platform_comes_back_from_its_description(tmp_path):
    platform = SimulatedPlatform({"a": {"x": 1}}, record=tmp_path / "record.jsonl")
    again = platform_from(platform.describe(), env={})
    assert isinstance(again, SimulatedPlatform)
    assert again.describe() == platform.describe()


def test_an_http_platform_comes_back_with_its_secrets_from_the_environment():
    platform = HttpPlatform(
        "http://host:3000/x",
        allow=["https://h/v1"],
        timeout=9,
        retries=1,
        retry_posts=True,
        bridge_token="canary-bridge",
        attestation_key="canary-attest",
    )
    env = {
        "CINATRA_BRIDGE_TOKEN": "canary-bridge",
        "CINATRA_CONTEXT_ATTEST_KEY": "canary-attest",
        "CINATRA_BASE_URL": "http://host:3000/x/",
    }
    again = platform_from(platform.describe(), env=env)
    assert isinstance(again, HttpPlatform)
    assert again.describe() == platform.describe()
    assert again._rules.bridge_token == "canary-bridge"
    assert again._rules.attestation_key == "canary-attest"
    assert "canary" not in repr(again)


def test_a_platform_that_had_a_secret_is_not_made_again_without_it():
    platform = HttpPlatform("http://host:3000", bridge_token="canary-bridge")
    with pytest.raises(ValueError, match="CINATRA_BRIDGE_TOKEN, which this process lacks"):
        platform_from(platform.describe(), env={"CINATRA_BASE_URL": "http://host:3000"})


@pytest.mark.parametrize("own", [{}, {"CINATRA_BASE_URL": "http://other:3000"}])
def test_a_description_does_not_choose_who_gets_the_secrets_of_the_process(own):
    env = {"CINATRA_BRIDGE_TOKEN": "canary-bridge", **own}
    with pytest.raises(ValueError, match="holds credentials for") as caught:
        platform_from({"kind": "http", "base_url": "http://evil:3000"}, env=env)
    assert "canary" not in str(caught.value)


def test_the_environment_gives_the_base_url_where_the_description_has_none():
    made = platform_from({"kind": "http"}, env={"CINATRA_BASE_URL": "http://host:3000/"})
    assert made.describe()["base_url"] == "http://host:3000"


@pytest.mark.parametrize(
    ("description", "rule"),
    [
        ({}, '"http" or "simulated", not None'),
        ({"kind": "ftp"}, "not 'ftp'"),
        ({"kind": "http"}, "CINATRA_BASE_URL"),
        (
            {"kind": "http", "base_url": "http://h", "bridge_token": "x"},
            'no setting "bridge_token"',
        ),
        ({"kind": "simulated", "stub": {}}, 'no setting "stub"; known are fallback, record, stubs'),
        ({"kind": "simulated", "stubs": {"a": 1}}, "a response must be an object"),
    ],
)
def test_a_description_that_is_not_understood_is_refused(description, rule):
    with pytest.raises(ValueError, match=rule):
        platform_from(description, env={})


def test_what_either_the_process_or_the_description_calls_opaque_is_and_the_stricter_level_counts():
    said = {"https://a.example": "plain", "https://b.example": "status", "https://c.example": "plain"}  # fmt: skip
    own = "plain:https://b.example https://c.example https://d.example plain:https://e.example"
    made = platform_from(
        {"kind": "http", "base_url": "https://h.example", "opaque": said},
        env={"OASFLOW_OPAQUE": own},
    )
    assert made.describe()["opaque"] == {
        "https://a.example": "plain",
        "https://b.example": "status",
        "https://c.example": "status",
        "https://d.example": "status",
        "https://e.example": "plain",
    }


def test_an_opaque_address_of_the_process_that_cannot_be_read_is_named_with_its_setting():
    with pytest.raises(ValueError, match=r"OASFLOW_OPAQUE of this process, 'crm\.example'"):
        platform_from(
            {"kind": "http", "base_url": "https://h.example"}, env={"OASFLOW_OPAQUE": "crm.example"}
        )
