"""The strict reading of urls, the allow list, and the addresses that are never connected to."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from cinatra_sdk.outside.http_calls.call_addresses import (
    AllowEntry,
    Origin,
    RefusalError,
    forbidden,
    read_url,
    shown,
)


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("http://Host.Example/x", "http://host.example"),
        ("http://host.example:80", "http://host.example"),
        ("https://host.example:443/", "https://host.example"),
        ("https://host.example:80/", "https://host.example:80"),
        ("http://[0:0:0:0:0:0:0:1]:3000/", "http://[::1]:3000"),
        ("http://my_service:3000/", "http://my_service:3000"),
    ],
)
def test_an_origin_is_scheme_host_and_effective_port(url, origin):
    assert str(read_url(url).origin) == origin


def test_scheme_host_and_port_each_make_another_origin():
    base = read_url("http://host:3000").origin
    assert base == Origin(scheme="http", host="host", port=3000)
    for url in ("https://host:3000", "http://host2:3000", "http://host:3001", "http://host"):
        assert read_url(url).origin != base


def test_a_path_is_decoded_until_nothing_changes():
    assert read_url("http://h/a%2Fb/%2540c//d/").segments == ("a", "b", "@c", "d")


@pytest.mark.parametrize(
    "url",
    [
        "http://h/a/../b",
        "http://h/%2e%2E/b",
        "http://h/%25252e%25252e/b",
        "http://h/a%5c..%5cb",
        "http://h/%00",
        "http://h/" + "%25" * 1 + "25" * 20 + "41",
        " http://h/",
        "http://h\t/",
        "http:///x",
        "http://h%2eevil/x",
        "http://h:0/",
        "http://h:port/",
        "javascript:alert(1)",
        "http://a@h/",
        "http://[::g]/",
        "http://[v1.x]/",
    ],
)
def test_a_url_that_could_be_read_in_two_ways_is_refused(url):
    with pytest.raises(RefusalError):
        read_url(url)


@pytest.mark.parametrize(
    ("entry", "url", "covered"),
    [
        ("https://h", "https://h/anything?x=1", True),
        ("https://h/", "https://h", True),
        ("https://h/v1", "https://h/v1", True),
        ("https://h/v1/", "https://h/v1/x", True),
        ("https://h/v1", "https://h/v%31/x", True),
        ("https://h/v1", "https://h/v10", False),
        ("https://h/v1", "https://h/", False),
        ("https://h/v1", "http://h/v1", False),
        ("https://h/v1", "https://h:8443/v1", False),
        ("https://h/v1", "https://sub.h/v1", False),
        ("https://h/v1", "https://h.evil/v1", False),
    ],
)
def test_an_allow_entry_covers_its_origin_and_prefix(entry, url, covered):
    assert AllowEntry.parse(entry).covers(read_url(url)) is covered


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.9.9.9", "10.0.0.1", "172.16.5.4", "192.168.1.1", "169.254.169.254",
        "100.64.0.1", "100.100.100.200", "0.0.0.0", "224.0.0.1", "240.0.0.1", "255.255.255.255",
        "168.63.129.16", "192.0.2.1", "198.18.0.1", "::1", "::", "fe80::1", "fc00::1",
        "fd00:ec2::254", "fec0::1", "ff02::1", "2001:db8::1", "::ffff:127.0.0.1",
        "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::1", "2001:0:4136:e378::1",
    ],
)  # fmt: skip
def test_an_address_inside_is_forbidden(address):
    assert forbidden(ip_address(address)) != ""


@pytest.mark.parametrize(
    "address", ["93.184.215.14", "8.8.8.8", "2606:2800:220:1::1", "64:ff9b::808:808"]
)
def test_a_public_address_may_be_reached(address):
    assert forbidden(ip_address(address)) == ""


def test_one_forbidden_address_refuses_the_host_and_ipv4_goes_first():
    entry = AllowEntry.parse("https://crm.example.com")
    public = [ip_address("2606:2800:220:1::1"), ip_address("93.184.215.14")]
    assert [str(address) for address in entry.checked(public)] == [
        "93.184.215.14",
        "2606:2800:220:1::1",
    ]
    with pytest.raises(RefusalError, match=r"crm\.example\.com.*private"):
        entry.checked([*public, ip_address("10.0.0.1")])


def test_an_operator_may_name_an_inner_address_or_localhost_itself():
    inner = ip_address("10.0.0.1")
    assert AllowEntry.parse("http://10.0.0.1:9000").checked([inner]) == (inner,)
    loopback = (ip_address("127.0.0.1"), ip_address("::1"))
    assert AllowEntry.parse("http://localhost:9000").checked(loopback) == loopback
    with pytest.raises(RefusalError):
        AllowEntry.parse("http://localhost:9000").checked([inner])
    with pytest.raises(RefusalError):
        AllowEntry.parse("http://2130706433").checked([ip_address("127.0.0.1")])


def test_what_an_error_shows_of_a_url_has_no_query_and_no_password():
    assert shown("http://user:hidden@h/p?token=hidden#hidden") == "http://h/p"
    assert shown("http://h/a\r\nb") == "http://h/a__b"
    assert len(shown("http://h/" + "x" * 999)) == 200


@pytest.mark.parametrize(
    "address",
    [
        "192.0.0.1", "192.0.0.9", "192.0.0.192", "192.0.0.255", "192.88.99.1", "192.31.196.1",
        "192.52.193.1", "192.175.48.1", "2620:4f:8000::1", "2620:4f:8000:ffff::1", "3fff::1",
        "::ffff:192.0.0.192", "64:ff9b::c000:c0",
    ],
)  # fmt: skip
def test_a_special_purpose_address_is_forbidden_even_where_it_counts_as_global(address):
    assert forbidden(ip_address(address)) != ""


@pytest.mark.parametrize("address", ["192.0.1.1", "191.255.255.1", "2620:4f:8001::1"])
def test_the_neighbours_of_a_special_purpose_range_may_be_reached(address):
    assert forbidden(ip_address(address)) == ""


@pytest.mark.parametrize(
    "path",
    [
        "/v1/..;/x", "/v1/..;a=b/x", "/v1/.;/x", "/v1/%2e%2e;/x", "/v1/..%3b/x", "/v1/..%253b/x",
        "/v1/%c0%ae%c0%ae/x", "/v1/%C0%AE./x", "/v1/%25c0%25ae%25c0%25ae/x", "/v1/%e0%80%ae/x",
        "/v1/..%20/x",
    ],
)  # fmt: skip
def test_a_dot_segment_in_disguise_is_refused(path):
    with pytest.raises(RefusalError, match=r"dot segment|not as UTF-8"):
        read_url("https://h" + path)


def test_path_parameters_and_utf8_names_are_no_dot_segments():
    assert read_url("https://h/v1/a;b=..c/%C3%BC").segments == ("v1", "a;b=..c", "ü")


@pytest.mark.parametrize("url", ["http://h:canary-port/", "http://[canary-host]/"])
def test_a_refusal_does_not_carry_the_parsers_error_that_quotes_the_url(url):
    with pytest.raises(RefusalError) as caught:
        read_url(url)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    "user", ["@", ":@", "@@", "user@", "user:@", ":word@", "user:word@", "other.example@", "%40@"]
)
@pytest.mark.parametrize("end", ["", "/", "/v1", ":443/", "?a=b", "#a"])
def test_what_stands_before_the_host_is_refused_even_if_it_is_empty(user, end):
    for scheme in ("http", "https"):
        with pytest.raises(RefusalError, match="user name or a password"):
            read_url(f"{scheme}://{user}host.example{end}")
    with pytest.raises(RefusalError):
        AllowEntry.parse(f"https://{user}host.example{end}")


@pytest.mark.parametrize("url", ["http://host/@x", "http://host/?to=a@b.example", "http://host/#@"])
def test_an_at_sign_behind_the_host_names_nobody(url):
    assert read_url(url).origin.host == "host"
