"""Rule packs: rules of an organisation, registered under the entry point `oasflow.rules`.

    [project.entry-points."oasflow.rules"]
    acme = "acme_rules:PACK"

    PACK = RulePack(title="Acme: mails", rules=(no_mail_to_everybody,))

In: the installed entry points.  Out: the packs, and the reason for each pack that cannot be used.  Every
check reports such a reason as an error (OAS056): a check that left out rules in silence would pass files
that the organisation refuses.

The rules of the agent guide and of Cinatra's host are packs too (`OWN`).  They are read even where the
metadata of an installation is missing, as in a checkout on the path.
"""

from __future__ import annotations

import operator
import re
import sys
import threading
import traceback
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, replace
from inspect import (
    isasyncgenfunction,
    iscoroutine,
    iscoroutinefunction,
    isgenerator,
    isgeneratorfunction,
)
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, get_args
from weakref import WeakKeyDictionary

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.findings.finding import Finding, Findings, Severity
from oas_compiler.findings.rule import CheckRule, Needs, Report, Rule
from oas_compiler.ir import JsonValue, Place
from oas_compiler.kinds.registry import Refusal, describe_error, name_package, refuse
from oas_compiler.text.safe_text import safe

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from oas_compiler.checks.subject import Subject

GROUP: Final = "oasflow.rules"
"""The group of entry points."""
OWN: Final[Mapping[str, str]] = MappingProxyType(
    {
        "cinatra-host": "oas_compiler.checks.cinatra.host_rules:PACK",
        "guide": "oas_compiler.checks.guide.rules:PACK",
    }
)
"""The packs of oasflow itself, by name."""
PREFIX: Final = re.compile(r"[A-Z]{2,8}\d{0,3}", re.IGNORECASE | re.ASCII)
"""The beginning of a code, as `--select` takes it: no other name is written so."""
OWN_GROUPS: Final = frozenset(
    {"reading", "building", "structure", "cinatra", "context", "safety", "sense", "deps"}
)
"""The groups of oasflow's rules that are no packs; `oasflow rule` lists a pack as a group."""
LONGEST_NAME: Final = 100
_TYPED: Final = re.compile(r"[\w.][\w .:/-]*")
"""Names that `--select` takes: no comma, which separates names, and no hyphen at the beginning."""
_NAME: Final = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_CODE: Final = re.compile(r"[A-Z]{2,8}[0-9]{3}")
_OURS: Final = ("OAS", "DEP")
"""How the codes of oasflow begin."""
_OURS_ROOT: Final = PurePath(__file__).parents[1]
_MOST_RULES: Final = 500
"""Of one pack."""
_LONGEST: Final = 10_000
"""Characters of a message that are read at all."""
_FURTHEST: Final = 10_000_000
"""Line and column of a place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RulePack:
    """Rules that belong together; on wherever the package that registers them is installed."""

    title: str
    """For people: the heading above the rules in `oasflow rule`."""
    rules: tuple[CheckRule, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RulePacks:
    """What the installed packages add, by name of the pack."""

    packs: dict[str, RulePack] = field(default_factory=dict)
    refused: list[Refusal] = field(default_factory=list)

    @property
    def rules(self) -> tuple[CheckRule, ...]:
        return tuple(rule for pack in self.packs.values() for rule in pack.rules)


def read_rule_packs(entries: Iterable[EntryPoint], taken: Iterable[Rule]) -> RulePacks:
    """Load the packs of other packages; a wrong one is noted in `refused`, and raises nothing.

    taken: the cards whose codes and names no pack may use.
    """
    found = RulePacks()
    names = {name.casefold() for card in taken for name in card.names}
    by_name: dict[str, list[EntryPoint]] = {}
    for entry in sorted(entries, key=lambda entry: (entry.name, entry.value)):
        if OWN.get(entry.name) != entry.value:
            by_name.setdefault(entry.name, []).append(entry)
    packs = frozenset(name.casefold() for name in (*OWN, *by_name))
    for name, rivals in by_name.items():
        if len(rivals) > 1:
            others = " and ".join(name_package(entry) or entry.value for entry in rivals)
            flaw: RulePack | str = f"several packages register a pack of this name: {others}"
        else:
            flaw = _load(rivals[0], names, packs)
        if isinstance(flaw, RulePack):
            found.packs[name] = flaw
            names |= {name.casefold() for rule in flaw.rules for name in rule.card.names}
        else:
            package = name_package(rivals[0])
            what = f'the rule pack "{name}"'
            found.refused.append(refuse(what, package, flaw, mend="its entry point and its rules"))
    return found


def load_own_pack(name: str) -> RulePack:
    """A pack of oasflow itself."""
    from importlib.metadata import EntryPoint

    pack: RulePack = EntryPoint(name, OWN[name], GROUP).load()
    return pack


def _load(entry: EntryPoint, taken: set[str], packs: Collection[str]) -> RulePack | str:
    """The pack behind the entry; a text says what is wrong with it.

    taken: names of rules; packs: of all packs.  Both in small letters.
    """
    if flaw := _find_name_flaw(entry.name, taken):
        return flaw
    try:
        with _STRAY.caught():
            pack = entry.load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a package may do anything at import
        return f"{entry.value} cannot be imported: {describe_error(error)}"
    try:
        with _STRAY.caught():
            return _read_pack(pack, entry, taken, packs)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - what looks at a stranger's object runs its code
        return f"{entry.value} cannot be read: {describe_error(error)}"


def _find_name_flaw(name: str, taken: Collection[str]) -> str:
    """What is wrong with the name of a pack; empty where nothing is."""
    if name in OWN:
        return f'"{name}" is the name of a pack of oasflow'
    if not _NAME.fullmatch(name):
        return "its name is not written as in acme-mails"
    if name in OWN_GROUPS:
        return f'"{name}" is the name of a group of rules of oasflow'
    begins = any(ours.startswith(name.upper()) or name.upper().startswith(ours) for ours in _OURS)
    if begins and PREFIX.fullmatch(name):
        return f'"{name}" reads as the beginning of a code of oasflow'
    return f'a rule is called "{name}" already' if name in taken else ""


def _read_pack(
    pack: object, entry: EntryPoint, taken: Collection[str], packs: Collection[str]
) -> RulePack | str:
    # A subclass could answer otherwise when it is asked again.
    if type(pack) is not RulePack:
        return f"{entry.value} is no RulePack, but of the class {type(pack).__name__}"
    flaw = next(_list_flaws(pack, taken, packs), "")
    if flaw:
        return flaw
    package = name_package(entry) or entry.name
    return replace(pack, rules=tuple(replace(rule, package=package) for rule in pack.rules))


def _list_flaws(pack: Any, taken: Collection[str], packs: Collection[str]) -> Iterator[str]:
    if not isinstance(pack.title, str) or not pack.title.strip():
        yield "its title is no text"
    if type(pack.rules) is not tuple or not pack.rules:
        yield "`rules` is no tuple of rules"
        return
    if len(pack.rules) > _MOST_RULES:
        yield f"it has more than {_MOST_RULES} rules"
    seen: set[str] = set()
    rules: tuple[Any, ...] = pack.rules
    for rule in rules:
        if type(rule) is not CheckRule or type(rule.card) is not Rule:
            yield f"{safe(repr(rule))[:80]} in `rules` was not made by @rule"
            return
        yield from _list_card_flaws(rule)
        yield from _list_name_flaws(rule.card, {*taken, *seen}, packs)
        seen |= {name.casefold() for name in rule.card.names}


def _list_name_flaws(card: Rule, taken: Collection[str], packs: Collection[str]) -> Iterator[str]:
    """A name that is another's already, or that `--select` would take for something else."""
    names = {name.casefold() for name in card.names}
    if used := sorted(names & set(taken)):
        yield f'another rule has the code, name or alias "{used[0]}" already'
    also = {name.casefold() for name in card.also} - set(taken)
    for name in sorted((names | also) - {card.code.casefold()}):
        if not name.strip():
            yield f"a name of {card.code} is empty"
        elif PREFIX.fullmatch(name):
            yield f'the name "{name}" of {card.code} reads as the beginning of codes: give it a hyphen'
        elif name in packs:
            yield f'the name "{name}" of {card.code} is the name of a rule pack'
        elif len(name) > LONGEST_NAME or not _TYPED.fullmatch(name):
            yield f'the name "{name[:LONGEST_NAME]}" of {card.code} cannot be typed behind --select'


