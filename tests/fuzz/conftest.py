"""The long run: 25 times as many cases, new ones every time."""

import pytest
from fuzz import harness


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--long"):
        harness.SCALE = 25
