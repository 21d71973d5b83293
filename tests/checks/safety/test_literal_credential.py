from __future__ import annotations

import json

import pytest

from oas_compiler.checks.credentials.value_shapes import credential, known_credential
from tests.checks.rule_case import findings, found
from tests.checks.safety.secret_samples import BODY, KNOWN, RANDOM, WEB_TOKEN
from tests.flows import api, end, flow_of, start

CODE = "OAS204"
AT = "/$referenced_components/call"


def calling(**fields):
    return flow_of(start(), api("call", **fields), end())


@pytest.mark.parametrize(("kind", "secret"), KNOWN.items())
def test_every_known_shape_is_found_and_never_repeated(kind, secret):
    flow = calling(headers={"Authorization": f"Bearer {secret}"})
    (finding,) = findings(flow, CODE)
    assert finding.pointer == f"{AT}/headers/Authorization"
    assert finding.message == f'"Authorization" holds {kind}, written out'
    said = json.dumps([finding.message, finding.hint])
    assert not any(
        secret[i : i + 4] in said for i in range(max(5, len(secret) - 20), len(secret) - 3)
    )
    assert found(calling(headers={"Authorization": "Bearer {{ token }}"}), CODE) == []


@pytest.mark.parametrize(
    "key", ["body", "data", "config", "headers", "params", "system_prompt", "prompt_template", "message", "system", "user"]
)  # fmt: skip
def test_it_is_looked_for_under_these_members_at_any_depth(key):
    secret = KNOWN["an API key (sk-…)"]
    flow = calling()
    flow["$referenced_components"]["call"][key] = {"deep": [secret]}
    assert found(flow, CODE) == [f"{AT}/{key}/deep/0"]
    del flow["$referenced_components"]["call"][key]
    flow["$referenced_components"]["call"]["elsewhere"] = {"deep": [secret]}
    assert found(flow, CODE) == []


def test_the_name_of_a_component_is_none_of_these_members():
    flow = flow_of(start(), api("data", url=f"/x?{RANDOM}"), end())
    assert found(flow, CODE) == []
    assert found(flow_of(start(), api("call", data={"url": f"/x?{RANDOM}"}), end()), CODE) == [
        f"{AT}/data/url"
    ]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (RANDOM, "a random text of 28 characters"),
        (f"key={RANDOM}", "a random text of 32 characters"),
        (RANDOM[:23], ""),  # too short
        ("abcdefghijklmnopqrstuvwx" * 3, "a random text of 72 characters"),  # log2(24) = 4.58
        ("abcdefghijklmnopqrstuv" * 3, ""),  # log2(22) = 4.46
        (f"{RANDOM}example", ""),
        (f"PLACEHOLDER{RANDOM}", ""),
        ("{{ " + RANDOM + " }}", ""),
        ("${" + RANDOM + "}", ""),
        ("$" + RANDOM, ""),
        ("<" + RANDOM + ">", ""),
        (f"<sk-{BODY}>", "an API key (sk-…)"),  # a key in brackets is a key
        (f"${{ghp_{BODY}}}", "a GitHub token (gh?_…)"),
        ("<sk-your-api-key-goes-here>", ""),  # words
        ("<AKIAXXXXXXXXXXXXXXXX>", ""),
        ("***", ""),
        ("REDACTED", ""),
        ("Write {{ topic }} and send it to everyone in the list of subscribers.", ""),
        ("@cinatra-ai/context-selection-agent:context-selector", ""),
        ("0123456789abcdef" * 4, ""),  # a digest: 4 bits each
        (f"sk-example-{BODY}", "an API key (sk-…)"),  # a known shape is never a stand-in
        (f"{{{{ a }}}} sk-{BODY} {{{{ b }}}}", "an API key (sk-…)"),
        ("sk-" + "a" * 15, ""),
        ("ghp_" + "a" * 19, ""),
        ("risk-" + "a" * 20, ""),
        ("AKIA" + "A" * 15, ""),
        (WEB_TOKEN.rpartition(".")[0], ""),
    ],
)
def test_what_counts_as_a_credential(text, kind):
    assert credential(text) == kind


