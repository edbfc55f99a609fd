"""Pages that attn-cli writes, opened from disk in headless Chromium. Without chromium, chromedriver or python3-selenium: skipped."""

import base64
import json
import os
import shutil
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "cli"))

from program import succeeds  # noqa: E402

WIDE = (1280, 900)


class Browser:
    """One Chromium, and what a test asks of the page in it."""

    def __init__(self, driver, downloads):
        self.driver = driver
        self.driver.set_script_timeout(300)  # seconds; on a machine with other work 500 redrawings take more than the usual 30
        self.downloads = downloads

    def open(self, path, size=WIDE, dark=False, touch=False):
        width, height = size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": touch}
        self.command("Emulation.setDeviceMetricsOverride", **metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.command("Emulation.setEmulatedMedia", features=[scheme])
        self.driver.get("about:blank")
        for log in ("browser", "performance"):
            self.driver.get_log(log)  # what came before is no matter of this page
        self.driver.get(Path(path).as_uri())
        self.settle()

    def command(self, name, **arguments):
        return self.driver.execute_cdp_cmd(name, arguments)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def settle(self):
        """After two frames everything that was asked for is drawn."""
        self.driver.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))")

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def one(self, selector):
        return self.driver.find_element("css selector", selector)

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def click(self, selector):
        self.one(selector).click()
        self.settle()

    def press(self, *keys):
        """Keys to whatever has the focus."""
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()
        self.settle()

    def chosen(self):
        return self.run("return [state.head, state.row, state.column]")

    def boxes(self, selector):
        """(left, top, right, bottom, text) of everything that is shown."""
        return self.run(
            """return [...document.querySelectorAll(arguments[0])].map((each) => [each.getBoundingClientRect(), each])
            .filter(([box]) => box.width > 0 && box.height > 0)
            .map(([box, each]) => [box.left, box.top, box.right, box.bottom, each.textContent])""",
            selector,
        )

    def complaints(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]

    def expect_quiet(self, path):
        """Since the file was opened the console stayed empty, and nothing but the file was asked for."""
        assert self.complaints() == []
        assert [url for url in self.requests() if not url.startswith("blob:")] == [Path(path).as_uri()]

    def saved(self, selector):
        """The bytes of what a click downloads."""
        for file in self.downloads.iterdir():
            file.unlink()
        self.click(selector)
        for _ in range(100):
            files = list(self.downloads.iterdir())  # one alone and not empty: no longer under way
            if len(files) == 1 and files[0].suffix == ".json" and files[0].stat().st_size:
                return files[0].read_bytes()
            time.sleep(0.05)
        raise AssertionError("nothing was downloaded")

    def screenshot(self, path):
        height = self.run("return document.documentElement.scrollHeight")
        width = self.run("return document.documentElement.clientWidth")
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        data = self.command("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)["data"]
        Path(path).write_bytes(base64.b64decode(data))


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver")
    chromium, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not chromedriver:
        pytest.skip("chromium and chromium-driver are not installed")
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    options.add_argument("--headless=new")
    options.add_argument("--disable-gpu")
    options.add_argument("--disable-dev-shm-usage")
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(service=Service(chromedriver), options=options)
    downloads = tmp_path_factory.mktemp("downloads")
    driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(downloads)})
    yield Browser(driver, downloads)
    driver.quit()


@pytest.fixture
def page(browser, tmp_path):
    """page("Life is short", "--heads", 2, size=(360, 740)): runs the program and opens what it wrote; expects of each page, before the
    next one and at the end, that it was quiet."""
    path = tmp_path / "page.html"
    opened = False

    def leave():
        nonlocal opened
        if opened:
            opened = False
            browser.expect_quiet(path)

    def make(*arguments, **how):
        nonlocal opened
        leave()
        succeeds("run", *arguments, "-o", path)
        browser.open(path, **how)
        opened = True
        return browser

    yield make
    leave()
