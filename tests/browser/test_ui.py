"""`prolate ui` in a real browser: plan, confirm, release, reload, refuse, download."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browser.contrast import CONTRAST
from browser.serving import ROWS, Served, patients, served

import prolate
from prolate import Budget, GroupedRelease, Ledger, Release

WAIT = 60  # seconds; a shared machine is slow at random moments


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return patients(tmp_path_factory.mktemp("data"))


class Page:
    """The page in the browser."""

    def __init__(self, browser: Any, server: Served, ledger: Path, downloads: Path) -> None:
        self.browser, self.server = browser, server
        self.ledger, self.downloads = Ledger(ledger), downloads

    def run(self, script: str) -> Any:
        return self.browser.execute_script(f"return {script}")

    def find(self, what: str) -> Any:
        return self.browser.find_element("css selector", what)

    def click(self, what: str) -> None:
        self.find(what).click()

    def write(self, what: str, text: str) -> None:
        field = self.find(what)
        field.clear()
        field.send_keys(text)

    def until(self, script: str) -> Any:
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.browser, WAIT, 0.1).until(lambda _: self.run(script), script)

    def fill(self, statistic: str = "sum", neighbors: str = "replace") -> None:
        from selenium.webdriver.support.ui import Select

        Select(self.find("#statistic")).select_by_value(statistic)
        self.click("tr[data-column=age] [type=checkbox]")
        if statistic == "sum":
            self.write("tr[data-column=age] .low", "0")
            self.write("tr[data-column=age] .high", "120")
        self.click(f"#{neighbors}")

    def review(self) -> None:
        self.click("#review")
        self.confirming()

    def confirming(self) -> None:
        self.until("document.querySelector('#confirm[open]:not(.new)')")

    def done(self, count: int = 1) -> None:
        self.until(f"document.querySelectorAll('.run[data-state=done]').length === {count}")


@pytest.fixture
def page(browser: Any, data: Path, tmp_path: Path) -> Iterator[Page]:
    ledger = tmp_path / "p.ledger"
    Ledger.create(ledger, limit=Budget(epsilon=2, delta=1e-6))
    browser.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    look(browser, 1280)
    with served(data, ledger) as server:
        browser.get(server.url)
        browser.get_log("browser")
        yield Page(browser, server, ledger, tmp_path)
        assert browser.get_log("browser") == []
        browser.get("about:blank")


def test_all_columns_are_those_that_are_no_index(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(",age,visits\n0,1.5,2\n1,2.5,3\n")
    look(browser, 1280)
    with served(tmp_path / "rows.csv") as server:
        browser.get(server.url)
        browser.find_element("id", "all").click()
        assert browser.execute_script("return wanted().columns") == ["age", "visits"]
        browser.find_element("id", "use-1").click()  # it can be named all the same
        assert browser.execute_script("return wanted().columns") == ["", "age", "visits"]
        browser.get("about:blank")


def look(browser: Any, width: int, *, dark: bool = False) -> None:
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": [scheme]})
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
    )


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Hold every sum in its middle, after its charge, until the returned function is called."""
    go, true = threading.Event(), prolate.sum

    def slow(data: object, *, progress: Any = None, **given: Any) -> Any:
        release = true(data, **given)
        if progress is not None:  # else it is what the expected error is read off
            progress("sum", 4000, ROWS)
            assert go.wait(WAIT)
        return release

    monkeypatch.setattr(prolate, "sum", slow)
    yield go.set
    go.set()


