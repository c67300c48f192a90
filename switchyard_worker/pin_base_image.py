"""Pins the base image of a Dockerfile by its digest: `make pin-base-image`.

The tag stays in front of the digest, for people to read. Docker asks the registry, so this works
only where that can be reached.
"""

import re
import subprocess
import sys
from pathlib import Path

FROM = re.compile(r"^FROM (?P<image>[^\s@]+)(?:@sha256:[0-9a-f]{64})?$", re.MULTILINE)
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


class NotPinned(Exception):
    """The digest is not known, and why."""


def pinned(dockerfile: str, digest: str) -> str:
    """Return the Dockerfile with its one base image pinned."""
    if not DIGEST.fullmatch(digest):
        raise NotPinned(f"{digest!r} is not a digest")
    changed, count = FROM.subn(rf"FROM \g<image>@{digest}", dockerfile)
    if count != 1:
        raise NotPinned(f"there are {count} FROM lines with a tag; one is expected")
    return changed


def base_image(dockerfile: str) -> str:
    found = FROM.search(dockerfile)
    if found is None:
        raise NotPinned("there is no FROM line with a tag")
    return found["image"]


def digest_of(image: str) -> str:
    asking = ["docker", "buildx", "imagetools", "inspect", image]
    asking += ["--format", "{{.Manifest.Digest}}"]
    try:
        answer = subprocess.run(asking, capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotPinned(f"docker cannot ask for the digest of {image}: {error}") from error
    if answer.returncode:
        raise NotPinned(f"the registry did not name a digest of {image}: {answer.stderr.strip()}")
    return answer.stdout.strip()


def main(file: Path) -> int:
    try:
        text = file.read_text()
        image = base_image(text)
        file.write_text(pinned(text, digest_of(image)))
    except NotPinned as problem:
        sys.stderr.write(f"{file} is unchanged: {problem}\n")
        return 1
    sys.stdout.write(f"{file}: {image} is pinned by digest\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
