"""MiniStack with saves: `python -m switchyard_local.emulator.server`.

By itself MiniStack saves its state only while it shuts down, so a killed one would lose everything.
Here a task beside its requests saves every few seconds, and `POST /_switchyard/save` at once.
"""

import asyncio
import json
import os
import threading  # noqa: TID251 - a save at shutdown meets one that is still written
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

from ministack import app as ministack
from ministack.core import persistence

from switchyard.clock import system_clock
from switchyard_local.emulator.faster_dynamodb import speed_up_dynamodb
from switchyard_local.emulator.faster_functions import speed_up_functions
from switchyard_local.emulator.faster_sqs import speed_up_sqs
from switchyard_local.emulator.released_messages import release_messages
from switchyard_local.emulator.saves import SAVE_PATH, SAVES_FOLDER, TASK_FOLDERS, Saves
from switchyard_local.workers.task_folders import remove_old_task_folders

SAVE_SECONDS: Final = "SWITCHYARD_SAVE_SECONDS"
USUAL_SECONDS: Final = 5.0
LEAST_PAUSE: Final = 20.0
"""A save is followed by a pause so many times as long: large states are saved less often."""

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]


class SavingServer:
    """MiniStack's application, with the saves around it."""

    def __init__(
        self,
        serve: Application,
        saves: Saves,
        *,
        port: int,
        seconds: float,
        tidy: Callable[[], object],
    ) -> None:
        """`tidy` is called after each save, and bounds what the local cloud leaves on the disk."""
        self._tidy = tidy
        self._serve = serve
        self._saves = saves
        self._port = port
        self._seconds = seconds
        self._clock = system_clock()
        self._saving: asyncio.Task[None] | None = None
        self._writing = threading.Lock()
        self._ended = False

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._serve(scope, receive, self._starting_to_save(send))
        elif scope.get("path") == SAVE_PATH:
            await self._save()
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b""})
        else:
            await self._serve(scope, receive, send)

    def save_finally(self, services: Mapping[str, Callable[[], object]]) -> None:
        """Take the place of MiniStack's own save at its shutdown."""
        self._write(_states(services), final=True)

    def _starting_to_save(self, send: Send) -> Send:
        async def send_and_start(message: Message) -> None:
            await send(message)
            if message["type"] == "lifespan.startup.complete":
                self._saving = asyncio.create_task(self._save_again_and_again())

        return send_and_start

    async def _save_again_and_again(self) -> None:
        pause = self._seconds
        while True:
            await asyncio.sleep(pause)  # noqa: TID251 - the server's own pace
            began = self._clock.monotonic()
            with suppress(RuntimeError):  # a thread of MiniStack changed what was being copied
                await self._save()
            await asyncio.get_running_loop().run_in_executor(None, self._tidy)
            pause = max(self._seconds, LEAST_PAUSE * (self._clock.monotonic() - began))

    async def _save(self) -> None:
        states = _states(ministack._build_persistence_save_dict())
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, lambda: self._write(states, final=False))

    def _write(self, states: Mapping[str, object], *, final: bool) -> None:
        now_ms = self._clock.now_ms()
        with self._writing:
            if not self._ended:
                self._saves.write(states, dump=_dumped, port=self._port, now_ms=now_ms, final=final)
            self._ended = self._ended or final


def _states(services: Mapping[str, Callable[[], object]]) -> dict[str, object]:
    """Return copies of what the services hold; a service without state has none."""
    copies = {name: get_state() for name, get_state in services.items()}
    return {name: state for name, state in copies.items() if state is not None}


def _dumped(service: str, state: object) -> str:
    """Return the text that MiniStack itself would save, which it reads again."""
    versioned = {
        "__ministack_format__": persistence._state_format_version(service),
        "payload": state,
    }
    return json.dumps(versioned, default=persistence._json_default)


def main() -> None:
    saves, port = Saves(Path(os.environ[SAVES_FOLDER])), int(os.environ["GATEWAY_PORT"])
    saves.restore(Path(persistence.STATE_DIR), port=port)
    server = SavingServer(
        ministack.app,
        saves,
        port=port,
        seconds=float(os.environ.get(SAVE_SECONDS, USUAL_SECONDS)),
        tidy=partial(remove_old_task_folders, Path(os.environ[TASK_FOLDERS])),
    )
    ministack.app, ministack.save_all = server, server.save_finally
    speed_up_dynamodb()
    speed_up_functions()
    speed_up_sqs()
    release_messages()
    ministack.main()


if __name__ == "__main__":
    main()
