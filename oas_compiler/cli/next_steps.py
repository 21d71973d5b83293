"""Complete commands that continue a run, with every option that this command needed.

In: the options of this command.  Out: one line for a shell.

    given = GivenOptions(tenant="acme", own=Own(env=("CRM_KEY=sk-1",)))
    given.command("approve", "n1")    ->  oasflow approve n1 --tenant acme --env CRM_KEY
    given.to_export()                 ->  ["CRM_KEY"], where the environment has another value

A value may be a secret and is never repeated: the line names a variable, and `to_export` names the
variables to export before the line works.
"""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, field
from typing import Final

from oas_compiler.cli.opening import Own
from oas_compiler.cli.safe import clean
from oas_compiler.cli.sources import repeat_options

DATABASE: Final = "DATABASE_URL"
TENANT: Final = "OASFLOW_TENANT"


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenOptions:
    """The options of a command that a later command on the same run needs again."""

    tenant: str = ""
    db: str = ""
    own: Own = field(default_factory=Own)

    def command(self, name: str, target: str, *more: str) -> str:
        """`oasflow NAME TARGET …` for a shell; `more` are the command's own options."""
        # A run's id may look like an option.
        end = ["--", target] if target.startswith("-") else []
        if name in {"show", "follow"}:
            options = self._list_location_options()
        elif name in {"reject", "stop"}:
            options = self._list_signing_options()
        else:
            options = self._list_options()
        words = ["oasflow", name, *([] if end else [target]), *more, *options, *end]
        return " ".join(shlex.quote(clean(word)) for word in words)

    def to_export(self) -> tuple[str, ...]:
        """Variables to be set first, so that a command with these options does the same."""
        return self.own.differing + ((DATABASE,) if self._hides_db() else ())

    def _list_signing_options(self) -> list[str]:
        """What ends a run without its flow, and signs the record of that."""
        host = ["--host", self.own.host] if self.own.host else []
        return [*self._list_location_options(), *host]

    def _list_location_options(self) -> list[str]:
        """The run's tenant and database: enough for stopping or showing the run."""
        words = [] if self.tenant == os.environ.get(TENANT, "") else ["--tenant", self.tenant]
        return [*words, "--db", self.db] if self._names_db() and not self._hides_db() else words

    def _list_options(self) -> list[str]:
        words = self._list_location_options()
        if self.own.base_url:
            words += ["--base-url", self.own.base_url]
        for address in self.own.allow or ():
            words += ["--allow", address]
        for name in self.own.names:
            words += ["--env", name]
        if self.own.record:
            words += ["--record", self.own.record]
        if self.own.host:
            words += ["--host", self.own.host]
        return words + repeat_options()

    def _names_db(self) -> bool:
        return bool(self.db) and self.db != os.environ.get(DATABASE)

    def _hides_db(self) -> bool:
        """Whether the address of the database must not be repeated because it may hold a
        password.
        """
        if not self._names_db():
            return False
        from cinatra_sdk.postgres.dsn import may_be_repeated

        return not may_be_repeated(self.db)
