"""A seed of the dice and a number in, one mutant out: the same whenever and wherever it is made.

    mutant(7, 42)  ->  Mutant(kind="json rename", seed="email-outreach-agent", files={…})

One mutant has one kind of change, made at one to four places of one file:
of the decoded document (`json …`), or of its bytes and lines (`text …`).
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from tests.mutants.seeds import Given, Seed, seeds

ODD_VALUES: Final[tuple[Any, ...]] = (
    None, True, False, 0, -1, 2**70, 1e308, 0.1, "", " ", "\u0000", "\ud800", "é\u2028",
    "{{ x }}", "{% for", "{{ 9**9**9 }}", "{{ x | tojson }}", "(", "(a+)+$", "a" * 5000,
    "next", "default", "string", "array", "Flow", "StartNode", "26.1.0", "99", "/", "~1", "-1",
    "https://elsewhere.example/x", "sk-" + "a1B2" * 12, "@acme/x", "^1.0.0", ">=1 <2 || *",
    [], [[]], [None], ["a", "a"], [{}], {}, {"": ""}, {"$component_ref": "start"},
    {"$component_ref": "nowhere"}, {"$component_ref": 7}, {"$component_ref": {}},
    {"component_type": "Flow"}, {"component_type": "LlmNode", "id": "x"}, {"component_type": 4},
    {"title": "t", "type": ["string", "null", 3]}, {"type": "array", "items": {"type": "strng"}},
    {"anyOf": [{"type": "string"}, {"$ref": "#"}]}, {"$ref": "#/$defs/a", "$defs": {"a": {}}},
    {"cinatra": []}, {"cinatra": {"required": "topic", "hidden": {"a": 1}}},
    {"a": {"b": {"c": [1, "two", None]}}},
)  # fmt: skip
FRAGMENTS: Final = (
    b"[" * 200, b'"', b"\\", b"}", b"]", b",", b"1e999", b"null", b"\x00", b"\xff", b"\xef\xbb\xbf",
    b"&a ", b"*a", b"!!str ", b"? ", b"- ", b"\t", b"{", b": ", b"|", b"<<: ", b"#", b"\r", b"\\ud800",
    b"---\n", b"%TAG",
)  # fmt: skip
_DOUBLED: Final = "\ue000"
"""Ends the second name of a member that is written twice; goes before the text is used."""


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """Something broken, ready to be checked."""

    kind: str
    """How it was broken: `json delete`, `text truncate`."""
    seed: str
    """What was broken."""
    files: Mapping[str, bytes]
    given: Given

    @property
    def document(self) -> str:
        return next(iter(self.files))


def mutant(seed: int, number: int) -> Mutant:
    """Number `number` of the run with this seed."""
    dice = random.Random(f"{seed}/{number}")
    (found,) = dice.choices(seeds(), [seed.weight for seed in seeds()])
    files = dict(found.files)
    name = _file(found, dice)
    decoded = _decoded(files[name])
    if decoded is not None and dice.random() < 0.7:
        kind, change = dice.choice(_OF_VALUES)
        for _ in range(dice.randint(1, 4)):
            decoded = change(decoded, dice)
        files[name] = _text(decoded, dice)
        kind = f"json {kind}"
    else:
        kind, cut = dice.choice(_OF_TEXT)
        for _ in range(dice.randint(1, 3)):
            files[name] = cut(files[name], dice)
        kind = f"text {kind}"
    made = Mutant(kind=kind, seed=found.name, files=files, given=found.given)
    return made if found.given != "mapping" or _is_object(made) else replace(made, given="bytes")


def _file(seed: Seed, dice: random.Random) -> str:
    """Mostly the flow or the manifest; now and then what stands beside them."""
    if len(seed.files) == 1 or dice.random() < 0.4:
        return seed.document
    if "package.json" in seed.files and dice.random() < 0.75:
        return "package.json"
    return dice.choice(sorted(seed.files))


def _decoded(raw: bytes) -> Any:
    """The JSON document; `None` for another one."""
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


def _is_object(made: Mutant) -> bool:
    return isinstance(_decoded(made.files[made.document]), dict)


def _text(value: Any, dice: random.Random) -> bytes:
    text = json.dumps(value, indent=dice.choice((None, 1, 2)))
    return text.replace(json.dumps(_DOUBLED)[1:-1], "").encode()


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of the document."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        current = waiting.pop()
        keys: Any = ()
        if isinstance(current, dict):
            keys = list(current)
        elif isinstance(current, list):
            keys = range(len(current))
        for key in keys:
            found.append((current, key))
            waiting.append(current[key])
    return found


def _copy(value: Any) -> Any:
    return json.loads(json.dumps(value))


def _at_a_place(change: Callable[[Any, Any, random.Random, Any], None]) -> Callable[..., Any]:
    """A change of one place of the document; a document without places is replaced."""

    def changed(value: Any, dice: random.Random) -> Any:
        places = _places(value)
        if not places:
            return _copy(dice.choice(ODD_VALUES))
        container, key = dice.choice(places)
        change(container, key, dice, places)
        return value

    return changed


def _delete(container: Any, key: Any, _dice: random.Random, _places: Any) -> None:
    del container[key]


def _duplicate(container: Any, key: Any, dice: random.Random, _places: Any) -> None:
    if isinstance(container, list):
        container.insert(dice.randint(0, len(container)), _copy(container[key]))
    else:
        container[key + dice.choice((_DOUBLED, "2", " "))] = _copy(container[key])


def _retype(container: Any, key: Any, dice: random.Random, _places: Any) -> None:
    value = container[key]
    ways = [value, [value], {"a": value}, json.dumps(value), *dice.sample(ODD_VALUES, 4)]
    if isinstance(value, dict):
        ways.append(list(value.values()))
    if isinstance(value, list):
        ways.append({str(index): item for index, item in enumerate(value)})
    container[key] = _copy(dice.choice(ways[1:]))


def _rename(container: Any, key: Any, dice: random.Random, places: Any) -> None:
    """Another name for a member, or for something that is referred to by name."""
    texts = [place for place in places if isinstance(place[0][place[1]], str)]
    if isinstance(container, dict) and (dice.random() < 0.5 or not texts):
        container[_misspelt(key, dice)] = container.pop(key)
    elif texts:
        container, key = dice.choice(texts)
        container[key] = _misspelt(container[key], dice)


def _misspelt(word: str, dice: random.Random) -> str:
    at = dice.randint(0, len(word))
    return dice.choice(
        (
            word[:at] + word[at + 1 :],
            f"{word[:at]}x{word[at:]}",
            word.upper(),
            f"{word} ",
            word[::-1],
        )
    )


def _reorder(container: Any, _key: Any, dice: random.Random, _places: Any) -> None:
    if isinstance(container, list):
        dice.shuffle(container)
    else:
        members = list(container.items())
        dice.shuffle(members)
        container.clear()
        container.update(members)


def _truncate(container: Any, key: Any, dice: random.Random, _places: Any) -> None:
    value = container[key]
    if isinstance(value, (str, list)):
        container[key] = value[: dice.randint(0, len(value))]
    elif isinstance(value, dict):
        kept = dice.randint(0, len(value))
        container[key] = dict(list(value.items())[:kept])
    else:
        container[key] = None


def _transplant(container: Any, key: Any, dice: random.Random, places: Any) -> None:
    other, name = dice.choice(places)
    container[key] = _copy(other[name])


_OF_VALUES: Final = (
    ("delete", _at_a_place(_delete)),
    ("duplicate", _at_a_place(_duplicate)),
    ("retype", _at_a_place(_retype)),
    ("rename", _at_a_place(_rename)),
    ("reorder", _at_a_place(_reorder)),
    ("truncate", _at_a_place(_truncate)),
    ("transplant", _at_a_place(_transplant)),
)


def _span(text: bytes, dice: random.Random) -> tuple[int, int]:
    """Part of the text: some bytes, or whole lines."""
    if dice.random() < 0.5:
        start = dice.randint(0, len(text))
        return start, min(len(text), start + dice.choice((1, 2, 10, 100)))
    begins = [0, *(i + 1 for i, byte in enumerate(text) if byte == 10)]
    at = dice.randrange(len(begins))
    last = min(len(begins) - 1, at + dice.randint(1, 5))
    return begins[at], begins[last] if last > at else len(text)


def _cut_out(text: bytes, dice: random.Random) -> bytes:
    start, stop = _span(text, dice)
    return text[:start] + text[stop:]


def _double(text: bytes, dice: random.Random) -> bytes:
    start, stop = _span(text, dice)
    return text[:stop] + text[start:]


def _other_bytes(text: bytes, dice: random.Random) -> bytes:
    start, _ = _span(text, dice)
    put = dice.choice((bytes([dice.randrange(256)]), dice.choice(FRAGMENTS)))
    return text[:start] + put + text[start + dice.randint(0, 2) :]


def _rename_word(text: bytes, dice: random.Random) -> bytes:
    words = text.split(b'"')
    at = dice.randrange(len(words))
    words[at] = words[at][::-1] if dice.random() < 0.3 else words[at] + b"x"
    return b'"'.join(words)


def _swap(text: bytes, dice: random.Random) -> bytes:
    start, middle = _span(text, dice)
    stop = min(len(text), middle + dice.choice((1, 10, 100)))
    return text[:start] + text[middle:stop] + text[start:middle] + text[stop:]


def _cut_off(text: bytes, dice: random.Random) -> bytes:
    at = dice.randint(0, len(text))
    return text[:at] if dice.random() < 0.7 else text[at:]


_OF_TEXT: Final = (
    ("delete", _cut_out),
    ("duplicate", _double),
    ("retype", _other_bytes),
    ("rename", _rename_word),
    ("reorder", _swap),
    ("truncate", _cut_off),
)
