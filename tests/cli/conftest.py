"""The black-box tests need the program: its path is in the environment variable ATTN_CLI."""

import os


def pytest_configure(config):
    if not os.access(os.environ.get("ATTN_CLI", ""), os.X_OK):
        raise RuntimeError("set ATTN_CLI to the program to test, such as build/check/attn-cli")
