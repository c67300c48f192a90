"""Gives attempts access to Claude through a proxy, which alone knows the credential."""