def _list_card_flaws(rule: CheckRule) -> Iterator[str]:
    card = rule.card
    texts = (card.code, card.name, card.summary, card.fix, card.source, card.bad, card.good)
    if not all(isinstance(text, str) for text in (*texts, card.severity, rule.needs)):
        yield "a member of a rule's card is no text"
        return
    for words in (card.aliases, card.also):
        if type(words) is not tuple or not all(isinstance(word, str) for word in words):
            yield f"`aliases` or `also` of {card.code} is no tuple of texts"
            return
    if not _CODE.fullmatch(card.code) or card.code.startswith(_OURS):
        yield f'the code "{card.code}" is not two to eight capitals and three digits, as in ACME001, or it begins as those of oasflow do'  # fmt: skip
    if not _NAME.fullmatch(card.name):
        yield f'the name "{card.name}" of {card.code} is not written as in one-edge-per-branch'
    if card.severity not in get_args(Severity):
        yield f"the severity of {card.code} is none of {', '.join(get_args(Severity))}"
    if rule.needs not in get_args(Needs):
        yield f"`needs` of {card.code} is none of {', '.join(get_args(Needs))}"
    if not card.summary.strip() or not card.fix.strip():
        yield f"{card.code} says nothing as its summary or its fix"
    if card.fixable:
        yield f"{card.code} is fixable, and `--fix` makes no edits for rules of packages"
    yield from _list_function_flaws(rule)


