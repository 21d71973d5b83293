from __future__ import annotations

import pytest

from tests.checks.rule_case import findings, found
from tests.checks.safety.secret_samples import BODY, RANDOM
from tests.flows import api, end, flow_of, gate, start

CODE = "OAS212"
AT = "/$referenced_components/call"
DIGEST = "d41d8cd98f00b204" * 2


def calling(**fields):
    return flow_of(start(), api("call", **fields), end())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Authorization", "Basic dXNlcjpwYXNzd29yZA=="),
        ("authorization", "Bearer abcdef123456"),
        ("Authorization", "letmein"),
        ("Proxy-Authorization", "Basic dXNlcjpwYXNz"),
        ("X-Api-Key", DIGEST),
        ("api_key", "hunter"),
        ("Cookie", "session=a1b2c3"),
    ],
)
def test_a_credential_in_a_header_is_found_and_never_repeated(name, value):
    (finding,) = findings(calling(headers={name: value}), CODE)
    assert finding.pointer == f"{AT}/headers/{name}"
    assert finding.severity == "warning"
    assert finding.message == f'the credential "{name}" is written out'
    assert value not in finding.message + finding.hint
    assert found(calling(headers={name: "{{ value }}"}), CODE) == []


@pytest.mark.parametrize(
    "value",
    ["", "Bearer", "Bearer {{ token }}", "Bearer ${TOKEN}", "Bearer <token>", "$TOKEN", "<key>", "***",
     "REDACTED", "your-key-1", "Bearer example1", "changeme1", "env:API_KEY_1", "vault:a/b1",
     "{{ a }}-123456", "xxxx-1234"],
)  # fmt: skip
def test_what_stands_for_a_credential_is_none(value):
    assert found(calling(headers={"Authorization": value}), CODE) == []
    assert found(calling(data={"api_key": value}), CODE) == []


def test_other_headers_are_no_credentials():
    headers = {"Content-Type": "application/json", "X-Request-Id": DIGEST, "Cookie": "consent=yes"}
    assert found(calling(headers=headers), CODE) == []


@pytest.mark.parametrize(
    ("name", "value", "count"),
    [
        ("api_key", "hunter2-very-secret", 1),
        ("openai_api_key", "hunter2-very", 1),
        ("clientSecret", "correct-horse-battery", 1),
        ("password", "hunter2", 1),
        ("private_key", "-----BEGIN PRIVATE KEY-----\nabc", 1),
        ("token", "abc12345", 1),
        ("token", "count", 0),
        ("secret", "Santa-Claus", 0),  # a word, as it has no digit
        ("password", "required", 0),
        ("api_key", "x-api-key", 0),  # a name
        ("token", "ab1", 0),
        ("token", "write 200 words about it", 0),
        ("password", "https://x.example/reset1", 0),
        ("max_tokens", "4096", 0),
        ("next_page_token", "abc12345", 0),
        ("token_count", "abc12345", 0),
        ("tokenizer", "cl100k_base", 0),
        ("secretary", "agent-47-and-more", 0),
    ],
)
def test_in_a_body_name_and_value_decide(name, value, count):
    assert len(found(calling(data={"deep": [{name: value}]}), CODE)) == count


def test_a_list_of_values_under_the_name_counts():
    assert found(calling(headers={"X-Api-Key": [DIGEST]}), CODE) == [f"{AT}/headers/X-Api-Key/0"]


