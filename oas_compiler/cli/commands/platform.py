"""`oasflow platform serve`: the local platform over HTTP, with language models.

oasflow platform serve --model openai:gpt-5-mini --bind 127.0.0.1:3000
CINATRA_BASE_URL=http://127.0.0.1:3000 oasflow run agents/writer
"""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
import sys
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from cinatra_sdk.data.text.message_words import say_number
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.cli.host import local_services, options, resources
from oas_compiler.cli.host.local_services import read_agents
from oas_compiler.cli.host.resources import Own
from oas_compiler.cli.terminal.exits import Exit, Halt
from oas_compiler.cli.terminal.streams import Terminal

if TYPE_CHECKING:
    from cinatra_sdk import RunStore
    from cinatra_sdk.host.context_file import ContextFile
    from cinatra_sdk.host.host_settings import LocalSettings
    from cinatra_sdk.host.model_routes import ModelNames
    from oas_compiler.lower.flow import Flow


BRIDGE_TOKEN: Final = "CINATRA_BRIDGE_TOKEN"  # noqa: S105 - the name of a variable
ATTEST_KEY: Final = "CINATRA_CONTEXT_ATTEST_KEY"
_USUAL: Final = "127.0.0.1:3000"
_MOST_PORT: Final = 65_535
_FULL_LENGTH: Final = 32
"""Characters of a token that is served beyond this machine."""
_FEWEST_LETTERS: Final = 8
_ROWS: Final = ("0123456789", "abcdefghijklmnopqrstuvwxyz", "qwertyuiop", "asdfghjkl", "zxcvbnm")
"""What people write who make a token up by hand: neighbours in one of these, to and fro."""
_MAKE_TOKEN: Final = (
    'openssl rand -hex 32, or python3 -c "import secrets; print(secrets.token_hex(32))"'  # noqa: S105 - a command
)


