"""What no command prints of a text, and what it does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from oas_compiler.checks.credentials.credential_cover import find_written_names
from oas_compiler.checks.credentials.credential_literals import find_written, is_written_name
from oas_compiler.checks.subject import Text, collect_numbers, collect_texts
from oas_compiler.emit.expressions import EmitRefused
from oas_compiler.emit.python_module import emit_module
from oas_compiler.report.source_text import masked
from tests.emit.modules import compile_whole
from tests.flows import api, end, flow_of, port, start

KEY = "Zx9kQ2mW7pLr4Tv8"
HEX = "d41d8cd98f00b204e980"


def find_covered(value: Any) -> list[str]:
    return [text.value for text in collect_texts(value) if find_written(text)]


def find_all(value: Any) -> list[str]:
    """The covered texts, numbers and names."""
    numbers = [text.value for text in collect_numbers(value) if find_written(text)]
    return [*find_covered(value), *numbers, *(name for name, _ in find_written_names(value))]


@pytest.mark.parametrize(
    ("value", "secret"),
    [
        ({"headers": {"X-Api-Key": 8374928374928371}}, "8374928374928371"),
        ({"data": {"api_key": 8374928374928371}}, "8374928374928371"),
        ({"data": [{"name": "api_key", "value": 837492}]}, "837492"),
        ({"data": {"auth": {"user": "bob", "pin": 482917}}}, "482917"),
        ({"data": {"passwords": [12345678]}}, "12345678"),
        ({"query_params": {"token": 837492}}, "837492"),
        ({"text": '{"client_secret": 837492}'}, '{"client_secret": 837492}'),
        ({"data": {"db_password": "Sommernacht"}}, "Sommernacht"),
        ({"data": {"passphrase": "correct horse battery"}}, "correct horse battery"),
        ({"data": {"passwords": ["Sommer12", "{{ p }}"]}}, "Sommer12"),
        ({"data": {"auth": {"pw": "Sommer12!x"}}}, "Sommer12!x"),
        ({"data": {"login": {"user": "bob", "pass": "Sommernacht"}}}, "Sommernacht"),
        ({"inputs": [{"title": "Mot de passe", "default": "Wintertag"}]}, "Wintertag"),
        ({"url": "https://h.example/x?api_key=Wintertag"}, "https://h.example/x?api_key=Wintertag"),
        ({"url": "https://h.example/x?a=1&senha=Wintertag"}, "https://h.example/x?a=1&senha=Wintertag"),
        ({"query_params": {"token": "Wintertag"}}, "Wintertag"),
        ({"headers": {"Cookie": "theme=dark; sid=wintertag"}}, "theme=dark; sid=wintertag"),
        ({"headers": {"cookie": "PHPSESSID=wintertag"}}, "PHPSESSID=wintertag"),
        ({"data": {"cookies": {"sid": "wintertag", "theme": "dark"}}}, "wintertag"),
        ({"data": {"access_tokens": ["Winter-12"]}}, "Winter-12"),
        ({"data": {"tokens": {"sk9fK2mZ7qLpQ8": "x"}}}, "sk9fK2mZ7qLpQ8"),
        ({"data": {"apiKeys": {"q7Rz2LkPm9": "x"}}}, "q7Rz2LkPm9"),
        *(
            ({"data": {name: "geheim-Winter"}}, "geheim-Winter")
            for name in ("passwort", "Kennwort", "motdepasse", "mot_de_passe", "contraseña", "contrasena",
                         "senha", "wachtwoord", "hasło", "пароль", "密码", "パスワード", "userPasswort2")
        ),
    ],
)  # fmt: skip
def test_a_credential_may_be_a_number_a_word_or_a_name(value: Any, secret: str) -> None:
    assert find_all(value) == [secret]


@pytest.mark.parametrize(
    "value",
    [
        {"max_tokens": 500000, "tokens": 12345678, "token_count": 4096, "pass": True, "secret": 12},
        {
            "pass": "true",
            "passwords": 3,
            "total_tokens": "1200",
            "usage": {"prompt_tokens": 120000},
        },
        {"headers": {"Content-Length": 123456, "X-RateLimit": 50000}},
        {"json_schema": {"password": {"type": "string", "minLength": 8, "maxLength": 1024}}},
        {"properties": {"passwort": {"type": "string", "maxLength": 1024, "title": "Passwort"}}},
        {
            "passwort": "{{ p }}",
            "kennwort": "required",
            "mot_de_passe": "$PW",
            "senha": "start.password",
        },
        {"fields": ["passwort", "email"], "required": ["kennwort", "Name"]},
        {"url": "https://h.example/x?token=YOUR_TOKEN&sort=key&next_page_token=Wintertag"},
        {"headers": {"Cookie": "theme=dark; lang=german; sid={{ s }}; Path=/home"}},
        {"tokens": {"access": "x", "refresh_v2": "y"}, "secrets": ["shop-key"]},
    ],
)
def test_counts_schemas_and_ordinary_words_are_none(value: Any) -> None:
    assert find_all(value) == []


@pytest.mark.parametrize("secret", [KEY, HEX])
@pytest.mark.parametrize(
    "value",
    [
        {"headers": {"Authorization": "{{ t }} SECRET"}},
        {"headers": {"Authorization": "Bearer SECRET {{ t }}"}},
        {"headers": {"x-functions-key": "SECRET"}},
        {"headers": {"X-CSRF": "SECRET"}},
        {"headers": {"Cookie": "theme=dark; session=SECRET"}},
        {"url": "{{ base }}/x?a=1&sig=SECRET"},
        {"url": "https://h.example/x?api%5Fkey=SECRET"},
        {"url": "https://h.example/x#a=1&access_token=SECRET"},
        {"url": "https://h.example/x?next=https%253A%252F%252Fh%252F%253Ftoken%253DSECRET"},
        {"url": "https://h.example/https://bob:SECRET@other.example/"},
        {"url": "https://hooks.example.org/catch/123/SECRET"},
        {"query_params": {"code": "SECRET"}},
        {"data": {"auth": {"deep": {"value": "SECRET"}}}},
        {"data": [{"value": "SECRET", "name": "X-Api-Key"}]},
        {"data": {"headers": ["Authorization", "SECRET"]}},
        {"text": "the password is SECRET."},
        {"text": 'then {"n": {{ n }}, "auth": "SECRET"}'},
        {"text": json.dumps({"credentials": {"value": "SECRET"}})},
        {"text": 'name="password"\r\n\r\nSECRET'},
        {"text": "Server=db;User Id=sa;Password=SECRET;"},
        {"metadata": {"cinatra": {"token": "SECRET"}}},
        {"inputs": [{"default": "SECRET", "title": "api_key"}]},
    ],
)
def test_a_credential_is_found_where_it_is_written(value: Any, secret: str) -> None:
    filled = json.loads(json.dumps(value).replace("SECRET", secret))
    (found,) = find_covered(filled)
    assert secret in found


@pytest.mark.parametrize(
    "value",
    [
        {
            "key": "title",
            "code": "200",
            "pass": "true",
            "author": "ann2",
            "sort key": "created_at2",
        },
        {"max_tokens": "4096", "token_count": "12345678", "next_page_token": "abc12345"},
        {
            "auth": "{{CINATRA_TOKEN}}",
            "headers": {"Authorization": "Bearer {{ T }}", "X-Api-Key": "$KEY"},
        },
        {
            "auth": {"type": "oauth2", "value": "{{ T }}"},
            "session": "planning-2026",
            "signature": "Ann 2",
        },
        {
            "headers": {
                "Cookie": "s={{ S }}; theme=dark1; Path=/",
                "X-Auth-Provider": "github-oauth2",
            }
        },
        {
            "headers": {
                "Idempotency-Key": "newsletter-2026-01",
                "X-Request-Id": HEX,
                "Sort-Key": "title2",
            }
        },
        {"url": "https://h.example/x?page=2&sort=key&code=200&token={{ t }}#section-2"},
        {"url": f"https://docs.example.org/d/{KEY}/edit"},
        {"text": "password: choose 1 with 8 characters; API key: ask; token: 3 or more"},
        {"text": "curl -u {{ u }}:{{ p }} x; docker run -u 1000:1000; --token-file /run/token1"},
        {"text": "npm_config_v2_registry_x hf_hub_download2 sk_live_your_key"},
        {"json_schema": {"properties": {"token": {"type": "string", "pattern": "^[a-z0-9]{6,}$"}}}},
        {"inputRenderers": {"token": "token-field-v2"}, "mapping": {"token": "start.token2"}},
    ],
)
def test_ordinary_words_and_placeholders_stay(value: Any) -> None:
    assert find_covered(value) == []


@pytest.mark.parametrize(
    "name",
    ["otp", "OTP", "user_otp", "totp", "one_time_code", "oneTimeCode", "one-time-pin", "otpCode", "passcode",
     "pass_code", "pin", "cardPin", "pin_code", "verification_code", "mfaCode", "2fa_code", "sms_code",
     "security_code", "cvv", "puk", "recovery_codes", "backup_code", "authorization_code"],
)  # fmt: skip
def test_a_one_time_code_or_a_pin_is_covered_wherever_its_name_says_so(name: str) -> None:
    for value, written in (
        ({"data": {name: "482913"}}, "482913"),
        ({"data": {"login": {name: ["482913"]}}}, "482913"),
        ({"data": {name: 482913}}, "482913"),
        ({"inputs": [{"title": name, "type": "string", "default": "482913"}]}, "482913"),
        ({"url": f"https://h.example/x?{name}=482913"}, f"https://h.example/x?{name}=482913"),
        ({"text": f'{{"{name}": "482913"}}'}, f'{{"{name}": "482913"}}'),
        ({"data": {name: f"{{{{ {name} | default('482913') }}}}"}}, None),
    ):
        if name == "2fa_code" and "text" in value:
            continue  # a name inside of a text begins with a letter
        covered = find_all(value)
        assert covered == [written] if written else len(covered) == 1, value


@pytest.mark.parametrize(
    "value",
    [
        {"pin": True}, {"pin": "art_1234"}, {"pin": "sha256:4829134829"}, {"pin": "1.24.3"}, {"pin": 17},
        {"pin": "2026-11-28"}, {"pinned": "482913"}, {"pin_id": "482913"}, {"pin_count": 482913},
        {"otp": "sms"}, {"otp": "{{ otp }}"}, {"otp": False}, {"otp_length": 482913}, {"otp_url": "https://h/4829"},
        {"otp": "sha256"}, {"title": "otp", "type": "string", "maxLength": 482913, "description": "Six digits 482913"},
        {"destination_input": "otp", "source_output": "pin"}, {"required": ["otp", "pin"]}, {"zip_code": "482913"},
        {"status_code": 2000}, {"country_code": "DE49"}, {"discount_code": "SUMMER2026"}, {"passcode": "<code>"},
        {"text": "The pin is stuck, see otp: on page 4829."}, {"capture": "482913"},
    ],
    ids=str,
)  # fmt: skip
def test_what_is_named_near_a_code_is_none(value: Any) -> None:
    assert find_all({"data": value}) == []


def test_a_name_may_be_a_credential_itself() -> None:
    assert is_written_name(KEY, is_sent=True)
    assert not is_written_name(KEY, is_sent=False)
    assert not is_written_name("X-RateLimit-Remaining2", is_sent=True)


def test_a_comment_of_yaml_is_starred_in_place() -> None:
    text = f"a: 1\n# password: {KEY}\nb: 2 # sort key: title2\n"
    assert masked(text, []) == text.replace(KEY, "*" * len(KEY))


@pytest.mark.parametrize(
    "piece", ["a:", "a=", "?a", "&a=b", "://", "hook", "{{", "-u a:", "%25", "Bearer ", "<a>"]
)
def test_hostile_texts_take_time_in_proportion_to_their_length(piece: str) -> None:
    find_written(Text(piece * (100_000 // len(piece)), "", ("text",)))


@pytest.mark.parametrize(
    "call",
    [
        {"headers": {"X-Api-Key": -8374928374928371}},
        {"data": {"api_key": 837492}},
        {"data": {"password": "Sommernacht"}},
        {"data": {"password": "correct horse battery"}},
    ],
)
def test_emit_refuses_what_ir_covers(call: dict[str, Any]) -> None:
    node = api("call", outputs=[port("done")], **call)
    flow = compile_whole(
        flow_of(start(), node, end(port("done")), edges=[("call", "done", "end", "done")])
    )
    with pytest.raises(EmitRefused, match="1 credential written out"):
        emit_module(flow)


def test_emit_names_node_and_field_of_what_it_refuses() -> None:
    call = api("call", outputs=[port("done")], headers={"X-Auth": KEY}, data={"a": [{"pwd": KEY}]})
    flow = compile_whole(
        flow_of(start(), call, end(port("done")), edges=[("call", "done", "end", "done")])
    )
    with pytest.raises(EmitRefused) as refused:
        emit_module(flow)
    told = str(refused.value)
    assert "the flow has 2 credentials" in told
    assert 'the ApiNode "call" at headers/X-Auth' in told
    assert 'the ApiNode "call" at data/a/0/pwd' in told
    assert "{{API_KEY}}" in told
    assert KEY not in told
