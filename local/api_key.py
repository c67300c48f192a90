"""Issues an API key into the deployed state table: `python -m local.api_key`.

A process of its own, because it is pointed at MiniStack by its environment.
"""

import os
import subprocess
import sys
from pathlib import Path

from local.environments import aws_environment, bare_environment
from local.errors import failure_with_log
from local.home import Home

TENANT = "local"


def issue_api_key(root: Path, home: Home, port: int, state_table_name: str) -> str:
    environment = {
        **bare_environment(home),
        **aws_environment(port),
        "STATE_TABLE_NAME": state_table_name,
    }
    log = home.log("api-key")
    with log.open("w") as errors:
        issued = subprocess.run(
            [sys.executable, "-m", "local.api_key"],
            cwd=root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            check=False,
        )
    if issued.returncode != 0:
        raise failure_with_log("No API key could be issued.", log)
    return issued.stdout.strip()


def main() -> None:
    from switchyard.bootstrap import new_api_key  # noqa: PLC0415 - it imports boto3

    sys.stdout.write(new_api_key(TENANT, state_table_name=os.environ["STATE_TABLE_NAME"]))


if __name__ == "__main__":
    main()
