"""Reads the outputs of deployed stacks."""

from botocore.exceptions import BotoCoreError, ClientError

from switchyard.adapters import aws
from switchyard.domain.errors import Unavailable


class CloudFormationOutputs:
    def __init__(self, **where: str) -> None:
        self._where = where

    def of(self, stack: str, output: str) -> str:
        """Raise `Unavailable` when credentials, region, stack or output are missing."""
        try:
            answer = aws.client("cloudformation", **self._where).describe_stacks(StackName=stack)
        except (BotoCoreError, ClientError) as error:
            raise Unavailable(str(error)) from error
        outputs = {o["OutputKey"]: o["OutputValue"] for o in answer["Stacks"][0].get("Outputs", [])}
        if output not in outputs:
            raise Unavailable(f"the stack {stack} has no output {output}")
        return str(outputs[output])
