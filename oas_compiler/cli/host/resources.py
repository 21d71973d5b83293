"""Opens the flow, its platform and the store that the options name; finds the acting person.

store(terminal, "")          RunStore on DATABASE_URL, else on the embedded server
platform(PlatformOptions(simulate=True, stubs="stubs.yaml"))   SimulatedPlatform
"""

from __future__ import annotations

import contextlib
import getpass
import hashlib
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from cinatra_sdk.contract import BASE_URL
from cinatra_sdk.data.author_json import JsonValue
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.cli.terminal.argument_values import names_without_value, placeholders
from oas_compiler.cli.terminal.exits import Halt
from oas_compiler.cli.terminal.printable_text import clean
from oas_compiler.cli.terminal.streams import Terminal

if TYPE_CHECKING:
    from cinatra_sdk import RunStore
    from cinatra_sdk.host_parts.host_parts import AttachmentsFor, HostParts, RunIdentity
    from cinatra_sdk.langgraph_threads.host_context import HostContext
    from cinatra_sdk.outside.http_calls.protocol import Platform
    from cinatra_sdk.outside.models.config import ModelConfig
    from cinatra_sdk.runs import Run
    from cinatra_sdk.store.flows.flow_protocol import DurableFlow
    from cinatra_sdk.store.person_store import PersonStore
    from cinatra_sdk.store.runs.layouts import OtherLayout
    from oas_compiler.ir import ApiNode
    from oas_compiler.lower.flow import Flow
    from oas_compiler.pipeline import Loading


# ----------------------------------------------------------------------------
# What the options say about the reading of flow files; every command that reads one asks here.
#
# --components parts.yaml --unblock-component StdioTransport   ->   Loading(components=[…], policy=…)


_FILES: Final[ContextVar[tuple[str, ...]]] = ContextVar("component_files", default=())
_UNBLOCKED: Final[ContextVar[tuple[str, ...]]] = ContextVar("unblocked_types", default=())


def take_components(files: list[str] | None) -> list[str] | None:
    """The callback of `--components`."""
    _FILES.set(tuple(files or ()))
    return files


def take_unblocked(types: list[str] | None) -> list[str] | None:
    """The callback of `--unblock-component`."""
    _UNBLOCKED.set(tuple(types or ()))
    return types


def component_files() -> tuple[str, ...] | None:
    """The files of `--components`; None: there are none."""
    return _FILES.get() or None


def blocked_components() -> tuple[str, ...]:
    """The component types that stay blocked."""
    from oas_compiler.document.component_types import USUALLY_BLOCKED

    return tuple(name for name in USUALLY_BLOCKED if name not in _UNBLOCKED.get())


def lent_secrets() -> dict[str, JsonValue]:
    """The values of sensitive fields in the files of `--components`.

    Raises: `Halt` for a file that cannot be used.
    """
    files = component_files()
    if files is None:
        return {}
    from oas_compiler.document.outside_components import read_registry
    from oas_compiler.findings.finding import Findings

    findings = Findings()
    found = read_registry(list(files), findings)
    if findings.errors:
        raise Halt(f"--components: {findings.errors[0]}")
    return dict(found.secrets)


def repeat_options() -> list[str]:
    """The options as a later command on the same run needs them."""
    words = [word for file in component_files() or () for word in ("--components", file)]
    return words + [word for name in _UNBLOCKED.get() for word in ("--unblock-component", name)]


def loading() -> Loading:
    """What the options give to the reading of a flow file."""
    from oas_compiler.document.component_types import LoaderPolicy
    from oas_compiler.pipeline import Loading

    policy = LoaderPolicy.of(blocked=blocked_components())
    return Loading(components=component_files(), policy=policy)


# ----------------------------------------------------------------------------
# `--host MODULE:FACTORY`: the parts that the operator's Python lends to the runs of this command.
#
# In: the option, else `OASFLOW_HOST`.  Out: the `HostParts` that the factory returns, or None.
#
#     find_parts("shop_parts:make_parts")     imports shop_parts, also from the current folder
#
# `OASFLOW_HOST` does not look in the current folder: it holds in every folder, also in the folder of
# a package that somebody else wrote, which must not choose what is imported.


