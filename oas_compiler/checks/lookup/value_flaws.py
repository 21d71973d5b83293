"""Flaws of values, separate from their reports.  Not a rule itself.

    Flaw("max_steps is 200", "/data/max_steps", "write a whole number from 1 to 20")
    misspelt('"usr" of data is read by nobody', "/data/usr", "user")
        ->  hint: did you mean "user"?, and an edit that gives the key its name

Rules that check values find flaws at any depth (`Iterator[Flaw]`) and report each with `tell`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import unquote

from cinatra_sdk.data.schema.vocabulary import (
    TYPES,
    Path,
    Schema,
    SchemaFlaw,
    Wrong,
    flaw_of,
    taken,
)
from cinatra_sdk.data.text.message_words import LONGEST_COMPARED, plain
from oas_compiler.checks.subject import Subject, Written
from oas_compiler.findings.finding import Edit
from oas_compiler.findings.rule import Report
from oas_compiler.ir import JsonValue, Place
from oas_compiler.package.package import Package
from oas_compiler.schema.dialect import OTHER_KEYS, keys_of

if TYPE_CHECKING:
    from referencing import Resource


class Flaw(NamedTuple):
    """One problem and its place."""

    says: str
    pointer: str
    hint: str
    key: str = ""
    """The right name of a misspelt key; empty for other flaws."""


def misspelt(says: str, pointer: str, meant: str) -> Flaw:
    """The flaw of an unknown key that is almost a known key."""
    return Flaw(says, pointer, f'did you mean "{meant}"?', meant)


def tell(
    report: Report, flaw: Flaw, place: Callable[[str], Place], *, within: str = "", file: str = ""
) -> None:
    """Report a flaw with the edit that mends it, if there is one.

    `place`: makes a place of a pointer, in the document or in package.json; `within`: end of the
    message; `file`: as for `Report`.
    """
    report(
        f"{flaw.says}{within}",
        place(flaw.pointer),
        hint=flaw.hint,
        file=file,
        fix=(Edit(pointer=flaw.pointer, key=flaw.key),) if flaw.key else (),
    )


KEYS: Final = frozenset(
    {
        "agentDependencies",
        "apiVersion",
        "consumes",
        "dependencies",
        "displayName",
        "fieldRenderers",
        "hasApprovalGates",
        "kind",
        "manifestVersion",
        "packageType",
        "produces",
        "riskLevel",
        "roles",
        "sourceTemplateId",
        "sourceVersionId",
        "sourceVersionNumber",
        "toolAccess",
        "type",
    }
)
"""Keys in the package.json of real agents."""

_MEMBERS: Final = ("name", "version", "license", "files", "description", "cinatra")

_OF_NPM: Final = frozenset(
    {
        "author", "bin", "browser", "bugs", "bundleDependencies", "config", "contributors", "cpu",
        "dependencies", "devDependencies", "directories", "engines", "exports", "funding",
        "homepage", "imports", "keywords", "main", "maintainers", "module", "optionalDependencies",
        "os", "overrides", "packageManager", "peerDependencies", "private", "publishConfig",
        "repository", "scripts", "sideEffects", "type", "types", "workspaces",
    }
)  # fmt: skip

_MOST_COMPARED: Final = 100
_CUTOFF: Final = 0.75


def misspelt_members(package: Package) -> dict[str, str]:
    """Written key of package.json → the missing key that was meant."""
    absent = [key for key in _MEMBERS if key not in package.manifest]
    found: dict[str, str] = {}
    for key in list(package.manifest)[:_MOST_COMPARED]:
        if key in _MEMBERS or key in _OF_NPM or len(key) > LONGEST_COMPARED:
            continue
        near = get_close_matches(key.lower(), absent, n=1, cutoff=_CUTOFF)
        if near and near[0] not in found.values():
            found[key] = near[0]
    return found


def has_block(component: Written) -> bool:
    """Whether `metadata.cinatra` can be read; if it is no object, OAS135 or OAS022 reports it."""
    metadata = component.value.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        return False
    block = (metadata or {}).get("cinatra")
    return block is None or isinstance(block, dict)


# ----------------------------------------------------------------------------
# Finds flaws that make a JSON Schema unusable, without a JSON Schema library.
#
#     {"type": "strng"}                        ->  SchemaFlaw(("type",), 'there is no type "strng"')
#     {"$ref": "#/$defs/nothing"}              ->  SchemaFlaw(("$ref",), "the reference leads nowhere")
#     {"anyOf": [{"$ref": "#"}]}               ->  SchemaFlaw(…, "it refers to itself without end")
#     {"$dynamicRef": "#node", …}              ->  asked of the library
#
# Not a rule.  The library takes longer to import than the largest flow takes to check, and is not
# linear.  So each keyword is looked up in the SDK's table, by which values are checked later, and
# each subschema is checked once, however many references lead to it.  This check is stricter than the
# library in three cases that the library notices only when a value reaches them: a reference that
# leads nowhere, a circle, references that multiply.


__all__ = ["TYPES", "SchemaFlaw", "Path", "Unusual", "endless", "first_flaw"]

MAX_IN_PLACE: Final = 10_000
"""How often one value may be looked at: references to references multiply."""
MAX_STEPS: Final = 100
"""How many subschemas in a row may look at the same value; each costs the library stack."""


class Unusual(Exception):
    """The schema has a keyword that is not decided here."""


UNUSUAL: Final = frozenset(
    {
        "$id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$vocabulary", "$recursiveRef",
        "$recursiveAnchor", "unevaluatedItems", "unevaluatedProperties",
    }
)  # fmt: skip
"""Keywords that are left to the library: they change what references mean, or follow them."""


def first_flaw(schema: JsonValue) -> SchemaFlaw | None:
    """The first flaw; `None` when values can be checked against `schema`.

    Raises:
        Unusual: it has one of the UNUSUAL keywords, and what was looked at before is fine.

    """
    if not isinstance(schema, (dict, bool)):
        return SchemaFlaw((), "it is neither an object nor a boolean")
    return _Walk(schema).first_flaw()


class _Walk:
    """One pass over a schema and over everything that its references lead to."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._waiting: list[tuple[Schema, Path]] = [(root, ())]
        self._seen: dict[int, tuple[Schema, Path]] = {}
        self._in_place: dict[int, list[int]] = {}
        """By `id` of a subschema: those that look at the same value."""

    def first_flaw(self) -> SchemaFlaw | None:
        while self._waiting:
            schema, path = self._waiting.pop()
            if id(schema) in self._seen or isinstance(schema, bool):
                continue
            self._seen[id(schema)] = schema, path
            flaw = self._find_own_flaw(schema, path)
            if flaw is not None:
                return flaw
        return self._find_endless_flaw()

    def _find_own_flaw(self, schema: dict[str, JsonValue], path: Path) -> SchemaFlaw | None:
        """The flaw of one subschema's own keywords; what is below it is put in line."""
        same = self._in_place.setdefault(id(schema), [])
        for keyword, value in schema.items():
            if keyword in UNUSUAL:
                raise Unusual(keyword)
            if keyword == "$ref":
                target = self._resolve_reference(value)
                if isinstance(target, str):
                    return SchemaFlaw((*path, keyword), target)
                self._waiting.append(target)
                same.append(id(target[0]))
                continue
            try:
                below = taken(keyword, value, (*path, keyword))
            except Wrong as wrong:
                return wrong.flaw
            self._waiting += reversed(below.schemas)
            same += [id(found) for found, _ in below.schemas if below.in_place]
        return None

    def _resolve_reference(self, reference: JsonValue) -> tuple[Schema, Path] | str:
        """What a reference leads to and where that stands, or what is wrong with it."""
        if not isinstance(reference, str):
            return "the reference is no string"
        if not reference.startswith("#"):
            return "the reference leads out of the document"
        pointer = unquote(reference[1:])
        if pointer and not pointer.startswith("/"):
            return "the reference leads nowhere"
        found: JsonValue = self._root
        path: list[str | int] = []
        for part in pointer.split("/")[1:]:
            key: str | int = part.replace("~1", "/").replace("~0", "~")
            if isinstance(found, dict) and key in found:
                found = found[str(key)]
            elif isinstance(found, list) and _is_index(part, len(found)):
                key = int(part)
                found = found[key]
            else:
                return "the reference leads nowhere"
            path.append(key)
        if isinstance(found, (dict, bool)):
            return found, tuple(path)
        return "the reference leads to no schema"

    def _find_endless_flaw(self) -> SchemaFlaw | None:
        found = endless(self._in_place)
        if found is None:
            return None
        number, text = found
        return SchemaFlaw(self._seen[number][1] if number in self._seen else (), text)


