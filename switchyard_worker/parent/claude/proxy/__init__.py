"""A process of the worker's that adds the Claude credential to what a task's child asks the API.

The child knows a token of its own, which dies with its attempt; the credential stays here. Only
`__main__` and what it imports need `h11` and `httpx2`; the worker starts it where a credential is.
"""
