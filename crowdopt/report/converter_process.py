"""The process that draws: requests as lines of JSON, each answered with a line that says how many bytes follow."""

from __future__ import annotations

import json
import signal
import sys
from typing import Any


def main() -> None:
    """Draw until there is nothing more to read."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who asks
    for line in sys.stdin.buffer:
        done, content = drawn(**json.loads(line))
        sys.stdout.buffer.write(json.dumps([done, len(content)]).encode() + b"\n" + content)
        sys.stdout.buffer.flush()


def drawn(function: str, given: Any, options: dict[str, Any]) -> tuple[bool, bytes]:
    """Whether vl-convert did it, and what it made, or says."""
    import vl_convert

    try:
        made = getattr(vl_convert, function)(given, **options)
    except ValueError as error:
        return False, str(error).encode()
    return True, made if isinstance(made, bytes) else made.encode()


if __name__ == "__main__":
    main()
