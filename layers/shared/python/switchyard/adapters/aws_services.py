"""The AWS services that this package has clients for, and no others.

The dependency layer describes exactly these to botocore (`stacks.dependencies`), so a service that
is missing here cannot be called by a deployed function. The types see to it that none is: the
argument of `aws.client` is a `Service`.
"""

from typing import Literal

Service = Literal[
    "cloudformation",
    "cloudwatch",
    "dynamodb",
    "ecr",
    "ecs",
    "events",
    "lambda",
    "logs",
    "s3",
    "secretsmanager",
    "sqs",
    "sts",
]
