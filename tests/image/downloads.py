"""Lets pip in the build download as it does on this machine, without a trace in the image.

An index, a proxy or a certificate may be configured here; inside the build nothing of it is known.
The settings are mounted for the duration of the build, so they are in no layer.
"""

import ast
import configparser
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

PIP: Final = ("python3", "-m", "pip")
PIP_CONFIGURATION: Final = Path("/etc/pip.conf")
CERTIFICATES: Final = Path("/mnt/pip-certificates.pem")  # apt may replace those at the usual path
NOT_INSIDE: Final = {"no-binary", "target", "user", "require-virtualenv", "cache-dir"}
"""Settings of this machine that would change what is installed, or where."""


def mounts(folder: Path) -> list[str]:
    """Write a pip configuration to `folder`; return buildah's `--volume` arguments."""
    listed = subprocess.run(
        [*PIP, "config", "list"], capture_output=True, text=True, check=False, timeout=60
    )
    settings = settings_in(listed.stdout)
    certificates = settings.get("cert")
    if certificates:
        settings["cert"] = str(CERTIFICATES)
    file = folder / "pip.conf"
    written = configparser.RawConfigParser()
    written["global"] = settings
    with file.open("w") as stream:
        written.write(stream)
    mounted = {PIP_CONFIGURATION: file}
    if certificates:
        mounted[CERTIFICATES] = Path(certificates)
    mounted.update((path, path) for path in _local_paths(settings))
    return [f"{source}:{path}:ro" for path, source in mounted.items()]


def settings_in(listed: str) -> dict[str, str]:
    """Read `pip config list`: lines such as `global.timeout='60'` or `:env:.timeout='60'`."""
    settings: dict[str, str] = {}
    for line in listed.splitlines():
        name, _, value = line.partition("=")
        option = name.rpartition(".")[2]
        if value and option not in NOT_INSIDE:
            settings[option] = str(ast.literal_eval(value))
    return settings


def _local_paths(settings: Mapping[str, str]) -> Iterator[Path]:
    """Yield the files and folders that the settings name, so that they are found inside too."""
    for value in settings.values():
        for word in value.split():
            url = urlsplit(word)
            if not url.path.startswith("/") or not Path(url.path).exists():
                continue
            if url.scheme == "file":
                yield Path(url.path).parent  # an index links to files beside its folder
            elif not url.scheme:
                yield Path(url.path)