def _list_function_flaws(rule: CheckRule) -> Iterator[str]:
    if not callable(rule.look):
        yield f"{rule.card.code} has no function"
    elif any(
        is_late(rule.look)
        for is_late in (isgeneratorfunction, iscoroutinefunction, isasyncgenfunction)
    ):
        yield f"the function of {rule.card.code} would not run: it is a generator or async"


class _StrayOutput:
    """What packages print goes to stderr: stdout is the report, which programs read.

    Several threads may check at once, and only the last to leave gives stdout back.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._within = 0
        self._before: Any = None

    @contextmanager
    def caught(self) -> Iterator[None]:
        with self._lock:
            if not self._within:
                self._before, sys.stdout = sys.stdout, sys.stderr
            self._within += 1
        try:
            yield
        finally:
            with self._lock:
                self._within -= 1
                if not self._within:
                    sys.stdout = self._before


_STRAY: Final = _StrayOutput()


# ----------------------------------------------------------------------------
# Rules of packages, applied.


def apply_foreign_rule(rule: CheckRule, subject: Subject, findings: Findings) -> None:
    """Apply a package's rule; one that fails is told as OAS056, and its findings are left out."""
    own = Findings()
    try:
        _look(rule, subject, own)
        files = _list_files(subject)
        found = [_require_finding(finding, files) for finding in own]
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - the border to a package's own code
        found = []
        findings.error(
            "OAS056",
            f'the rule {rule.card.code} of the package "{rule.package}" fails with '
            f"{_describe_failure(error)}",
            hint=f"its findings are missing here: mend the rule, or uninstall {rule.package}",
        )
    for finding in found:
        findings.add(finding)


