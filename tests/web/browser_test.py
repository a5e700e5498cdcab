#!/usr/bin/env python3
"""Uses the page of tamis web as people do, in Chromium: by mouse and by keyboard; compares its figures with --json, and its colours with
what is needed to read them. Leaves screenshots in FOLDER.

    browser_test.py TAMIS FOLDER
"""
import pathlib
import re
import sys
import tempfile
import time

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

from page_server import Checks, Server, Store

SECONDS = 30  # For what takes a moment; a page that does not come in that time has failed.
check = Checks()


def start_browser(profile, is_dark, width):
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
                     "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--disable-dev-shm-usage", f"--user-data-dir={profile}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}]})
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600})
    return browser


class Page:
    """The page in one browser."""

    def __init__(self, browser, url):
        self.browser = browser
        browser.get(url)
        self.wait(lambda: browser.find_element(By.TAG_NAME, "html").get_attribute("data-ready") == "true", "the page is ready")

    def wait(self, holds, what):
        try:
            WebDriverWait(self.browser, SECONDS, poll_frequency=0.1).until(lambda _: holds())
            check(what, True)
        except Exception as error:
            check(what, False, type(error).__name__)

    def one(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def value(self, selector):
        """What the page shows there, not rounded."""
        return self.one(selector).get_attribute("data-value")

    def tile(self, list_, name):
        return float(self.value(f"#{list_} [data-id={name}] dd"))

    def set(self, selector, value):
        """Of a slider or a number, as when it is dragged there."""
        self.browser.execute_script("arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input', {bubbles: true}))", self.one(selector), value)

    def click(self, selector):
        element = self.one(selector)
        self.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()

    def type(self, selector, text):
        self.one(selector).clear()
        self.one(selector).send_keys(text)

    def shot(self, path):
        height = self.browser.execute_script("return document.documentElement.scrollHeight")
        width = self.browser.execute_script("return innerWidth")
        is_mobile = width < 600
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_mobile})
        time.sleep(0.5)
        self.browser.save_screenshot(str(path))
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": is_mobile})


def check_tree(page, store):
    stats, tables = store.json("stats", store.path), store.json("plan", store.path)["tables"]
    page.wait(lambda: len(page.all(".block")) == len(tables), "a block for each table")
    for name, expected in (("entries", sum(level["entries"] for level in stats["levels"])), ("bytes_on_disk", stats["bytes_on_disk"]),
                           ("tables", len(tables)), ("sequence", stats["sequence"])):
        check(f"{name} of the summary", page.tile("tiles", name) == expected, page.tile("tiles", name), expected)
    for row, level in zip(page.all("#level-table tbody tr"), stats["levels"]):
        for name in ("level", "runs", "tables", "bytes", "entries", "tombstones", "filter_kind", "bits_per_key", "fpr_designed"):
            shown = row.find_element(By.CSS_SELECTOR, f"[data-field={name}]").get_attribute("data-value")
            check(f"level {level['level']}: {name}", shown == str(level[name]) or float(shown) == level[name], shown, level[name])
    check("all levels are listed", len(page.all("#level-table tbody tr")) == len(stats["levels"]))
    largest = max(tables, key=lambda table: table["bytes"])
    widths = {int(block.get_attribute("data-tables")): block.size["width"] for block in page.all(".block")}
    check("the largest table is the widest", widths[largest["table"]] == max(widths.values()), widths)
    page.click(f".block[data-tables='{largest['table']}']")
    details = page.one("#table-details").text
    check("a click shows the table", f"Table {largest['table']}" in details and f"{largest['keys']:,}" in details, details)


def check_lookup(page, store, key):
    page.type("#lookup-key", key)
    page.click("#lookup-form button")
    page.wait(lambda: page.all(f"#lookup-result [data-key='{key}']"), f"lookup of {key!r} ends")
    command = store.json("explain", store.path, key)
    rows = [[row.get_attribute(f"data-{name}") for name in ("where", "table", "outcome")] for row in page.all("#lookup-steps li")]
    steps = [[step["where"], None if step["table"] is None else str(step["table"]), step["outcome"]] for step in command["steps"]]
    check(f"the steps of {key!r}", rows == steps, rows, steps)
    result = page.one("#lookup-result .result")
    check(f"{key!r} is {'found' if command['found'] else 'not found'}", (result.get_attribute("data-found") == "true") == command["found"])
    check(f"the value of {key!r}", command.get("value", "Not found") in result.text, result.text)


