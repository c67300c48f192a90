"""What Slack's error codes mean, and what mends them."""

from typing import Final

from switchyard.domain.errors import AnswerLost
from switchyard.ports.alerting import ChatRefused, MessageGone

_INSTALL: Final = "put the token of an installed app into the secret"
_INVITE: Final = "invite the bot to the channel: /invite @switchyard"
_FIXES: Final = {
    "invalid_auth": _INSTALL,
    "not_authed": _INSTALL,
    "account_inactive": _INSTALL,
    "token_revoked": _INSTALL,
    "token_expired": _INSTALL,
    "channel_not_found": f"check the channel's name or id; if it is private, {_INVITE}",
    "not_in_channel": _INVITE,
    "is_archived": "name another channel in stacks/stage.py",
    "restricted_action": "allow apps to post to the channel",
    "missing_scope": "give the app chat:write, and channels:history and channels:read (a private "
    "channel, which must be named by its id, needs groups:history), by which a message whose "
    "answer was lost is found and not posted twice; then install it again",
}
_GONE: Final = frozenset(
    {"message_not_found", "cant_update_message", "edit_window_closed", "thread_not_found"}
)
_NOBODY_KNOWS: Final = frozenset(
    {"fatal_error", "internal_error", "request_timeout", "service_unavailable"}
)


def refusal(code: str) -> Exception:
    if code in _NOBODY_KNOWS:
        return AnswerLost(f"Slack answered {code}")
    if code in _GONE:
        return MessageGone(f"Slack answered {code}")
    fix = _FIXES.get(code)
    return ChatRefused(f"Slack answered {code}" + (f": {fix}" if fix else ""))
