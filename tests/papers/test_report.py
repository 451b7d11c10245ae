"""What the papers' pages are written with: spans of points, bands that can be seen."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks.papers import beyond_rules, hjv_report
from benchmarks.papers.hjv_trials import EPSILONS, METHODS, TOTALS
from benchmarks.papers.li_liu_report import Trials, everywhere, spans

NUMBER = r"-?\d+(?:\.\d+)?(?:e-?\d+)?"


@pytest.mark.parametrize(
    ("places", "said"),
    [
        ([2], "5"),
        ([0, 1, 2], "3 to 5 (3 values)"),
        ([0, 1, 4], "3 to 4, 7 (3 values)"),
        ([0, 2, 4], "3, 5, 7 (3 values)"),
    ],
)
def test_a_span_is_contiguous(places, said):
    """K = 3 and 39 with others between that say otherwise are not "3 to 39"."""
    assert spans(places, np.arange(3, 8)) == said


def test_points_that_disagree_are_not_within_a_span():
    """Better at the ends, worse in the middle: each value stands under its own verdict."""
    noise = np.array([-0.01, 0.0, 0.01])[:, None]
    gap = np.array([0.2, 0.2, -0.2, 0.2])
    flat = np.full((3, 4), 0.5)
    rows = [
        {"accuracy": {"a": list(flat[k] + gap + noise[k]), "b": list(flat[k])}, "used": {"a": [1] * 4, "b": [1] * 4}}
        for k in range(3)
    ]
    said, holds = everywhere(Trials(rows, [3, 4, 5, 6]), "a", "b")
    assert said == "better at K = 3 to 4, 6 (3 values); worse at K = 5" and holds == "no"


def test_error_bands_can_be_seen(tmp_path):
    """An area that is split at every point has no width anywhere, and the picture shows lines without intervals."""
    pytest.importorskip("vl_convert")
    rng = np.random.default_rng(0)
    points = len(EPSILONS)
    rows = [
        {
            **{
                name: {"labels": list(10_000.0 * np.arange(1, points + 1)), "error": list(rng.random(points))}
                for name in METHODS
            },
            "fixed": {"labels": list(TOTALS), "error": [0.1] * len(TOTALS)},
        }
        for _ in range(4)
    ]
    path = tmp_path / "picture.svg"
    hjv_report.picture({"one": hjv_report.Curves(rows)}, path, "title", "note")
    areas = re.findall(r'aria-roledescription="area mark"[^>]*? d="([^"]+)"', path.read_text(encoding="utf-8"))
    drawn = [np.array(re.findall(NUMBER, area), float).reshape(-1, 2) for area in areas]
    assert len(drawn) == len(METHODS)
    for corners in drawn:
        assert len(corners) == 2 * points  # there along the upper edge, and back along the lower
        assert np.ptp(corners[:, 0]) > 100


def test_the_picture_of_rules_shows_every_cell_of_the_table():
    """Where a rule has no plan the picture says so; otherwise a missing bar looks like none at all."""
    rows = beyond_rules.printed(Path(__file__).parents[2] / "benchmarks" / "README.md")
    assert len(rows) == len(beyond_rules.CROWDS) * len(beyond_rules.EPSILONS)
    points = beyond_rules.points(rows)
    assert len(points) == len(rows) * len(beyond_rules.RULES)
    silent = [one for one in points if one["labels"] == 0]
    assert silent and all(one["text"].startswith("no plan") for one in silent)
