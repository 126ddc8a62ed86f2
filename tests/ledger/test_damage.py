"""A ledger that is not what was written is refused, never misread."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from prolate.budget import Budget
from prolate.errors import LedgerError
from prolate.ledger import Ledger

ENTRY = "WHERE ledger = '{name}' AND id = 2"
HEAD = "WHERE name = '{name}'"


@pytest.mark.parametrize(
    "statement",
    [
        f"DELETE FROM {{entries}} {ENTRY}",
        "DELETE FROM {entries} WHERE ledger = '{name}' AND id = 3",
        "DELETE FROM {entries} WHERE ledger = '{name}'",
        "UPDATE {entries} SET id = 4 WHERE ledger = '{name}' AND id = 3",
        f"UPDATE {{entries}} SET label = 'other' {ENTRY}",
        f"UPDATE {{entries}} SET mu = '0x1.0p-3' {ENTRY}",
        f"UPDATE {{entries}} SET mu = 'nan' {ENTRY}",
        f"UPDATE {{entries}} SET mu = '0x1p999999' {ENTRY}",
        f"UPDATE {{entries}} SET mu = '-0x1p-2' {ENTRY}",
        f"UPDATE {{entries}} SET mu = 'much' {ENTRY}",
        f"UPDATE {{entries}} SET composition = 'zcdp' {ENTRY}",
        f"UPDATE {{entries}} SET composition = 'free' {ENTRY}",
        f"UPDATE {{entries}} SET time = '' {ENTRY}",
        f"UPDATE {{entries}} SET delta = '0x1p-30' {ENTRY}",
        f"UPDATE {{entries}} SET delta = '-0x1p-30' {ENTRY}",
        f"UPDATE {{entries}} SET delta = 'none' {ENTRY}",
        f"UPDATE {{entries}} SET neighbors = 'add-remove' {ENTRY}",
        f"UPDATE {{entries}} SET neighbors = 'none' {ENTRY}",
        f"UPDATE {{entries}} SET unit = '' {ENTRY}",
        f"UPDATE {{ledgers}} SET keys_delta = '0x1p-30' {HEAD}",
        f"UPDATE {{ledgers}} SET keys_delta = '0x1p-20' {HEAD}",
        f"UPDATE {{ledgers}} SET keys_delta = '' {HEAD}",
        f"UPDATE {{ledgers}} SET budget = '{{{{}}}}' {HEAD}",
        f"UPDATE {{ledgers}} SET budget = '[1]' {HEAD}",
        f"UPDATE {{ledgers}} SET budget = '{{{{' {HEAD}",
        f"UPDATE {{ledgers}} SET budget = replace(budget, '1.0', '2.0') {HEAD}",
        f"UPDATE {{ledgers}} SET budget = replace(budget, '1.0', 'NaN') {HEAD}",
        f"UPDATE {{ledgers}} SET budget = replace(budget, '1.0', '-1.0') {HEAD}",
        f"UPDATE {{ledgers}} SET dataset = 'others' {HEAD}",
        f"UPDATE {{ledgers}} SET version = 1 {HEAD}",
        f"UPDATE {{ledgers}} SET neighbors = 'add-remove' {HEAD}",
        f"UPDATE {{ledgers}} SET neighbors = '' {HEAD}",
        f"UPDATE {{ledgers}} SET unit = 'id' {HEAD}",
        f"UPDATE {{ledgers}} SET seal = '' {HEAD}",
    ],
)
def test_a_changed_ledger_is_refused(
    place: str, behind: Callable[..., None], statement: str
) -> None:
    ledger = Ledger.create(place, limit=Budget(mu=1))
    for _ in range(3):
        ledger.charge(Budget(mu=0.25))
    behind(place, statement)
    uses: list[Callable[[], object]] = [
        lambda: ledger.charge(Budget(mu=0.25)),
        lambda: ledger.set_limit(Budget(mu=2)),
        ledger.entries,
        lambda: Ledger(place),
    ]
    for use in uses:
        with pytest.raises(LedgerError, match=r"is damaged, so what was spent is not known"):
            use()


def test_a_ledger_without_its_head_is_refused(place: str, behind: Callable[..., None]) -> None:
    ledger = Ledger.create(place, limit=Budget(mu=1))
    ledger.charge(Budget(mu=0.25))
    behind(place, f"DELETE FROM {{ledgers}} {HEAD}")
    with pytest.raises(LedgerError, match=r"is damaged|There is no ledger"):
        ledger.charge(Budget(mu=0.25))
    if "://" in place:  # its entries are not taken for those of a new one
        with pytest.raises(LedgerError, match="is damaged"):
            Ledger.create(place, limit=Budget(mu=1))


@pytest.mark.parametrize("table", ["ledgers", "machines"])
def test_a_file_without_a_row_that_it_needs(
    path: Path, behind: Callable[..., None], table: str
) -> None:
    Ledger.create(path, limit=Budget(mu=1))
    behind(str(path), f"DELETE FROM {table}")
    with pytest.raises(LedgerError, match="is damaged"):
        Ledger(path)


# -- Damage that knows nothing of SQLite ------------------------------------------------


def flip(content: bytearray, chance: random.Random) -> None:
    for _ in range(chance.choice([1, 1, 2, 8])):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)


def flip_in_the_content(content: bytearray, chance: random.Random) -> None:
    written = [place for place, byte in enumerate(content) if byte]
    content[chance.choice(written)] ^= 1 << chance.randrange(8)


def cut(content: bytearray, chance: random.Random) -> None:
    del content[chance.randrange(len(content)) :]


def cut_pages(content: bytearray, chance: random.Random) -> None:
    del content[4096 * chance.randrange(len(content) // 4096) :]


def scribble(content: bytearray, chance: random.Random) -> None:
    start = chance.randrange(len(content))
    content[start : start + 64] = chance.randbytes(64)[: len(content) - start]


def forget_a_page(content: bytearray, chance: random.Random) -> None:
    start = 4096 * chance.randrange(len(content) // 4096)
    content[start : start + 4096] = bytes(4096)


def swap_pages(content: bytearray, chance: random.Random) -> None:
    one, two = (4096 * chance.randrange(1, len(content) // 4096) for _ in range(2))
    content[one : one + 4096], content[two : two + 4096] = (
        content[two : two + 4096],
        content[one : one + 4096],
    )


def anything(content: bytearray, chance: random.Random) -> None:
    content[100:] = chance.randbytes(len(content) - 100)


DAMAGES = [flip, flip_in_the_content, cut, cut_pages, scribble, forget_a_page, swap_pages, anything]


@pytest.mark.parametrize("cases", [400, pytest.param(10_000, marks=pytest.mark.long)])
def test_a_damaged_file_is_refused_or_means_the_same(path: Path, cases: int) -> None:
    limit = Budget(mu=1)
    ledger = Ledger.create(path, limit=limit, dataset="patients")
    for number in range(5):
        ledger.charge(Budget(mu=0.125), f"release {number}")
    entries, whole = ledger.entries(), path.read_bytes()
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    refused = noticed_late = 0
    for case in range(cases):
        content = bytearray(whole)
        DAMAGES[case % len(DAMAGES)](content, chance)
        for left in path.parent.glob("*-*"):
            left.unlink()
        path.write_bytes(content)
        try:
            opened = Ledger(path)
            assert (opened.limit, opened.entries()) == (limit, entries)
            number = opened.charge(Budget(mu=0.125), "one more")
        except LedgerError:
            refused += 1
            continue
        assert number == 6
        try:
            after = Ledger(path).entries()
        except LedgerError:  # spent is unknown then, never less
            noticed_late += 1
        else:
            assert after[:5] == entries
            assert [entry.label for entry in after[5:]] == ["one more"]
    print(f"{cases} damaged files: {refused} refused, {noticed_late} noticed after a charge")
    assert 0.3 * cases < refused < cases


def test_a_journal_that_is_lost_or_damaged(path: Path) -> None:
    """What a crash leaves behind, and someone then spoils: refused, or what it was before."""
    import sqlite3

    ledger = Ledger.create(path, limit=Budget(mu=1))
    for number in range(3):
        ledger.charge(Budget(mu=0.25), f"release {number}")
    entries, whole = ledger.entries(), path.read_bytes()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA cache_size = 1")  # so that pages are written before the commit
    connection.execute("BEGIN IMMEDIATE")
    for number in range(4, 40):
        connection.execute(
            "INSERT INTO entries VALUES ('', ?, ?, '0x1p-2', 'gdp', '', '0x0p+0', 'replace', NULL)",
            (number, "x" * 3000),
        )
    torn, journal = path.read_bytes(), Path(f"{path}-journal").read_bytes()
    connection.close()
    assert torn != whole
    chance = random.Random(1)
    outcomes = []
    for case in range(60):
        spoiled = bytearray(journal)
        if case:
            DAMAGES[case % 3](spoiled, chance)
        path.write_bytes(torn)
        Path(f"{path}-journal").write_bytes(spoiled)
        try:
            opened = Ledger(path).entries()
        except LedgerError:
            outcomes.append("refused")
        else:
            assert opened == entries
            outcomes.append("as before")
        os.truncate(path, 0)
    assert outcomes[0] == "as before"  # whole, the journal undoes the torn transaction
    assert "refused" in outcomes
