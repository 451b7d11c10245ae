"""Gold by true class and answer in a campaign: plans by confusion tables, votes by log-likelihood."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import crowdopt
from crowdopt import InputError
from crowdopt.crowd.gold.confusion import confusion_evidence, confusions
from tests.chance import binomial, most, rng, seeds

NAMES = ("cat", "dog", "fox")
TABLE = np.array([[0.85, 0.1, 0.05], [0.02, 0.93, 0.05], [0.05, 0.35, 0.6]])  # foxes are taken for dogs


@pytest.fixture
def campaign(tmp_path):
    """Twelve workers who mix up foxes and dogs, 30 gold answers of each class, 200 tasks."""
    draws, folder = rng(), tmp_path / "pets"
    folder.mkdir()
    (folder / "campaign.toml").write_text("epsilon = 0.1\n", encoding="utf-8")
    (folder / "tasks.csv").write_text("task\n" + "".join(f"t{i}\n" for i in range(200)), encoding="utf-8")
    (folder / "workers.csv").write_text(
        "worker,capacity\n" + "".join(f"w{j},200\n" for j in range(12)), encoding="utf-8"
    )
    counts = [[draws.multinomial(30, row) for row in TABLE] for _ in range(12)]
    rows = [f"w{j},{NAMES[k]},{NAMES[y]},{counts[j][k][y]}\n" for j in range(12) for k in range(3) for y in range(3)]
    (folder / "gold.csv").write_text("worker,true,answered,count\n" + "".join(rows), encoding="utf-8")
    return folder


def test_the_evidence_is_that_of_the_pair_that_is_hardest_to_tell_apart(campaign):
    """So plans hold for every pair of classes; classes are those that gold names."""
    instance = crowdopt.read_campaign(campaign)
    tallies = np.zeros((12, 3, 3), int)
    for line in (campaign / "gold.csv").read_text(encoding="utf-8").split()[1:]:
        worker, true, answered, count = line.split(",")
        tallies[int(worker[1:]), NAMES.index(true), NAMES.index(answered)] += int(count)
    wanted = confusion_evidence(confusions(tallies))
    np.testing.assert_allclose(instance.evidence[0], wanted, rtol=1e-6)
    assert instance.classes == 3 and instance.class_names == NAMES
    assert instance.skills_source == "confusion tables from gold"


@pytest.mark.chance
def test_from_gold_by_class_to_answers(campaign, tmp_path):
    """The plan verifies, its votes are by log-likelihood, and they err as rarely as is claimed and promised.

    Given the labels an answer is wrong with the chance that is claimed, and before with one below the target, each by
    itself: of a thousand answers the wrong ones are binomial.
    """
    plan = crowdopt.assign(campaign, output=tmp_path / "plan")
    report = crowdopt.verify(campaign, tmp_path / "plan")
    assert plan.found and report.holds, report.problems
    header, first = (tmp_path / "plan" / "weights.csv").read_text(encoding="utf-8").split()[:2]
    assert header == "worker,type,label,class,weight" and ",all,cat,cat,-0." in first
    wrong, claimed = 0, []
    for seed in seeds(5):
        labels, truth = tmp_path / f"labels-{seed}.csv", tmp_path / f"truth-{seed}.csv"
        crowdopt.rehearse(campaign, tmp_path / "plan", output=labels, truth=truth, seed=seed)
        answered = crowdopt.answers(labels, tmp_path / "plan", campaign=campaign)
        true = [NAMES.index(line.split(",")[1]) for line in truth.read_text(encoding="utf-8").split()[1:]]
        wrong += (answered.answers.answer != np.array(true)).sum()
        claimed.append(answered.answers.error.mean())
    assert binomial(wrong, 1000, np.mean(claimed))
    assert wrong <= most(1000, 0.1)


def test_forged_votes_are_found(campaign, tmp_path):
    """Verify recomputes every row of weights.csv from the gold."""
    crowdopt.assign(campaign, output=tmp_path / "plan")
    place = tmp_path / "plan" / "weights.csv"
    lines = place.read_text(encoding="utf-8").split("\n")
    lines[3] = lines[3].rpartition(",")[0] + ",-0.5"
    place.write_text("\n".join(lines), encoding="utf-8")
    assert any("the rule says" in problem for problem in crowdopt.verify(campaign, tmp_path / "plan").problems)


def test_what_gold_by_class_cannot_do_is_said(campaign, tmp_path):
    """Rules and folders about one accuracy, classes without gold, simulated comparisons."""
    with pytest.raises(InputError, match="rule exact-error is about one accuracy per worker"):
        crowdopt.assign(campaign, rule="exact-error")
    with pytest.raises(InputError, match="write an .npz archive"):
        crowdopt.write_campaign(crowdopt.read_campaign(campaign), tmp_path / "copy")
    with pytest.raises(InputError, match="compare recorded labels"):
        crowdopt.compare(campaign, ["greedy"], trials=1)
    crowdopt.write_campaign(crowdopt.read_campaign(campaign), tmp_path / "copy.npz")
    again = crowdopt.read_campaign(tmp_path / "copy.npz")
    np.testing.assert_array_equal(again.confusion, crowdopt.read_campaign(campaign).confusion)
    four = shutil.copytree(campaign, tmp_path / "four")
    (four / "campaign.toml").write_text("epsilon = 0.1\nclasses = 4\n", encoding="utf-8")
    with pytest.raises(InputError, match="names 3 classes, the campaign has 4"):
        crowdopt.read_campaign(four)
