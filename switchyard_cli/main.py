"""Start the `switchyard` command. Ctrl-C ends it with one line and 130, during imports as well.

`services_of` restores the usual handler once there may be something to clean up.
"""

import _signal  # type: ignore[import-not-found] # `signal` imports `enum`: a traceback on Ctrl-C
import os
import sys

INTERRUPTED = 130
SENTENCE = "Interrupted.\n"


def main() -> None:
    _signal.signal(_signal.SIGINT, _end_at_once)
    # httpx imports its own command line, hence Click, Rich and Pygments, if they can be imported.
    sys.modules["httpx._main"] = None  # type: ignore[assignment]
    from switchyard_cli.app import run  # noqa: PLC0415 - the handler comes first

    try:
        run()
    except KeyboardInterrupt:
        sys.stderr.write(SENTENCE)
        sys.exit(INTERRUPTED)
    finally:
        _signal.signal(_signal.SIGINT, _signal.SIG_IGN)  # it has ended; only its exit is left


def _end_at_once(_number: int, _frame: object) -> None:
    """End without an exception, which an import could swallow or print."""
    os.write(sys.stderr.fileno(), SENTENCE.encode())
    os._exit(INTERRUPTED)
