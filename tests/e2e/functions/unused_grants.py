"""What each role may do although no call of the permissions test needs it, and why."""

FUNCTIONS = {
    "logs:CreateLogStream": "the Lambda runtime writes the log",
    "logs:PutLogEvents": "the Lambda runtime writes the log",
    "xray:PutTraceSegments": "tracing is off in the local stage",
    "xray:PutTelemetryRecords": "tracing is off in the local stage",
}
QUEUE_CONSUMERS = FUNCTIONS | {
    "sqs:ReceiveMessage": "the event source mapping polls with the function's role",
    "sqs:DeleteMessage": "the event source mapping deletes with the function's role",
    "sqs:GetQueueAttributes": "the event source mapping reads the queue with the function's role",
}
EVENT_PAYLOADS = "s3:PutObject on events/*"
EMITTERS = {EVENT_PAYLOADS: "no event of these jobs is over 200 KB"}
READER = {"s3:GetObject on events/*": "no event of these jobs is over 200 KB"}
TRIGGERED = {
    "dynamodb:BatchGetItem on switchyard-local-state": "no tenant has too many open tasks",
    "s3:PutObject on task/*": "no job of these triggers has large inputs or many tasks",
    "sqs:SendMessage": "no job of these triggers is large enough for the dispatcher to write",
}
OTHER_POOLS = {
    "sqs:SendMessage on switchyard-local-task-queue-drones": "no task of a drone takes this way"
}
REPLACED = "code of version 0.1.0 parks messages there until a deployment has replaced it"
PARKED_BEFORE = {
    "s3:GetObject on quarantine/*": "this stage has parked nothing under version 0.1.0",
    "s3:GetObject on undeliverable/*": "this stage has parked nothing under version 0.1.0",
}
PARKING = {"s3:PutObject on quarantine/*": REPLACED}
BELOW_THE_LIMIT = {
    "dynamodb:DeleteItem": "no tenant has so many open tasks that those left over are looked for"
}
NOBODY_PRESSED = "nobody pressed a button; test_alerts.py does"
UNUSED_BUT_NEEDED = {
    "switchyard-local-alert": QUEUE_CONSUMERS | {"s3:PutObject on undeliverable/*": REPLACED},
    "switchyard-local-answer-slack": FUNCTIONS
    | {
        "dynamodb:BatchGetItem": NOBODY_PRESSED,
        "dynamodb:GetItem": NOBODY_PRESSED,
        "dynamodb:PutItem": NOBODY_PRESSED,
        "dynamodb:Query": NOBODY_PRESSED,
        "dynamodb:UpdateItem": NOBODY_PRESSED,
        "events:PutEvents": NOBODY_PRESSED,
        "s3:GetObject on task/*": NOBODY_PRESSED,
        "s3:PutObject on task/*": NOBODY_PRESSED,
        EVENT_PAYLOADS: NOBODY_PRESSED,
        "sqs:SendMessage": NOBODY_PRESSED,
    },
    "switchyard-local-api": FUNCTIONS
    | EMITTERS
    | READER
    | BELOW_THE_LIMIT
    | {"sqs:SendMessage": "no task is added that is ready at once"},
    "switchyard-local-authorize": FUNCTIONS,
    "switchyard-local-check-health": FUNCTIONS
    | EMITTERS
    | {
        "dynamodb:BatchGetItem": "nothing runs any more when it looks",
        "dynamodb:GetItem": "definitions are read of what runs",
        "dynamodb:UpdateItem": "nothing is posted without a token",
        "secretsmanager:GetSecretValue": "nothing is wrong with what runs",
    },
    "switchyard-local-dispatch": QUEUE_CONSUMERS
    | EMITTERS
    | {
        "dynamodb:PutItem": "it writes jobs of more than a thousand tasks, and relays of redrives",
        "s3:GetObject on task/*": "it reads the documents of large jobs and of redrives",
        "s3:PutObject on task/*": "it writes the large inputs of large jobs",
        "sqs:SendMessage": "none of these jobs takes longer than one run of it",
    },
    "switchyard-local-match-signals": QUEUE_CONSUMERS
    | EMITTERS
    | {
        "s3:GetObject on task/*": "no signal of these has a large input",
        "sqs:GetQueueUrl": "no event of these is waited for by very many tasks",
        "sqs:SendMessage": "no event of these is waited for by very many tasks",
    },
    "switchyard-local-measure": FUNCTIONS,
    "switchyard-local-notify": QUEUE_CONSUMERS
    | PARKED_BEFORE
    | {
        "dynamodb:UpdateItem": "nothing is posted without a token",
        "secretsmanager:GetSecretValue": "no job of these names a webhook",
        "dynamodb:BatchGetItem": "no job of these waits for an approval",
        "s3:GetObject on task/*": "no job of these waits for an approval",
    },
    "switchyard-local-process-dead-letters": OTHER_POOLS | QUEUE_CONSUMERS | EMITTERS | PARKING,
    "switchyard-local-save-event": QUEUE_CONSUMERS,
    "switchyard-local-start-triggered": QUEUE_CONSUMERS
    | EMITTERS
    | PARKING
    | TRIGGERED
    | BELOW_THE_LIMIT,
    "switchyard-local-sweep": OTHER_POOLS
    | FUNCTIONS
    | EMITTERS
    | {
        "dynamodb:ConditionCheckItem": "no worker of these died with a place under a limit",
        "dynamodb:DeleteItem": "no job is abandoned",
        "dynamodb:PutItem": "no signal waits for an event that the dispatcher did not hold",
        "sqs:GetQueueAttributes": "no task may be waiting for a worker at the moment of a sweep",
        "sqs:GetQueueUrl": "no alert is postponed without a token",
        "sqs:SendMessage": "nothing of these jobs is lost on its way to a worker",
    },
    "worker": OTHER_POOLS
    | EMITTERS
    | PARKING
    | {
        "dynamodb:GetItem": "of a limit's item: no task may be waiting at the moment one ends",
        "ecs:DescribeServices": "without a metadata endpoint it has no release; test_rollout.py",
        "ecs:UpdateTaskProtection": "there is no ECS agent to ask in the local stage",
    },
}
