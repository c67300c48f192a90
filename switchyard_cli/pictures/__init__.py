"""Draws a job: its plan or what became of it, as text for a terminal or as an SVG picture.

`plan.py` and `job.py` make a `Drawing`; everything after that knows nothing of jobs.
"""
