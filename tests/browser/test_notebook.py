"""data/examples/notebook in JupyterLab: every cell runs, and the page appears inline and works.

ATTN_JUPYTER is the folder that JupyterLab was installed into; without it, or without Chromium, skipped."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "data" / "examples" / "notebook" / "attention.ipynb"
SETTINGS = {"notebook-extension/tracker": {"windowingMode": "none"},  # cells that are out of view stay
            "apputils-extension/notification": {"fetchNews": "false"}}  # it asks for nothing outside
INSTALLED = os.environ.get("ATTN_JUPYTER", "")
pytestmark = pytest.mark.skipif(not INSTALLED, reason="ATTN_JUPYTER names no JupyterLab")  # before a browser starts
RUN_ALL = """const { sessionContext } = jupyterapp.shell.currentWidget;
sessionContext.ready
  .then(() => sessionContext.session.kernel.info) // what a kernel is asked before it has told that may be lost
  .then(() => jupyterapp.commands.execute("notebook:run-all-cells"))
  .then(arguments[0]);"""
SOON = 60  # seconds until something is there, on a machine with other work


def until(found):
    """What it gives as soon as that is something."""
    for _ in range(4 * SOON):
        if result := found():
            return result
        time.sleep(0.25)
    raise AssertionError("it did not appear")


@pytest.fixture
def lab(tmp_path):
    """The address of a JupyterLab whose folder holds the notebook alone."""
    folder = tmp_path / "notebooks"
    folder.mkdir()
    shutil.copy(NOTEBOOK, folder)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for plugin, setting in SETTINGS.items():
        path = tmp_path / "settings" / "@jupyterlab" / f"{plugin}.jupyterlab-settings"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(setting))
    paths = [str(Path(INSTALLED).resolve()), str(ROOT / "src" / "python"), os.environ.get("PYTHONPATH", "")]
    homes = {name: str(tmp_path / name) for name in ("HOME", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")}
    shared = Path(INSTALLED).resolve() / "share" / "jupyter"
    environment = {**os.environ, **homes, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "JUPYTER_PATH": str(shared),
                   "JUPYTERLAB_SETTINGS_DIR": str(tmp_path / "settings")}
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}", f"--ServerApp.root_dir={folder}",
               f"--LabApp.app_dir={shared / 'lab'}", "--IdentityProvider.token=",
               "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate", "--LabApp.expose_app_in_browser=True"]  # fmt: skip
    with open(tmp_path / "log", "w") as log:
        server = subprocess.Popen(command, env=environment, cwd=folder, stdout=log, stderr=subprocess.STDOUT)
    address = f"http://127.0.0.1:{port}"

    def answers():
        assert server.poll() is None, (tmp_path / "log").read_text()
        try:
            return urllib.request.urlopen(f"{address}/api/status").status == 200
        except OSError:
            return False

    try:
        until(answers)
        yield address, folder / NOTEBOOK.name
    finally:
        server.terminate()
        server.wait()


def test_every_cell_runs_and_the_page_is_there_and_works(lab, browser, tmp_path):
    address, notebook = lab
    cells = json.loads(notebook.read_text())["cells"]
    codes = sum(cell["cell_type"] == "code" for cell in cells)
    browser.command("Emulation.setDeviceMetricsOverride", width=1280, height=2400, deviceScaleFactor=1, mobile=False)
    browser.driver.get(f"{address}/lab/tree/{notebook.name}")
    until(lambda: len(browser.all(".jp-Notebook .jp-Cell")) == len(cells))
    browser.driver.execute_async_script(RUN_ALL)
    until(lambda: browser.run("return [...document.querySelectorAll('.jp-InputPrompt')].filter((each) => /\\[\\d+\\]/.test(each.textContent)).length") == codes)
    text = browser.text(".jp-Notebook")
    assert "Traceback" not in text and '"no scale of the scores"' in text and "sat looks at on at position 3" in text

    frame = until(lambda: browser.all(".jp-OutputArea-output iframe"))[0]
    browser.driver.switch_to.frame(frame)
    try:
        until(lambda: browser.run("return typeof state === 'object'"))
        assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
        assert browser.chosen()[0] == 0
        browser.click("#heads > :nth-child(2)")
        assert browser.chosen()[0] == 1
    finally:
        browser.driver.switch_to.default_content()
    picture = Path(os.environ.get("ATTN_SCREENSHOTS", tmp_path)) / "notebook.png"
    browser.screenshot(picture)
    assert picture.stat().st_size > 20_000