ANY_HOST: Final = "MODULE:FACTORY"
"""Stands in printed commands for the function, which nobody here knows."""


def find_parts(option: str) -> HostParts | None:
    """Raises: `HostRefused` for every mistake in the name, the module and the factory."""
    from cinatra_sdk.errors import HostRefused
    from cinatra_sdk.host_parts.factory import HOST_VARIABLE, load_host

    named = option or os.environ.get(HOST_VARIABLE, "")
    if not named:
        return None
    if named == ANY_HOST:
        raise HostRefused(
            f"--host {ANY_HOST} stands for a function of yours that returns HostParts",
            hint="put its name there, such as --host parts:lend",
        )
    with contextlib.redirect_stdout(sys.stderr):
        return load_host(named, here=bool(option))


# ----------------------------------------------------------------------------
# What a process lends to runs, and what it opens for them.


ALLOW: Final = "OASFLOW_ALLOW"
USUAL_ORG: Final = "local"
"""Organisation of a run whose person names none."""
RUN_TOKEN: Final = "CINATRA_RUN_TOKEN"  # noqa: S105 - the name of a variable


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """Resources that a process lends to a run that it continues: variables, addresses, a file for
    the record.
    """

    env: tuple[str, ...] = ()
    """As `--env` gives them."""
    base_url: str = ""
    allow: tuple[str, ...] | None = None
    record: str = ""
    host: str = ""
    """`--host` as typed."""
    parts: HostParts | None = field(default=None, repr=False)
    """What its factory, or that of `OASFLOW_HOST`, returned; the other options come before it."""

    @property
    def platform(self) -> Platform | None:
        """The host's own platform, for every run of this command; an option that names an address
        comes before it.
        """
        named = self.base_url or self.allow is not None
        return None if self.parts is None or named else self.parts.platform

    @property
    def variables(self) -> dict[str, str]:
        """The variables that runs may read.  Raises: `Halt` for one of the runtime's own."""
        return {**({} if self.parts is None else self.parts.env), **placeholders(self.env)}

    @property
    def names(self) -> tuple[str, ...]:
        """The variables of `--env`, without their values."""
        return tuple(dict.fromkeys(text.partition("=")[0] for text in self.env))

    @property
    def differing(self) -> tuple[str, ...]:
        """Variables whose value is missing in the environment or differs from the given value."""
        absent = names_without_value(self.env)
        pairs = (text.partition("=") for text in self.env)
        found = (
            name
            for name, equals, value in pairs
            if name in absent or (equals and os.environ.get(name) != value)
        )
        return tuple(dict.fromkeys(found))

    @property
    def settings(self) -> dict[str, str]:
        """The environment, or the settings of the host, under the options."""
        given = {BASE_URL: self.base_url} if self.base_url else {}
        if self.allowed is not None:
            given[ALLOW] = " ".join(self.allowed)
        lent = None if self.parts is None else self.parts.settings
        return {**(os.environ if lent is None else lent), **given}

    @property
    def allowed(self) -> tuple[str, ...] | None:
        """The addresses of `--allow`, else those of the host; None where neither names any."""
        lent = () if self.parts is None else tuple(self.parts.allow)
        return (lent or None) if self.allow is None else self.allow

    def lend(self) -> HostParts:
        """Everything that this command lends to the runs of its store."""
        from cinatra_sdk.host_parts.host_parts import NO_PARTS

        parts = self.parts or NO_PARTS
        return parts.with_parts(
            platform=self.platform,
            env=self.variables,
            settings=self.settings,
            record=self.record or parts.record,
            allow=self.allowed or (),
            secrets={**lent_secrets(), **(parts.secrets or {})},
            blocked_components=blocked_components()
            if parts.blocked_components is None
            else parts.blocked_components,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformOptions:
    """The options that choose the platform."""

    simulate: bool = False
    stubs: str = ""
    record: str = ""
    base_url: str = ""
    allow: tuple[str, ...] = ()
    timeout: float | None = None
    context: str = ""
    """File of artifacts; this process fills context slots from it."""
    models: tuple[str, ...] = ()
    """Names of language models; this process then answers the flow's calls itself."""
    lent: Platform | None = None
    """The platform of `--host`, for calls where no option chooses another."""

    @property
    def names_platform(self) -> bool:
        """Whether the options name a platform for calls that are not about context."""
        return bool(self.simulate or self.own_address or self.allow or self.lent or self.models)

    @property
    def takes_lent(self) -> bool:
        chooses = (
            self.simulate or self.base_url or self.allow or self.models or self.timeout is not None
        )
        return self.lent is not None and not chooses

    @property
    def own_address(self) -> str:
        """The platform's address; empty where no platform is named."""
        return self.base_url or os.environ.get(BASE_URL, "")


def store(terminal: Terminal, dsn: str, own: Own | None = None) -> RunStore:
    """The store of `--db`, DATABASE_URL, or the embedded server.

    own: the resources for runs that this process continues; without `own`, none.

    Raises: `StoreError`; `Halt` for a variable that flows must not read.
    """
    from cinatra_sdk import RunStore
    from cinatra_sdk.host_parts.host_parts import NO_PARTS
    from cinatra_sdk.local_postgres.supervisor import LocalServer, LocalServerError
    from cinatra_sdk.store.runs.flow_cache import lend_stored_files

    if not dsn and not os.environ.get("DATABASE_URL"):
        try:
            if not LocalServer().status().running:
                terminal.say("starting the local PostgreSQL server …")
        except LocalServerError:
            pass  # opening the store reports the error in detail
    host = NO_PARTS.with_parts(settings=Own().settings) if own is None else own.lend()
    late: list[AttachmentsFor] = []

    def lend(run: RunIdentity, config: ModelConfig) -> Any:
        """A run without a tenant is one of this machine's own person."""
        return late[0](run if run.tenant else replace(run, tenant=USUAL_ORG), config)

    if host.attachments_for is None:
        host = host.with_parts(attachments_for=lend)
    opened = RunStore.open(dsn or None, host=host)
    late.append(lend_stored_files(opened.database, host))
    return opened


CHANNEL: Final = "command-line"
"""By which way whoever types a command acts on a run, as rows keep it."""


def act_as(opened: RunStore, who: str, tenant: str, parts: HostParts | None = None) -> PersonStore:
    """The store for the person of this command, which asks whether they may do what they do.

    tenant: as `--tenant` says it; empty: of every tenant, for this person has the database.
    parts: of `--host`, for its policy.
    """
    from cinatra_sdk.governed.person import Person
    from cinatra_sdk.store.person_store import PersonStore

    person = Person(id=who, tenant=tenant or None, proof="terminal")
    return PersonStore(opened, person, policy=None if parts is None else parts.may, channel=CHANNEL)


def refuse_unknown_flow(opened: RunStore, name: str) -> None:
    """Refuse a name of `--flow` that no flow of the store has, and name the nearest flow.

    Raises: `Halt`.
    """
    from cinatra_sdk.data.text.message_words import did_you_mean

    names = opened.flow_names() if name else []
    if not name or name in names:
        return
    nearest = did_you_mean(name, names)
    raise Halt(f"no run is of a flow '{name}'" + (f"; {nearest}" if nearest else ""))


def tell_layouts(terminal: Terminal, found: Iterable[OtherLayout]) -> None:
    """Say which of the runs that have not ended another version left, and what to do."""
    from cinatra_sdk.store.runs.layouts import describe_layouts

    for sentence in describe_layouts(found):
        terminal.note(clean(sentence))


def flow(
    path: str,
    *,
    env: Mapping[str, str],
    platform: Platform | None = None,
    parts: HostParts | None = None,
) -> Flow:
    """The flow of a file, with the parts of `--host` under `env` and `platform`.

    Raises: `CompileError`.
    """
    from cinatra_sdk.host_parts.host_parts import NO_PARTS
    from oas_compiler.lower.flow import compile_flow

    components = component_files()
    if parts is None:
        lent = NO_PARTS.with_parts(platform=platform, env=dict(env))
    else:
        lent = parts.with_parts(env={**parts.env, **env}, platform=platform or parts.platform)
    if lent.blocked_components is None:
        lent = lent.with_parts(blocked_components=blocked_components())
    return compile_flow(path, host=lent, components=components)


def digest(path: str) -> str:
    """sha256 (hex) of the bytes of a flow file; empty where it cannot be read."""
    from oas_compiler.findings.finding import Findings
    from oas_compiler.text.source import read_source

    source = read_source(path, Findings())
    return "" if source is None else hashlib.sha256(source.raw).hexdigest()


def flow_of_run(
    opened: RunStore, run_id: str, tenant: str = "", *, to_reject: bool = False
) -> DurableFlow:
    """The flow of a run, rebuilt from the bytes in the store, on its own platform.

    Raises: `NotConfigured` when this process lacks something that the run needs; `CompileError`.
    """
    return opened.flow(run_id, tenant=tenant or None, to_reject=to_reject)


def platform(made: Flow, options: PlatformOptions) -> Platform:
    """The platform for the calls of the flow; a simulation is steered past its gates.

    If the flow never calls the platform, its address is left out, so that a process that continues
    the run need not name it.
    Raises: `Halt`, which names a wrong or missing option: a flow with calls is never simulated by
    accident.
    """
    from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
    from oas_compiler.control.simulation_answers import goes_elsewhere
    from oas_compiler.ir import ApiNode

    _refuse_mixed(options)
    if options.takes_lent and options.lent is not None:
        return options.lent
    try:
        if options.simulate:
            # Absolute: the process that answers a gate may stand in another folder.
            record = str(Path(options.record).absolute()) if options.record else None
            return SimulatedPlatform(options.stubs or None, record=record, fallback=made.steering)
        if options.models:
            return _choose_beyond_models(options)
        calls = [node for node in made.compiled.control.calls if isinstance(node, ApiNode)]
        _require_platform(calls, options)
        if not options.names_platform and not goes_elsewhere(made.ir):
            return SimulatedPlatform()
        named = _make_http_platform(options, options.base_url) if options.base_url else None
        if any(_calls_platform(node, options) for node in calls):
            return named or _make_http_platform(options, options.own_address)
        return _make_http_platform(options, "")
    except ValueError as error:
        raise Halt(str(error)) from None


def _choose_beyond_models(options: PlatformOptions) -> Platform:
    """For calls that a platform with models has no route for; refuses them where none is named."""
    from cinatra_sdk.outside.http_calls.protocol import Nowhere

    if options.base_url or options.allow:
        return _make_http_platform(options, options.base_url)
    return Nowhere()


def _calls_platform(node: ApiNode, options: PlatformOptions) -> bool:
    from cinatra_sdk.flow.requests.request_template import names_platform
    from cinatra_sdk.outside.http_calls.call_addresses import RefusalError, read_url

    if names_platform(node.url):
        return True
    try:
        # The platform's whole origin written out means the platform, too.
        return read_url(node.url).origin == read_url(options.own_address).origin
    except RefusalError:
        return False


def _require_platform(calls: Sequence[ApiNode], options: PlatformOptions) -> None:
    from cinatra_sdk.flow.requests.request_template import names_platform, usual_url
    from cinatra_sdk.host.local_platform import answers

    others = [node for node in calls if not answers(usual_url(node.url))]
    open_calls = others if options.context else calls
    needs_address = [node for node in open_calls if names_platform(node.url)]
    either = (
        f"give --base-url or {BASE_URL}, --model NAME to answer them here, or --simulate to make the "
        "responses up"
    )
    if needs_address and not options.own_address:
        name = needs_address[0].name
        if options.context:
            raise Halt(f"the flow calls more than --context answers (first at '{name}'): {either}")
        about = "; --context FILE fills its context slots from artifacts of your own"
        fills = about if len(others) < len(calls) else ""
        raise Halt(f"the flow calls a platform (first at '{name}'): {either}{fills}")
    if open_calls and not options.names_platform:
        raise Halt(
            f"the flow calls another address (at '{open_calls[0].name}'): give --allow ORIGIN for "
            "it, or --simulate to make the responses up"
        )


def host(tenant: str = "", own: Own | None = None, *, lends: bool = True) -> HostContext | None:
    """The credentials of this activation, from the environment; `tenant` owns them.  None where
    the host of `own` says which tokens a run gets.

    lends: False for an activation that makes no calls and gets no credentials.

    Raises: `Halt` for a token that is too short.
    """
    from cinatra_sdk.langgraph_threads.host_context import host_context

    try:
        token = os.environ.get(RUN_TOKEN, "") if lends else ""
        parts = None if own is None else own.parts
        if lends and not token and parts is not None and parts.credentials_for is not None:
            return None
        return host_context(tenant=tenant, run_token=token)
    except ValueError:
        raise Halt(f"{RUN_TOKEN}: this is no token, it has too few characters") from None


def person(given: str) -> str:
    """The name of the deciding person: `--as`, else the user of the operating system."""
    from cinatra_sdk.data.text.person_texts import person_name
    from cinatra_sdk.errors import AnswerInvalid

    try:
        name = person_name(given or _read_account_name())
    except AnswerInvalid as refused:
        if not given:
            return f"uid {os.getuid()}"
        raise Halt(f"--as: a name is printable text; {refused}") from None
    if given and not name:
        raise Halt("--as: a name is printable text")
    return name or f"uid {os.getuid()}"


def _read_account_name() -> str:
    try:
        import pwd

        # The account and not $USER, which any process may set: this name goes into the audit.
        return pwd.getpwuid(os.getuid()).pw_name
    except (ImportError, KeyError):
        pass
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""


def _refuse_mixed(options: PlatformOptions) -> None:
    if options.simulate and (options.base_url or options.allow or options.timeout is not None):
        raise Halt("--simulate calls nothing: leave out --base-url, --allow and --timeout")
    if not options.simulate and (options.stubs or options.record):
        raise Halt("--stubs and --record are for a simulation: add --simulate")


def _make_http_platform(options: PlatformOptions, base_url: str) -> Platform:
    from cinatra_sdk.outside.http_calls.description import OPAQUE
    from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform
    from cinatra_sdk.outside.http_calls.opaque_responses import listed_opaque

    if options.timeout is not None and not options.timeout > 0:
        raise Halt("--timeout is a number of seconds above 0")
    bound: dict[str, Any] = {} if options.timeout is None else {"timeout": options.timeout}
    return HttpPlatform(
        base_url or None,
        allow=options.allow,
        opaque=listed_opaque(os.environ.get(OPAQUE, "")),
        bridge_token=os.environ.get("CINATRA_BRIDGE_TOKEN") if base_url else None,
        attestation_key=os.environ.get("CINATRA_CONTEXT_ATTEST_KEY") if base_url else None,
        **bound,
    )


# ----------------------------------------------------------------------------
# Names of the artifacts that a gate offers, from the run's own store.
#
#     artifact_names(store, run)  ->  {"a1f09c": "House voice"}
#
# A run on another platform has its artifacts there: no names are found, and ids are shown.


def artifact_names(store: RunStore, run: Run) -> dict[str, str]:
    """Artifact id → name, for all that the waiting gates of `run` offer for context slots.

    Only for artifacts that the run's owner may see, because a flow can make up the offers of its
    gate.
    Raises: `StoreError`.
    """
    from cinatra_sdk.gates.forms.selection_form import SelectionForm

    forms = [gate.form for gate in run.waiting if isinstance(gate.form, SelectionForm)]
    ids = {one.triple.artifact_id for form in forms for one in form.selector.candidates}
    if not ids:
        return {}
    from cinatra_sdk.host.database_runs import StoredRuns
    from cinatra_sdk.store.artifacts.artifacts import ArtifactStore

    stored = StoredRuns(store.database).stored(run.id)
    if stored is None or stored.settings is None:
        return {}
    names = ArtifactStore(store.database).names(sorted(ids), stored.settings.owner)
    return {id_: name for id_, name in names.items() if name}
