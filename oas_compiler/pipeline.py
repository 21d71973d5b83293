"""Bytes in, checked IR out: the front end as one function, without LangGraph and without a database.

    compile_ir("agents/email/cinatra/oas.json", env={"CINATRA_BASE_URL": "http://host"})
        -> Compiled(ir=FlowIR(…), digest="5f0c…", warnings=(…))

The steps, in order: read_source, respelled, fill_environment, Document, survey, load, build,
run_rules.  Each step adds its findings, and only an unreadable text stops the later steps.  `prepare`
takes all steps before the rules, once for each file: `compile_ir` applies the rules that a flow must
pass to run, `check` applies all rules.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from cinatra_sdk.data.templates.placeholders import fill_environment
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.build import build
from oas_compiler.checks.compile_rules import STRUCTURE, run_rules
from oas_compiler.checks.subject import Subject
from oas_compiler.control.flow_control import FlowControl
from oas_compiler.document.component_types import USUAL_POLICY, LoaderPolicy
from oas_compiler.document.field_corrections import respelled
from oas_compiler.document.flow_loader import load
from oas_compiler.document.outside_components import (
    ComponentsInput,
    join,
    read_registry,
    read_secrets,
)
from oas_compiler.document.scope import Document
from oas_compiler.document.survey import survey
from oas_compiler.document.wayflow_nodes import read_extended
from oas_compiler.findings.finding import Finding, Findings
from oas_compiler.findings.rule import CheckRule
from oas_compiler.ir import FlowIR, JsonValue
from oas_compiler.report.diagnostics import CompileError, Diagnostics, in_yaml, star_messages
from oas_compiler.text.source import Source, SourceInput, file_name, read_source

if TYPE_CHECKING:
    from oas_compiler.checks.credentials.credential_cover import Labels
    from oas_compiler.package.package import Package

_MOST_ALIKE: Final = 3
"""Findings with the same text that are listed one by one."""
_MOST_PLACES: Final = 5
_ALL_SAVED: Final[Mapping[str, bytes]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Loading:
    """What a host gives to the reading of documents."""

    components: ComponentsInput | None = None
    """Components that stand outside of the document, by id, or the files with them."""
    policy: LoaderPolicy = USUAL_POLICY


USUAL_LOADING: Final = Loading()


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """A flow without errors."""

    ir: FlowIR
    digest: str
    """sha256, in hex, of `source_bytes`."""
    source_bytes: bytes
    """Exactly the bytes that were read; for a mapping its canonical JSON."""
    file: str
    """The given name (for a folder: the file found in it); empty for bytes and mappings."""
    warnings: tuple[Finding, ...]
    control: FlowControl = field(repr=False, compare=False)
    """What is derived from the flow, each value once."""
    secrets: Mapping[str, JsonValue] = field(default_factory=dict, repr=False)
    """Values of sensitive fields that stand in the components, by `<id>.<field>`."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PreparedFile:
    """One flow file, read and built once for all that a command asks about it.

    Compiling, checking and explaining begin with it, and change nothing of it.
    """

    found: Diagnostics
    """The findings of reading and building; of a readable document not sorted yet."""
    written: Source | None = None
    """The file as its author wrote it; `None` when it could not be read, like the next two."""
    source: Source | None = None
    """The same with the components that it leads to and does not define."""
    subject: Subject | None = None
    """The subject of the rules, without its package."""
    loading: Loading = USUAL_LOADING

    def list_findings(self) -> Diagnostics:
        """The findings, fresh: rules add theirs to them."""
        return self.found.copy()

    def read_alone(self) -> Subject | None:
        """The subject of the file by itself, without the components that it leads to."""
        if self.written is None or self.written is self.source:
            return self.subject
        return subject_of(self.written, Findings(), None, None)


def compile_ir(
    source: SourceInput,
    *,
    env: Mapping[str, str] | None = None,
    tools: Collection[str] | None = None,
    rules: Collection[CheckRule] = STRUCTURE,
    env_names: Collection[str] = (),
    conceal: Labels | None = None,
    loading: Loading = USUAL_LOADING,
) -> Compiled:
    """Compile one flow file up to its checked IR.

    Args:
        source: a path (a `str` is always one; a folder means the flow in it), the bytes of a
            document, or the document as a mapping.
        env: values for `{{UPPER_CASE}}` placeholders, put into the IR; unknown names stay as they
            are.  Only for showing a flow: a flow that runs is compiled without values.
        tools: names of the registered server tools; `None` does not check them.
        rules: the rules that the flow must pass.
        env_names: placeholders that get their values in a request only.
        conceal: covers every literal credential, for showing the IR.
        loading: components outside of the document, and the types that the host lets through.

    Raises:
        CompileError: with every finding of the run, for any fault of the input.

    """
    prepared = prepare(source, env=env, tools=tools, env_names=env_names, loading=loading)
    return compile_prepared(prepared, rules=rules, conceal=conceal)


