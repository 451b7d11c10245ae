"""Gold as tallies, as answers beside the truth, by true class or item by item: the same skills, plans that hold."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import crowdopt
from crowdopt import Adaptive, InputError
from crowdopt.crowd.doubt import gold_of
from crowdopt.errors import GoldWarning
from crowdopt.io.settings import alone, beyond, overridden
from crowdopt.verbs.generate import init
from tests.chance import binomial, most, rng, seeds
from tests.io import lay, write_table

WORKERS = {"ada": 18, "bo": 15, "chen": 12}  # right of 20
ANSWERS = [(name, f"g{k}", "yes" if k < right else "no", "yes") for name, right in WORKERS.items() for k in range(20)]
COLUMNS = ("worker", "task", "label", "truth")


def as_lines(rows) -> list[str]:
    """Rows as CSV has them."""
    return [",".join(map(str, row)) for row in rows]


AT_HAND = dict(zip(COLUMNS, map(list, zip(*ANSWERS, strict=True)), strict=True))


def test_answers_and_their_tally_are_the_same_skills(tmp_path):
    """Counting is ours or the user's."""
    tallies = write_table(tmp_path / "t.csv", "worker,correct,asked", *(f"{w},{c},20" for w, c in WORKERS.items()))
    answers = write_table(tmp_path / "a.csv", *as_lines([COLUMNS, *ANSWERS]))
    one, other = crowdopt.skills(tallies), crowdopt.skills(answers)
    np.testing.assert_array_equal(one.accuracy, other.accuracy)
    assert one.workers == other.workers == tuple(WORKERS) and one.correct.tolist() == [[18, 15, 12]]
    for library, call in (("builtins", "dict"), ("pyarrow", "table"), ("pandas", "DataFrame")):
        frame = getattr(pytest.importorskip(library), call)(AT_HAND)
        np.testing.assert_array_equal(crowdopt.skills(frame).accuracy, one.accuracy)


def test_skills_are_what_a_folder_makes_of_the_same_gold(tmp_path):
    """With the campaign's order of workers and types; of a few workers' gold the others are said to have the mean."""
    folder = tmp_path / "birds"
    init(folder)
    instance = crowdopt.read_campaign(folder)
    found = crowdopt.skills(folder / "gold.csv", workers=instance.workers, types=instance.types)
    np.testing.assert_allclose(found.accuracy, instance.accuracy, rtol=1e-9)  # an instance keeps ten digits
    assert found.source == instance.skills_source
    write_table(folder / "gold.csv", "worker,correct,asked", *(f"{w},{c},20" for w, c in WORKERS.items()))
    with pytest.warns(GoldWarning, match="7 of 10 worker.s. without gold, counted with the crowd's mean: dana, emre"):
        accuracy = crowdopt.read_campaign(folder).accuracy
    low, high = accuracy[:, :3].min(), accuracy[:, :3].max()
    assert (accuracy == accuracy[0]).all(), "gold without types counts for every type"
    assert (accuracy[:, 3:] == accuracy[0, 3]).all() and low < accuracy[0, 3] < high


HEAD = ",".join(COLUMNS)
UNCOUNTED = {  # gold at hand or as the text of a file, and the sentence with the place
    "a frame's last row": (AT_HAND | {"truth": ["yes"] * 59 + [""]}, "the table, row 59, column truth: is empty"),
    "a frame's first row": (AT_HAND | {"worker": [None, *AT_HAND["worker"][1:]]}, "row 0, column worker: is empty"),
    "unequal columns": ({"worker": ["ada"], "correct": [1, 2], "asked": [3]}, "unequal lengths"),
    "no table": (7, "not int"),
    "an answer twice": (f"{HEAD}\nada,g1,yes,yes\nada,g1,no,yes", "line 3, column worker: 'ada' answered 'g1' before"),
    "no label": (f"{HEAD}\nada,g1,,yes", "line 2, column label: is empty"),
    "no truth": (f"{HEAD}\nada,g1,yes,", "line 2, column truth: is empty"),
    "two truths of a task": (f"{HEAD}\nada,g1,a,a\nbo,g1,b,b", "line 3.*give it one truth"),
}


