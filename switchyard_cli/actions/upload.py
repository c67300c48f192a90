"""Uploads the files that are submitted with a job."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from switchyard.client.errors import PAUSE_SECONDS, UnusableFile
from switchyard.client.patience import patiently
from switchyard.client.uploads import LocalFile, local_files, upload
from switchyard_cli.errors import BadInput
from switchyard_cli.terminal import notices
from switchyard_cli.views.upload_bar import upload_bar

if TYPE_CHECKING:
    from switchyard.contracts.files import FileContent
    from switchyard.ports import Clock
    from switchyard_cli.connections.api import Api
    from switchyard_cli.files.beside import Beside


def files_to_send(given: Sequence[LocalFile], beside: Beside) -> list[LocalFile]:
    """Return the files of the options, and those that lie beside the job file. Raise `BadInput`."""
    try:
        found = local_files(dict(beside.files))
    except UnusableFile as error:
        raise BadInput(f"local: files: {error}") from error
    named = {file.name for file in given}
    return [*given, *(file for file in found if file.name not in named)]


def named_files(given: Sequence[str]) -> list[LocalFile]:
    """Return the files of `--file NAME=PATH`. Raise `BadInput`."""
    named: dict[str, str] = {}
    for text in given:
        name, sign, path = text.partition("=")
        if not (name and sign and path):
            raise BadInput(f"--file {text}: write NAME=PATH, as in --file brief=./brief.pdf.")
        if name in named:
            raise BadInput(f"--file {name} is there twice; give one of the files another name.")
        named[name] = path
    try:
        return local_files(named)
    except UnusableFile as error:
        raise BadInput(f"--file: {error}") from error


def uploaded(files: Sequence[LocalFile], api: Api, clock: Clock) -> dict[str, FileContent]:
    """Send the files; return what the job has to name. Raise `ClientError` or `BadInput`."""
    contents: dict[str, FileContent] = {}
    total = 2 * sum(file.size for file in files)  # each is read for its checksum, then sent
    try:
        with upload_bar(notices(), clock, total=total) as progress:
            for file in files:
                content = contents[file.name] = file.measured(progress)
                send = partial(upload, api, file, content, progress)
                patiently(send, clock, seconds=PAUSE_SECONDS)
    except UnusableFile as error:
        raise BadInput(f"--file: {error}") from error
    return contents
