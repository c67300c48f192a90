"""What the secret `switchyard/{stage}/slack` says: a bare bot token, or JSON with more."""

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

_NONE = SecretStr("")


class SlackSecret(BaseModel):
    """Printed, it tells nothing."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    bot_token: SecretStr = Field(default=_NONE, alias="botToken")
    signing_secret: SecretStr = Field(default=_NONE, alias="signingSecret")
    """With it, what is pressed in Slack can be believed."""

    @property
    def answers_buttons(self) -> bool:
        return bool(self.signing_secret.get_secret_value())


def slack_secret_in(text: str | None) -> SlackSecret | None:
    """`None` if there is no token in it."""
    found = _parsed((text or "").strip())
    return found if found and found.bot_token.get_secret_value() else None


def _parsed(text: str) -> SlackSecret | None:
    if not text.startswith("{"):
        return SlackSecret(botToken=SecretStr(text))
    try:
        return SlackSecret.model_validate_json(text)
    except ValidationError:
        return None
