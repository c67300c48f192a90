"""Invents texts: of a format where the schema names one, else words about the field's name."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from worker.agents.dice import Dice

WORDS: Final = (
    "amber", "brisk", "calm", "clear", "copper", "gentle", "granite", "harbour", "linen", "meadow",
    "northern", "quiet", "silver", "steady", "timber", "velvet", "warm", "willow",
)  # fmt: skip

_FORMATS: Final[Mapping[str, Callable[[Dice], str]]] = {
    "date": lambda dice: f"2026-{dice.roll(1, 12):02}-{dice.roll(1, 28):02}",
    "time": lambda dice: f"{dice.roll(0, 23):02}:{dice.roll(0, 59):02}:00Z",
    "date-time": lambda dice: f"2026-{dice.roll(1, 12):02}-{dice.roll(1, 28):02}T12:00:00Z",
    "duration": lambda dice: f"PT{dice.roll(1, 59)}M",
    "email": lambda dice: f"{dice.pick(WORDS)}@example.com",
    "hostname": lambda dice: f"{dice.pick(WORDS)}.example.com",
    "ipv4": lambda dice: f"192.0.2.{dice.roll(1, 254)}",
    "uri": lambda dice: f"https://example.com/{dice.pick(WORDS)}",
    "uuid": lambda dice: f"00000000-0000-5000-8000-{dice.roll(0, 16**12 - 1):012x}",
}


def text_like(schema: Mapping[str, Any], name: str, dice: Dice) -> str:
    if schema.get("format") in _FORMATS:
        return _FORMATS[schema["format"]](dice)
    least = schema.get("minLength", 0)
    text = f"{dice.pick(WORDS)} {dice.pick(WORDS)} {name}"
    while len(text) < least:
        text += f" {dice.pick(WORDS)}"
    return text[: schema.get("maxLength", len(text))]
