"""
FunctionsError     a sentence for the author of a function
├── WrongInput     the input does not fit the function; another attempt cannot help
├── NotJson        the function returned something that JSON does not have
└── NotFound       there is no such package, module or function
"""


class FunctionsError(ValueError):
    """A sentence for the author of a function about what is wrong with it."""


class WrongInput(FunctionsError):
    """The input does not fit the function; a function may raise it, too, to fail at once."""


class NotJson(FunctionsError):
    """The function returned something that JSON does not have."""


class NotFound(FunctionsError):
    """The package, module or function does not exist."""
