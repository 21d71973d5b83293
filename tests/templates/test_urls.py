"""A value in the path of a url is one segment of it; every other value stays as it is."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from cinatra_sdk.data.templates.flow_templates import Renderer
from cinatra_sdk.data.templates.language import TemplateError
from cinatra_sdk.flow.requests.request_template import render_url
from cinatra_sdk.outside.http_calls.call_addresses import RefusalError, read_url

BASE = "https://crm.example.com/people/"


def url(template: str, **values: Any) -> str:
    return render_url(Renderer(template), values)


@pytest.mark.parametrize(
    "value",
    [
        "Ada",
        "a b",
        "a/b",
        "a?b=c",
        "a#b",
        "50%",
        "%20",
        "ü",
        "a;b=c",
        "a:b@c",
        "{{x}}",
        "🂡",
        "",
        "&",
    ],
)
@pytest.mark.parametrize(
    "template",
    [
        BASE + "{{ id }}/notes?by=ann",
        BASE + "{% if id is string %}{{ id }}{% endif %}/notes?by=ann",
    ],
    ids=["path", "expression"],
)
def test_a_value_in_the_path_is_one_segment(template: str, value: str) -> None:
    made = url(template, id=value)
    parts = urlsplit(made)
    assert [unquote(part) for part in parts.path.split("/")] == ["", "people", value, "notes"]
    assert (parts.query, parts.fragment) == ("by=ann", "")


@pytest.mark.parametrize(
    ("template", "made"),
    [
        (BASE + "v{{ n }}/{{ id | upper }}", BASE + "v7/A%2FB"),
        (BASE + "{{ n }}", BASE + "7"),
        (BASE + "{{ many }}", BASE + "%5B1%2C%22%2F%22%5D"),
        (BASE + "{{ id | tojson }}", BASE + "%22a%2Fb%22"),
        (BASE + "{{ NAME }}/{{ id }}", BASE + "{{NAME}}/a%2Fb"),
        (BASE + "{% if n %}{{ NAME }}{% endif %}", BASE + "{{NAME}}"),
        (BASE + "x?q={{ id }}&r={{ query }}", BASE + "x?q=a/b&r=c=d&e"),
        (BASE + "x#{{ id }}", BASE + "x#a/b"),
        ("{{ base }}/people/{{ id }}", "https://a.example/v1/people/a%2Fb"),
        ("https://{{ host }}/{{ id }}", "https://a.example/a%2Fb"),
        ("{{ scheme }}://{{ host }}/{{ id }}", "https://a.example/a%2Fb"),
        ("{{ scheme }}://a.example/{{ id }}", "https://a.example/a%2Fb"),
        ("{{ base }}", "https://a.example/v1"),
        ("{{ base }}{{ rest }}", "https://a.example/v1/people?x=1"),
        ("/api/{{ id }}", "/api/a%2Fb"),
        (BASE + "7", BASE + "7"),
        (BASE + "p{{ '?page=' ~ n if n else '' }}", BASE + "p?page=7"),
        (BASE + "{{ 'a/b' if n else 'c' }}", BASE + "a/b"),
        (BASE + "{{ NAME | trim }}", BASE + "{{NAME}}"),
        (BASE + "{% for x in many %}{{ x }}-{% endfor %}", BASE + "1-%2F-"),
        ("http:{{ slashes }}a.example/{{ id }}", "http://a.example/a%2Fb"),
        ("{{ scheme }}:/{{ slash }}a.example/{{ id }}", "https://a.example/a%2Fb"),
        ("https://a.example{{ rest }}", "https://a.example/people?x=1"),
    ],
)
def test_where_a_value_stands_decides(template: str, made: str) -> None:
    values = {
        "n": 7, "id": "a/b", "many": [1, "/"], "query": "c=d&e", "base": "https://a.example/v1",
        "host": "a.example", "scheme": "https", "rest": "/people?x=1",
        "slashes": "//", "slash": "/",
    }  # fmt: skip
    assert url(template, **values) == made


@pytest.mark.parametrize("value", [".", "..", "../admin", "a/../../b", "%2e%2e", "..;x", "..\\a"])
def test_a_value_that_servers_read_as_a_dot_segment_is_refused_when_it_is_called(
    value: str,
) -> None:
    with pytest.raises(RefusalError):
        read_url(url(BASE + "{{ id }}", id=value))


def test_half_a_character_is_refused() -> None:
    with pytest.raises(TemplateError, match="half a character"):
        url(BASE + "{{ id }}", id="\ud800")


@pytest.mark.parametrize(
    ("origin", "made"),
    [
        ("https://a.example/v1/", "https://a.example/v1/a%2Fb"),
        ("https://a.example?x=", "https://a.example?x=a/b"),
    ],
)
def test_what_is_filled_in_for_the_host_decides_too(origin: str, made: str) -> None:
    template = Renderer("<ORIGIN>{{ id }}")
    url_of = render_url(template, {"id": "a/b"}, lambda text: text.replace("<ORIGIN>", origin))
    assert url_of.replace("<ORIGIN>", origin) == made


def test_thousands_of_values_are_put_in_one_by_one() -> None:
    rows = [f"{number}/" for number in range(20_000)]
    made = url("/api/{% for x in rows %}v{{ x }}{% endfor %}", rows=rows)
    assert made == "/api/" + "".join(f"v{number}%2F" for number in range(20_000))
    assert url("/api?{% for x in rows %}v{{ x }}{% endfor %}", rows=rows).count("v") == 20_000


@pytest.mark.parametrize("place", ["/api/{{ x }}", "/api?{{ x }}"])
def test_a_url_has_as_many_letters_as_any_text(place: str) -> None:
    with pytest.raises(TemplateError, match="more than 1000000 characters"):
        url(place, x="\U0001f0a1" * 200_000 if "?" not in place else "x" * 1_000_001)
