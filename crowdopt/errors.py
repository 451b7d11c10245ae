"""Bad input, said in one sentence."""


class InputError(ValueError):
    """What was given cannot be used; the message says what, where and the remedy."""