def test_from_a_plan_to_downloads(page: Page) -> None:
    page.fill("mean")
    summary = "document.querySelector('#summary').textContent"
    page.until(f"{summary}.startsWith('Guess the number')")  # until the ledger knows it is public
    page.write("#rows", str(ROWS))
    page.until(f"{summary}.includes('With 7,919 rows')")
    page.until("document.querySelector('tr[data-column=age] .noise').textContent.includes('SD')")
    page.write("tr[data-column=age] .spread", "10")
    page.until(
        "/± 0[.]\\d+$/.test(document.querySelector('tr[data-column=age] .noise').textContent)"
    )
    assert page.ledger.spent is None
    page.review()
    words = page.find("#words").text
    assert "Mean of age." in words
    assert "This spends epsilon = 1, delta = 1e-06 (mu = 0.2368), for good." in words
    left = "epsilon = 1.673 at delta = 1e-06 (mu = 0.3807, rho = 0.07248)"
    assert f"After this, {left} is left." in words
    page.click("#cancel")
    assert page.ledger.spent is None
    page.review()
    page.click("#release")
    page.done()
    assert len(page.ledger.entries()) == 1
    page.until("document.querySelector('#entries tbody').textContent.includes('mean of age')")
    spent = "epsilon = 1 at delta = 1e-06 (mu = 0.2368, rho = 0.02802)"
    assert page.find("#spent").text == spent
    assert not page.find("#changes").is_displayed()

    for number, kind in enumerate(("json", "csv", "html", "py"), start=1):
        page.find(f".run li:nth-child({number + 1}) a").click()
        file = page.downloads / f"mean-1.{kind}"
        for _ in range(10 * WAIT):
            if file.exists():
                break
            threading.Event().wait(0.1)
        assert file.stat().st_size > 100
    release = Release.from_json(page.downloads / "mean-1.json")
    assert release.private
    assert release.columns == ("age",)
    assert (page.downloads / "mean-1.html").read_text(encoding="utf-8") == release.to_html()
    assert "prolate.mean(" in (page.downloads / "mean-1.py").read_text(encoding="utf-8")

    page.browser.switch_to.frame(page.find("#report"))
    assert page.find("h1").text == "Private mean of 1 column"
    page.browser.switch_to.default_content()


def test_persons_and_groups_from_a_plan_to_downloads(page: Page) -> None:
    from selenium.webdriver.support.ui import Select

    page.fill("mean", "add-remove")
    assert not page.find("#keys").is_displayed()
    Select(page.find("#unit")).select_by_value("person")
    Select(page.find("#by")).select_by_value("region")
    page.until("document.querySelector('label[for=rows]').textContent === 'Persons (a guess)'")
    page.write("#rows", "1500")
    page.until("document.querySelector('#summary').textContent.startsWith('With 1,500 persons')")
    page.until("!document.querySelector('#expected').classList.contains('old')")
    page.click("#review")  # the ledger sets no delta aside for finding groups
    page.until("!document.querySelector('#problem').hidden")
    assert "give the groups" in page.find("#problem").text
    page.write("#keys", "north, south,nowhere")
    page.until("!document.querySelector('#expected').classList.contains('old')")
    page.review()
    words = page.find("#words").text
    assert "Mean of age, by region, one per person." in words
    assert "Whether one person (person) is there is hidden" in words
    page.click("#release")
    page.done()
    assert [entry.label for entry in page.ledger.entries()] == ["mean of age by region"]
    for number, kind in enumerate(("json", "csv", "html", "py"), start=1):
        page.find(f".run li:nth-child({number + 1}) a").click()
        file = page.downloads / f"mean-1.{kind}"
        for _ in range(10 * WAIT):
            if file.exists():
                break
            threading.Event().wait(0.1)
    made = GroupedRelease.from_json(page.downloads / "mean-1.json")
    assert list(made.groups) == ["north", "south", "nowhere"]
    assert made.unit is not None
    assert (page.downloads / "mean-1.html").read_text(encoding="utf-8") == made.to_html()
    table = (page.downloads / "mean-1.csv").read_text(encoding="utf-8").splitlines()
    assert table[0].startswith('"group","n","column","estimate"')
    assert len(table) == 4
    code = (page.downloads / "mean-1.py").read_text(encoding="utf-8")
    for part in ("unit='person'", "by='region'", "keys=['north', 'south', 'nowhere']"):
        assert part in code
    page.browser.switch_to.frame(page.find("#report"))
    assert page.find("h1").text == "Private mean of 1 column by region"
    assert len(page.browser.find_elements("css selector", ".groups tbody tr")) == 3
    page.browser.switch_to.default_content()


