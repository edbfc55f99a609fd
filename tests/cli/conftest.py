"""The black-box tests need the program: its path is in the environment variable ATTN_CLI."""

import os
import shutil
import signal
import tempfile

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    if not os.access(os.environ.get("ATTN_CLI", ""), os.X_OK):
        raise RuntimeError("set ATTN_CLI to the program to test, such as build/check/attn-cli")
    # A background shell ignores these, and the program would do as its parent does.
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    # Whatever else runs pytest closes the folder that all share, under tests that open theirs to another user.
    if config.option.basetemp is None:
        config.option.basetemp = tempfile.mkdtemp(prefix="attn-cli-tests-")


def pytest_sessionfinish(session, exitstatus):
    if exitstatus == 0:
        shutil.rmtree(session.config.option.basetemp, ignore_errors=True)