def check_shades(page, store, key):
    """The tables that a lookup has asked are the dark ones."""
    asked = {str(step["table"]) for step in store.json("explain", store.path, key)["steps"] if step["table"] is not None and step["outcome"] != "outside"}
    Select(page.one("#tree-shade")).select_by_value("page")
    heat = {block.get_attribute("data-tables"): page.browser.execute_script("return arguments[0].style.getPropertyValue('--heat')", block) for block in page.all(".block")}
    check("tables that were asked are dark", all((heat[table] != "0%") == (table in asked) for table in heat), heat, asked)
    Select(page.one("#tree-shade")).select_by_value("questions")


def check_plan(page, store):
    keys = sum(run["keys"] for run in store.json("plan", store.path)["runs"])
    for bits in (4, 12.5):
        page.set("#plan-memory", bits)
        memory = int(bits * keys / 8 + 0.5)
        command = store.json("plan", store.path, "--filter-memory", str(memory))
        page.wait(lambda: page.value("#plan-memory-text") == str(command["filter_memory"]), f"the plan with {bits} bits per key is shown")
        for name in ("wasted_reads", "wasted_reads_uniform"):
            check(f"{name} with {bits} bits per key", page.tile("plan-tiles", name) == command[name], page.tile("plan-tiles", name), command[name])
        shown = [float(cell.get_attribute("data-value")) for cell in page.all("#plan-table [data-field=bits_per_key]")]
        check(f"bits of the runs with {bits}", shown == [run["bits_per_key"] for run in command["runs"]], shown)
    page.wait(lambda: page.all("#plan-curve polyline"), "the curve is drawn")


def check_lab(page):
    lit = lambda: int(page.one("#lab-grid").get_attribute("data-set"))
    page.wait(lambda: page.all("#lab-tiles dd"), "the lab has a filter")
    check("an empty filter has no bit set", lit() == 0)
    page.type("#lab-add", "oslo")
    page.click("#lab-add-form button")
    page.wait(lambda: 0 < lit() <= 7, "a key lights its bits")
    check("they are new", int(page.one("#lab-grid").get_attribute("data-fresh")) == lit())
    page.type("#lab-probe", "rome")
    page.click("#lab-probe-form button")
    page.wait(lambda: "Certainly not" in page.one("#lab-answer").text, "an absent key is certainly not there")
    page.click("#lab-more")
    page.wait(lambda: page.tile("lab-tiles", "keys") == 11, "10 more keys go in")
    page.click("#lab-fill")
    page.wait(lambda: page.tile("lab-tiles", "keys") == 100, "and as many as it is made for")
    measured, predicted = page.tile("lab-tiles", "measured"), page.tile("lab-tiles", "estimated")
    check("the measured rate is near the predicted one", predicted / 2 < measured < 2 * predicted, measured, predicted)
    page.type("#lab-probe", "oslo")
    page.click("#lab-probe-form button")
    page.wait(lambda: "it was inserted" in page.one("#lab-answer").text, "an inserted key is there")
    Select(page.one("#lab-kind")).select_by_value("cuckoo")
    page.wait(lambda: "cannot be built" in page.one("#lab-answer").text, "a kind that cannot be so small says so")
    Select(page.one("#lab-kind")).select_by_value("split")
    page.wait(lambda: "it was inserted" in page.one("#lab-answer").text, "another kind has the same keys")


def check_live(page, store):
    page.one("#live").location_once_scrolled_into_view
    page.wait(lambda: len(page.all("#charts polyline")) >= 6, "charts have lines")
    store.run("put", store.path, "while-looking", "1")
    page.wait(lambda: page.tile("tiles", "sequence") == store.json("stats", store.path)["sequence"], "a write of another process is shown")


