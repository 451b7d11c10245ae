"""Campaigns with features drawn together: who has a plan, how good it is, whether the limit is kept.

    python -m benchmarks.combinations --brief --size 300x25 --count 20 --seconds 15

The same as ``python -m tests.combinations``, which says more.
"""

from __future__ import annotations

from tests.combinations.__main__ import main

if __name__ == "__main__":
    main()
