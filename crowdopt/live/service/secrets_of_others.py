"""What this service and others share: secrets by which messages are signed."""

from __future__ import annotations

from dataclasses import dataclass

from crowdopt.errors import InputError
from crowdopt.live.service.signatures import key_of


@dataclass(frozen=True)
class Secrets:
    """Empty: messages of that kind are refused.

    webhooks: of Standard Webhooks in and out, as ``whsec_`` and base64; prolific: of the hooks of a workspace there;
    join: what a link has that lets participants of Prolific in.
    """

    webhooks: str = ""
    prolific: str = ""
    join: str = ""

    def __post_init__(self) -> None:
        if self.webhooks:
            key_of(self.webhooks)
        if self.join and len(self.join) < 16:
            raise InputError("a secret for links that let people in has 16 letters at least")
