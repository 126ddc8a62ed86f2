"""A ledger on a PostgreSQL server: its promises, its passwords, its ways to fail."""

from __future__ import annotations

import copy
import os
import pickle
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import prolate
from prolate.budget import Budget
from prolate.errors import InputError, LedgerError
from prolate.ledger import Address, Ledger
from prolate.ledger.address import address, hide_passwords
from prolate.ledger.entry import Promise

SECRET = "planted-s3cret"


def everything_said(error: BaseException | None) -> str:
    """Return what a log of an error may hold, with all that it came from."""
    words = ""
    while error is not None:
        words += f"{error!r} {error} {error.args}"
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return words


# -- URLs and passwords ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "place", "ledger"),
    [
        ("postgresql://u@h/d", "postgresql://u@h/d", ""),
        ("postgres://u:p@h:5433/d#x-1.y", "postgresql://u@h:5433/d#x-1.y", "x-1.y"),
        ("postgresql+psycopg://:p@h/d", "postgresql://h/d", ""),
        (" POSTGRESQL://u:p%2F%40@[::1]:5/d?sslmode=require", "postgresql://u@[::1]:5/d", ""),
        ("postgresql:///d?host=/run/x&password=p", "postgresql:///d", ""),
    ],
)
def test_what_is_shown_of_a_url(url: str, place: str, ledger: str) -> None:
    read = address(url)
    assert isinstance(read, Address)
    assert (read.place, read.ledger, str(read)) == (place, ledger, place)
    assert copy.deepcopy(read) is copy.copy(read) is read
    again = pickle.loads(pickle.dumps(read))
    assert (again.place, again.ledger) == (place, ledger)
    assert ("sslmode=require" in again.url) == ("sslmode" in url)


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://u:{SECRET}/d",
        f"postgresql://u:{SECRET}#@h/d",
        f"postgresql://u:1#{SECRET}@h/d",
        f"postgresql://u:1?{SECRET}@h/d",
        f"postgresql://u:1/{SECRET}@h/d",
        f"postgresql://u:{SECRET}@h",
        f"postgresql://u:{SECRET}@h/",
        f"postgresql://u:{SECRET}@h/d/e",
        f"postgresql://u:{SECRET}@h:port/d",
        f"postgresql://u:{SECRET}@[h/d",
        f"postgresql://u:{SECRET}@h/d#a b",
        f"mysql://u:{SECRET}@h/d",
        f"postgresql+psycopg2://u:{SECRET}@h/d",
        f"postgresql:/u:{SECRET}@h/d",
        f"host=h user=u password={SECRET}",
    ],
)
def test_a_wrong_url_is_not_quoted(url: str) -> None:
    for use in (Ledger, lambda place: Ledger.create(place, limit=Budget(mu=1))):
        with pytest.raises(InputError, match="ledger") as caught:
            use(url)
        assert SECRET not in everything_said(caught.value)


def test_a_url_as_a_path_is_refused() -> None:
    with pytest.raises(InputError, match="must be a string") as caught:
        Ledger(Path(f"postgresql://u:{SECRET}@h/d"))
    assert SECRET not in everything_said(caught.value)


def test_hiding_leaves_other_text_alone() -> None:
    for text in ("a:b@c", "http://x/y:z", "12:30 @ noon", "C:\\x"):
        assert hide_passwords(text) == text
    assert hide_passwords(f"x y://u:{SECRET}@h z") == "x y://u:***@h z"


def test_passwords_stay_in(server: Any) -> None:
    url = server.url("secrets")
    ledger = Ledger.create(url, limit=Budget(mu=1))
    with pytest.raises(LedgerError) as refused:
        ledger.charge(Budget(mu=2))
    said = everything_said(refused.value) + repr(ledger) + str(ledger.path)
    with pytest.raises(LedgerError, match="exists") as caught:
        Ledger.create(url, limit=Budget(mu=1))
    said += everything_said(caught.value)
    changes = [(":planted", ":not-planted"), ("/postgres", "/absent"), ("127.0.0.1", "127.1.1.1")]
    changes += [("#", "?nonsense=1#"), ("#", "?port=1#")]
    for old, new in changes:
        broken = url.replace(old, new)
        with pytest.raises(LedgerError, match=r"needs a password|cannot be reached") as caught:
            Ledger(broken)
        said += everything_said(caught.value)
    release = prolate.mean([[1.0], [2.0]], budget=Budget(mu=0.1), ledger=url)
    said += repr(release) + release.to_json()
    model = prolate.LinearRegression(mu=0.1, ledger=url)
    said += repr(model) + repr(model.get_params()) + str(pickle.dumps(model))
    model.set_params(ledger=url)
    said += repr(model) + str(pickle.dumps(ledger))
    if hasattr(model, "_repr_html_"):
        from sklearn.base import clone

        said += model._repr_html_() + repr(clone(model))
        assert clone(model).ledger is model.ledger  # a copy still knows it
    assert SECRET in url
    assert SECRET not in said
    assert len(ledger.entries()) == 1


