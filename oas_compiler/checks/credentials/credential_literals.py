r"""Literal credentials in one text of a document: the rule by which every command decides what it prints.

    "headers": {"X-Auth": "Bearer {{ t }}9fK2…"}             ->  "9fK2…"
    "url": "https://host/x?api%5Fkey=9fK2…#access_token=…"   ->  both values
    "data": {"text": "curl -u bob:9fK2… https://host"}       ->  "9fK2…"
    "data": {"key": "title", "code": "200", "auth": "{{CINATRA_TOKEN}}"}   ->  nothing

This is the whole rule.  `check` warns of fewer places, because a warning about an ordinary word is a mistake,
while an ordinary word that is covered in a printout does no harm.  A text is covered where

* it has the shape of a well-known credential, wherever it stands (`value_shapes.py`), or looks random
  in a place that is sent (`literal_credential.py`), or stands in a sensitive field (`checks/credentials/credential_cover.py`);
* its name is that of a credential.  The name is the member's key; beside `value`, `default` and the
  like also the `name` or `title` of the object, and the key of the object; in an object such as
  `auth` or `credentials` the object's key; in a list of two texts the first.  How much the value
  must look like a credential depends on the name:
  - a clear name (`api_key`, `Authorization`): in a header or a query every literal, elsewhere one
    that is no ordinary word (`value_shapes.py`);
  - a probable one (`pwd`, `pass`; in a header or query also `X-Auth`, `X-Session-Id`, `sig`): at
    least six letters and digits, both of them;
  - one with other meanings (`key`, `code`, `auth`, `session`): letters and digits as mixed as in
    random text (`is_mixed`);
  - a name that means a password in any language (`password`, `passwort`, `mot_de_passe`; in `auth`
    also `pw`, `pass`): every literal of some letters, also a word or several;
  - the name of a one-time code or a PIN (`otp`, `cvv`, `pin`): what is one (`credential_names.py`);
  - the name of a cookie that is a session's or a token (`sid`): every literal of some letters;
* it is a number of four digits or more under a clear name, of six or more under a probable one;
* in a text of any name, such a name stands with such a value: in the query, the fragment or the user
  of an address, as `name=value`, `name: value`, JSON, XML or an option of a program, or a value
  stands behind `Bearer` or `Basic`.  Text that is encoded with `%` is read decoded as well.

Placeholders (`{{ t }}`, `${T}`, `<T>`) are no part of a value; what is written beside one is.
Every pattern is linear in the length of the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final
from urllib.parse import unquote

from cinatra_sdk.data.ports import REFERENCE
from oas_compiler.checks.credentials.credential_names import (
    ALL_OF_A_PASSWORD,
    Certainty,
    find_code_kind,
    is_about_a_login,
    is_clear_plural,
    is_code,
    is_password_name,
    judge_name,
    set_of,
    split_name,
    write_plain,
)
from oas_compiler.checks.credentials.value_shapes import (
    find_known,
    is_credential_name,
    is_user_and_password,
    looks_written,
    random_text,
    stands_for_another,
    stands_under,
)
from oas_compiler.checks.subject import Text, collect_numbers, collect_texts
from oas_compiler.ir import JsonValue

ORDINARY: Final = set_of(
    "oauth1 oauth2 oauth2.0 auth0 aws4 aws4-hmac-sha256 hmac-sha1 hmac-sha256 hmac-sha512 "
    "sha1 sha256 sha384 sha512 base64 base64url utf8 utf-8 utf16 http2 http/1.1 http/2 x509 "
    "rs256 es256 hs256 ed25519 rsa2048 aes128 aes256 argon2 pbkdf2 es2015 iso8601 iso-8601 "
    "rfc3339 uuid4 uuidv4 base32 base58 base62 gzip2 win32 x86_64 i18n oauth2-bearer"
)
"""Words with a digit that are no credentials under any name."""


def _find_codes(name: str, value: str) -> Iterator[str]:
    """The one-time codes and PINs in a value under a name, beside placeholders too."""
    kind = find_code_kind(unquote(name) if "%" in name else name)
    for piece in map(str.strip, value.split(_MARK) if kind else ()):
        if is_code(piece, kind) and not _is_ordinary(piece) and not stands_for_another(piece):
            yield piece


_BESIDE_A_NAME: Final = set_of(
    "value val const content text data raw literal default example examples values enum "
    "secret key token"
)
"""Members whose object says what they are."""
_BESIDE_A_CREDENTIAL: Final = set_of(
    "type scheme kind method mode name title description user username login in grant_type "
    "scope scopes url uri token_url audience client_id region format pattern id provider "
    "realm component_type header prefix"
) | {REFERENCE, "$ref"}
"""Members of an object such as `auth` that are no credential themselves."""
_NO_VALUES: Final = set_of(
    "json_schema mapping input_mapping output_mapping examples enum required branches "
    "inputRenderers input_renderers"
)
"""Members below which names stand, so that only a mixed text is a value."""
_HEADERS: Final = frozenset({"headers", "sensitive_headers", "header"})
_QUERIES: Final = frozenset({"query_params", "params", "query"})

_NAMES_OF_CREDENTIALS: Final = set_of("tokens secrets passwords credentials creds apikeys")
"""Objects whose members may be named by credentials."""
_NO_PASSWORDS: Final = set_of(
    "true false null none nil undefined required optional string text hidden enabled disabled yes no on off "
    "basic bearer auth login pass pw pwd pin email user username field input prompt empty unset"
)
"""Words that are no password under any name."""
_SAYS_WHAT_ONE_IS: Final = set_of(
    "password passwd passwort kennwort passe passphrase token secret key"
)
_COOKIE: Final = re.compile(r"(?:^|[;\s])(?P<name>[^\s=;]{1,80})=(?P<value>[^;\s]{1,4000})")
_COOKIES: Final = frozenset({"cookie", "setcookie", "cookies"})
_COOKIE_ENDINGS: Final = ("sid", "sess", "sessid", "session", "sessionid", "token", "auth", "jwt")
_MOST_WORDS: Final = 12
"""Words of the longest password; a longer value is a text."""

_MARK: Final = "\0"
"""Stands for a placeholder while a text is looked at."""
_PLACEHOLDER: Final = re.compile(
    r"\{\{[^{}]*\}\}|\$\{[^{}]*\}|\$\([^()]*\)|(?<![\w$])\$[A-Z_][A-Z0-9_]*\b|<[A-Za-z_][\w .-]{0,60}>"
)
_CONSTANT: Final = re.compile(r"'([^']*)'|\"([^\"]*)\"")
"""A text that is written out inside a placeholder: `{{ key | default('9fK2…') }}`."""
SCHEMES: Final = frozenset({"basic", "bearer", "token", "apikey", "digest", "api-key", "key"})
_DATE: Final = re.compile(r"\d{4}-\d\d(?:-\d\d(?:[T ][\d:.,+Z-]*)?)?")
_SHORTEST: Final = 6
_LONGEST: Final = 10_000
_PIECES: Final = re.compile(r"[^\s\0,;:&?\"'=]+")
"""What stands beside placeholders, without the names before `=`."""
_ATTRIBUTE: Final = re.compile(r"[A-Za-z][\w-]*=")

_VALUE: Final = r"[^\s\"'\\,;&<>{}()\[\]`|]"
_NAME: Final = r"[A-Za-z][\w-]{1,79}"
_PAIR: Final = re.compile(
    rf"(?<![\w-])(?P<name>{_NAME})(?:\\?[\"'])?(?:[ \t]{{0,3}}(?:=>|:=|==?|:)[ \t\r\n]{{0,3}}|[ \t]is[ \t]:?)"
    rf"(?:\\?[\"'`])?(?P<scheme>(?:basic|bearer|token|apikey|digest)[ \t]{{1,3}})?(?P<value>{_VALUE}{{4,400}})",
    re.IGNORECASE,
)
_ELEMENT: Final = re.compile(rf"<(?P<name>{_NAME})>(?P<value>[^\s<>]{{4,400}})</")
_PART_OF_A_FORM: Final = re.compile(
    rf"name=\\?[\"'](?P<name>{_NAME})\\?[\"'][ \t\r\n]{{1,8}}(?P<value>{_VALUE}{{4,400}})"
)
_OPTION: Final = re.compile(
    rf"(?<!\S)--?(?P<name>{_NAME})[ \t=]{{1,3}}[\"']?(?P<value>{_VALUE}{{4,400}})"
)
_USER_OPTION: Final = re.compile(
    rf"(?<!\S)(?:-u[ \t]{{0,3}}|--(?:proxy-)?user[ \t=]{{1,3}})[\"']?[^\s:\"']{{0,80}}:(?P<value>{_VALUE}{{3,400}})"
)
_BARE: Final = re.compile(
    rf"\b(?P<scheme>basic|bearer)[ \t]{{1,3}}(?P<value>{_VALUE}{{6,400}})", re.IGNORECASE
)
_QUERY: Final = re.compile(
    r"(?<=[?&#;])(?P<name>[^=&#;\s\"'?/]{1,80})=(?P<value>[^&#\s\"'<>;]{3,400})"
)
_USER: Final = re.compile(r"(?:(?<=://)|(?<=:\\/\\/)|(?<=^//))(?P<user>[^\s/?#@\"'<>\\]{1,400})@")
_HOOK: Final = re.compile(r"://[^\s?#\"'<>]{0,200}hook[^\s?#\"'<>]{0,400}", re.IGNORECASE)
_IN_PATH: Final = re.compile(rf"/(?P<name>{_NAME})/(?P<value>[^\s/?#&\"'<>]{{8,400}})")
_DEEPEST: Final = 3
"""Texts inside texts: encoded addresses, JSON in a body."""
_LARGEST_JSON: Final = 200_000
_MOST_PARTS: Final = 50


def find_written(text: Text) -> tuple[str, ...]:
    """The credentials in a text, each without what stands around it; empty where there is none."""
    if text.is_number:
        return (text.value,) if _is_number_written(text) else ()
    if len(text.value) < 3 or (text.keys and text.keys[-1] == REFERENCE):
        return ()
    marked = _mark_placeholders(text.value)
    parts = [*_find_by_name(text, marked), *_find_inside(text.value, marked)]
    return tuple(dict.fromkeys(part for part in parts[:_MOST_PARTS] if part))


def is_written_name(name: str, *, is_sent: bool) -> bool:
    """Whether the name of a member is a credential itself; is_sent: a header's or a parameter's."""
    if len(name) < (10 if is_sent else 13) or not any(map(str.isdigit, name)):
        return False
    found = next(find_known(name), None)
    return (
        (found is not None and any(map(str.isdigit, found)))
        or bool(random_text(name))
        or (is_sent and is_mixed(name))
    )


def names_are_sent(keys: tuple[str, ...]) -> bool:
    """Whether the members of the object under these keys are headers, parameters or credentials."""
    if not keys:
        return False
    is_plural = write_plain(keys[-1]) in _NAMES_OF_CREDENTIALS
    return is_plural or keys[-1] in (_HEADERS | _QUERIES) or is_clear_plural(keys[-1])


def is_mixed(word: str) -> bool:
    """Whether letters and digits are as mixed as in random text: `q7Rz2LkP`, not `order-2024`."""
    if len(word) < 10 or _is_ordinary(word):
        return False
    if random_text(word):
        return True
    kinds = ["d" if one.isdigit() else "l" if one.isalpha() else "" for one in word[:400]]
    changes = sum(one != after and bool(one) and bool(after) for one, after in pairwise(kinds))
    both = "d" in kinds and "l" in kinds
    return changes >= 3 or (both and len(word) >= 12 and "" not in kinds)


# ------------------------------------------------------------------ names


def _find_by_name(text: Text, marked: str) -> Iterator[str]:
    place = _where_sent(text.keys)
    only_mixed = stands_under(text.keys, _NO_VALUES)
    if not only_mixed:
        yield from _find_passwords(text, marked)
        for name in dict.fromkeys(_list_own_names(text)):
            yield from _find_codes(name, marked)
        yield from _find_cookies(text, marked)
    for name in dict.fromkeys(_list_names(text)):
        certainty = judge_name(name, is_sent=bool(place))
        if certainty:
            yield from _find_value(
                name,
                marked,
                "possible" if only_mixed else certainty,
                in_header=(place == "header" or (place == "query" and certainty == "clear"))
                and not only_mixed,
            )


def _find_passwords(text: Text, marked: str) -> Iterator[str]:
    """The whole value under a name that means a password, also where it is words."""
    value = marked.strip()
    names = list(_list_own_names(text))
    is_inside = any(map(is_about_a_login, text.keys[-4:-1])) and text.keys[-1].casefold() in (
        ALL_OF_A_PASSWORD
    )
    if (is_inside or any(map(is_password_name, names))) and is_any_literal(value):
        yield value


def is_any_literal(value: str) -> bool:
    """Whether the value is anything but a placeholder, a path, a name or a word that says nothing."""
    folded = value.casefold()
    if len(value) < 4 or _MARK in value or stands_for_another(value) or "://" in value:
        return False
    if folded in _NO_PASSWORDS or value.startswith(("/", "./", "~/", "$")):
        return False
    has_digit = any(map(str.isdigit, value))
    return len(folded.split()) <= _MOST_WORDS and (
        has_digit or not any(word in write_plain(value) for word in _SAYS_WHAT_ONE_IS)
    )


def _find_cookies(text: Text, marked: str) -> Iterator[str]:
    """The cookies that are a session or a token, in a header or an object of cookies."""
    keys = [write_plain(key) for key in text.keys[-2:]]
    label = write_plain(text.label)
    if keys[-1:] and (keys[-1] in _COOKIES or label in _COOKIES):
        for found in _COOKIE.finditer(marked):
            if _is_cookie_of_a_session(found["name"]) and is_any_literal(found["value"]):
                yield found["value"]
    elif (
        keys[:1]
        and keys[0] in _COOKIES
        and _is_cookie_of_a_session(text.keys[-1])
        and is_any_literal(marked.strip())
    ):
        yield marked.strip()


def _is_cookie_of_a_session(name: str) -> bool:
    plain = write_plain(name)
    return plain.endswith(_COOKIE_ENDINGS) or judge_name(name, is_sent=True) in {
        "clear",
        "probable",
    }


def _is_number_written(text: Text) -> bool:
    """Whether a number under the name of a credential is one: a count has few digits."""
    digits = sum(map(str.isdigit, text.value))
    if digits < 4 or not text.keys or stands_under(text.keys, _NO_VALUES):
        return False
    is_sent = bool(_where_sent(text.keys))
    if stands_under(text.keys[:-1], {"sensitive_headers"}):
        return True
    if text.keys[-1].casefold() in ALL_OF_A_PASSWORD and any(
        map(is_about_a_login, text.keys[-4:-1])
    ):
        return True
    for name in _list_own_names(text):
        if next(_find_codes(name, text.value), None) is not None:
            return True
        certainty = judge_name(name, is_sent=is_sent)
        if certainty == "clear" or (
            certainty == "probable" and digits >= _SHORTEST and split_name(name) != ["tokens"]
        ):
            return True
    return False


def _list_own_names(text: Text) -> Iterator[str]:
    """What the value itself is called, without the objects around that are about a login."""
    if not text.keys:
        return
    own = text.keys[-1]
    yield own
    if own.casefold() in _BESIDE_A_NAME:
        yield text.label
        if len(text.keys) > 1:
            yield text.keys[-2]
    elif text.label and is_credential_name(text.label) and text.is_number:
        yield text.label


def _where_sent(keys: tuple[str, ...]) -> str:
    if stands_under(keys[:-1], _HEADERS):
        return "header"
    return "query" if stands_under(keys[:-1], _QUERIES) else ""


def _list_names(text: Text) -> Iterator[str]:
    """What the value may be called: by its key, by the object that it describes, or from outside."""
    keys = text.keys
    if not keys:
        return
    own = keys[-1]
    yield own
    if text.label:
        yield text.label
    folded = own.casefold()
    if folded in _BESIDE_A_NAME and len(keys) > 1:
        yield keys[-2]
    if folded not in _BESIDE_A_CREDENTIAL:
        yield from (key for key in keys[-4:-1] if is_about_a_login(key))


# ------------------------------------------------------------------ values


def _find_value(name: str, marked: str, certainty: Certainty, *, in_header: bool) -> Iterator[str]:
    """The literal parts of a value under a name."""
    value = marked.strip()
    if len(value) > _LONGEST:
        return
    scheme, _, rest = value.partition(" ")
    has_scheme = scheme.casefold() in SCHEMES and bool(rest.strip())
    if has_scheme:
        value = rest.strip()
    if _MARK in value:
        if certainty != "possible":
            yield from _find_beside_marks(value)
        else:
            yield from filter(is_mixed, _PIECES.findall(value))
        return
    if stands_for_another(value) and not is_mixed(value):
        return
    if (has_scheme and _follows_scheme(scheme, value)) or (
        certainty == "clear" and looks_written(name, value, in_header=in_header)
    ):
        yield value
    elif not any(map(str.isspace, value)):
        if is_mixed(value) if certainty == "possible" else _is_probable(value):
            yield value
    elif in_header:
        yield from filter(_is_probable, _PIECES.findall(value))


def _find_beside_marks(value: str) -> Iterator[str]:
    for piece in _PIECES.findall(_ATTRIBUTE.sub(" ", value)):
        letters = piece.strip(".-_/")
        if letters.casefold() in SCHEMES:
            continue
        if _is_probable(letters) or (len(letters) >= 16 and letters.isalnum()):
            yield letters


def _is_probable(word: str) -> bool:
    if len(word) < _SHORTEST or _is_ordinary(word):
        return False
    has_digit, has_letter = any(map(str.isdigit, word)), any(map(str.isalpha, word))
    return has_digit and (has_letter or len(word) >= 10)


def _is_ordinary(word: str) -> bool:
    folded = word.strip(".,:;!?").casefold()
    return folded in ORDINARY or "://" in word or _DATE.fullmatch(word) is not None


def _follows_scheme(scheme: str, value: str) -> bool:
    """Whether the value is what `Basic` or `Bearer` announces, and no word such as "authentication"."""
    if any(map(str.isspace, value)):
        return False
    if scheme.casefold() == "basic" and is_user_and_password(value):
        return True
    return _is_probable(value) or (len(value) >= 16 and not value.isalpha()) or is_mixed(value)


# ------------------------------------------------------------------ inside a text


def _mark_placeholders(text: str) -> str:
    if "{{" in text or "$" in text or "<" in text:
        return _PLACEHOLDER.sub(_mark_placeholder, text)
    return text


def _mark_placeholder(found: re.Match[str]) -> str:
    constants = _CONSTANT.findall(found[0]) if found[0].startswith("{{") else ()
    return _MARK.join(["", *(one or other for one, other in constants), ""]) if constants else _MARK


def _find_inside(text: str, marked: str, depth: int = 0) -> Iterator[str]:
    """The credentials that stand in a text with their names or in their shapes."""
    yield from find_known(text)
    if len(text) < 8:
        return
    if ":" in marked or "=" in marked or " is " in marked:
        yield from _find_pairs(marked)
    if "/" in marked or "?" in marked or "#" in marked:
        yield from _find_in_addresses(marked)
    if "-" in marked:
        yield from _find_options(marked)
    for found in _BARE.finditer(marked):
        yield from _take(found["scheme"], found["value"], "scheme")
    if "</" in text:
        for found in _ELEMENT.finditer(text):
            yield from _take(found["name"], found["value"], "text")
    if depth < _DEEPEST:
        yield from _find_encoded(text, marked, depth)


def _find_pairs(marked: str) -> Iterator[str]:
    for pattern in (_PAIR, _PART_OF_A_FORM):
        at = 0
        while (found := pattern.search(marked, at)) is not None:
            groups = found.groupdict()
            yield from _take(found["name"], found["value"], "scheme" if groups.get("scheme") else "text",
                             groups.get("scheme") or "")  # fmt: skip
            # a value may be the next name: `Cookie: session=9fK2…`
            at = max(found.start("value"), found.start() + 1)


def _find_options(marked: str) -> Iterator[str]:
    for found in _OPTION.finditer(marked):
        yield from _take(found["name"], found["value"], "text")
    is_curl = "curl" in marked
    for found in _USER_OPTION.finditer(marked):
        value = found["value"].strip(_MARK)
        if not stands_for_another(value) and (
            _is_probable(value) or (is_curl and _is_password(value))
        ):
            yield value


def _is_password(value: str) -> bool:
    if value.isdigit() and len(value) < _SHORTEST:
        return False  # the group of `-u 1000:1000`
    return value.casefold() not in {"pass", "password", "passwd", "secret", "token", "pwd"}


def _find_in_addresses(marked: str) -> Iterator[str]:
    for found in _QUERY.finditer(marked):
        yield from _take(unquote(found["name"]), unquote(found["value"]), "query")
    for found in _USER.finditer(marked):
        user, _, password = unquote(found["user"]).partition(":")
        if looks_written("password", password.strip(_MARK), in_header=True) and (
            _is_password(password) or password.strip(_MARK) != password
        ):
            yield password.strip(_MARK)
        elif not password.strip(_MARK) and _is_probable(user.strip(_MARK)):
            yield user.strip(_MARK)
    for found in _HOOK.finditer(marked):
        yield from filter(is_mixed, found[0].split("/")[3:])
    for found in _IN_PATH.finditer(marked):
        if judge_name(found["name"], is_sent=False) == "clear" and is_mixed(found["value"]):
            yield found["value"]


def _take(name: str, value: str, place: str, scheme: str = "") -> Iterator[str]:
    """The value that stands with a name inside a text, where it is a credential."""
    value = value.rstrip(".,:!?*\0")
    if place == "scheme":
        # `Authorization: Basic …` or a bare `Bearer …`: the scheme is what is certain
        scheme = scheme.strip() or name
        for piece in value.split(_MARK):
            if not stands_for_another(piece) and _follows_scheme(scheme, piece):
                yield piece
        return
    yield from _find_codes(name, value)
    certainty = judge_name(name, is_sent=place == "query")
    if not certainty:
        return
    first, *later = value.split(_MARK)
    # behind a placeholder a fragment may begin; inside of a password `#` is a letter
    for piece in (first, *(one.partition("#")[0] for one in later)):
        if stands_for_another(piece) and not is_mixed(piece):
            continue
        if (
            place == "query"
            and certainty == "clear"
            and is_any_literal(piece)
            and looks_written(name, piece, in_header=True)
        ) or (
            is_mixed(piece)
            if certainty == "possible"
            else _is_probable(piece)
            or (certainty == "clear" and piece.isdigit() and len(piece) >= 8)
        ):
            yield piece


def _find_encoded(text: str, marked: str, depth: int) -> Iterator[str]:
    if "%" in marked:
        plain = unquote(text)
        if plain != text:
            yield from _find_inside(plain, _mark_placeholders(plain), depth + 1)
    start = text.lstrip()[:1]
    if start in {"{", "["} and '"' in text and len(text) <= _LARGEST_JSON:
        try:
            value: JsonValue = json.loads(_PLACEHOLDER.sub("0", text))
        except (ValueError, RecursionError):
            return
        yield from (one.value for one in collect_numbers(value) if _is_number_written(one))
        for inner in collect_texts(value):
            marked = _mark_placeholders(inner.value)
            yield from _find_by_name(inner, marked)
            yield from _find_inside(inner.value, marked, depth + 1)
