"""For any Lambda function that may take longer than its queue's visibility."""

from switchyard.adapters.sqs_heartbeat import SQSHeartbeat

__all__ = ["SQSHeartbeat"]
