"""Computes on tenants' data in processes that can be ended: one per check, with limits.

`examine` checks a document, `redaction` removes keys from it, `process` is the program that forks
for each check, `starting` and `frames` are how it is started and asked. The worker asks it from
its event loop (`switchyard_worker/parent/attempts/guard_client.py`), a task's child without one
(`switchyard_worker/child/guard_client.py`).
"""