def test_a_regression_and_rows_of_persons(page: Page) -> None:
    from selenium.webdriver.support.ui import Select

    target = "tr[data-column=visits]"
    Select(page.find("#statistic")).select_by_value("regress")
    assert "Features" in page.find("#columns-title").text
    Select(page.find("#target")).select_by_value("visits")
    assert not page.find(f"{target} [type=checkbox]").is_enabled()
    assert not page.find("#rows").is_displayed()  # no guess of them is of any use
    page.click("#all")
    page.click("tr[data-column=person] [type=checkbox]")
    page.write(f"{target} .low", "0")
    page.write(f"{target} .high", "20")
    page.click("#replace")
    page.until("document.querySelector('#summary').textContent.includes('not known in advance')")
    assert not page.find("#contribution-field").is_displayed()
    Select(page.find("#unit")).select_by_value("person")
    assert not page.find("#max-rows").is_displayed()
    page.click("#with-rows")
    page.write("#max-rows", "2")
    page.until("!document.querySelector('#expected').classList.contains('old')")
    page.browser.refresh()  # all of it is remembered
    page.until("document.querySelector('#summary').textContent.includes('not known in advance')")
    page.review()
    words = page.find("#words").text
    assert "Linear regression of visits on age, <b>odd</b>, at most 2 rows per person." in words
    assert "Of each person at most 2 rows count, chosen at random." in words
    page.click("#release")
    page.done()
    assert [entry.label for entry in page.ledger.entries()] == [
        "regression of age, <b>odd</b>, visits"
    ]
    page.find(".run a[href$='/sh']").click()
    file = page.downloads / "regress-1.sh"
    for _ in range(10 * WAIT):
        if file.exists():
            break
        threading.Event().wait(0.1)
    command = file.read_text(encoding="utf-8")
    assert command.startswith("prolate regress ")
    for part in ("--target visits", "--bounds visits=0.0:20.0", "--max-rows 2"):
        assert part in command
    release = Release.from_json(page.server.get(page.run(
        "document.querySelector('.run a[href$=json]').getAttribute('href')"))[2])  # fmt: skip
    assert release.columns == ("age", "<b>odd</b>", "intercept")
    assert release.unit is not None
    assert release.unit.max_rows == 2


def test_over_budget_is_refused_with_the_ledgers_sentence(page: Page) -> None:
    page.fill()
    page.write("#epsilon", "5")
    page.click("#review")
    page.until("!document.querySelector('#problem').hidden")
    said = page.find("#problem").text
    assert said.startswith("A charge of epsilon = 5 at delta = 1e-06 (mu = 1.")
    assert "the limit is epsilon = 2, delta = 1e-06" in said
    assert not page.run("document.querySelector('#confirm').open")
    assert page.ledger.spent is None


def test_a_reload_in_the_middle_neither_pays_twice_nor_loses_it(
    page: Page, held: Callable[[], None]
) -> None:
    page.fill()
    page.review()
    page.click("#release")
    page.until("document.querySelector('.run[data-state=running] progress')?.value > 0.5")
    page.browser.refresh()
    page.until("document.querySelector('.run[data-state=running]')")
    assert page.run("document.querySelector('tr[data-column=age] .high').value") == "120"
    page.browser.refresh()
    held()
    page.done()
    assert len(page.ledger.entries()) == 1
    page.browser.refresh()
    page.done()
    assert len(page.ledger.entries()) == 1
    found = json.loads(page.server.get("state")[2])["runs"]
    assert [run["state"] for run in found] == ["done"]