def test_of_several_credentials_the_first_is_named_with_its_place():
    text = f"x {KNOWN['a Slack token (xox?-…)']} sk-{BODY}"
    assert known_credential(text) == ("a Slack token (xox?-…)", 2)


@pytest.mark.parametrize(
    "piece",
    ["eyJ", "eyJa.", "eyJa.eyJ", "eyJ-", "sk-", "sk-a.", "gh", "ghp_", "ya29.", "xoxb-", "AKIA",
     "{{", "}}", "{{}}", "<", "$", "a", "aB3", "=", " ", "*", "sk-eyJ.AKIAya29.xox"],
)  # fmt: skip
def test_hostile_texts_take_time_in_proportion_to_their_length(piece):
    # a pattern that backtracks would take minutes for these 800 kB
    text = piece * (800_000 // len(piece))
    credential(text)
    credential(text + "\n")
    assert known_credential(" " + text + " sk-" + BODY)[0]


@pytest.mark.parametrize("odd", [None, 7, "text", [], {}, [[]], True])
def test_odd_values_are_no_credentials(odd):
    flow = calling(headers=odd, data=odd)
    assert found(flow, CODE) == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("{{ 'Bearer sk-proj-" + BODY + "' }}", "an API key (sk-…)"),
        ('{{ "sk-abcdefghijklmnopqrst" }}', "an API key (sk-…)"),  # a constant is no stand-in
        ("{{ '" + RANDOM + "' }}", "a random text of 28 characters"),
        ("{{ topic | default('none') }}", ""),
        ("{{ it's }}", ""),
        (f"$ghp_{BODY}", "a GitHub token (gh?_…)"),
        (f"<sk-proj-{BODY}>", "an API key (sk-…)"),
        ("-----BEGIN " + "PRIVATE KEY-----\n" + BODY, "a private key (PEM)"),
        ("-----BEGIN " + "PRIVATE KEY-----\\n" + BODY, "a private key (PEM)"),
        ("-----BEGIN OPENSSH " + "PRIVATE KEY-----\r\n" + BODY, "a private key (PEM)"),
        ("paste what begins with -----BEGIN PRIVATE KEY-----", ""),
        ("-----BEGIN PUBLIC KEY-----\nabcdabcdabcdabcdabcd", ""),
        ("https://hooks.slack.com/services/T00000000/B00000000/" + "X" * 24, ""),
        ("postgres://app:s3cr3t-pw@db.internal/app", "an address with its password"),
        ("postgresql+asyncpg://app:s3cr3t-pw@10.0.0.5/app", "an address with its password"),
        ("use mongodb+srv://app:s3cr3t-pw@c.mongodb.net now", "an address with its password"),
        ("redis://:s3cr3t-pw@cache:6379/0", "an address with its password"),
        ("postgres://app:password@db.internal/app", ""),  # no digit: what documents show
        ("postgres://app:s3cr3t-pw@localhost/app", ""),
        ("postgres://app:{{ password1 }}@db.internal/app", ""),
        ("postgres://app:$PASSWORD1@db.internal/app", ""),
        ("postgres://app@db.internal/app", ""),
        ("https://app:s3cr3t-pw@db.internal/app", ""),  # OAS212
    ],
)
def test_shapes_come_before_stand_ins(text, kind):
    assert credential(text) == kind
    assert len(found(calling(headers={"X-Value": text}), CODE)) == bool(kind)


@pytest.mark.parametrize(
    "piece",
    ["-----BEGIN ", "-----BEGIN A A A A ", "-----BEGIN PRIVATE KEY-----", "hooks.slack.com/",
     "hooks.slack.com/services/aaaaaa/", "://", "postgres://a:", "postgres://a:a1", "postgres://",
     "{{ '", "'", '"'],
)  # fmt: skip
def test_hostile_texts_of_the_longer_shapes_take_time_in_proportion_too(piece):
    text = piece * (800_000 // len(piece))
    credential(text)
    assert credential("{{ '" + text + "'}}") is not None
    assert known_credential(" " + text + " sk-" + BODY)[0]


def test_a_member_whose_name_is_a_credential_itself_is_not_named():
    flow = calling(headers={f"sk-{BODY}": f"ghp_{BODY}"})
    (finding,) = findings(flow, CODE)
    assert BODY not in finding.message
