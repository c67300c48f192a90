from switchyard_local.workers.environment import agent_of, container_environment

# As MiniStack answers: the keys of `secrets` are capitalised, those of `environment` are not.
CONTAINER = {
    "name": "worker",
    "environment": [{"name": "STAGE", "value": "local"}, {"name": "S3_BUCKET", "value": "b"}],
    "secrets": [{"Name": "ANTHROPIC_API_KEY", "ValueFrom": "switchyard-local-claude"}],
}


def test_variables_are_as_deployed() -> None:
    assert container_environment(CONTAINER, {}) == {"STAGE": "local", "S3_BUCKET": "b"}


def test_a_secret_takes_its_value_from_the_host() -> None:
    seen = container_environment(CONTAINER, {"ANTHROPIC_API_KEY": "sk-1"})
    assert seen["ANTHROPIC_API_KEY"] == "sk-1"


def test_the_other_claude_credential_of_the_host_is_passed_on_too() -> None:
    seen = container_environment(CONTAINER, {"CLAUDE_CODE_OAUTH_TOKEN": "token"})
    assert seen["CLAUDE_CODE_OAUTH_TOKEN"] == "token"


def test_an_empty_credential_is_none() -> None:
    assert "ANTHROPIC_API_KEY" not in container_environment(CONTAINER, {"ANTHROPIC_API_KEY": ""})


def test_nothing_else_of_the_host_is_seen() -> None:
    host = {"AWS_PROFILE": "prod", "STAGE": "prod", "GITHUB_TOKEN": "t"}
    assert container_environment(CONTAINER, host) == {"STAGE": "local", "S3_BUCKET": "b"}


def test_secrets_spelt_as_aws_spells_them_are_understood() -> None:
    container = {"secrets": [{"name": "SLACK_TOKEN", "valueFrom": "arn"}]}
    assert container_environment(container, {"SLACK_TOKEN": "x"}) == {"SLACK_TOKEN": "x"}


def test_the_agent_is_named_with_what_its_tasks_cost() -> None:
    assert agent_of({}) == "the offline agent: its tasks cost nothing"
    assert agent_of({"CLAUDE_CODE_OAUTH_TOKEN": "t"}) == (
        "Claude (CLAUDE_CODE_OAUTH_TOKEN is set): its tasks cost money"
    )
