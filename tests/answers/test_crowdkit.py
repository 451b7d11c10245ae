"""crowd-kit as a second opinion: equal chances on equal inputs, equal answers up to its ties."""

from __future__ import annotations

import numpy as np
import pytest

from crowdopt.answers import dawid_skene, kos, majority, one_coin
from tests.answers.tables import drawn

crowdkit = pytest.importorskip("crowdkit.aggregation.classification", reason="pip install crowd-kit pandas")
pandas = pytest.importorskip("pandas")
pytestmark = pytest.mark.filterwarnings("ignore")

SURE = 1e-6  # chances closer than this are a tie there


@pytest.fixture(params=[(0, 2), (1, 3), (2, 5)], ids=lambda pair: f"{pair[1]}-classes")
def table(request: pytest.FixtureRequest):
    """Our label table and theirs."""
    seed, classes = request.param
    labels, _ = drawn(seed, tasks=300, workers=25, classes=classes, share=0.3)
    columns = {"task": labels.task, "worker": labels.worker, "label": labels.label}
    return labels, pandas.DataFrame(columns)


def theirs(chances, labels) -> tuple[np.ndarray, np.ndarray]:
    """Their posterior in our order, and which tasks it has."""
    frame = chances.reindex(columns=range(len(labels.classes)), fill_value=0.0).sort_index()
    return frame.to_numpy(), frame.index.to_numpy()


@pytest.mark.parametrize("ours", [one_coin, dawid_skene], ids=lambda fit: fit.__name__)
def test_em_has_the_same_chances_after_as_many_rounds(ours, table) -> None:
    """Their settings: estimated prior, no smoothing. Their one coin splits errors by the classes present."""
    labels, frame = table
    fit = {one_coin: crowdkit.OneCoinDawidSkene, dawid_skene: crowdkit.DawidSkene}[ours](n_iter=7, tol=-np.inf)
    expected, tasks = theirs(fit.fit_predict_proba(frame), labels)
    assert len(fit.loss_history_) == 7
    # tasks without labels would enter our prior and not theirs
    found = ours(_compact(labels), 7, "estimated", 0.0, tolerance=-1.0)
    assert found.posterior == pytest.approx(expected, abs=SURE)
    clear = np.sort(expected, axis=1)[:, -1] - np.sort(expected, axis=1)[:, -2] > SURE
    assert (found.answer == fit.labels_.sort_index().to_numpy())[clear].all()
    assert tasks.size == found.answer.size


def test_majority_has_the_same_shares(table) -> None:
    """And the same answers where there is no tie; ours go to the first class, theirs by another rule."""
    labels, frame = table
    fit = crowdkit.MajorityVote().fit(frame)
    found = majority(_compact(labels))
    assert found.posterior == pytest.approx(theirs(fit.probas_, labels)[0])
    clear = np.diff(np.sort(found.posterior, axis=1)[:, -2:], axis=1)[:, 0] > SURE
    assert (found.answer == fit.labels_.sort_index().to_numpy())[clear].all()


def test_kos_has_the_same_answers_from_the_same_messages() -> None:
    """Their first messages are N(1, 1) in the order of the rows, by a global seed."""
    labels, _ = drawn(3, tasks=400, workers=30, classes=2, share=0.3)
    labels = _compact(labels)
    frame = pandas.DataFrame({"task": labels.task, "worker": labels.worker, "label": labels.label})
    np.random.seed(5)  # noqa: NPY002  what theirs does
    start = np.random.normal(1, 1, labels.task.size)  # noqa: NPY002
    expected = crowdkit.KOS(n_iter=10, random_state=5).fit_predict(frame).sort_index().to_numpy()
    found = kos(labels, 10, start)
    assert (found.answer == expected).all()


def _compact(labels):
    """The table without tasks that have no label."""
    from dataclasses import replace

    there, task = np.unique(labels.task, return_inverse=True)
    return replace(labels, task=task, tasks=tuple(labels.tasks[t] for t in there))
