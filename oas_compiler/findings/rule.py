"""A rule: its card, for people, and its function, which checks a subject.

    @rule(
        code="OAS044", name="one-edge-per-branch", severity="error",
        summary="Two control edges leave by one branch.",
        fix="Choose with a BranchingNode.",
        source="Agent Spec, control flow",
        bad='…', good='…',
    )
    def one_edge_per_branch(subject: Subject, report: Report) -> None:
        report('the branch "next" of "a" has two control edges', route.place)

In: a `Subject` (checks/subject.py).  Out: findings, each with the code and severity of the card.
Findings that are recorded while a file is read have a card too, in catalog/.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Literal, TypeAlias

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.findings.finding import Edit, Finding, Findings, Severity, nearest
from oas_compiler.ir import Place

if TYPE_CHECKING:
    from oas_compiler.checks.subject import Subject


Needs = Literal["document", "flow", "cinatra", "package"]
"""The precondition of a rule: a readable document, a flow that could be built, a document of the
Cinatra dialect, or a package folder around it.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """The card of a rule: everything that `oasflow rule` shows."""

    code: str
    """Capitals and three digits (`OAS044`; `ACME001` of a package); names one rule for ever."""
    name: str
    """Kebab case, for people: `one-edge-per-branch`."""
    severity: Severity
    summary: str
    """The problem, in one sentence."""
    fix: str
    """The remedy, in one sentence."""
    source: str
    """Where the rule comes from: `Agent Spec, control flow`, `Cinatra V17`, `agent guide, rule 5`."""
    aliases: tuple[str, ...] = ()
    """Names of the rule in other tools: `V17`, `literal_credential_detected`, `OAS-LLM-001`."""
    also: tuple[str, ...] = ()
    """Aliases of other rules, of which this rule finds some cases; `--select` selects both
    rules.
    """
    bad: str = ""
    """The smallest text that breaks the rule."""
    good: str = ""
    """The same text, corrected."""
    fixable: bool = False
    """Whether a finding may carry edits that `oasflow check --fix` makes."""
    conceals: bool = False
    """Whether the value that a finding points at is a secret: no report shows it."""

    @property
    def names(self) -> tuple[str, ...]:
        """All names of the rule: code, name and aliases."""
        return (self.code, self.name, *self.aliases)


class Report:
    """Records findings of one rule."""

    def __init__(self, card: Rule, findings: Findings) -> None:
        self._card = card
        self._findings = findings

    def __call__(
        self,
        message: str,
        place: Place = Place(),
        *,
        hint: str = "",
        file: str = "",
        fix: tuple[Edit, ...] = (),
    ) -> None:
        """Record a finding; `file` names a file of the package other than the flow's own."""
        assert self._card.fixable or not fix, f"{self._card.code} promises no fix"
        self._findings.add(
            Finding(
                code=self._card.code,
                severity=self._card.severity,
                message=message,
                place=place,
                hint=hint,
                file=file,
                fix=fix,
            )
        )

    def nearest(self, word: str, known: Collection[str]) -> str:
        """`did you mean …?`, or nothing (see finding.py)."""
        return nearest(word, known, self._findings)


Check: TypeAlias = "Callable[[Subject, Report], None]"


@dataclass(frozen=True, slots=True)
class CheckRule:
    """A rule with its function."""

    card: Rule
    needs: Needs
    look: Check
    package: str = ""
    """The installed package that adds the rule; empty for a rule of oasflow."""

    def __call__(self, subject: Subject, findings: Findings) -> None:
        self.look(subject, Report(self.card, findings))


def rule(
    *,
    code: str,
    name: str,
    severity: Severity,
    summary: str,
    fix: str,
    source: str,
    needs: Needs,
    aliases: tuple[str, ...] = (),
    also: tuple[str, ...] = (),
    bad: str = "",
    good: str = "",
    fixable: bool = False,
    conceals: bool = False,
) -> Callable[[Check], CheckRule]:
    """Decorator that makes a rule of a function; the parameters are the fields of `Rule`."""
    card = Rule(
        code=code,
        name=name,
        severity=severity,
        summary=summary,
        fix=fix,
        source=source,
        aliases=aliases,
        also=also,
        bad=bad,
        good=good,
        fixable=fixable,
        conceals=conceals,
    )

    def made(look: Check) -> CheckRule:
        return CheckRule(card, needs, look)

    return made
