"""Watches the worker: its machine, its pulse, its presence, and what makes it stop."""
