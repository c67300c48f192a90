"""The environment variables that can hold Claude's credential; the first one set counts."""

from typing import Final

API_KEY: Final = "ANTHROPIC_API_KEY"
CLAUDE_CREDENTIALS: Final = (API_KEY, "CLAUDE_CODE_OAUTH_TOKEN")
