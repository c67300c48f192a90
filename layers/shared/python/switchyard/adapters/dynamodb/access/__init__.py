"""API keys, tenants, and what the limits of each count."""
