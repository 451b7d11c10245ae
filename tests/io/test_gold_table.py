"""Gold as answers beside the truth, as tallies, from files and from tables at hand: one and the same skills."""

from __future__ import annotations

import numpy as np
import pytest

import crowdopt
from crowdopt import InputError
from crowdopt.api.init import init
from crowdopt.errors import GoldWarning

WORKERS = {"ada": 18, "bo": 15, "chen": 12}  # right of 20
ANSWERS = [(name, f"g{k}", "yes" if k < right else "no", "yes") for name, right in WORKERS.items() for k in range(20)]
COLUMNS = ("worker", "task", "label", "truth")


def written(path, header, rows):
    """A CSV file."""
    path.write_text("\n".join([",".join(header), *(",".join(map(str, row)) for row in rows), ""]), encoding="utf-8")
    return path


def at_hand():
    """The answers as columns by name."""
    return dict(zip(COLUMNS, map(list, zip(*ANSWERS, strict=True)), strict=True))


def test_answers_and_their_tally_are_the_same_skills(tmp_path):
    """Counting is ours or the user's."""
    tallies = written(tmp_path / "t.csv", ("worker", "correct", "asked"), [(w, c, 20) for w, c in WORKERS.items()])
    answers = written(tmp_path / "a.csv", COLUMNS, ANSWERS)
    one, other = crowdopt.skills(tallies), crowdopt.skills(answers)
    np.testing.assert_array_equal(one.accuracy, other.accuracy)
    assert one.workers == other.workers == tuple(WORKERS) and one.correct.tolist() == [[18, 15, 12]]
    for frame in (at_hand(), _arrow(), _pandas(), _polars()):
        np.testing.assert_array_equal(crowdopt.skills(frame).accuracy, one.accuracy)


def _arrow():
    return pytest.importorskip("pyarrow").table(at_hand())


def _pandas():
    return pytest.importorskip("pandas").DataFrame(at_hand())


def _polars():
    try:
        import polars
    except ImportError:
        return at_hand()
    return polars.DataFrame(at_hand())


def test_skills_are_what_a_folder_makes_of_the_same_gold(tmp_path):
    """With the campaign's order of workers and types."""
    folder = tmp_path / "birds"
    init(folder)
    instance = crowdopt.read_campaign(folder)
    found = crowdopt.skills(folder / "gold.csv", workers=instance.workers, types=instance.types)
    np.testing.assert_allclose(found.accuracy, instance.accuracy, rtol=1e-9)  # an instance keeps ten digits
    assert found.source == instance.skills_source


def test_a_folder_takes_answers_too(tmp_path):
    """Of two workers' gold; the others are said to count with the mean."""
    init(tmp_path / "birds")
    written(tmp_path / "birds" / "gold.csv", COLUMNS, ANSWERS)
    with pytest.warns(GoldWarning, match="7 of 10 worker.s. without gold, counted with the crowd's mean: dana, emre"):
        instance = crowdopt.read_campaign(tmp_path / "birds")
    mean = crowdopt.skills(at_hand()).accuracy.mean()
    assert instance.accuracy[:, 3:] == pytest.approx(np.full((2, 7), mean))


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            [("ada", "g1", "yes", "yes"), ("ada", "g1", "no", "yes")],
            "line 3, column worker: 'ada' answered 'g1' before",
        ),
        ([("ada", "g1", "", "yes")], "line 2, column label: is empty"),
        ([("ada", "g1", "yes", "")], "line 2, column truth: is empty"),
    ],
)
def test_answers_that_cannot_be_counted(tmp_path, rows, said):
    """One sentence with the place."""
    with pytest.raises(InputError, match=said):
        crowdopt.skills(written(tmp_path / "gold.csv", COLUMNS, rows))


def test_tables_at_hand_have_rows_and_no_lines():
    """A complaint about a frame names the row as the frame counts it."""
    frame = at_hand() | {"truth": ["yes"] * 59 + [""]}
    with pytest.raises(InputError, match="the table, row 59, column truth: is empty"):
        crowdopt.skills(frame)
    with pytest.raises(InputError, match="not int"):
        crowdopt.skills(7)
    with pytest.raises(InputError, match="unequal lengths"):
        crowdopt.skills({"worker": ["ada"], "correct": [1, 2], "asked": [3]})
    missing = at_hand() | {"worker": [None, *at_hand()["worker"][1:]]}
    with pytest.raises(InputError, match="row 0, column worker: is empty"):
        crowdopt.skills(missing)