# -- Whose words count ------------------------------------------------------------------


def test_who_may_charge_need_not_be_allowed_to_change_the_limit(server: Any) -> None:
    ledger = Ledger.create(server.url("granted"), limit=Budget(mu=1))
    server.run(f"CREATE ROLE analyst LOGIN PASSWORD '{server.url().split(':')[2].split('@')[0]}'")
    server.run("ALTER ROLE analyst PASSWORD 'planted-s3cret/password'")
    analyst = server.url("granted", user="analyst")
    with pytest.raises(LedgerError, match="does not allow this user"):
        Ledger(analyst)
    server.run(
        "GRANT USAGE ON SCHEMA prolate TO analyst",
        "GRANT SELECT ON prolate.ledgers, prolate.entries, prolate.limits TO analyst",
        "GRANT INSERT ON prolate.entries TO analyst",
        "GRANT UPDATE (seal) ON prolate.ledgers TO analyst",
    )
    assert Ledger(analyst).charge(Budget(mu=0.5)) == 1
    for change in (
        lambda: Ledger(analyst).set_limit(Budget(mu=9)),
        lambda: Ledger.create(server.url("another", user="analyst"), limit=Budget(mu=1)),
    ):
        with pytest.raises(LedgerError, match="does not allow this user"):
            change()
    assert ledger.limit == Budget(mu=1)


def test_entries_cannot_be_changed_by_mistake(server: Any) -> None:
    import psycopg

    Ledger.create(server.url("guarded"), limit=Budget(mu=1)).charge(Budget(mu=0.5))
    for statement in (
        "DELETE FROM prolate.entries",
        "UPDATE prolate.entries SET mu = '0x1p-9'",
        "TRUNCATE prolate.entries",
    ):
        with pytest.raises(psycopg.Error, match="cannot be changed or removed"):
            server.run(statement)


def test_ledgers_of_one_database_do_not_mix(server: Any) -> None:
    ledgers = [Ledger.create(server.url(f"mix-{n}"), limit=Budget(mu=1)) for n in range(3)]
    for number, ledger in enumerate(ledgers[1:], 1):
        for _ in range(number):
            ledger.charge(Budget(mu=0.5))
    assert [len(ledger.entries()) for ledger in ledgers] == [0, 1, 2]


def test_ledgers_made_at_once_do_not_collide(server: Any) -> None:
    server.run("DROP SCHEMA IF EXISTS prolate CASCADE")
    script = """
import os, sys
from prolate.budget import Budget
from prolate.errors import LedgerError
from prolate.ledger import Ledger, postgres

start, ready = os.pipe()
for number in range(6):
    if os.fork() == 0:
        os.close(ready)
        os.read(start, 1)  # all begin when the parent closes its end
        try:
            Ledger.create(f"{sys.argv[1]}#maker-{number // 2}", limit=Budget(mu=1))
            said = "made"
        except LedgerError as error:
            said = str(error).rpartition(";")[0][-30:]
        os.write(1, f"{number // 2} {said}\\n".encode())  # at once, or lines mix
        os._exit(0)
os.close(ready)
for _ in range(6):
    os.wait()
"""
    done = subprocess.run(
        [sys.executable, "-c", script, server.url()],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(Path(prolate.__file__).parents[1])},
    )
    said = sorted(done.stdout.splitlines())
    assert [words.partition(" ")[2] for words in said] == [
        " and a ledger is never overwritten"[-30:], "made"
    ] * 3  # fmt: skip


# -- What a commit is worth -------------------------------------------------------------


