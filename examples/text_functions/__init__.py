"""Two functions that are tasks: docs/functions.md runs them."""

from switchyard.functions import progress, task


@task(timeout="2m", retries=2)
def split(text: str, size: int = 800) -> list[str]:
    """Cut a text into pieces of at most `size` characters."""
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    progress(1, f"{len(pieces)} pieces")
    return pieces


@task(name="count-words", retries=0)
def count(texts: list[str]) -> dict[str, int]:
    """Count the words of all texts together."""
    return {"words": sum(len(text.split()) for text in texts)}