def endless(in_place: Mapping[int, Sequence[int]]) -> tuple[int, str] | None:
    """A circle among subschemas that look at the same value, or too many of them: which, and why.

    `in_place`: by a number of each subschema, those that it hands the same value to.
    """
    cost: dict[int, int] = {}
    depth: dict[int, int] = {}
    begun: set[int] = set()
    for start in in_place:
        waiting = [(start, False)]
        while waiting:
            at, done = waiting.pop()
            below = in_place.get(at, ())
            if done:
                begun.discard(at)
                cost[at] = 1 + sum(cost[other] for other in below)
                depth[at] = 1 + max((depth[other] for other in below), default=0)
                if cost[at] > MAX_IN_PLACE or depth[at] > MAX_STEPS:
                    return at, "its references multiply or go on too far"
            elif at in begun:
                return at, "it refers to itself without end"
            elif at not in cost:
                begun.add(at)
                waiting.append((at, True))
                waiting += [(other, False) for other in below]
    return None


def _is_index(key: str, length: int) -> bool:
    return key.isdecimal() and key.isascii() and len(key) < 10 and int(key) < length


# ----------------------------------------------------------------------------
# The JSON Schema library's verdict on a schema with unusual keywords.
#
#     {"$dynamicAnchor": "node", "properties": {"next": {"$dynamicRef": "#node"}}}   ->  None
#     {"$dynamicRef": "#nowhere"}       ->  SchemaFlaw((), "the $dynamicRef #nowhere leads nowhere")
#
# Not a rule.  Used only for keywords that the rules above do not decide, because the import is
# slow. Large schemas are refused, because the library's time is not linear.


