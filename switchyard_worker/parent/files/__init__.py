"""Isolates the files of tasks: users, folders, and reads that an agent cannot redirect."""
