"""What happened, line by line. The same seed gives the same lines, so the same hash."""

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    at: float
    who: str
    what: str

    def __str__(self) -> str:
        minutes, seconds = divmod(self.at, 60)
        return f"{int(minutes):4d}:{seconds:06.3f}  {self.who:<14} {self.what}"


class Trace:
    def __init__(self) -> None:
        self.lines: list[Line] = []
        self._digest = hashlib.blake2b(digest_size=8)

    def add(self, at: float, who: str, what: str) -> None:
        line = Line(at, who, what)
        self.lines.append(line)
        self._digest.update(f"{line}\n".encode())

    @property
    def hash(self) -> str:
        return self._digest.hexdigest()
