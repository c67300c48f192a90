"""Say what goes on after Ctrl-C, and the commands that a user may type next."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from switchyard_cli.errors import Interrupted
from switchyard_cli.interrupts import was_pressed

if TYPE_CHECKING:
    from switchyard_cli.connections.api import Api
    from switchyard_cli.services import Services

COMMAND_VARIABLE: Final = "SWITCHYARD_COMMAND"
"""Names the command with its path where it is not on the user's PATH: `make run` sets it."""


@dataclass(frozen=True)
class NextCommands:
    """Spells commands such that they reach the stage of the command that suggests them."""

    command: str
    stage_option: str
    cloud_goes_down: bool
    """Whether the local cloud has to be started again first."""

    @classmethod
    def of(cls, api: Api, services: Services, *, cloud_goes_down: bool = False) -> NextCommands:
        command = services.environment.get(COMMAND_VARIABLE, "switchyard")
        return cls(command, api.endpoint.stage.option, cloud_goes_down)

    def first(self, words: str, *, options: str = "") -> str:
        """Spell a command, after the one that starts the local cloud if that is needed."""
        up = f"`{self.command} up`, then " if self.cloud_goes_down else ""
        return up + self.then(words, options=options)

    def then(self, words: str, *, options: str = "") -> str:
        return f"`{self.command} {words}{self.stage_option}{options}`"

    def after_watching(self, job_id: str) -> str:
        """Say that a job goes on which is watched no more."""
        when = " when the local cloud is up again" if self.cloud_goes_down else ""
        watch, cancel = self.first(f"watch {job_id}"), self.then(f"cancel {job_id}")
        return f"{job_id} goes on{when}: {watch} follows it, {cancel} ends it."

    def after_sending(self) -> str:
        """Say that the API may have accepted a job whose answer was not awaited."""
        return f"The job may have been submitted: {self.first('jobs')} shows it."


@contextmanager
def explaining_ctrl_c(sentence: str) -> Iterator[None]:
    """Raise `Interrupted` with the sentence on Ctrl-C, also where an import has swallowed it."""
    try:
        yield
    except (Exception, KeyboardInterrupt) as error:
        if isinstance(error, KeyboardInterrupt) or was_pressed():
            raise Interrupted(f"Interrupted. {sentence}") from error
        raise
