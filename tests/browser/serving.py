"""The page of `prolate ui`, served from this process, so that a test can reach behind it."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from prolate import Ledger
from prolate.ui.app import make_app
from prolate.ui.desk import Desk
from prolate.ui.guard import Guard
from prolate.ui.schema import read_schema
from prolate.ui.serve import listen, server

TOKEN = "a-token-that-nobody-guesses"
ROWS = 7919  # a number that is on no page by chance
SECRET = 314159.0  # the largest value


@dataclass(frozen=True)
class Served:
    port: int
    desk: Desk
    guard: Guard

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/{TOKEN}/"

    def get(self, path: str, **headers: str) -> tuple[int, dict[str, str], str]:
        return self._ask("GET", path, None, headers)

    def post(self, path: str, fields: Any, **headers: str) -> dict[str, Any]:
        status, _, text = self._ask("POST", path, json.dumps(fields), headers)
        assert status == 200, text
        return json.loads(text)

    def _ask(
        self, verb: str, path: str, body: str | None, headers: dict[str, str]
    ) -> tuple[int, dict[str, str], str]:
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        whole = path if path.startswith("/") else f"/{TOKEN}/{path}"
        link.request(verb, whole, body, given)
        answer = link.getresponse()
        text = answer.read().decode()
        link.close()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, text


def patients(folder: Path) -> Path:
    """Write a small file of patients and return its path."""
    rng = np.random.default_rng(0)
    age = rng.normal(50, 10, ROWS)
    age[17] = SECRET
    table = {
        "person": rng.integers(0, 3000, ROWS),
        "age": age,
        "visits": rng.poisson(3, ROWS),
        "<b>odd</b>": rng.normal(size=ROWS),
        "region": rng.choice(["north", "south"], ROWS),
    }
    pq.write_table(pa.table(table), folder / "patients.parquet")
    return folder / "patients.parquet"


@contextmanager
def served(data: Path, ledger: Path | None = None) -> Iterator[Served]:
    """Serve the page in a thread."""
    book = None if ledger is None else Ledger(ledger)
    desk = Desk(book)
    with listen(0) as listener:
        port = listener.getsockname()[1]
        guard = Guard(make_app(read_schema(str(data)), book, desk), TOKEN, port)
        runner = server(guard)
        thread = threading.Thread(target=runner.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield Served(port, desk, guard)
        finally:
            runner.should_exit = True
            thread.join(20)
            assert not thread.is_alive()