@pytest.mark.parametrize(("table", "said"), UNCOUNTED.values(), ids=UNCOUNTED)
def test_gold_that_cannot_be_counted(tmp_path, table, said):
    """A complaint about a file names the line, one about a frame the row as the frame counts it."""
    with pytest.raises(InputError, match=said):
        crowdopt.skills(write_table(tmp_path / "gold.csv", table) if isinstance(table, str) else table)


CLASSES = ("cat", "dog", "fox")
TABLE = np.array([[0.85, 0.1, 0.05], [0.02, 0.93, 0.05], [0.05, 0.35, 0.6]])  # foxes are taken for dogs


@pytest.fixture
def pets(tmp_path):
    """Twelve workers who mix up foxes and dogs, 30 gold answers of each class, 200 tasks."""
    draws, workers = rng(), {f"w{j}": (200, None) for j in range(12)}
    folder = lay(tmp_path / "pets", "epsilon = 0.1", (f"t{i}" for i in range(200)), workers)
    counts = [[draws.multinomial(30, row) for row in TABLE] for _ in workers]
    rows = [(f"w{j}", CLASSES[k], CLASSES[y], counts[j][k][y]) for j in range(12) for k in range(3) for y in range(3)]
    write_table(folder / "gold.csv", "worker,true,answered,count", *as_lines(rows))
    return folder


