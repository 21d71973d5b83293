"""Secrets in every spelling, governed keys in every kind of mapping, and what a policy is known by."""

from __future__ import annotations

import base64
import hashlib
import json
from types import MappingProxyType
from urllib.parse import quote

import pytest

from cinatra_sdk.errors import PlaceholderRefused, PolicyInvalid
from cinatra_sdk.governed.approval_policy import parse_policy, policy_hash
from cinatra_sdk.governed.host_keys import find_governed, refuse_runtime_names, without_governed
from cinatra_sdk.governed.secret_values import REDACTED, cut_from, forms_of

SECRET = "Tök-né+99/zz"
RAW = SECRET.encode()
SPELLINGS = {
    "plain": SECRET,
    "capitals": SECRET.upper(),
    "JSON": json.dumps(SECRET)[1:-1],
    "JSON, every letter": "".join(f"\\u{ord(one):04x}" for one in SECRET),
    "JSON in JSON": json.dumps(json.dumps(SECRET)[1:-1])[1:-1],
    "url": quote(SECRET, safe=""),
    "HTML, decimal": "".join(f"&#{ord(one)};" for one in SECRET),
    "HTML, hexadecimal": "".join(f"&#x{ord(one):X};" for one in SECRET),
    "hexadecimal": RAW.hex(),
    "hexadecimal with colons": RAW.hex(":"),
    "backwards": SECRET[::-1],
}


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS.keys())
@pytest.mark.parametrize(("before", "after"), [("", ""), ("a ", " b"), ("", " b"), ("a ", "")])
def test_a_secret_is_cut_out_in_every_spelling_wherever_it_stands(
    spelling: str, before: str, after: str
) -> None:
    assert (
        cut_from(f"{before}{spelling}{after}", forms_of((SECRET,))) == f"{before}{REDACTED}{after}"
    )


@pytest.mark.parametrize("before", ["", "x", "xy"])
def test_base64_of_a_secret_is_cut_out_at_each_offset(before: str) -> None:
    sent = base64.b64encode(before.encode() + RAW + b"!").decode()
    left = cut_from(sent, forms_of((SECRET,)))
    assert REDACTED in left
    assert len(left) - len(REDACTED) <= 7  # letters that hold bits of what stands around it


def test_a_short_secret_is_cut_out_as_it_is_and_not_where_its_forms_stand_by_chance() -> None:
    assert cut_from("a1b2 and 2b1a", forms_of(("a1b2",))) == f"{REDACTED} and 2b1a"
    assert cut_from("87654321", forms_of(("12345678",))) == REDACTED


def test_a_text_without_escapes_and_one_that_overlaps_itself_are_cut_whole() -> None:
    assert cut_from("aaaaaa!", forms_of(("aaaa",))) == f"{REDACTED}!"
    assert cut_from("nothing here", forms_of((SECRET,))) == "nothing here"


def test_a_governed_key_is_found_in_a_mapping_that_is_no_dict() -> None:
    inner = MappingProxyType({"approval_policy": None, "note": "x"})
    value = MappingProxyType({"list": [inner]})
    assert "approval_policy" in find_governed(value)
    assert without_governed(value, where="a test") == {"list": [{"note": "x"}]}


def test_a_policy_is_known_by_what_it_says_and_not_by_the_order_of_its_members() -> None:
    expected = hashlib.sha256('{"a":"é","b":[1,true]}'.encode()).hexdigest()
    assert policy_hash({"b": [1, True], "a": "é"}) == expected
    assert policy_hash({"a": "é", "b": [1, True]}) == expected


@pytest.mark.parametrize(
    ("policy", "problem"),
    [({"steps": "none"}, r"malformed: steps: "), ("{", r"malformed: ")],
)
def test_a_malformed_policy_is_refused_with_its_place(policy: object, problem: str) -> None:
    with pytest.raises(PolicyInvalid, match=problem):
        parse_policy(policy)


def test_a_placeholder_of_the_runtime_is_refused_with_what_to_do_instead() -> None:
    with pytest.raises(PlaceholderRefused) as address:
        refuse_runtime_names(["cinatra_base_url"])
    assert "--base-url" in address.value.hint
    with pytest.raises(PlaceholderRefused) as other:
        refuse_runtime_names(["OASFLOW_NOTHING"])
    assert other.value.hint == "give the placeholder another name"