def test_double_clicks_pay_once(page: Page) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    page.fill()
    page.run("[1, 2].forEach(() => document.querySelector('#review').click())")
    page.confirming()
    ActionChains(page.browser).double_click(page.find("#release")).perform()
    page.done()
    page.run("document.querySelector('#release').click()")  # of a dialog that is closed
    assert len(page.ledger.entries()) == 1
    assert len(json.loads(page.server.get("state")[2])["runs"]) == 1


def test_under_add_remove_the_page_has_no_count(page: Page) -> None:
    page.fill("mean", "add-remove")
    page.until("document.querySelector('#summary').textContent.startsWith('Guess the number')")
    page.write("#rows", "5000")
    page.until("document.querySelector('#summary').textContent.startsWith('With 5,000 rows')")
    shown = page.run("document.documentElement.outerHTML")
    assert str(ROWS) not in shown
    assert f"{ROWS:,}" not in shown


@pytest.mark.parametrize(("width", "dark"), [(320, False), (1280, True)])
def test_a_plan_of_a_regression_fits_and_is_readable(page: Page, width: int, dark: bool) -> None:
    from selenium.webdriver.support.ui import Select

    look(page.browser, width, dark=dark)
    page.fill("regress")
    Select(page.find("#target")).select_by_value("visits")
    Select(page.find("#unit")).select_by_value("person")
    Select(page.find("#by")).select_by_value("region")
    page.click("#with-rows")
    page.until("document.querySelector('#summary').textContent.includes('not known in advance')")
    page.until("!document.querySelector('#expected').classList.contains('old')")
    ratio, where = page.browser.execute_script(CONTRAST)
    assert 4.5 <= ratio < 99, where
    assert page.run("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(("width", "dark"), [(320, True), (1280, False)])
def test_it_fits_and_is_readable(page: Page, width: int, dark: bool) -> None:
    look(page.browser, width, dark=dark)
    page.fill()
    page.review()
    page.click("#release")
    page.done()
    page.write("#epsilon", "9")
    page.click("#review")
    page.until("!document.querySelector('#problem').hidden")
    page.run("document.querySelectorAll('details').forEach(d => d.open = true)")
    page.until("!document.querySelector('#expected').classList.contains('old')")
    ratio, where = page.browser.execute_script(CONTRAST)
    assert 4.5 <= ratio < 99, where
    assert page.run("document.documentElement.scrollWidth") <= width
    back = page.run("getComputedStyle(document.body).backgroundColor")
    assert (back == "rgb(255, 255, 255)") != dark


def test_everything_has_a_name_and_the_keyboard_is_enough(page: Page) -> None:
    from selenium.webdriver.common.keys import Keys

    page.fill()
    tree = page.browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    roles = ("button", "checkbox", "radio", "textbox", "spinbutton", "slider", "combobox", "table")
    named = [
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in tree
        if not node.get("ignored") and node.get("role", {}).get("value") in roles
    ]
    assert len(named) > 20
    assert [entry for entry in named if not entry[1] and entry[0] != "table"] == []
    page.find("#slider").send_keys(Keys.ARROW_RIGHT * 10)
    assert page.run("document.querySelector('#epsilon').value") == "1.3"
    assert page.run("document.querySelector('#slider').ariaValueText") == "epsilon 1.3"
    page.find("#review").send_keys(Keys.ENTER)
    page.until("document.querySelector('#confirm').open")
    assert page.browser.switch_to.active_element.get_attribute("id") == "cancel"
    page.browser.switch_to.active_element.send_keys(Keys.ESCAPE)
    page.until("!document.querySelector('#confirm').open")
    page.find("#review").send_keys(Keys.ENTER)
    page.until("document.querySelector('#confirm').open")
    page.browser.switch_to.active_element.send_keys(Keys.TAB)
    assert page.browser.switch_to.active_element.get_attribute("id") == "release"
    page.browser.switch_to.active_element.send_keys(Keys.ENTER)
    page.done()
    assert page.browser.switch_to.active_element.get_attribute("id") == "releases-title"
    assert len(page.ledger.entries()) == 1
