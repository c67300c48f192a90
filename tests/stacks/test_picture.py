"""The architecture picture shows what is deployed, and is rendered from today's source."""

from tests.stacks.picture import (
    PICTURE,
    functions_in,
    origin,
    queues_in,
    source,
    tables_in,
)
from tests.stacks.synthesized import SynthesizedStage, further_queues

NOT_A_TABLE = {"S3 bucket"}


def test_the_picture_shows_every_function_and_no_other(synthesized: SynthesizedStage) -> None:
    functions = synthesized.all("AWS::Lambda::Function")
    deployed = {one["FunctionName"] for one in functions if "FunctionName" in one}
    shown = {synthesized.stage.prefixed(name) for name in functions_in(source())}
    # A stage may do without the health check; no stage has a function that is not shown.
    assert shown - {synthesized.stage.prefixed("check-health")} <= deployed <= shown


def test_the_picture_shows_every_queue_and_no_other(synthesized: SynthesizedStage) -> None:
    """Every pool has a task queue with its dead letters; the picture shows the default pool's."""
    queues = {one["QueueName"] for one in synthesized.all("AWS::SQS::Queue")}
    others = [
        *further_queues(synthesized.stage),
        *further_queues(synthesized.stage, suffix="-dlq"),
    ]
    deployed = queues - set(map(synthesized.stage.data_name, others))
    assert {synthesized.stage.data_name(name) for name in queues_in(source())} == deployed


def test_the_picture_shows_every_table_and_no_other(synthesized: SynthesizedStage) -> None:
    tables = synthesized.all("AWS::DynamoDB::Table") + synthesized.all("AWS::DynamoDB::GlobalTable")
    shown = {synthesized.stage.data_name(name) for name in tables_in(source()) - NOT_A_TABLE}
    assert shown == {one["TableName"] for one in tables}


def test_the_svg_was_rendered_from_the_source_as_it_is_now() -> None:
    assert PICTURE.read_text().endswith(f"{origin()}\n"), "run `make pictures`"