def compile_prepared(
    prepared: PreparedFile,
    *,
    rules: Collection[CheckRule] = STRUCTURE,
    conceal: Labels | None = None,
) -> Compiled:
    """As `compile_ir`, of a file that was read already.

    Raises:
        CompileError: with every finding of the run, for any fault of the input.

    """
    findings, subject, read = prepared.list_findings(), prepared.subject, prepared.source
    if read is not None and subject is not None:
        if conceal is not None:
            subject, findings = _cover_secrets(read, subject, findings, conceal)
        run_rules(subject, findings, rules)
        findings = star_messages(_in_order(findings, subject.document.source), subject)
    if read is None or subject is None or subject.flow is None or subject.control is None:
        raise CompileError(findings)
    if findings.errors:
        raise CompileError(findings)
    return Compiled(
        ir=subject.flow,
        control=subject.control,
        digest=hashlib.sha256(read.raw).hexdigest(),
        source_bytes=read.raw,
        file=read.file,
        warnings=tuple(findings.warnings),
        secrets=read_secrets(prepared.loading.components, read.value),
    )


def check(
    source: SourceInput,
    *,
    env: Mapping[str, str] | None = None,
    tools: Collection[str] | None = None,
    unsaved: Mapping[str, bytes] = _ALL_SAVED,
    loading: Loading = USUAL_LOADING,
    within: str = "",
) -> Diagnostics:
    """All findings, errors and warnings, of every rule, those of
    installed packages too (docs/adding-rules.md); never raises.

    A path inside a package folder (`<package>/cinatra/oas.json` beside a package.json, or the
    folder itself) is checked together with its package; findings name the file they are in.  `env`
    are the placeholders that will have a value in a request; no finding shows one.  `unsaved` maps
    names of files to bytes that replace the files' content on disk, for a flow file (not its
    folder) and its package.json; the names are those in findings.  `within` is the folder below which
    the path was found: no link out of it is followed.
    """
    prepared = prepare(
        source,
        tools=tools,
        unsaved=unsaved,
        env_names=tuple(env or ()),
        loading=loading,
        within=within,
    )
    return check_prepared(prepared, unsaved=unsaved)


def check_prepared(
    prepared: PreparedFile, *, unsaved: Mapping[str, bytes] = _ALL_SAVED
) -> Diagnostics:
    """As `check`, of a file that was read already; unsaved: of its package.json."""
    # Compiling applies few rules, and does not load the others.
    from oas_compiler.catalog import list_applied_rules, load_rule_packs

    findings, subject, read = prepared.list_findings(), prepared.subject, prepared.source
    if read is not None and subject is not None:
        if read.file:
            subject = replace(subject, package=_load_package(read.file, findings, unsaved))
        run_rules(subject, findings, list_applied_rules())
        for refusal in load_rule_packs().refused:
            findings.error("OAS056", refusal.message, hint=refusal.hint)
        findings = star_messages(_in_order(findings, subject.document.source), subject)
    return findings


def prepare(
    source: SourceInput,
    *,
    env: Mapping[str, str] | None = None,
    tools: Collection[str] | None = None,
    unsaved: Mapping[str, bytes] = _ALL_SAVED,
    env_names: Collection[str] = (),
    loading: Loading = USUAL_LOADING,
    within: str = "",
) -> PreparedFile:
    """All stages before the rules; the arguments are those of `compile_ir` and `check`."""
    findings = Diagnostics()
    name = file_name(source)
    written = read_source(unsaved.get(name, source), findings, within=within)
    if written is None:
        return PreparedFile(found=_in_file_order(findings, name), loading=loading)
    written = replace(written, file=written.file or name)
    read = join(written, read_registry(loading.components, findings), findings)
    subject = subject_of(read, findings, env, tools)
    subject = replace(subject, env_names=frozenset(env_names), policy=loading.policy)
    return PreparedFile(
        found=findings, written=written, source=read, subject=subject, loading=loading
    )


