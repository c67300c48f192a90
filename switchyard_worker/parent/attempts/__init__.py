"""Runs an attempt: its assignment, its child's outcome, its verdict and its files."""
