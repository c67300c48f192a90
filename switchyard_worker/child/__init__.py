"""The child process: one attempt at one task, in an interpreter of its own.

With the offline agent it imports the standard library and `switchyard.domain` alone, since every
task pays for what is imported here.
"""