def _cover_secrets(
    read: Source, subject: Subject, findings: Diagnostics, conceal: Labels
) -> tuple[Subject, Diagnostics]:
    """The flow without its literal credentials; findings are recorded."""
    value = conceal.covered(subject)
    if value is subject.document.value:
        return subject, findings
    found = Diagnostics()
    again = _build_subject(respelled(read, found), value, found, subject.tools)
    return replace(again, env_names=subject.env_names, policy=subject.policy), found


def subject_of_source(source: SourceInput) -> Subject | None:
    """The subject of a file by itself; `None` for one that cannot be read."""
    read = read_source(source, Findings())
    return subject_of(read, Findings(), None, None) if read is not None else None


def subject_of(
    read: Source,
    findings: Findings,
    env: Mapping[str, str] | None,
    tools: Collection[str] | None,
) -> Subject:
    """The document as the subject of rules, without its package; findings are recorded."""
    read = respelled(read, findings)
    value = read_extended(read.value)
    value = fill_environment(value, env) if env else value
    return _build_subject(read, value, findings, tools)


def _build_subject(
    read: Source, value: JsonValue, findings: Findings, tools: Collection[str] | None
) -> Subject:
    document = Document(read, value, findings)
    survey(document)
    flow = load(document)
    built = build(flow, document) if flow is not None else None
    document.report_unknown_names()
    return Subject(document=document, flow=built, tools=tools)


def _load_package(
    flow_file: str, findings: Findings, unsaved: Mapping[str, bytes]
) -> Package | None:
    # Compiling looks at the flow file alone: only `check` loads the readers of skills and scripts.
    from oas_compiler.package.package import find_package

    saved = Findings()
    package = find_package(flow_file, saved)
    if package is None or package.manifest_file not in unsaved:
        findings.findings += saved
        return package
    own = Findings()
    name = package.manifest_file
    source = read_source(unsaved[name], own)
    findings.findings += [finding.in_file(name) for finding in own]
    return replace(package, source=replace(source, file=name) if source is not None else None)


def _in_order(findings: Diagnostics, source: Source) -> Diagnostics:
    """The findings in terms of the original text, with the author's own spellings."""
    if source.renamed:
        findings = Diagnostics(
            [
                _as_written(finding, source) if finding.file in {"", source.file} else finding
                for finding in findings
            ]
        )
    if not source.is_json:
        findings = in_yaml(findings, source.file)
    return _in_file_order(findings, source.file)


def _as_written(finding: Finding, source: Source) -> Finding:
    fix = tuple(replace(edit, pointer=source.written(edit.pointer)) for edit in finding.fix)
    place = replace(finding.place, pointer=source.written(finding.pointer))
    return replace(finding, place=place, fix=fix)


def _in_file_order(findings: Diagnostics, file: str) -> Diagnostics:
    """The findings, each once, with the file's name and sorted by place."""
    named = dict.fromkeys(finding.in_file(file) for finding in findings)
    own = [finding for finding in named if finding.file == file]
    others = [finding for finding in named if finding.file != file]
    return Diagnostics(
        _group_alike_findings(
            sorted(own, key=_locate_finding) + sorted(others, key=_locate_finding)
        )
    )


def _group_alike_findings(findings: list[Finding]) -> list[Finding]:
    """Merge findings with the same text into the first, which lists the lines of the others."""
    alike: dict[tuple[str, str, str, str], list[Finding]] = {}
    for finding in findings:
        if not finding.fix:
            key = (finding.code, finding.message, finding.hint, finding.file)
            alike.setdefault(key, []).append(finding)
    many = {key: found for key, found in alike.items() if len(found) > _MOST_ALIKE}
    if not many:
        return findings
    kept = []
    for finding in findings:
        same = many.get((finding.code, finding.message, finding.hint, finding.file))
        if same is None or finding.fix:
            kept.append(finding)
        elif finding is same[0]:
            kept.append(
                replace(finding, message=f"{finding.message}{_format_other_places(same[1:])}")
            )
    return kept


def _format_other_places(others: Sequence[Finding]) -> str:
    places = [f"line {one.line}" if one.line else one.pointer for one in others[:_MOST_PLACES]]
    more = len(others) - len(places)
    return (
        f" ({len(others) + 1} times: also {', '.join(places)}{f' and {more} more' if more else ''})"
    )


def _locate_finding(finding: Finding) -> tuple[str, int, int]:
    return finding.file, finding.place.line, finding.place.column
