"""A pytest plugin with which Ctrl-C prints no traceback while pytest starts its worker processes.

They are started with SIGINT blocked. Once their own pytest can end in order, they receive what came
before. `python -m tests.run_suite` starts pytest with this plugin.
"""

import signal
from collections.abc import Iterator

import pytest


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> Iterator[None]:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(session.config, "workerinput"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
