"""Gives every child of a worker that was started with this folder on its PYTHONPATH some company,
as an agent's shell may: processes in sessions of their own, one of them an orphan from the start.
"""

import asyncio
from typing import Any, Final

COMPANY: Final = 'setsid sleep 600 & (setsid sleep 600 &); exec "$@"'

spawn: Final = asyncio.create_subprocess_exec


async def with_company(*command: str, **options: Any) -> asyncio.subprocess.Process:
    return await spawn("/bin/sh", "-c", COMPANY, "sh", *command, **options)


asyncio.create_subprocess_exec = with_company  # type: ignore[assignment]
