"""Agents that answer a prompt: Claude through two SDKs, and one that needs no network."""
