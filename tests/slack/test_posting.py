"""Each incident is one message: updated when it changes, with each change posted in its thread."""

from dataclasses import replace

from switchyard.domain.alerts.alerts import PublishStatus
from switchyard.domain.alerts.incidents import Incident, Section
from tests.fakes.slack.api import CHANNELS, POST, UPDATE
from tests.slack.conftest import KnownSecrets, Stage
from tests.slack.incidents import KEY, an_incident, job_subject, over, stuck


def status_of(stage: Stage, incident: Incident) -> PublishStatus:
    return stage.run(incident).status


def test_an_incident_is_one_message_with_what_is_known_of_it(stage: Stage) -> None:
    assert status_of(stage, an_incident()) is PublishStatus.POSTED
    (message,) = stage.slack.messages
    assert message.channel == CHANNELS["#ops"]
    assert message.seen.splitlines()[0] == "# 🔴 A job failed"
    assert "job: `job-1`" in message.seen
    assert "```no such host```" in message.seen
    assert message.text == "🔴 A job failed"
    assert stage.slack.tokens == {"xoxb-token"}


def test_ten_runs_that_find_the_same_post_it_once(stage: Stage) -> None:
    """The minutes that pass are no news."""
    for minute in range(10):
        status_of(stage, stuck(3, elapsed=20 + minute))
    assert stage.slack.calls == [POST]


def test_a_change_is_seen_in_the_message_and_posted_in_its_thread(stage: Stage) -> None:
    status_of(stage, an_incident("partly failed"))
    assert status_of(stage, an_incident("failed")) is PublishStatus.UPDATED
    (main,) = stage.slack.mains
    assert main.seen.startswith("# 🔴 A job failed")
    assert [reply.seen.strip() for reply in stage.slack.thread()] == ["🔴 Now it failed"]


def test_the_end_is_posted_once(stage: Stage) -> None:
    status_of(stage, an_incident())
    assert [status_of(stage, over()) for _ in range(3)] == [
        PublishStatus.RECOVERED,
        PublishStatus.UNCHANGED,
        PublishStatus.UNCHANGED,
    ]
    (main,) = stage.slack.mains
    assert main.seen.startswith("# ✅ A job completed")
    assert [reply.seen.strip() for reply in stage.slack.thread()] == ["✅ Over: it completed"]


def test_an_incident_that_is_over_and_was_never_posted_is_not_posted(stage: Stage) -> None:
    assert status_of(stage, over()) is PublishStatus.UNCHANGED
    assert stage.slack.calls == []
    assert stage.store.find(KEY) is None


def test_what_begins_anew_is_a_new_message(stage: Stage) -> None:
    for incident in (an_incident(), over(), an_incident(), over()):
        status_of(stage, incident)
    assert [main.seen.split()[1] for main in stage.slack.mains] == ["✅", "✅"]
    assert [len(stage.slack.thread(number)) for number in (0, 1)] == [1, 1]


def test_sixty_stuck_tasks_are_paged_and_the_pages_follow_in_the_thread(stage: Stage) -> None:
    status_of(stage, stuck(60))
    first, *others = stage.slack.messages
    pages = 1 + len(others)
    assert first.seen.startswith(f"# 🔴 60 stuck tasks, 0 overtime tasks (1 of {pages})")
    assert others
    assert {page.thread_ts for page in others} == {first.ts}
    seen = "".join(page.seen for page in stage.slack.messages)
    for number in range(60):
        assert seen.count(f"*job-1__task-{number:03d}*") == 1


def test_long_names_and_errors_make_more_pages_and_no_message_that_slack_refuses(
    stage: Stage,
) -> None:
    text = "`&<>*~ä\x1b" * 400
    sections = tuple(Section(title=text, facts=((text, text),) * 6, text=text) for _ in range(50))
    assert status_of(stage, an_incident(sections=sections)) is PublishStatus.POSTED
    assert len(stage.slack.messages) > 10


def test_a_page_that_is_not_needed_any_more_says_so(stage: Stage) -> None:
    status_of(stage, stuck(60))
    status_of(stage, stuck(1))
    first, second, news = stage.slack.messages
    assert first.seen.startswith("# 🔴 1 stuck task, 0 overtime tasks\n")
    assert second.seen.strip() == "_nothing more_"
    assert news.seen.strip() == "🔴 Now: 1 stuck task, 0 overtime tasks"


def test_pages_that_are_needed_later_follow_in_the_thread(stage: Stage) -> None:
    status_of(stage, stuck(1))
    status_of(stage, stuck(60))
    assert [message.thread_ts for message in stage.slack.messages].count(None) == 1
    assert "(2 of 2)" in stage.slack.thread()[0].seen


def test_every_channel_has_a_message_of_its_own(stage: Stage) -> None:
    status_of(stage, an_incident())
    status_of(stage, an_incident(channel="#elsewhere"))
    status_of(stage, over(channel="#elsewhere"))
    here, there = stage.slack.mains
    assert (here.channel, there.channel) == (CHANNELS["#ops"], CHANNELS["#elsewhere"])
    assert here.seen.startswith("# 🔴")
    assert there.seen.startswith("# ✅")


def test_buttons_are_shown_where_presses_can_be_verified(stage: Stage) -> None:
    status_of(stage, an_incident())
    assert "[Redrive]" not in stage.slack.messages[0].seen
    stage.secrets["slack"] = '{"botToken": "xoxb-2", "signingSecret": "s3cret"}'
    status_of(stage, replace(an_incident(), subject=job_subject("job-2")))
    assert "[Redrive]" in stage.slack.messages[1].seen
    (button,) = stage.slack.messages[1].blocks[-1]["elements"]
    assert button["action_id"] == "switchyard_redrive"
    assert button["value"] == '{"tenant": "acme", "job": "job-1", "run": 1}'
    assert "s3cret" not in str(stage.slack.messages)


def test_without_a_token_or_a_channel_nothing_is_posted_or_stored(
    stage: Stage,
) -> None:
    stage.secrets = KnownSecrets()
    publisher = stage.publisher()
    first, second = publisher.publish(an_incident()), publisher.publish(an_incident())
    assert (first.status, first.repeated) == (PublishStatus.NOT_CONFIGURED, False)
    assert (second.status, second.repeated) == (PublishStatus.NOT_CONFIGURED, True)
    assert stage.run(an_incident(), channel="").status is PublishStatus.NOT_CONFIGURED
    assert stage.store.find(KEY) is None
    stage.secrets = KnownSecrets(slack="xoxb-late")
    assert status_of(stage, an_incident()) is PublishStatus.POSTED


def test_a_secret_that_cannot_be_read_as_one_is_no_token(stage: Stage) -> None:
    for text in ("", "  ", "{}", '{"botToken": ""}', '{"botToken": 7}', "{not json"):
        stage.secrets["slack"] = text
        assert status_of(stage, an_incident()) is PublishStatus.NOT_CONFIGURED


def test_a_deleted_message_is_posted_again(stage: Stage) -> None:
    status_of(stage, stuck(60))
    stage.slack.messages.clear()
    assert status_of(stage, stuck(50)) is PublishStatus.UPDATED
    assert len(stage.slack.mains) == 1
    assert "(2 of 2)" in stage.slack.thread()[0].seen


def test_the_end_of_a_deleted_message_is_not_posted(stage: Stage) -> None:
    status_of(stage, an_incident())
    stage.slack.messages.clear()
    assert status_of(stage, over()) is PublishStatus.UNCHANGED
    assert stage.slack.calls == [POST, UPDATE]
    assert status_of(stage, an_incident()) is PublishStatus.POSTED
