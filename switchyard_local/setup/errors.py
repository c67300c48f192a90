class SetupError(Exception):
    """Setup cannot go on; the message is a sentence for the user that says what to do."""