def check_keyboard(page):
    """Everything can be reached with Tab and shows that it has the focus; tables are reached with arrow keys."""
    body = page.one("body")
    page.browser.execute_script("document.querySelector('.skip').focus()")  # The first of all.
    seen = []
    for _ in range(60):
        page.browser.switch_to.active_element.send_keys(Keys.TAB)
        focus = page.browser.switch_to.active_element
        if focus == body or focus.tag_name == "html":
            break
        name = focus.get_attribute("id") or focus.text or focus.get_attribute("aria-label")
        if name in seen:
            break
        outline = page.browser.execute_script("const s = getComputedStyle(arguments[0]); return s.outlineStyle + ' ' + s.outlineWidth", focus)
        check(f"focus is seen on {name!r}", outline.split()[0] != "none" and outline.split()[1] != "0px", outline)
        seen.append(name)
    for name in ("tree-shade", "lookup-key", "lookup-hex", "live-pause", "plan-memory", "lab-kind", "lab-bits", "lab-add", "lab-fill", "lab-probe"):
        check(f"{name} is reached with Tab", name in seen, seen)
    page.browser.execute_script("document.querySelector('.block[tabindex=\"0\"]').focus()")
    before = page.browser.switch_to.active_element.get_attribute("data-tables")
    page.browser.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    block = page.browser.switch_to.active_element
    check("an arrow key moves to the next run", block.get_attribute("data-tables") not in (before, None))
    block.send_keys(Keys.ENTER)
    page.wait(lambda: f"Table {block.get_attribute('data-tables')}" in page.one("#table-details").text, "Enter shows the table")
    page.one("#lookup-key").send_keys(Keys.END, Keys.ENTER)
    page.wait(lambda: page.all("#lookup-steps li"), "Enter in the key looks it up")
    for element in page.all("button, input, select, a, canvas, svg[role], [tabindex='0']"):
        if element.is_displayed():
            check("everything has a name", element.accessible_name.strip() != "", element.get_attribute("outerHTML")[:120])


# Colours as WCAG 2 compares them. Each text against the first ground behind it that is not transparent.
CONTRASTS = r"""
const pen = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
const rgba = (colour) => { pen.clearRect(0, 0, 1, 1); pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1); const d = pen.getImageData(0, 0, 1, 1).data; return [d[0], d[1], d[2], d[3] / 255]; };
const light = ([r, g, b]) => { const [x, y, z] = [r, g, b].map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4); return 0.2126 * x + 0.7152 * y + 0.0722 * z; };
const ground = (e) => { for (; e; e = e.parentElement) { const c = rgba(getComputedStyle(e).backgroundColor); if (c[3] > 0.99) return c; } return [255, 255, 255, 1]; };
const found = [];
for (const e of document.querySelectorAll('body *')) {
  const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
  if (!own || !e.getClientRects().length || e.closest('noscript')) continue;
  const style = getComputedStyle(e);
  const [a, b] = [light(rgba(e instanceof SVGElement ? style.fill : style.color)), light(ground(e))];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 4.5) found.push(`${e.tagName} "${e.textContent.trim().slice(0, 30)}" ${ratio.toFixed(2)}`);
}
return found;
"""


def check_looks(page, what):
    found = page.browser.execute_script(CONTRASTS)
    check(f"{what}: text can be read (4.5 : 1)", not found, found[:5])
    wider = page.browser.execute_script("return document.documentElement.scrollWidth - innerWidth")
    check(f"{what}: nothing is wider than the window", wider <= 0, wider)
    names = re.findall(r"NaN|undefined|Infinity|\[object", page.one("body").text)
    check(f"{what}: no value is missing", not names, names)


def check_log(page, what):
    """A filter that cannot be made is an answer with status 400, which the browser reports."""
    errors = [entry["message"] for entry in page.browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
    errors = [message for message in errors if not ("/api/filter-lab?kind=cuckoo" in message and "400" in message)]
    check(f"{what}: the browser reports no error", not errors, errors[:3])


def main():
    tamis, shots = sys.argv[1], pathlib.Path(sys.argv[2])
    shots.mkdir(parents=True, exist_ok=True)
    store = Store(tamis)
    server = Server(store)
    try:
        for is_dark in (False, True):
            for width in (1280, 390):
                what = f"{'dark' if is_dark else 'light'}-{width}"
                with tempfile.TemporaryDirectory(prefix="tamis-chromium-", ignore_cleanup_errors=True) as profile:
                    browser = start_browser(profile, is_dark, width)
                    try:
                        page = Page(browser, server.url)
                        check_tree(page, store)
                        for key in ("city-000004", "city-9999", "in-memory") if width == 1280 and not is_dark else ("city-000004",):
                            check_lookup(page, store, key)
                        if width == 390:
                            check_shades(page, store, "city-000004")
                        check_plan(page, store)
                        check_lab(page)
                        if width == 1280 and not is_dark:
                            check_keyboard(page)
                        check_live(page, store)
                        check_lookup(page, store, "city-001199x")
                        check_looks(page, what)
                        page.shot(shots / f"{what}.png")
                        check_log(page, what)
                    finally:
                        browser.quit()
    finally:
        server.close()
    check.finish()


main()
