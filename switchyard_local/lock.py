"""A lock across processes: one holder at a time; it ends with its holder, however that ends."""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def held(file: Path, *, when_waiting: Callable[[], None]) -> Iterator[None]:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            when_waiting()
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