MAX_VALUES: Final = 1_000
"""Values in a schema that the library is asked about."""
_REFERENCES: Final = ("$ref", "$dynamicRef")
_LISTS: Final = ("allOf", "anyOf", "oneOf")
_SINGLE: Final = ("not", "if", "then", "else")


def flaw_by_library(schema: dict[str, JsonValue] | bool) -> SchemaFlaw | None:
    """The first thing that is wrong; `None` when values can be checked against `schema`."""
    if _count_values(schema) > MAX_VALUES:
        return SchemaFlaw((), f"with its keywords it may hold at most {MAX_VALUES:,} values")

    from referencing.jsonschema import DRAFT202012

    return flaw_of(schema) or _flaw_of_references(DRAFT202012.create_resource(schema))


def _flaw_of_references(root: Resource[Any]) -> SchemaFlaw | None:
    from referencing import Registry
    from referencing.exceptions import NoSuchAnchor, Unresolvable

    resolver = Registry().resolver_with_root(root)
    waiting = [(root, resolver)]
    schemas: dict[int, list[int]] = {}
    targets: list[int] = []
    for resource, base in waiting:
        schema = resource.contents
        if not isinstance(schema, dict) or id(schema) in schemas:
            continue
        below = schemas[id(schema)] = []
        for keyword in _REFERENCES:
            if keyword not in schema:
                continue
            reference = schema[keyword]
            if not reference.startswith("#"):
                return SchemaFlaw((), f"the {keyword} {reference[:80]} leads out of the document")
            try:
                target = base.lookup(reference).contents
            except (Unresolvable, NoSuchAnchor, ValueError, TypeError):
                return SchemaFlaw((), f"the {keyword} {reference[:80]} leads nowhere")
            if not isinstance(target, (dict, bool)):
                return SchemaFlaw((), f"the {keyword} {reference[:80]} leads to no schema")
            if isinstance(target, dict):
                targets.append(id(target))
                below.append(id(target))
        below += [id(part) for name in _LISTS for part in schema.get(name, ())]
        below += [id(schema[name]) for name in _SINGLE if name in schema]
        waiting += [(found, base.in_subresource(found)) for found in resource.subresources()]
    if not schemas.keys() >= set(targets):
        return SchemaFlaw((), "a reference leads to no schema")
    circle = endless(schemas)
    return None if circle is None else SchemaFlaw((), circle[1])


