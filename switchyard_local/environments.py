"""The environments of our child processes, built from nothing: the host's never leaks in.

Lambda functions inherit what MiniStack was started with, so a stray AWS_PROFILE or API key of the
host would change how they behave.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from switchyard_local.emulator.loopback import LOOPBACK
from switchyard_local.home import Home

REGION = "us-east-1"
ACCOUNT = "000000000000"

# A download during synthesis must find its way out and its cache, like the user's own commands.
DOWNLOAD_PREFIXES = ("UV_", "PIP_", "SSL_CERT_", "XDG_CACHE_")
DOWNLOAD_NAMES = {"HOME", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"}


def bare_environment(home: Home) -> dict[str, str]:
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(home.user_home),
        "LANG": "C.UTF-8",
        "TMPDIR": str(home.temporary),
    }


def aws_environment(port: int) -> dict[str, str]:
    return {
        # The CDK CLI remembers accounts by access key: no other account has this one.
        "AWS_ACCESS_KEY_ID": "switchyard-local",
        "AWS_SECRET_ACCESS_KEY": "not-a-secret",
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ENDPOINT_URL": f"http://{LOOPBACK}:{port}",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def download_environment(host: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in host.items()
        if name.upper() in DOWNLOAD_NAMES or name.startswith(DOWNLOAD_PREFIXES)
    }
