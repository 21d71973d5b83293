"""Bytes in, checked IR out: the front end as one function, without LangGraph and without a database.

    compile_ir("agents/email/cinatra/oas.json", env={"CINATRA_BASE_URL": "http://host"})
        -> Compiled(ir=FlowIR(…), digest="5f0c…", warnings=(…))

The steps, in order: read_source, fill_environment, Document, survey, refuse_unsupported, load,
build, run_checks.  Each adds its findings; only reading stops the ones after it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from oas_compiler.build import build
from oas_compiler.checks import run_checks
from oas_compiler.checks.answer_schemas import answer_schemas
from oas_compiler.diagnostics import CompileError, Diagnostics, Finding
from oas_compiler.ir import FlowIR
from oas_compiler.load import load
from oas_compiler.scope import Document
from oas_compiler.source import Source, SourceInput, file_name, read_source
from oas_compiler.survey import survey
from oas_compiler.templates import fill_environment
from oas_compiler.unsupported import refuse_unsupported


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """A flow without errors."""

    ir: FlowIR
    digest: str
    """sha256, in hex, of `source_bytes`."""
    source_bytes: bytes
    """Exactly the bytes read; of a mapping its canonical JSON."""
    file: str
    """The name as given (of a folder: the file found in it); empty for bytes and mappings."""
    warnings: tuple[Finding, ...]


def compile_ir(
    source: SourceInput,
    *,
    env: Mapping[str, str] | None = None,
    tools: Collection[str] | None = None,
) -> Compiled:
    """Compile one flow file up to its checked IR.

    Args:
        source: a path (a `str` is always one; a folder means the flow in it), the bytes of a
            document, or the document as a mapping.
        env: values for `{{UPPER_CASE}}` placeholders; unknown names stay as they are.
        tools: names of the registered server tools; `None` does not check them.

    Raises:
        CompileError: with every finding of the run, whatever was wrong with the input.

    """
    findings, read, flow = _run(source, env, tools)
    if findings.errors or read is None or flow is None:
        raise CompileError(findings)
    return Compiled(
        ir=flow,
        digest=hashlib.sha256(read.raw).hexdigest(),
        source_bytes=read.raw,
        file=read.file,
        warnings=tuple(findings.warnings),
    )


def check(
    source: SourceInput,
    *,
    env: Mapping[str, str] | None = None,
    tools: Collection[str] | None = None,
) -> Diagnostics:
    """All findings, errors and warnings, of the same run as `compile_ir`; never raises.

    Adds what `compile_ir` leaves to whoever runs the flow: the schemas of answers (OAS093).
    """
    findings, read, flow = _run(source, env, tools)
    if flow is not None and read is not None:
        answer_schemas(flow, findings)
        findings = _in_file_order(findings, read.file)
    return findings


def _run(
    source: SourceInput, env: Mapping[str, str] | None, tools: Collection[str] | None
) -> tuple[Diagnostics, Source | None, FlowIR | None]:
    findings = Diagnostics()
    read = read_source(source, findings)
    flow = None if read is None else _compile(read, findings, env, tools)
    name = read.file if read is not None else file_name(source)
    return _in_file_order(findings, name), read, flow


def _compile(
    read: Source,
    findings: Diagnostics,
    env: Mapping[str, str] | None,
    tools: Collection[str] | None,
) -> FlowIR | None:
    value = fill_environment(read.value, env) if env else read.value
    document = Document(read, value, findings)
    survey(document)
    refuse_unsupported(document)
    flow = load(document)
    if flow is None:
        return None
    built = build(flow, document)
    run_checks(built, findings, tools)
    return built


def _in_file_order(findings: Diagnostics, file: str) -> Diagnostics:
    """The same findings, each once, named after the file and sorted by their place in it."""
    named = dict.fromkeys(replace(finding, file=file) for finding in findings)
    return Diagnostics(sorted(named, key=lambda f: (f.place.line, f.place.column)))