def _count_values(schema: JsonValue) -> int:
    count, waiting = 0, [schema]
    while waiting and count <= MAX_VALUES:
        value = waiting.pop()
        count += 1
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return count


# ----------------------------------------------------------------------------
# The keys of `metadata.cinatra` that are probably misspelt.  Not a rule itself.
#
#     InputMessageNode {"riskclass": "read_only"}                       ->   riskclass is riskClass
#     InputMessageNode {"riskclass": …, "riskClass": "read_only"}       ->   nothing: the key is there
#     InputMessageNode {"team": "sales"}                                ->   nothing: metadata is free
#
# Rules about a missing key ask this module first, so that one slip makes one finding.


_OTHERS: Final = frozenset(OTHER_KEYS)
_AND_THESE: Final = frozenset({"type", "llm", "name"})
"""Keys of real files that are not misspelt."""
SHORTEST: Final = 5
LONGEST: Final = 40
"""Characters of the longest key that is compared."""
CUTOFF: Final = 0.85
MAX_KEYS: Final = 300
"""Different unknown keys of a file that are compared, because comparing is slow."""


def known_keys(component_type: str) -> frozenset[str]:
    """The keys of a component that the host and this compiler read, and that can be missing
    unnoticed.
    """
    keys = keys_of(component_type)
    # Without the `type` of a flow: OAS102 reports a missing type.
    return _OTHERS if keys is None else frozenset(keys) - {"type"}


def misspelt_metadata_keys(component: Written) -> dict[str, str]:
    """Written key → the missing key that is probably meant."""
    known = known_keys(component.type)
    return misspelt_keys(component.cinatra, known) if component.cinatra else {}


def misspelt_keys(written: Collection[str], known: frozenset[str]) -> dict[str, str]:
    """The same for any object with known keys."""
    found: dict[str, str] = {}
    unknown = [key for key in written if key not in known and key not in _AND_THESE]
    for key in unknown[:MAX_KEYS]:
        meant = nearest_key(key, known)
        if meant and meant not in written:
            found[key] = meant
    return found


def meant_keys(subject: Subject) -> frozenset[tuple[str, str]]:
    """(pointer of a component, key that it has in a wrong spelling), as in OAS133."""
    return frozenset(
        (component.pointer, meant)
        for component, slips in components_with_slips(subject)
        for meant in slips.values()
    )


def components_with_slips(subject: Subject) -> Iterator[tuple[Written, dict[str, str]]]:
    """Each component with misspelt keys; in a huge file only the first components are checked."""
    compared: set[tuple[str, str]] = set()
    for component in subject.components:
        if not component.cinatra or len(compared) > MAX_KEYS:
            continue
        known = known_keys(component.type)
        unknown = {key for key in component.cinatra if key not in known}
        if unknown:
            compared |= {(component.type, key) for key in list(unknown)[:MAX_KEYS]}
            found = misspelt_metadata_keys(component)
            if found:
                yield component, found


@lru_cache(maxsize=8192)
def nearest_key(key: str, known: frozenset[str]) -> str:
    """The known key that is probably meant; empty where no key is near."""
    known_plain = {plain(one): one for one in sorted(known)}
    word = plain(key[: LONGEST + 1])
    if word in known_plain:
        return known_plain[word]
    if not SHORTEST <= len(key) <= LONGEST:
        return ""
    close = get_close_matches(word, known_plain, n=1, cutoff=CUTOFF)
    return known_plain[close[0]] if close else ""
