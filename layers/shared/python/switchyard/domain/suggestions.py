"""Suggest the known name that a mistyped one probably means."""

from collections.abc import Iterable


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that suggests the nearest name; nothing if none is near."""
    from difflib import get_close_matches  # noqa: PLC0415 - only after a mistake

    plain = {_plain(name): name for name in known}
    near = get_close_matches(_plain(given), plain, n=1, cutoff=0.7)
    return f"; did you mean {plain[near[0]]!r}?" if near and plain[near[0]] != given else ""


def _plain(name: str) -> str:
    """Without case, hyphens and underscores: `depends_on` means `dependsOn`."""
    return "".join(character for character in name.lower() if character.isalnum())