def _look(rule: CheckRule, subject: Subject, own: Findings) -> None:
    """Let the rule look, and put the values of the file and of its manifest back as they were, for the
    rules after it.

    Raises: whatever the rule raises; `TypeError` for what it gives; `ValueError` for what it changed.
    """
    before = _WRITTEN.get(subject)
    if before is None:
        before = _WRITTEN[subject] = tuple(_copy_containers(_list_values(subject)))
    try:
        with _STRAY.caught():
            gave: object = rule.look(subject, Report(rule.card, own))  # type: ignore[func-returns-value]  # a stranger's function
    finally:
        changed = [pair for pair in before if not _is_same(*pair)]
        for there, copy in changed:
            there.clear()
            there.update(copy) if isinstance(there, dict) else there.extend(copy)
    _refuse_result(gave)
    if changed:
        raise ValueError("it changes the document, which other rules read")


_WRITTEN: Final[WeakKeyDictionary[Subject, tuple[tuple[Any, Any], ...]]] = WeakKeyDictionary()
"""The objects and arrays of subjects as they were before the first rule of a package."""


def _list_values(subject: Subject) -> Iterator[JsonValue]:
    yield subject.document.value
    yield subject.document.source.value
    if subject.package is not None and subject.package.source is not None:
        yield subject.package.source.value


def _copy_containers(values: Iterable[JsonValue]) -> Iterator[tuple[Any, Any]]:
    """Each object and array once, with a copy of itself that has the same members."""
    seen: set[int] = set()
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if not isinstance(value, (dict, list)) or id(value) in seen:
            continue
        seen.add(id(value))
        copy = value.copy()
        yield value, copy
        waiting += copy.values() if isinstance(copy, dict) else copy


def _is_same(there: Any, copy: Any) -> bool:
    """Whether an object or array has the very members that it had."""
    if len(there) != len(copy):
        return False
    if isinstance(copy, list):
        return all(map(operator.is_, there, copy))
    return all(map(operator.eq, there, copy)) and all(
        map(operator.is_, there.values(), copy.values())
    )


def _describe_failure(error: BaseException) -> str:
    """The class of an error and where a package's code raised it.  Its text may hold values of the file,
    credentials among them, so only an error of this module is told in its words.
    """
    places = [
        f"{safe(PurePath(file).name)}:{line}"
        for frame, line in traceback.walk_tb(error.__traceback__)
        if _OURS_ROOT not in PurePath(file := frame.f_code.co_filename).parents
    ]
    name = type(error).__name__
    return f"{name} at {places[-1]}" if places else f"{name}: {error}"


def _refuse_result(gave: object) -> None:
    """Raise `TypeError` for what a rule gives: a coroutine or a generator has done nothing yet."""
    if iscoroutine(gave) or isgenerator(gave):
        gave.close()  # it would complain on stderr otherwise
    if gave is not None:
        raise TypeError(f"it gives a {type(gave).__name__}, and a rule only calls report")


def _list_files(subject: Subject) -> set[str]:
    """The names of files that a finding may be about: an excerpt of the file is printed."""
    package = subject.package
    if package is None:
        return {"", subject.document.source.file}
    names = {package.name_of(file) for file in package.files}
    return {"", subject.document.source.file, package.manifest_file, *names}


def _require_finding(finding: Any, files: Collection[str]) -> Finding:
    """The finding with texts that a terminal can show; raises for what is none."""
    texts = (finding.message, finding.hint, finding.file)
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("a message, hint or file of its findings is no text")
    if finding.file not in files:
        raise ValueError("a file of its findings is none of the package")
    _require_place(finding.place)
    message, hint = (safe(" ".join(text[:_LONGEST].split())) for text in texts[:2])
    made: Finding = replace(finding, message=message, hint=hint)
    return made


def _require_place(place: object) -> None:
    if isinstance(place, Place):
        pointer: object = place.pointer
        numbers: tuple[object, ...] = (place.line, place.column)
        if isinstance(pointer, str) and pointer[:1] in {"", "/"} and all(map(_is_number, numbers)):
            return
    raise TypeError("a place of its findings is none: give node.place or subject.place(pointer)")


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _FURTHEST
