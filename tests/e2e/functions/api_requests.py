"""Every kind of request about jobs, files, definitions and events."""

from http.client import NOT_FOUND

from tests.e2e.conftest import RunningCloud


def all_kinds_of_requests(cloud: RunningCloud, job_id: str) -> None:
    with cloud.http as http:
        http.get("/jobs").raise_for_status()
        http.get("/jobs", params={"status": "failed"}).raise_for_status()
        http.get("/task-definitions").raise_for_status()
        http.get("/task-definitions/large/versions/1").raise_for_status()
        http.delete("/task-definitions/large").raise_for_status()
        http.get("/health").raise_for_status()
        http.post("/files", json={"sha256": "0" * 64, "size": 1}).raise_for_status()
        assert http.post("/slack/actions", content=b"from nobody").status_code == NOT_FOUND
        for question in every_question(job_id):
            http.get("/events", params=question).raise_for_status()
        http.get(f"/jobs/{job_id}/events").raise_for_status()


def every_question(job_id: str) -> list[dict[str, str]]:
    """Return a query for each index of the log, and one for the log itself."""
    entity, kind, app = {"entity": job_id}, {"type": "job-created"}, {"app": "task-workflow"}
    return [{}, entity, app, kind, kind | entity, kind | app, kind | app | entity]
