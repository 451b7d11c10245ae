"""Gold tallies: whatever is wrong with them is named, in a table of any length."""

from __future__ import annotations

import pytest

from crowdopt import InputError
from crowdopt.io.hiring_tables import read_gold


@pytest.mark.slow
def test_a_duplicate_is_found_in_one_pass(tmp_path):
    """300,001 rows, the last one there before: looking back from each row would take a quarter of an hour."""
    path = tmp_path / "gold.csv"
    rows = [f"w{k},1,2" for k in range(300_000)]
    path.write_text("\n".join(["worker,correct,asked", *rows, "w299999,1,2"]) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 300002, column worker: 'w299999' was there before"):
        read_gold(path)