def test_a_server_that_may_forget_is_refused(server: Any) -> None:
    ledger = Ledger.create(server.url("careless"), limit=Budget(mu=1))
    for setting in ("fsync", "full_page_writes"):
        server.crash()
        server.start(**{setting: "off"})
        try:
            with pytest.raises(LedgerError, match=f"{setting} = off.*set both to on"):
                ledger.charge(Budget(mu=0.5))
            assert ledger.entries() == ()
        finally:
            server.crash()
            server.start()


def test_a_server_that_only_reads(server: Any) -> None:
    ledger = Ledger.create(server.url("standby"), limit=Budget(mu=1))
    server.run("ALTER ROLE prolate SET default_transaction_read_only = on")
    try:
        assert ledger.charge(Budget(mu=0.5)) == 1  # a wish, which a charge overrides
    finally:
        server.run("SET default_transaction_read_only = off",
                   "ALTER ROLE prolate RESET default_transaction_read_only")  # fmt: skip


@pytest.mark.parametrize("usual", ["repeatable read", "serializable"])
def test_the_usual_isolation_does_not_matter(server: Any, usual: str) -> None:
    name = f"isolated-{usual.replace(' ', '-')}"
    ledger = Ledger.create(server.url(name), limit=Budget(mu=1))
    server.run(f"ALTER ROLE prolate SET default_transaction_isolation = '{usual}'")
    try:
        with server.connect() as other:
            other.execute("BEGIN")
            other.execute("UPDATE prolate.ledgers SET seal = seal WHERE name = %s", [name])
            charge = threading.Thread(target=ledger.charge, args=(Budget(mu=0.1),))
            charge.start()
            time.sleep(0.3)  # it waits for the row, and sees what was done to it meanwhile
            other.execute("COMMIT")
            charge.join()
        assert len(ledger.entries()) == 1
    finally:
        server.run("ALTER ROLE prolate RESET default_transaction_isolation")


@contextmanager
def broken_line(port: int, *, arrives: bool) -> Iterator[int]:
    """Forward to `port`, and hang up at the first COMMIT: after the server got it, or before."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(30)

        def serve() -> None:
            client, _ = listener.accept()
            with client, socket.create_connection(("127.0.0.1", port)) as upstream:
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=back, args=(upstream, client), daemon=True).start()
                while data := client.recv(65536):
                    if b"COMMIT\0" in data:  # "READ COMMITTED" is no commit
                        hung_up.set()
                        if arrives:
                            upstream.sendall(data)
                            answered.wait(30)
                        for end in (client, upstream):
                            end.shutdown(socket.SHUT_RDWR)
                        return
                    upstream.sendall(data)

        def back(upstream: socket.socket, client: socket.socket) -> None:
            try:
                while data := upstream.recv(65536):
                    if hung_up.is_set():
                        answered.set()
                        return
                    client.sendall(data)
            except OSError:
                pass

        hung_up, answered = threading.Event(), threading.Event()
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        thread.join(30)


@pytest.mark.parametrize("arrives", [True, False])
def test_a_commit_that_nobody_knows_of(
    server: Any, arrives: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Ledger, "promise", Promise())  # or the line would end with that question
    name = f"unknown-{arrives}"
    direct = Ledger.create(server.url(name), limit=Budget(mu=0.5))
    measured = []
    with broken_line(server.port, arrives=arrives) as port:
        lost = object.__new__(Ledger)
        lost._store = type(direct._store)(address(server.url(name, port=port)))
        with pytest.raises(LedgerError, match="may be charged; nothing is released") as caught:
            prolate.mean(
                [[1.0], [2.0]], budget=Budget(mu=0.5), ledger=lost,
                progress=lambda *_: measured.append(1),
            )  # fmt: skip
    assert SECRET not in everything_said(caught.value)
    assert measured == []
    if arrives:  # the charge stands, and is never made twice
        assert len(direct.entries()) == 1
        with pytest.raises(LedgerError, match="nothing more fits"):
            direct.charge(Budget(mu=0.5))
    else:
        assert direct.charge(Budget(mu=0.5)) == 1
        assert len(direct.entries()) == 1


def test_what_is_missing_is_named(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from prolate.ledger import postgres

    postgres._engine.cache_clear()
    for name in ("sqlalchemy", "psycopg"):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, name, None)
            with pytest.raises(InputError, match=rf"needs {name}.*pip install 'prolate\[postg"):
                Ledger(server.url("missing"))
