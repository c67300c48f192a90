"""`python -m switchyard_local up|down`."""

import argparse
import sys

from switchyard_local.cloud import LocalCloud
from switchyard_local.errors import CloudError, refused_by_system
from switchyard_local.say import heard_or_not

FAILED = 1
INTERRUPTED = 130


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m switchyard_local", description="The local cloud."
    )
    parser.add_argument("verb", choices=["up", "down"])
    parser.add_argument("--functions", action="append", metavar="PATH")
    given = parser.parse_args()
    try:
        run(given.verb, given.functions)
    except CloudError as error:
        complain(str(error))
        return FAILED
    except OSError as error:
        complain(refused_by_system(error))
        return FAILED
    except KeyboardInterrupt:
        complain("Interrupted: what was started is stopped again.")
        return INTERRUPTED
    return 0


def run(verb: str, functions: list[str] | None = None) -> None:
    cloud = LocalCloud()
    if verb == "up":
        endpoint = cloud.up(say, functions=functions)
        say(f"The local cloud is up: {endpoint.api_url}")
    else:
        cloud.down(say)
        say("The local cloud is down.")


@heard_or_not
def say(line: str) -> None:
    print(line, flush=True)  # noqa: T201


@heard_or_not
def complain(line: str) -> None:
    print(line, file=sys.stderr)  # noqa: T201
