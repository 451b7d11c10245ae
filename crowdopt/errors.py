"""Bad input, said in one sentence."""


class InputError(ValueError):
    """What was given cannot be used; the message says what, where and the remedy."""


class GoldWarning(UserWarning):
    """What gold says is doubtful, or lacking; the message says whose, and what it counts for."""