def serve(
    model: options.Model = None,
    *,
    packages: options.Packages = None,
    bind: Annotated[
        str, typer.Option(metavar="ADDRESS:PORT", help="Where to listen; port 0: any free one.")
    ] = _USUAL,
    context_file: Annotated[
        str,
        typer.Option(
            "--context", metavar="FILE", help="Artifacts for context slots, YAML or JSON."
        ),
    ] = "",
    host: options.Host = "",
    tenant: options.Tenant = "",
    by: options.As = "",
    db: options.Db = "",
    as_json: options.Json = False,
) -> Exit:
    """Serve the platform that flows call: models, tools by name, context slots.

    Ends on Ctrl-C and SIGTERM.  Callers need CINATRA_BRIDGE_TOKEN, where it is set; beyond this
    machine nothing is served without one of at least 32 characters.  GET /openapi.json describes the routes.
    """
    terminal = Terminal.open(as_json=as_json)
    address, port = read_bind(bind)
    _require_token(address)
    uvicorn = _import_server()
    own = Own(host=host, parts=resources.find_parts(host))
    names = local_services.read_names(tuple(model or ()), own)
    filled = local_services.read_context(context_file)
    agents = read_agents(packages or (), own)
    with resources.store(terminal, db, own) as store:
        settings = _load_context(store, filled, tenant, resources.person(by))
        served = Served(names=names, agents=agents, own=own, tenant=tenant)
        app = make_app(store, settings, served)
        with _listen(address, port) as listening:
            where = f"http://{address if ':' not in address else f'[{address}]'}"
            url = f"{where}:{listening.getsockname()[1]}"
            config = uvicorn.Config(
                app, http="h11", ws="none", lifespan="on", log_level="warning", access_log=False
            )
            server = uvicorn.Server(config)
            _end_on_signals(server)
            terminal.data({"url": url, "models": list(names.names)})
            terminal.show(f"serving {url}   models: {', '.join(names.names) or 'none'}")
            sys.stdout.flush()  # whoever waits for the line may read a pipe
            server.run(sockets=[listening])
    return Exit.OK


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What the options let this process serve."""

    names: ModelNames
    own: Own
    agents: Mapping[str, Flow] = field(default_factory=dict)
    tenant: str = ""


def make_app(store: RunStore, settings: LocalSettings, served: Served) -> Any:
    """The ASGI app over the runs of one tenant of the store."""
    from cinatra_sdk.host import local_app
    from cinatra_sdk.host.database_runs import ServedRuns, identify_by
    from cinatra_sdk.host.openapi import described
    from cinatra_sdk.host.standalone_platform import standalone
    from cinatra_sdk.store.artifacts.artifacts import ArtifactStore

    runs = ServedRuns.of(store.database, settings, tenant=served.tenant)
    parts = served.own.lend()
    children = local_services.keep_agents(store, served.agents, parts)
    routed = local_services.make_platform(
        store, served.names, parts, identify_by(runs), children=children
    )
    if children is not None:
        children.work_on(standalone(store.database, settings, beyond=routed))
    return described(
        local_app(
            ArtifactStore(store.database),
            settings.registry,
            runs,
            bridge_token=os.environ.get(BRIDGE_TOKEN) or None,
            attestation_key=os.environ.get(ATTEST_KEY) or None,
            beyond=routed,
            hands_on=routed.entries,
            holds_offers=True,
        )
    )


def read_bind(text: str) -> tuple[str, int]:
    """Address and port.  Raises: `Halt`."""
    host, colon, number = text.rpartition(":")
    address = "127.0.0.1" if host == "localhost" else host.strip("[]")
    try:
        ipaddress.ip_address(address)
        port = int(number)
    except ValueError:
        colon = ""
        port = 0
    if not colon or not number.isascii() or not 0 <= port <= _MOST_PORT:
        raise Halt(f"--bind is an address and a port, such as {_USUAL}, not '{text[:80]}'")
    return address, port


def _require_token(address: str) -> None:
    """Whoever reaches the platform may spend the key of the model, and act for every run.

    Raises: `Halt` beyond this machine, without a token that nobody can guess.
    """
    if ipaddress.ip_address(address).is_loopback:
        return
    flaw = find_flaw_of_token(os.environ.get(BRIDGE_TOKEN, ""))
    if flaw:
        raise Halt(
            f"{address} can be reached from other machines, and nothing would keep strangers out: "
            f"{BRIDGE_TOKEN} {flaw}; set it to what this prints: {_MAKE_TOKEN}, or bind 127.0.0.1"
        )


def find_flaw_of_token(token: str) -> str:
    """Why a token keeps nobody out; empty for one of full length, as 16 random bytes in hex have it.

    A token that is made at random passes; no rule knows every other one that somebody guesses.
    """
    if not token:
        return "is not set"
    if not token.isascii() or not token.isprintable() or " " in token:
        return "holds a character that no header carries"
    if len(token) < _FULL_LENGTH:
        return f"has {say_number(len(token), 'character')}, and {_FULL_LENGTH} are the fewest"
    if len(set(token)) < _FEWEST_LETTERS:
        return f"is made of {say_number(len(set(token)), 'different character')}, and is guessed"
    text = token.lower()
    threes = [text[place : place + 3] for place in range(len(text) - 2)]
    if 4 * len(set(threes)) < 3 * len(threes):
        return "repeats itself, and is guessed"
    pairs = [text[place : place + 2] for place in range(len(text) - 1)]
    if 2 * sum(map(_are_neighbours, pairs)) > len(pairs):
        return "follows the rows of a keyboard or the alphabet, and is guessed"
    return ""


def _are_neighbours(pair: str) -> bool:
    return pair[0] == pair[1] or any(pair in row or pair[::-1] in row for row in _ROWS)


def _import_server() -> Any:
    try:
        import uvicorn
    except ImportError:
        raise Halt("serving needs the package uvicorn: pip install 'oasflow[server]'") from None
    return uvicorn


def _load_context(
    store: RunStore, filled: ContextFile | None, tenant: str, by: str
) -> LocalSettings:
    """The settings of the served platform, with the artifacts of the file in the database."""
    from cinatra_sdk.context.selection_errors import ContextError
    from cinatra_sdk.store.artifacts.artifacts import ArtifactStore

    if filled is None:
        return local_services.make_settings(tenant, by)
    try:
        ArtifactStore(store.database).load(filled.loaded)
    except ContextError as error:
        raise Halt(f"--context: {error}", code=error.code) from None
    return filled.settings


def _listen(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        return socket.create_server((address, port), family=family)
    except OSError as error:
        raise Halt(f"--bind {address}:{port}: {error.strerror or type(error).__name__}") from None


def _end_on_signals(server: Any) -> None:
    """Before the address is told: whoever reads it may end the server at once.

    While it serves the server listens to these signals itself, and raises them once more at its end.
    """

    def end(*_: object) -> None:
        server.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
