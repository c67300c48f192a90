"""Why the model cannot see that a guard is missing; the tests that `make mutants` names do."""

from typing import Final

_COVERED: Final = "another condition refuses the same:"
_SUBMISSION: Final = "jobs of the model are open from the beginning"

_SAME_ITEMS: Final = "items are the same in every run, and what is written again stays as it is"
_NO_SUCH_JOB: Final = "no job of the model has 20,000 tasks"
_ENDED_ANYWAY: Final = "the dispatcher ends items of a job that is being cancelled"

REASONS: Final[dict[str, str]] = {
    "tasks are added to an open job": f"{_COVERED} an end that waits, no flag and no redrive",
    "tasks are added to the run that was read": f"{_COVERED} the run of the end, as read",
    "no tasks are added to a job whose redrive is not over": f"{_COVERED} the run of the job",
    "no tasks are added to a job that is full": "no job of the model has 20,000 tasks",
    "what a crowded end waits for is as read": "no end of the model waits for 100 tasks",
    "only who has not settled is moved behind the relay": "no end waits for 100 tasks",
    "a settled parent names who follows it": (
        "the model knows parents by the edges that are missing; the task stays skipped"
    ),
    "a job that is being redriven is not cancelled": (
        "what is opened after the visit is ended by whoever claims it: no promise is broken"
    ),
    "the progress of an older run is not stored": "cancellations are visited in one pass",
    "whose events an older run emitted is not stored": "only the sweeper's next look is later",
    "a cancellation that emits events does not move the cursor of a later one": (
        "cancellations are visited in one pass, without a cursor"
    ),
    "a waiting task of a job that is being cancelled does not become ready": (
        "whoever claims it ends it as cancelled: it costs time, and breaks no promise"
    ),
    "the progress of a redrive never goes back": "steps that are repeated change nothing",
    "a fan-out of an older run is not opened": _SAME_ITEMS,
    "how much of a fan-out is written never goes back": _SAME_ITEMS,
    "a fan-out is gathered as it was read": (
        "a whole redrive has to pass meanwhile: deeper than a small configuration is explored"
    ),
    "the items of a fan-out have room in their job": _NO_SUCH_JOB,
    "no fan-out is opened in a job that is being cancelled": _ENDED_ANYWAY,
    "a fan-out gathers again when one of its items is redriven": "no item is redriven by its name",
    "a redriven job does not run what its conditions skipped": "no task has a condition",
    "only what a task made makes it gather again": "no fan-out of the model is in a template",
    "what left the list is not redriven with its fan-out": "no list of the model changes twice",
    "an item that is under way is not replaced": f"{_COVERED} no item of an earlier list runs",
    "a fan-out that comes after what runs again reads its list anew": (
        "the fan-outs of the model come after nothing"
    ),
    "task claim without: no limits": "limits are part of the model in `tests/model/scheduling`",
    "task note_expanded without: run = …": _SAME_ITEMS,
    "task note_expanded without: no child_count": _SAME_ITEMS,
    "task note_expanded without: (no expanded or expanded < …)": _SAME_ITEMS,
    "task open_fan_out without: run = …": _SAME_ITEMS,
    "task open_fan_out without: no child_count": f"{_COVERED} what its items wait for, settled",
    "task gather without: run = …": f"{_COVERED} the fence, as read",
    "task gather without: fence = …": f"{_COVERED} the run, in which its items settle once",
    "job add_items without: state = OPEN": _ENDED_ANYWAY,
    "job add_items without: no cancel_requested": _ENDED_ANYWAY,
    "job add_items without: total_tasks <= …": _NO_SUCH_JOB,
    "what is flagged need not wait until it may run": "clocks show any time: nothing waits",
    "what was reopened before a crash is told all the same": "events are not part of the model",
    "a lease is held under its fence only": f"{_COVERED} no two claims have the same owner",
    "a lease is held by its owner only": f"{_COVERED} no two claims have the same fence",
    "only the dispatcher's own work is followed with it": "following twice changes nothing",
    "of two sweepers one acts": "due times are one value, and a second wake-up changes nothing",
    "the sweeper believes the item, not the index": "clocks show any time: all that is due is late",
    "a job that was opened keeps its key": _SUBMISSION,
    "a job that the dispatcher writes keeps its key": _SUBMISSION,
    "a job that was given up is not opened": _SUBMISSION,
    "an attempt is not judged by the signs of the one before": "signs decide no transition",
}

_BY_BEGINNING: Final = (
    ("task settle without: fence =", f"{_COVERED} no two claims have the same owner"),
    ("task settle without: owner =", f"{_COVERED} no two claims have the same fence"),
    ("task renew without: fence =", f"{_COVERED} no two claims have the same owner"),
    ("task renew without: owner =", f"{_COVERED} no two claims have the same fence"),
    ("task release without: state =", f"{_COVERED} a release removes the owner"),
    ("task release without: fence =", f"{_COVERED} no two claims have the same owner"),
    ("task release without: owner =", f"{_COVERED} no two claims have the same fence"),
    ("task release without: attempt counted", "an attempt too many is counted, not one too few"),
    ("task clear_due without:", f"{_COVERED} what settles, or begins a run, raises the fence"),
    ("task give_up without:", f"{_COVERED} fence, state and attempt as read overlap"),
    ("task flag without: fence =", "a flag on the next attempt is what was asked for, too"),
    ("task flag without: state =", f"{_COVERED} what leaves WAITING raises the fence"),
    ("task decide without: cancel_requested", f"{_COVERED} only a new run removes a flag"),
    ("task reopen without:", f"{_COVERED} a new run raises run and fence together"),
    ("task replace_item without: state", f"{_COVERED} no item of an earlier list runs"),
    ("task drop_item without: state", f"{_COVERED} no item of an earlier list runs"),
    ("task follow_relay without: run =", f"{_COVERED} the run of the job"),
    ("task stay_parent without: run =", f"{_COVERED} the run of the job"),
    ("job add_tasks without:", f"{_COVERED} the end waits, in the run that was read"),
    ("job begin_cancel without: run =", "a cancel that arrives in the next run cancels that"),
    ("job begin_cancel without: no redrive_key", "whoever claims what is opened later ends it"),
    ("job end_cancel without: run =", "workers end what is not visited: it costs time"),
    ("job note_events_emitted without:", "only the sweeper's next look is later"),
    ("job begin_redrive without:", f"{_COVERED} state, run and plan as read overlap"),
    ("job note_redrive_progress without:", "steps that are repeated change nothing"),
    ("job reopen without: redrive_key =", f"{_COVERED} one redrive at a time is REDRIVING"),
    ("job end_redrive without:", "a plan that is forgotten early was done, or its tasks are due"),
    ("task mark_queued without: run =", "the mark decides nothing: a worker claims both states"),
)
"""Single conditions; a row above leaves out several at once."""


def why_invisible(name: str) -> str | None:
    """Say why the model cannot see a bug; `None` if it should."""
    reasons = (reason for start, reason in _BY_BEGINNING if name.startswith(start))
    return REASONS.get(name) or next(reasons, None)
