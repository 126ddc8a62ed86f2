"""The report in a real browser: light and dark, on a phone, on paper, by keyboard."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser.contrast import CONTRAST

from prolate import Budget, GroupedRelease, Release
from prolate.release import ReceiptEntry

NAMES = ("<script>document.title = 'broken'</script>", "x" * 300, "left\u202eright", "שלום", "age")


def release(kind: str) -> Release | GroupedRelease:
    rng = np.random.default_rng(0)
    fields: dict[str, Any] = {
        "statistic": "mean",
        "columns": NAMES,
        "budget": Budget(epsilon=1, delta=1e-6),
        "neighbors": "replace",
        "method": "auto",
        "n": 20_000,
        "receipt": [ReceiptEntry("mean", "sum of rows " * 20, 5, 0.5, 0.16, 1.0, 10.0)],
        "warnings": ["The rows are few for this budget."],
    }
    if kind == "covariance":
        fields |= {"statistic": "covariance", "estimate": np.cov(rng.normal(size=(5, 30)))}
        fields |= {"noise_std": np.full((5, 5), 0.1), "sampling_std": np.full((5, 5), 0.2)}
        return Release(**fields)
    if kind == "wide":
        fields["columns"] = [f"column {j}" for j in range(1000)]
    d = len(fields["columns"])
    fields |= {"estimate": rng.normal(size=d), "noise_std": rng.lognormal(size=d)}
    one = Release(**fields, sampling_std=rng.lognormal(size=d), private=kind != "seeded")
    return grouped(one, 60 if kind == "groups" else 2) if "groups" in kind else one


def grouped(one: Release, count: int) -> GroupedRelease:
    keys = (*NAMES, *(f"town {i}" for i in range(60)))[:count]
    found = {
        key: Release.from_dict({**one.to_dict(), "details": {"group": {"by": "town", "key": key}}})
        for key in keys
    }
    return GroupedRelease(
        statistic=one.statistic,
        by="town",
        groups=found,
        columns=one.columns,
        budget=one.budget,
        neighbors=one.neighbors,
    )


KINDS = ("mean", "covariance", "wide", "seeded", "groups", "two groups")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    for kind in KINDS:
        release(kind).to_html(folder / f"{kind}.html")
    return folder


@pytest.fixture
def show(browser: Any, pages: Path) -> Any:
    def show(kind: str, *, dark: bool = False, width: int = 1100) -> Any:
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500},
        )
        browser.get_log("browser")
        browser.get((pages / f"{kind}.html").as_uri())
        return browser

    return show


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_goes_wrong_and_nothing_is_loaded(show: Any, kind: str) -> None:
    page = show(kind)
    assert page.get_log("browser") == []
    assert page.title == release(kind).to_html().split("<title>")[1].split("<")[0]
    count = "return performance.getEntriesByType('resource').length + document.scripts.length"
    assert page.execute_script(count) == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [320, 768])
def test_a_narrow_page_scrolls_down_only(show: Any, kind: str, width: int) -> None:
    page = show(kind, width=width)
    assert page.execute_script("return document.documentElement.scrollWidth") <= width
    wide = page.execute_script(
        "return [...document.querySelectorAll('.scroll, pre')]"
        ".filter(e => e.scrollWidth > e.clientWidth).map(e => e.tabIndex + e.ariaLabel)"
    )
    assert all(re.match(r"0\w", label) for label in wide)  # what scrolls takes the focus
    assert wide or width > 320


@pytest.mark.parametrize("kind", ["covariance", "seeded", "two groups"])
@pytest.mark.parametrize("dark", [False, True])
def test_every_text_has_contrast(show: Any, kind: str, dark: bool) -> None:
    page = show(kind, dark=dark)
    page.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    ratio, where = page.execute_script(CONTRAST)
    assert 4.5 <= ratio < 99, where
    back = page.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (back == "rgb(255, 255, 255)") != dark


def test_the_keyboard_reaches_everything_and_sees_where_it_is(show: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    page = show("mean", width=320)
    reached = []
    for _ in range(20):
        page.switch_to.active_element.send_keys(Keys.TAB)
        outline = "return getComputedStyle(document.activeElement).outlineStyle"
        if page.execute_script("return document.activeElement === document.body"):
            break
        assert page.execute_script(outline) == "solid"
        reached.append(page.switch_to.active_element.tag_name)
    assert reached.count("a") == 6
    assert reached.count("div") == 3
    assert reached.count("pre") == 2


def test_figures_are_drawn(show: Any) -> None:
    page = show("mean")
    sizes = page.execute_script(
        "return [...document.querySelectorAll('main svg:not(.key) path')]"
        ".map(p => p.getBBox()).map(b => [b.x, b.y, b.width, b.height])"
    )
    assert len(sizes) > 15
    for x, y, width, height in sizes:
        assert -0.1 <= x <= x + width <= 100.1
        assert -0.1 <= y <= y + height <= 100.1
    strokes = page.execute_script(
        "return ['.whole', '.noise', '.at'].map(s => "
        "getComputedStyle(document.querySelector('td ' + s)).stroke)"
    )
    assert len(set(strokes)) == 3
    assert "none" not in strokes


@pytest.mark.parametrize("kind", KINDS)
def test_it_prints_on_paper_in_light_colors(show: Any, kind: str) -> None:
    page = show(kind, dark=True)
    page.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"media": "print", "features": [{"name": "prefers-color-scheme", "value": "dark"}]},
    )
    page.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 680, "height": 1000, "deviceScaleFactor": 1, "mobile": False},  # of A4
    )
    cut = page.execute_script(
        "return [...document.querySelectorAll('*')].filter(e => "
        "!e.closest('svg, .hidden, .under') && e.getBoundingClientRect().right > innerWidth + 1)"
        ".map(e => e.outerHTML.slice(0, 100))"
    )
    assert cut == []
    text = page.execute_script("return getComputedStyle(document.body).color")
    assert text == "rgb(27, 31, 36)"
    pdf = base64.b64decode(page.execute_cdp_cmd("Page.printToPDF", {})["data"])
    sheets = len(re.findall(rb"/Type\s*/Page\b", pdf))
    assert sheets >= (20 if kind == "wide" else 3)
