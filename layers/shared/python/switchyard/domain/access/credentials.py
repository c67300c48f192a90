"""The environment variables that can hold Claude's credential; the first one set counts."""

from typing import Final

CLAUDE_CREDENTIALS: Final = ("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN")
