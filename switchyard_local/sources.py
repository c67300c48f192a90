"""Fingerprints of source trees: has what runs been changed since?"""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

DEPLOYED = (
    "app.py",
    "cdk.json",
    "package.json",
    "requirements.txt",
    "stacks",
    "lambdas",
    "layers",
)
RUN_BY_THE_WORKER = ("requirements.txt", "switchyard_worker", "layers/shared")


def fingerprint(root: Path, names: Iterable[str], *facts: str) -> str:
    """Changes with the path or content of any file below `names`, and with any of `facts`."""
    digest = hashlib.sha256(repr(facts).encode())
    for file in files_below(root, names):
        digest.update(repr(str(file.relative_to(root))).encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def files_below(root: Path, names: Iterable[str]) -> Iterator[Path]:
    for name in names:
        start = root / name
        candidates = [start] if start.is_file() else sorted(start.rglob("*"))
        yield from (file for file in candidates if file.is_file() and is_source(file))


def is_source(file: Path) -> bool:
    return "__pycache__" not in file.parts and file.suffix != ".pyc"
