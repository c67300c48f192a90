"""A heartbeat for Lambda functions that may take longer than their queue's visibility."""

from switchyard.adapters.sqs_heartbeat import SQSHeartbeat

__all__ = ["SQSHeartbeat"]
