"""The secret `switchyard/{stage}/slack`: a bare bot token, or JSON with more."""

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from switchyard.ports.alerting import Secrets

_NONE = SecretStr("")


class SlackSecret(BaseModel):
    """The credentials of the Slack app; they are hidden when the object is printed."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    bot_token: SecretStr = Field(default=_NONE, alias="botToken")
    signing_secret: SecretStr = Field(default=_NONE, alias="signingSecret")
    """The signing secret; without it messages have no buttons: a press could not be verified."""

    @property
    def answers_buttons(self) -> bool:
        return bool(self.signing_secret.get_secret_value())


def read_slack_secret(secrets: Secrets, name: str) -> SlackSecret | None:
    """Return `None` if there is no secret, or no token in it. Raise `Unavailable`."""
    text = secrets.text(name) if name else None
    found = _parsed((text or "").strip())
    return found if found and found.bot_token.get_secret_value() else None


def _parsed(text: str) -> SlackSecret | None:
    if not text.startswith("{"):
        return SlackSecret(botToken=SecretStr(text))
    try:
        return SlackSecret.model_validate_json(text)
    except ValidationError:
        return None
