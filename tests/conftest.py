"""What a skipped test means, for every pytest file of the project.

ctest runs one file at a time. A file of which every test was skipped exits with 77, which ctest reports as skipped; a file
without tests fails. With ATTN_REQUIRE_LIVE=1 a skip of any test is a failure, so that a machine which claims to have PyTorch and
NumPy cannot pass without them.
"""

import os

import pytest

SKIPPED = 77


def pytest_sessionfinish(session, exitstatus):
    reporter = session.config.pluginmanager.getplugin("terminalreporter")
    skipped = len(reporter.stats.get("skipped", []))
    passed = len(reporter.stats.get("passed", []))
    if exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) or skipped == 0:
        return
    if os.environ.get("ATTN_REQUIRE_LIVE") == "1":
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    elif passed == 0:
        session.exitstatus = SKIPPED
