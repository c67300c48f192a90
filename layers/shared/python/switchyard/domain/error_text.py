"""Errors in a form that may be published: no keys, no tokens, no logins, no home folders."""

import re
from dataclasses import dataclass
from typing import Final

from switchyard.domain.text import without_control_characters

REDACTED: Final = "[redacted]"

_PEM_LABEL: Final = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_PEM_BEGINS: Final = re.compile(rf"-----BEGIN {_PEM_LABEL}")
_PEM_ENDS: Final = re.compile(rf"-----END {_PEM_LABEL}")
_NOT_WITHIN: Final = r"(?<![A-Za-z0-9])"
_QUOTE: Final = r"(?:\\{0,8}[\"'])?"
"""A quote that may be escaped: JSON in a text of JSON is common."""
_NAMES: Final = ("key", "secret", "password", "passwd", "token", "credential", "signature")


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of a kind of secret, and what stays of one."""

    name: str
    pattern: re.Pattern[str]
    stays: str
    hints: tuple[str, ...]
    """Words, in lower case, of which each match contains one. Text without any is not searched."""

    @classmethod
    def of_keys(cls, name: str, pattern: str, *hints: str) -> "Shape":
        """Keys that are recognized by how they begin, and of which nothing stays."""
        return cls(name, re.compile(_NOT_WITHIN + pattern), REDACTED, hints)


SHAPES: Final = (
    Shape.of_keys("keys and tokens of Anthropic", r"sk-[A-Za-z0-9_-]{16,}", "sk-"),
    Shape.of_keys("access key ids of AWS", r"(?:AKIA|ASIA)[A-Z0-9]{16}", "akia", "asia"),
    Shape.of_keys(
        "tokens of GitHub",
        r"(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})",
        *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    ),
    Shape.of_keys("API keys of Switchyard", r"swy\.[a-z0-9-]{1,63}\.[A-Za-z0-9_-]{8,}", "swy."),
    Shape.of_keys("tokens of Slack", r"(?:xox[a-z]-|xapp-)[A-Za-z0-9-]{10,}", *("xox", "xapp-")),
    Shape.of_keys(
        "signed tokens (JWT)",
        r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
        "eyj",
    ),
    Shape(
        "Slack webhooks",
        re.compile(r"(?i)(https://hooks\.slack(?:-gov)?\.com/[a-z]+/)[A-Za-z0-9_/-]+"),
        rf"\1{REDACTED}",
        ("hooks.slack",),
    ),
    Shape(
        "bearer and basic credentials",
        re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}"),
        rf"\1 {REDACTED}",
        ("bearer", "basic"),
    ),
    Shape(
        "logins in addresses",
        re.compile(r"(?i)\b([a-z][a-z0-9+.-]{0,20}://)[^\s/@]+@"),
        rf"\1{REDACTED}@",
        ("://",),
    ),
    Shape(
        "values beside names like `password=`",
        re.compile(
            r"(?i)((?:api[_-]?key|access[_-]?key(?:[_-]?id)?|secret|password|passwd|token"
            rf"|credential|signature){_QUOTE}\s*[:=]\s*{_QUOTE})(?!\[redacted\])"
            r"(?:(?!\\[\"'])[^\s\"',;&)}\]])+"
        ),
        rf"\1{REDACTED}",
        _NAMES,
    ),
    Shape(
        "home folders",
        re.compile(r"(?<![\w.])(?:/(?:home|Users)/[^\s/:\"']+|/root(?![\w.-]))"),
        "~",
        ("/home/", "/users/", "/root"),
    ),
)
PRIVATE_KEYS: Final = "PEM private keys, also over several lines"
"""The kind of secret that no pattern alone finds."""


def without_secrets(text: str) -> str:
    """Remove secrets of known shapes from one line or many."""
    text = _without_private_keys(text)
    small = text.lower()
    for shape in SHAPES:
        if any(hint in small for hint in shape.hints):
            text = shape.pattern.sub(shape.stays, text)
    return text


class SecretLines:
    """Removes secrets from text that arrives line by line: a private key spans several lines."""

    def __init__(self) -> None:
        self._inside_key = False

    def line(self, text: str) -> str:
        if self._inside_key:
            ended = _PEM_ENDS.search(text)
            if ended is None:
                return REDACTED
            text = f"{REDACTED}{text[ended.end() :]}"
        begins = [match.start() for match in _PEM_BEGINS.finditer(text)]
        ends = [match.start() for match in _PEM_ENDS.finditer(text)]
        self._inside_key = bool(begins) and (not ends or ends[-1] < begins[-1])
        return without_secrets(text)


def _without_private_keys(text: str) -> str:
    """Replace each PEM block of a private key; one without an end reaches to the end of the text.

    Two searches instead of one pattern with a gap: that would be quadratic on hostile text.
    """
    parts: list[str] = []
    done = 0
    while begins := _PEM_BEGINS.search(text, done):
        ends = _PEM_ENDS.search(text, begins.end())
        parts += [text[done : begins.start()], REDACTED]
        done = ends.end() if ends else len(text)
    return "".join([*parts, text[done:]])


def error_text(error: str, *, max_characters: int) -> str:
    """Return a text that is safe to store, to publish and to show."""
    return without_secrets(without_control_characters(error))[:max_characters]
