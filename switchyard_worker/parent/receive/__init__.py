"""Receives messages, claims their tasks, holds leases and settles the tasks."""
