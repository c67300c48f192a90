"""Issues an API key into the deployed table of keys.

`python -m switchyard_local.deployment.api_key TENANT TABLE` prints it.

A process of its own, because it is pointed at MiniStack by its environment.
"""

import subprocess
import sys
from pathlib import Path

from switchyard_local.environments import aws_environment, bare_environment
from switchyard_local.errors import failure_with_log
from switchyard_local.home import Home

TENANT = "local"
"""The tenant whose key the local cloud itself uses."""


def issue_api_key(root: Path, home: Home, port: int, *, table_name: str) -> str:
    log = home.log("api-key")
    with log.open("w") as errors:
        issued = subprocess.run(
            [sys.executable, "-m", "switchyard_local.deployment.api_key", TENANT, table_name],
            cwd=root,
            env={**bare_environment(home), **aws_environment(port)},
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

    tenant, table_name = sys.argv[1:]
    sys.stdout.write(new_api_key(tenant, table_name=table_name))


if __name__ == "__main__":
    main()
