"""Labels with twenty people at work, as a multiple of those with one at a time, and how many answers were out.

    python -m benchmarks.flights [CROWD ...]

Campaigns as the service runs them, in one process; the players are those of the tests.
"""

from __future__ import annotations

from tests.live.flights import main

if __name__ == "__main__":
    main()
