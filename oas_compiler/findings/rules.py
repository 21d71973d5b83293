"""What a rule is: its card, which people read, and its function, which looks at a subject.

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
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from oas_compiler.findings.finding import Edit, Finding, Findings, Severity
from oas_compiler.findings.spelling import nearest
from oas_compiler.ir import Place

if TYPE_CHECKING:
    from oas_compiler.checks.subject import Subject

Needs = Literal["document", "flow", "cinatra", "package"]
"""What must be there for a rule to apply: a document that could be read, a flow that could be
built, a document of the Cinatra dialect, a package folder around it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """The card of a rule: everything that `oasflow rule` shows."""

    code: str
    """`OAS` and three digits; stands for one rule and is never reused for another."""
    name: str
    """Kebab case, for people: `one-edge-per-branch`."""
    severity: Severity
    summary: str
    """What is wrong, one sentence."""
    fix: str
    """What to do about it, one sentence."""
    source: str
    """Where the rule comes from: `Agent Spec, control flow`, `Cinatra V17`, `agent guide, rule 5`."""
    aliases: tuple[str, ...] = ()
    """Names that the rule has elsewhere: `V17`, `literal_credential_detected`, `OAS-LLM-001`."""
    also: tuple[str, ...] = ()
    """Names of another rule's aliases, part of whose cases this rule finds; `--select` takes both."""
    bad: str = ""
    """The smallest text that breaks the rule."""
    good: str = ""
    """The same text as it should be."""
    fixable: bool = False
    """Whether a finding may carry edits that `oasflow check --fix` makes."""
    conceals: bool = False
    """Whether the value that a finding points at is a secret: no report shows it."""

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that the rule answers to."""
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
        """One finding; `file` names another file of the package than the flow's own."""
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
        """`did you mean …?`, or nothing (see spelling.py)."""
        return nearest(word, known, self._findings)


Check: TypeAlias = "Callable[[Subject, Report], None]"


@dataclass(frozen=True, slots=True)
class CheckRule:
    """A rule with the function that looks for it."""

    card: Rule
    needs: Needs
    look: Check

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
    """Make a rule of the function below it; the parameters are the fields of `Rule`."""
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
