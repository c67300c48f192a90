"""`python -m local up|down`."""

import argparse
import sys

from local.cloud import LocalCloud
from local.errors import CloudError

INTERRUPTED = 130


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m local", description="The local cloud.")
    parser.add_argument("verb", choices=["up", "down"])
    verb = parser.parse_args().verb
    try:
        run(verb)
    except CloudError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 1
    except KeyboardInterrupt:
        print("Interrupted: what was started is stopped again.", file=sys.stderr)  # noqa: T201
        return INTERRUPTED
    return 0


def run(verb: str) -> None:
    cloud = LocalCloud()
    if verb == "up":
        endpoint = cloud.up(say)
        say(f"The local cloud is up: {endpoint.api_url}")
    else:
        cloud.down(say)
        say("The local cloud is down.")


def say(line: str) -> None:
    print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
