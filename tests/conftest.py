"""What all tests share: `--long`, the hypothesis profiles, the real data sets."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from prolate.compiled import WORK

ROOT = Path(__file__).resolve().parent.parent

# No deadline: a shared machine is slow at random moments, and a kernel compiles
# on its first call.
for profile, cases in (("prolate", 50), ("long", 300)):
    settings.register_profile(
        profile,
        deadline=None,
        derandomize=os.environ.get("CI", "").lower() in ("1", "true"),
        max_examples=cases,
        suppress_health_check=[HealthCheck.too_slow],
    )


# Several processes share the cores already; what threads do has tests that ask for them.
if os.environ.get("PYTEST_XDIST_WORKER"):
    os.environ.setdefault("PROLATE_NUM_THREADS", "1")

# The tests are about the loops that large data meets, and wait for them.
WORK.enough = WORK.plenty = -1


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="run the tests that take minutes, too")


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("long" if config.getoption("--long") else "prolate")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--long"):
        return
    for item in items:
        if "long" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="takes minutes; runs with --long"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of real data sets beside the repository."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("needs the data sets in ../shared/data, which are not part of the repository")
    return folder
