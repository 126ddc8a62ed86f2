"""Both places where a ledger can be kept: a file, and a PostgreSQL server that starts here.

`place` makes a test run for both; the other fixtures reach around a ledger.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import pwd
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

PASSWORD = "planted-s3cret%2Fpassword"  # as a URL has it


class Server:
    """A PostgreSQL server in a temporary folder, with the user `prolate` and a password."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self.programs, self.folder = programs, folder
        # PostgreSQL refuses to run as the superuser.
        self.other: dict[str, Any] = {}
        if os.getuid() == 0:
            names = {user.pw_name for user in pwd.getpwall()}
            user = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
            self.other = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
            os.chown(folder, user.pw_uid, user.pw_gid)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        secret = folder / "password"
        secret.write_text(PASSWORD.replace("%2F", "/"))
        secret.chmod(0o644)
        self._run(
            "initdb", "--no-sync", "--no-locale", "--encoding=UTF8", "--username=prolate",
            "--auth=scram-sha-256", f"--pwfile={secret}", f"--pgdata={folder / 'data'}",
        )  # fmt: skip
        self.start()

    def start(self, **settings: str) -> None:
        usual = {
            "listen_addresses": "127.0.0.1",
            "max_connections": "120",
            "port": str(self.port),
            "shared_buffers": "16MB",
            "unix_socket_directories": str(self.folder),
        }
        given = [f"--{name}={value}" for name, value in (usual | settings).items()]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [self.programs / "postgres", "-D", self.folder / "data", *given],
                cwd=self.folder,
                stdout=subprocess.DEVNULL,
                stderr=log,
                **self.other,
            )
        end = time.monotonic() + 60
        while True:
            with contextlib.suppress(Exception), self.connect():
                return
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError((self.folder / "log").read_text())
            time.sleep(0.05)

    def crash(self) -> None:
        """Stop at once: nothing is written down that is not on the disk already."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(30)

    def url(self, ledger: str = "", *, port: int | None = None, user: str = "prolate") -> str:
        mark = f"#{ledger}" if ledger else ""
        return f"postgresql://{user}:{PASSWORD}@127.0.0.1:{port or self.port}/postgres{mark}"

    def connect(self) -> Any:
        import psycopg

        return psycopg.connect(self.url(), autocommit=True)

    def run(self, *statements: str) -> list[Any]:
        """Run statements as the superuser; return the rows of the last."""
        with self.connect() as connection:
            for statement in statements:
                cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self.programs / program, *arguments],
            cwd=self.folder,
            check=True,
            stdout=subprocess.DEVNULL,
            **self.other,
        )


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    pytest.importorskip("psycopg", reason="needs the extra postgres")
    pytest.importorskip("sqlalchemy", reason="needs the extra postgres")
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    program = found[-1] if found else shutil.which("initdb")
    if program is None:
        pytest.skip("needs a PostgreSQL server: apt-get install postgresql")
    # A place that the server's user may enter; in memory, a start after a crash is quick.
    memory = Path("/dev/shm")
    roomy = memory.is_dir() and shutil.disk_usage(memory).free > 2**30
    folder = Path(tempfile.mkdtemp(prefix="prolate-postgres-", dir=memory if roomy else None))
    started = None
    try:
        started = Server(Path(program).resolve().parent, folder)
        yield started
    finally:
        if started is not None:
            started.crash()
        shutil.rmtree(folder, ignore_errors=True)


TABLES = ("ledgers", "entries", "limits")
_numbers = itertools.count(1)


@pytest.fixture(params=["file", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return a place without a ledger: a path, or a URL."""
    if request.param == "file":
        return str(tmp_path / "patients.ledger")
    return str(request.getfixturevalue("server").url(f"patients-{next(_numbers)}"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "patients.ledger"


@pytest.fixture
def behind(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Run statements behind a ledger's back; `{entries}` and the like are its tables."""

    def run(place: str, *statements: str) -> None:
        name = place.partition("#")[2]
        if "://" in place:
            words = {table: f"prolate.{table}" for table in TABLES} | {"name": name}
            request.getfixturevalue("server").run(
                "SET session_replication_role = replica",  # without triggers
                "ALTER TABLE prolate.entries DROP CONSTRAINT IF EXISTS entries_composition_check",
                *(statement.format(**words) for statement in statements),
            )
            return
        words = {table: f"main.{table}" for table in TABLES} | {"name": name}
        with contextlib.closing(sqlite3.connect(place, isolation_level=None)) as connection:
            connection.execute("PRAGMA ignore_check_constraints = ON")
            guards = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
            for (guard,) in guards.fetchall():
                connection.execute(f"DROP TRIGGER {guard}")
            for statement in statements:
                connection.execute(statement.format(**words))

    return run


@pytest.fixture
def in_child() -> Callable[..., str]:
    """Run something in a fork, as another user if asked, and return what came of it."""

    def run(work: Callable[[], object], *, user: int | None = None) -> str:
        import warnings

        reader, writer = os.pipe()
        with warnings.catch_warnings():
            # A runner of tests may have threads; the child uses none of their locks.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            try:
                if user is not None and os.getuid() == 0:
                    os.setuid(user)
                answer = repr(work())
            except BaseException as error:  # noqa: BLE001 (the parent looks at it)
                answer = f"{type(error).__name__}: {error}"
            os.write(writer, answer.encode())
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            answer = pipe.read().decode()
        os.waitpid(child, 0)
        return answer

    return run


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Return a folder on a disk of 256 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.getuid() != 0 or not shutil.which("mount"):
        pytest.skip("only the superuser can mount a small disk")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", folder],
        check=False,
        capture_output=True,
    )
    if mounted.returncode:
        pytest.skip("this machine does not let the superuser mount a small disk")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.fixture
def hold(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Return a context in which another process holds a ledger's lock, at most for `seconds`."""
    holder = """if True:
        import sqlite3, sys, time
        place, ledger, seconds = sys.argv[1:]
        if "://" in place:
            import psycopg
            connection = psycopg.connect(place.partition("#")[0])
            query = "SELECT * FROM prolate.ledgers WHERE name = %s FOR UPDATE"
            connection.execute(query, [ledger])
        else:
            connection = sqlite3.connect(place, isolation_level=None)
            connection.execute("BEGIN EXCLUSIVE")
        print("held", flush=True)
        time.sleep(float(seconds))
        connection.close()
    """

    @contextlib.contextmanager
    def held(place: str, *, seconds: float = 60.0) -> Iterator[None]:
        command = [sys.executable, "-c", holder, place, place.partition("#")[2], str(seconds)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"held\n"
            yield
            process.kill()

    return held