@pytest.mark.parametrize(
    ("url", "what"),
    [
        ("https://user:pass@host/", "the password in the address"),
        ("{{CINATRA_BASE_URL}}/x?a=1&api_key=hunter2verysecret", 'the credential "api_key" in the address'),
        ("/x?access_token=abc123456#end", 'the credential "access_token" in the address'),
        ("https://abc123456def@host/x", "the credential in the address"),
        ("https://user:{{ password }}@host/", ""),
        ("https://host/a:b@c1234567", ""),
        ("https://user@host/", ""),
        ("/x?api_key={{ key }}", ""),
        ("/x?api_key=", ""),
        ("/x?max_tokens=4096&page_token=abc123456", ""),
        ("/x#?api_key=hunter2verysecret", ""),
    ],
)  # fmt: skip
def test_an_address_holds_no_credential(url, what):
    every = findings(calling(url=url), CODE)
    assert [finding.message for finding in every] == ([f"{what} is written out"] if what else [])
    assert all(finding.pointer == f"{AT}/url" for finding in every)


def test_an_address_in_a_prompt_is_text():
    text = "Open https://user:pass@host/?token=abc123456 and read it."
    assert found(calling(data={"user": text}), CODE) == []
    assert len(found(calling(data={"user": text.split()[1]}), CODE)) == 1


@pytest.mark.parametrize("secret", [f"sk-{BODY}", RANDOM])
def test_what_is_known_by_its_shape_is_found_once(secret):
    flow = calling(headers={"X-Api-Key": secret})
    assert found(flow, CODE) == []
    assert found(flow, "OAS204") == [f"{AT}/headers/X-Api-Key"]
    url = calling(url=f"https://user:sk-{BODY}@host/")
    assert found(url, CODE) == []
    assert len(found(url, "OAS205")) == 1


def test_metadata_and_schemas_hold_names_only():
    renderers = {"password": "@x/agent:masked-2"}
    flow = flow_of(start(), gate("ask", inputRenderers=renderers), end())
    assert found(flow, CODE) == []
    assert found(calling(data={"json_schema": {"token": "abc12345"}}), CODE) == []
    assert len(found(calling(data={"schema": {"token": "abc12345"}}), CODE)) == 1


def test_the_name_of_a_component_is_no_header():
    flow = flow_of(start(), api("headers", data={"token": "letmein"}), end())
    assert found(flow, CODE) == []
    assert len(found(calling(headers={"token": "letmein"}), CODE)) == 1


@pytest.mark.parametrize(
    "piece", ["?", "&", "=", "://", "@", ":", "password=", "a ", "{{", "api_key=1a2b3c4&"]
)
def test_hostile_addresses_take_time_in_proportion_to_their_length(piece):
    text = piece * (400_000 // len(piece))
    found(calling(url=text, headers={"token": text}, data={"api_key": text}), CODE)
    found(calling(url="https://" + text), CODE)


@pytest.mark.parametrize("odd", [None, 7, "text", [], {}, [[]], True])
def test_odd_values_are_no_credentials(odd):
    assert found(calling(headers=odd, data={"password": odd if odd != "text" else ""}), CODE) == []


@pytest.mark.parametrize("key", ["query_params", "sensitive_headers"])
def test_a_random_text_in_a_query_or_a_sensitive_header_is_worth_a_warning(key):
    (finding,) = findings(calling(**{key: {"q": RANDOM}}), CODE)
    assert finding.pointer == f"{AT}/{key}/q"
    assert RANDOM[:6] not in finding.message
    assert found(calling(**{key: {"q": "{{ token }}"}}), CODE) == []
    assert found(calling(**{key: {"q": "newest first, then the oldest"}}), CODE) == []


def test_a_random_text_in_the_query_of_an_address_is_worth_a_warning():
    (finding,) = findings(calling(url=f"/x?page=2&q={RANDOM}"), CODE)
    assert finding.message == "what looks like a token in the address is written out"
    assert found(calling(url="/x?page=2&q={{ q }}"), CODE) == []
    assert found(calling(url=f"/{RANDOM}"), CODE) == []  # the id of something


def test_a_scheme_with_a_plus_is_one():
    (finding,) = findings(calling(url="mongodb+srv://u:p@host/x"), CODE)
    assert finding.message == "the password in the address is written out"
    assert found(calling(url="mongodb+srv://u@host/x"), CODE) == []
