"""Errors that stop a synthesis and that the person at the keyboard can put right.

SynthesisError
├── UnknownStage          the stage was not given, or is none of ours
├── EnvironmentMismatch   a stack and a settings class disagree
└── LayerNotBuilt         the dependencies could not be installed
"""


class SynthesisError(Exception):
    """An error whose text is shown as it is, without a traceback."""


class UnknownStage(SynthesisError):
    pass


class EnvironmentMismatch(SynthesisError):
    pass


class LayerNotBuilt(SynthesisError):
    pass