@pytest.mark.chance
def test_from_gold_by_class_to_answers(pets, tmp_path):
    """The plan verifies, its votes are by log-likelihood, and they err as rarely as is claimed and promised.

    Given the labels an answer is wrong with the chance that is claimed, and before with one below the target, each by
    itself: of 600 answers the wrong ones are binomial. Verify recomputes every row of weights.csv from the gold.
    """
    plan = crowdopt.solve(pets, output=tmp_path / "plan")
    report = crowdopt.verify(pets, tmp_path / "plan")
    assert plan.found and report.holds, report.problems
    assert plan.instance.class_names == CLASSES and plan.instance.skills_source == "confusion tables from gold"
    lines = (tmp_path / "plan" / "weights.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "worker,type,label,class,weight" and ",all,cat,cat,-0." in lines[1]
    wrong, claimed = 0, []
    for seed in seeds(3):
        labels, truth = tmp_path / f"labels-{seed}.csv", tmp_path / f"truth-{seed}.csv"
        crowdopt.rehearse(pets, tmp_path / "plan", output=labels, truth=truth, seed=seed)
        answered = crowdopt.aggregate(labels, plan=tmp_path / "plan", campaign=pets)
        true = [CLASSES.index(line.split(",")[1]) for line in truth.read_text(encoding="utf-8").split()[1:]]
        wrong += (answered.answers.answer != np.array(true)).sum()
        claimed.append(answered.answers.error.mean())
    assert binomial(wrong, 600, np.mean(claimed))
    assert wrong <= most(600, 0.1)
    lines[3] = lines[3].rpartition(",")[0] + ",-0.5"
    write_table(tmp_path / "plan" / "weights.csv", *lines)
    assert any("the rule says" in problem for problem in crowdopt.verify(pets, tmp_path / "plan").problems)


def test_what_gold_by_class_cannot_do_is_said(pets, tmp_path):
    """Rules and folders about one accuracy, classes without gold, simulated comparisons."""
    instance = crowdopt.read_campaign(pets)
    with pytest.raises(InputError, match="rule exact-error is about one accuracy per worker"):
        crowdopt.solve(pets, rule="exact-error")
    with pytest.raises(InputError, match="write an .npz archive"):
        crowdopt.write_campaign(instance, tmp_path / "copy")
    with pytest.raises(InputError, match="compare recorded labels"):
        crowdopt.compare(pets, ["greedy"], trials=1)
    crowdopt.write_campaign(instance, tmp_path / "copy.npz")
    np.testing.assert_array_equal(crowdopt.read_campaign(tmp_path / "copy.npz").confusion, instance.confusion)
    write_table(pets / "campaign.toml", "epsilon = 0.1", "classes = 4")
    with pytest.raises(InputError, match="names 3 classes, the campaign has 4"):
        crowdopt.read_campaign(pets)


@pytest.fixture(scope="module")
def panel(tmp_path_factory):
    """Twenty tasks and ten workers of whom 40 % of the gold items are guessed by all."""
    draws = np.random.default_rng(0)
    hard = draws.random(100) < 0.4
    right = draws.random((100, 10)) < np.where(hard, 0.5, 0.95)[:, None]
    crew, folder = {f"w{j}": (20, None) for j in range(10)}, tmp_path_factory.mktemp("hard") / "panel"
    lay(folder, "epsilon = 0.3", (f"t{i}" for i in range(20)), crew)
    votes = [(f"q{i}", f"w{j}", int(right[i, j]), 1) for i in range(100) for j in range(10)]
    write_table(folder / "gold.csv", "item,worker,label,truth", *as_lines(votes))
    return folder


UNHEEDING = [{"rule": "bhattacharyya"}, {"rule": "mean-error"}, {"program": "lp"}, {"method": "primal-approximation"}]
UNHEEDING += [{"skills": "plug-in"}, {"skills": "beta"}, {"difficulty": (0.0, 1.0)}]


@pytest.mark.parametrize("options", [{}, *UNHEEDING], ids=str)
def test_what_heeds_no_law_of_votes_plans_without_it_and_says_what_that_costs(panel, tmp_path, options):
    """The plan records by what it is made, so that verify reads gold in the same way; what heeds it, the difficulty."""
    plan = crowdopt.solve(panel, output=tmp_path / "plan", time_limit=20, **options)
    report, difficulty = crowdopt.verify(panel, tmp_path / "plan"), plan.instance.difficulty
    assert plan.found and report.holds, report.problems
    assert ("these sets do not heed: by it this plan's answers err up to" in plan.note) == bool(options)
    assert (difficulty.share > 0.2) == (not options)
    written = json.loads((tmp_path / "plan" / "plan.json").read_text())
    assert options or written["difficulty"] == {"share": difficulty.share, "left": difficulty.left}


def test_money_is_spent_by_tallies_where_gold_tells_more(panel, tmp_path):
    """The fewest wrong answers are not known where tasks are hard; the plan holds."""
    spent = crowdopt.budget(panel, labels=30, output=tmp_path / "plan", time_limit=20)
    assert "these sets do not heed" in spent.plan.note and crowdopt.verify(panel, tmp_path / "plan").holds


@pytest.mark.parametrize("options", [{"skills": "beta"}, {"rule": "bhattacharyya", "epsilon": 0.3}])
def test_labels_come_back_to_a_plan_that_reads_gold_in_another_way(panel, tmp_path, options):
    """Its votes are weighed as it says, and the next campaign goes on so: other skills stay stated."""
    crowdopt.solve(panel, output=tmp_path / "plan", time_limit=20, **options)
    crowdopt.rehearse(panel, tmp_path / "plan", output=tmp_path / "labels.csv")
    crowdopt.aggregate(tmp_path / "labels.csv", plan=tmp_path / "plan", campaign=panel, output=tmp_path / "next")
    settings = (tmp_path / "next" / "campaign" / "campaign.toml").read_text()
    assert all(f'{key} = "{value}"' in settings for key, value in options.items() if key != "epsilon")


@pytest.mark.parametrize("options", [{"skills": "beta"}, {"difficulty": (0.1, 0.3)}])
def test_adaptive_plans_that_read_gold_in_another_way_verify(panel, tmp_path, options):
    """What verifies a policy reads the gold that the settings in place of the campaign's are about."""
    crowdopt.solve(panel, method=Adaptive(rounds=1), output=tmp_path / "plan", time_limit=20, **options)
    report = crowdopt.verify(panel, tmp_path / "plan")
    assert report.holds and report.proven, report.problems


FORMS = [(3, 2, {"skills": "beta"}, "one vote at a time"), (30, 1, {"skills": "beta"}, "one vote at a time")]
FORMS += [(3, 2, {"trust_gold": True}, "1 round")]


@pytest.mark.parametrize(("workers", "types", "options", "said"), FORMS)
def test_adaptive_plans_are_explained_whatever_form_gold_has(tmp_path, workers, types, options, said):
    """Raw gold of several types, or of more workers than have their states of votes listed: rounds without laws."""
    draws = rng()
    folder = lay(tmp_path / "c", "epsilon = 0.25", ["t0", "t1"], {f"w{j}": (4, None) for j in range(workers)})
    write_table(folder / "tasks.csv", "task,type", "t0,k0", f"t1,k{types - 1}")
    pairs = [(i, j) for i in range(40) for j in range(workers)]
    rows = [(f"w{j}", f"g{i}", f"k{i % types}", int(draws.random() < 0.7 + j / 100), 1) for i, j in pairs]
    write_table(folder / "gold.csv", "worker,task,type,label,truth", *as_lines(rows))
    plan = crowdopt.solve(folder, method=Adaptive(), time_limit=5, **options)
    trusted = {key: value for key, value in options.items() if key == "trust_gold"}
    assert said in " ".join(crowdopt.explain(folder, plan, time_limit=5, **trusted).sentences)


def test_skills_in_place_of_golds_stay_what_they_are(panel):
    """Another rule has gold read anew for its own workers and skills alone, never for others of as many."""
    read = crowdopt.read_campaign(panel)
    assert alone(read).accuracy.tolist() != read.accuracy.tolist()
    mine = replace(read, accuracy=np.full_like(read.accuracy, 0.6), difficulty=(0, 1))
    turned = replace(read, accuracy=read.accuracy[:, ::-1], workers=read.worker_ids[::-1])
    fewer = replace(read, accuracy=read.accuracy[:, :4], workers=read.worker_ids[:4], capacity=9, cost=1, min_load=0)
    for other in (mine, turned, fewer):
        assert gold_of(other) is None and alone(other).accuracy.tolist() == other.accuracy.tolist()
        with pytest.raises(InputError, match="skills are given here"):
            overridden(other, {"skills": "beta"})
    assert crowdopt.solve(mine, rule="hoeffding", epsilon=0.4).instance.accuracy.tolist() == mine.accuracy.tolist()
    assert "skills" in beyond(overridden(mine, {"rule": "hoeffding"}))


def test_a_column_of_families_is_a_group_for_each(tmp_path):
    """No two of a family label a task; campaign.toml may say otherwise; a name stands for one thing."""
    folder = lay(tmp_path / "c", "epsilon = 0.2", ["t0", "t1"], {f"w{j}": (2, 0.8) for j in range(4)})
    write_table(folder / "workers.csv", "worker,capacity,family", "w0,2,a", "w1,2,a", "w2,2,b", "w3,2,")
    groups = {one.name: one for one in crowdopt.read_campaign(folder).groups}
    found = [(one.members, one.dependent, one.max_per_task) for one in groups.values()]
    assert found == [((0, 1), True, 1), ((2,), True, 1)]
    write_table(folder / "campaign.toml", "epsilon = 0.2", "[groups.a]", "max_per_task = 2")
    assert crowdopt.read_campaign(folder).groups[0].max_per_task == 2
    write_table(folder / "groups.csv", "worker,group", "w3,a")
    with pytest.raises(InputError, match="'a' is a family of workers.csv too"):
        crowdopt.read_campaign(folder)


def test_imported_answers_tell_of_dependence_as_the_campaign_does(tmp_path):
    """Labels with known truth: gold.csv has them one by one, and the instance at hand is the folder's."""
    draws = np.random.default_rng(3)
    hard, truth = draws.random(150) < 0.4, draws.integers(0, 2, 150)
    right = draws.random((150, 6)) < np.where(hard, 0.5, 0.95)[:, None]
    said, tasks = np.where(truth[:, None] ^ ~right, "yes", "no"), [f"t{i}" for i in range(150)]
    workers = [f"w{j}" for j in range(6)] * 150
    labels = {"task": np.repeat(tasks, 6).tolist(), "worker": workers, "label": said.ravel().tolist()}
    known = {"task": tasks, "label": np.where(truth, "yes", "no").tolist()}
    made = crowdopt.import_labels(labels, truth=known, output=tmp_path / "c")
    read = crowdopt.read_campaign(tmp_path / "c")
    assert read.difficulty.share == made.instance.difficulty.share > 0.1
    np.testing.assert_allclose(read.accuracy, made.instance.accuracy, rtol=0, atol=1e-9)
