"""Start the `switchyard` command. Ctrl-C ends it with one line and 130, during imports as well.

`services_of` restores the usual handler once there may be something to clean up.
"""

import _signal  # type: ignore[import-not-found] # `signal` imports `enum`: a traceback on Ctrl-C
import gc
import os
import sys

INTERRUPTED = 130
SENTENCE = "Interrupted.\n"
GARBAGE_THRESHOLD = 100_000
"""Imports create 60,000 objects and no garbage: Python's threshold of 700 would find nothing."""


def main() -> None:
    _signal.signal(_signal.SIGINT, _end_at_once)
    _leave_out_what_no_command_uses()
    from switchyard_cli.app import run  # noqa: PLC0415 - the handler comes first

    try:
        run()
    except KeyboardInterrupt:
        sys.stderr.write(SENTENCE)
        sys.exit(INTERRUPTED)
    finally:
        _signal.signal(_signal.SIGINT, _signal.SIG_IGN)  # it has ended; only its exit is left
        _forget_interrupted_text()
        gc.freeze()  # the interpreter would look through all objects before it ends


def _leave_out_what_no_command_uses() -> None:
    """Skip imports and searches for garbage: most of what a short command does is to import."""
    for module in (
        "httpx._main",  # its own command line, hence Click and Pygments
        "h2",  # HTTP/2, which a client has to be asked for
    ):
        sys.modules[module] = None  # type: ignore[assignment]
    # Pydantic reads the metadata of every installed package to find its plugins.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    gc.set_threshold(GARBAGE_THRESHOLD)


def _forget_interrupted_text() -> None:
    """Let the interpreter exit with our code, and not by SIGINT.

    It remembers that a Ctrl-C interrupted a text that was executed, as `dataclass` executes texts,
    even if the exception was handled. Executing another text makes it forget.
    """
    exec("")  # noqa: S102 - a constant


def _end_at_once(_number: int, _frame: object) -> None:
    """End without an exception, which an import could swallow or print."""
    os.write(sys.stderr.fileno(), SENTENCE.encode())
    os._exit(INTERRUPTED)
