"""Rules of thumb: priced as enumeration has it, never below the best plan, read and written as they are typed."""

from __future__ import annotations

import ast
import csv
import json
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crowdopt
from crowdopt.errors import InputError
from crowdopt.ruling.priced import best_plan, priced, siblings
from crowdopt.ruling.rules import parsed
from crowdopt.ruling.votes import in_any_order, in_stages
from crowdopt.ruling.written import written
from tests.typed import run

NAMES = ("no", "yes", "maybe", "other")


def drawn_crowd(rng: np.random.Generator, workers: int, classes: int, parts: int):
    """Shares of easy and hard tasks, tables of unlike workers, and a prior."""
    share = rng.dirichlet(np.ones(parts))
    chance = rng.dirichlet(np.ones(classes), (parts, workers, classes)) + 2 * np.eye(classes)
    return share, chance / chance.sum(axis=-1, keepdims=True), rng.dirichlet(np.full(classes, 3.0))


def drawn_rule(rng: np.random.Generator, classes: int, most: int) -> str:
    """Of any form but stages."""
    n, names = int(rng.integers(1, most + 1)), NAMES[:classes]
    need = [int(rng.integers(1, n + 1)) for _ in names]
    by_class = ", ".join(f"{k} for {name}" for k, name in zip(need, names, strict=True))
    words = by_class if rng.random() < 0.5 else str(need[0])
    return [f"overlap {n}", f"agree {words} else {n}", f"lead {words} of at most {n}"][rng.integers(3)]


def over(text: str, labels: list[int], classes: int) -> bool:
    """Whether a task with these labels has enough, read from the words themselves."""
    words = text.split()
    most, n = int(words[-1]), len(labels)
    if n >= most or words[0] == "overlap":
        return n >= most
    needs = text.split(" else")[0].split(" of at")[0].split(" ", 1)[1]
    pairs = [part.strip().partition(" for ") for part in needs.split(",")]
    for value, _, name in pairs:
        for k in range(classes):
            if name in ("", NAMES[k]):
                mine = labels.count(k)
                others = max(labels.count(j) for j in range(classes) if j != k)
                enough = mine == n >= int(value) if words[0] == "agree" else mine - others >= int(value)
                if enough:
                    return True
    return False


def enumerated(text: str, share, chance, prior, price) -> tuple[float, float, float, np.ndarray]:
    """Labels, cost, error and errors by class, over every order of the workers and every label."""
    parts, workers, classes, _ = chance.shape
    labels = cost = error = 0.0
    by_class = np.zeros(classes)

    def go(part: int, true: int, chances: float, used: tuple[int, ...], said: list[int]) -> None:
        nonlocal labels, cost, error
        if over(text, said, classes):
            count = [said.count(k) for k in range(classes)]
            best = [k for k in range(classes) if count[k] == max(count)]
            wrong = 1 - (true in best) / len(best)
            labels += chances * len(said)
            cost += chances * price[list(used)].sum()
            error += chances * wrong
            by_class[true] += chances * wrong
            return
        free = [j for j in range(workers) if j not in used]
        for j in free:
            for label in range(classes):
                go(part, true, chances / len(free) * chance[part, j, true, label], (*used, j), [*said, label])

    for part, true in product(range(parts), range(classes)):
        go(part, true, share[part] * prior[true], (), [])
    return labels, cost, error, by_class / prior


@pytest.mark.parametrize("seed", [*range(60), *(pytest.param(k, marks=pytest.mark.slow) for k in range(60, 500))])
def test_figures_are_those_of_enumeration(seed):
    """Drawn rules and crowds: 2 to 4 classes, unlike workers, hard tasks; and no rule beats the best plan."""
    rng = np.random.default_rng(seed)
    classes = int(rng.integers(2, 5))
    workers = 5 if classes == 2 else 4 if classes == 3 else 3
    crowd = drawn_crowd(rng, workers, classes, int(rng.integers(1, 3)))
    text = drawn_rule(rng, classes, workers)
    price = rng.uniform(0.5, 3.0, workers)
    tree = in_any_order(*crowd, price, workers)
    rule = parsed(text, NAMES[:classes], ())
    found = priced(tree, rule.decided(tree, NAMES[:classes]), 0.0)
    labels, cost, error, by_class = enumerated(text, *crowd, price)
    assert (found.labels, found.cost, found.error) == pytest.approx((labels, cost, error), abs=1e-9)
    assert found.by_class == pytest.approx(by_class, abs=1e-9)
    assert str(parsed(str(rule), NAMES[:classes], ())) == str(rule)
    best = best_plan([tree], np.ones(1), found.error, np.inf)
    assert best.cost <= found.cost + 1e-9 and best.cost == pytest.approx(best.bound, abs=1e-9)
    for kin in siblings([tree], np.ones(1), rule, NAMES[:classes], 0.0)[0][:40]:
        assert best_plan([tree], np.ones(1), kin.error, np.inf).cost <= kin.cost + 1e-9


@settings(max_examples=60)
@given(st.integers(0, 10**9))
def test_no_plan_that_looks_at_votes_beats_the_best(seed):
    """Plans that stop anywhere, answer anything and send anything on cost at least what is proven for their error."""
    rng = np.random.default_rng(seed)
    classes, expert = int(rng.integers(2, 4)), float(rng.uniform(1, 6))
    tree = in_any_order(*drawn_crowd(rng, 6, classes, 2), rng.uniform(0.5, 3.0, 6), 6)
    for _ in range(10):
        stops = (rng.random(tree.level.size) < 0.4) | tree.last
        sends = stops & (rng.random(stops.size) < 0.3)
        answer = np.eye(classes)[np.where(rng.random(stops.size) < 0.8, tree.joint.argmax(axis=1), 0)]
        found = priced(tree, (parsed("overlap 1", NAMES[:classes], ()).decided(tree, NAMES[:classes]))._replace(
            stops=stops, expert=sends, answer=answer), expert)  # fmt: skip
        assert best_plan([tree], np.ones(1), found.error, expert).bound <= found.cost + 1e-9


def test_published_figures():
    """Accuracy .8, any number of workers: the first four agree, else nine; five always; two, a third if they differ."""
    chance = np.broadcast_to(np.array([[0.8, 0.2], [0.2, 0.8]]), (1, 60, 2, 2))
    tree = in_any_order(np.ones(1), chance, np.full(2, 0.5), np.ones(60), 31)
    figures = {}
    for text in ("agree 4 else 9", "overlap 5", "agree 2 else 3"):
        found = priced(tree, parsed(text, NAMES[:2], ()).decided(tree, NAMES[:2]), 0.0)
        best = best_plan([tree], np.ones(1), found.error, np.inf)
        figures[text] = round(found.labels, 2), round(found.error, 3), best.cost
    assert figures["agree 4 else 9"][:2] == (6.94, 0.02) and figures["agree 4 else 9"][2] < 4.74
    assert figures["overlap 5"][:2] == (5.0, 0.058) and figures["overlap 5"][2] < 3.01
    assert figures["agree 2 else 3"][2] == pytest.approx(2.32)


def test_the_best_plan_is_of_all_types_together():
    """Two types at one mean error: labels go where they lower it most, not to each type's own error."""
    easy, hard = (np.broadcast_to(np.array([[p, 1 - p], [1 - p, p]]), (1, 9, 2, 2)) for p in (0.95, 0.6))
    trees = [in_any_order(np.ones(1), chance, np.full(2, 0.5), np.ones(9), 9) for chance in (easy, hard)]
    share = np.full(2, 0.5)
    each = [priced(tree, parsed("overlap 5", NAMES[:2], ()).decided(tree, NAMES[:2]), np.inf) for tree in trees]
    apart = np.mean(
        [best_plan([tree], np.ones(1), one.error, np.inf).cost for tree, one in zip(trees, each, strict=True)]
    )
    whole = best_plan(trees, share, float(share @ [one.error for one in each]), np.inf)
    assert whole.cost < apart and whole.cost == pytest.approx(whole.bound)


def test_many_labels_and_few_errors():
    """Where errors are rarer than a ten-millionth the best plan is still one, and costs no more than the rule."""
    chance = np.broadcast_to(np.array([[0.8, 0.2], [0.2, 0.8]]), (1, 60, 2, 2))
    tree = in_any_order(np.ones(1), chance, np.full(2, 0.5), np.ones(60), 60)
    found = priced(tree, parsed("overlap 60", NAMES[:2], ()).decided(tree, NAMES[:2]), np.inf)
    assert best_plan([tree], np.ones(1), found.error, np.inf).cost < 40 < found.cost


@pytest.mark.parametrize("seed", range(20))
def test_stages_are_those_of_enumeration(seed):
    """By every way in which they can speak: settled at a chance of Bayes' rule, or on a class, else on."""
    rng = np.random.default_rng(seed)
    share, chance, prior = drawn_crowd(rng, 3, 2, 2)
    price, level, expert = rng.uniform(0.5, 2, 3), float(rng.uniform(0.6, 0.99)), 4.0
    at = rng.random() < 0.5
    how = f"at {level:.4f}" if at else "on yes"
    last = "expert" if rng.random() < 0.5 else "answer"
    rule = parsed(f"stage a settles {how}, stage b settles {how}, stage c settles {how} else {last}", NAMES[:2], "abc")
    tree = in_stages(share, chance, prior, price)
    found = priced(tree, rule.decided(tree, NAMES[:2]), expert)
    cost = error = 0.0
    for said in product(range(2), repeat=3):
        joint = np.zeros((4, 2))  # after each stage
        for part, true in product(range(2), range(2)):
            p = share[part] * prior[true]
            for n in range(4):
                joint[n, true] += p
                p *= chance[part, n, true, said[n]] if n < 3 else 1
        whole = joint[3].sum()
        for n in (1, 2, 3):
            belief = joint[n] / joint[n].sum()
            settled = belief.max() >= round(level, 4) if at else said[n - 1] == 1
            if settled or n == 3:
                cost += whole * price[:n].sum()
                right = (joint[n].max() if at else joint[n][said[n - 1]]) / joint[n].sum()
                if not settled and last == "expert":
                    cost += whole * expert
                else:
                    error += whole * (1 - right)
                break
    assert (found.cost, found.error) == pytest.approx((cost, error), abs=1e-9)
    assert best_plan([tree], np.ones(1), found.error, expert).bound <= found.cost + 1e-9


def holds(condition, found: dict[str, float]) -> bool | float:
    """Caesar's language of conditions, as its manual has it."""
    word, *rest = condition
    if word == "const":
        return rest[0]
    if word == "lookup":
        return found.get(rest[0], rest[1])
    values = [holds(one, found) for one in rest]
    pairs = list(pairwise(values))
    return {
        "gte": lambda: all(a >= b for a, b in pairs),
        "eq": lambda: all(a == b for a, b in pairs),
        "and": lambda: all(values),
        "or": lambda: any(values),
    }[word]()


@pytest.mark.parametrize(
    "text",
    [
        *("overlap 3", "agree 3 else 5", "agree 2 for yes, 3 for no else 5"),
        *("lead 2 of at most 6", "lead 1 for yes, 3 for no of at most 5"),
    ],
)
def test_caesar_retires_where_the_rule_stops(text):
    """By each number of votes that a task can come to."""
    rule = parsed(text, NAMES[:2], ())
    (one,) = json.loads(written("caesar", rule, NAMES[:2], (), ""))["rules"]
    assert one["then"][0]["action"] == "retire_subject"
    for no, yes in product(range(7), repeat=2):
        labels = [0] * no + [1] * yes
        # a task goes no further once it stops, so that it comes to states whose last vote was still asked for
        reachable = any(not over(text, labels[:k] + labels[k + 1 :], 2) for k in range(len(labels)))
        if labels and reachable and no + yes <= rule.most:
            found = {"count.classifications": no + yes, "stats.no": no, "stats.yes": yes}
            assert holds(one["if"], found) == over(text, labels, 2), labels


def test_the_other_tools_files_are_read_back():
    """Inspect's by Python's own grammar, Label Studio's as JSON, Taskflow's as a table without a header."""
    rule = parsed("stage exact settles on yes, stage grader settles on yes else answer", NAMES[:2], ("exact", "grader"))
    code = ast.parse(written("inspect", rule, NAMES[:2], (), ""))
    calls = [node for node in ast.walk(code) if isinstance(node, ast.Call)]
    assert any(getattr(call.func, "id", "") == "cascade" for call in calls)
    lists = [ast.literal_eval(node) for node in ast.walk(code) if isinstance(node, ast.List)]
    assert lists == [["exact", "grader"]]
    three = parsed("overlap 3", NAMES[:2], ())
    assert json.loads(written("label-studio", three, NAMES[:2], (), ""))["maximum_annotations"] == 3
    text = written("taskflow", three, NAMES[:2], ("a b", "c&d"), "https://host.example/?task={task}")
    assert list(csv.reader(text.splitlines())) == [
        ["https://host.example/?task=a%20b", "3"],
        ["https://host.example/?task=c%26d", "3"],
    ]
    with pytest.raises(InputError, match="gold alone has none"):
        written("taskflow", three, NAMES[:2], (), "https://host.example/{task}")
    for text in (
        "stage a settles on yes, stage b settles on no, stage c settles on no else answer",
        "stage threshold settles on yes, stage b settles on yes else answer",
    ):
        with pytest.raises(InputError, match="cannot do"):
            written("inspect", parsed(text, NAMES[:2], ("a", "b", "c", "threshold")), NAMES[:2], (), "")
    for tool, other in (("label-studio", "agree 2 else 3"), ("taskflow", "agree 2 else 3"), ("inspect", "overlap 3")):
        with pytest.raises(InputError, match="cannot do"):
            written(tool, parsed(other, NAMES[:2], ()), NAMES[:2], ("a",), "https://host.example/{task}")
    with pytest.raises(InputError, match="cannot do"):
        written("caesar", parsed("lead 2 of at most 5", NAMES[:3], ()), NAMES[:3], (), "")
    with pytest.raises(InputError, match="needs the address"):
        written("taskflow", three, NAMES[:2], ("a",), "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("three labels", "is not understood; write one such as overlap 3"),
        ("overlap 0", "no number of votes from 1 to 99"),
        ("overlap many", "no number of votes"),
        ("agree 5 else 3", "more votes of a class than for votes in all"),
        ("lead 2 for perhaps of at most 5", "'perhaps' is no class"),
        ("lead 2, 3 of at most 5", "two numbers without a class"),
        ("stage carl settles at .9 else expert", "no worker 'carl'"),
        ("stage ann settles at 1.9 else expert", "no probability"),
        ("stage ann settles at .9, stage ann settles at .9 else answer", "two stages"),
        ("stage ann settles at .9, stage bob settles on yes else answer", "choose one of them"),
        ("stage ann shrugs else answer", "the stage 'ann shrugs' is not understood"),
    ],
)
def test_what_is_not_understood(text, said):
    """One sentence each."""
    with pytest.raises(InputError, match=said):
        parsed(text, ("no", "yes"), ("ann", "bob"))


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    place = tmp_path_factory.mktemp("rules") / "mine"
    crowdopt.init(place)
    return place


@pytest.mark.slow
def test_the_command(campaign, tmp_path):
    """Figures, a folder with the tool's file, and its page."""
    words = ["rules", campaign, "--rule", "agree 2 else 3", "--to", "caesar", "-o", tmp_path / "out"]
    done = run(*words)
    assert done.exit_code == 0 and "which is proven" in done.stdout and f"solve {campaign}" in done.stdout
    assert json.loads((tmp_path / "out" / "caesar.json").read_text(encoding="utf-8"))["rules"]
    (row,) = json.loads((tmp_path / "out" / "rules.json").read_text(encoding="utf-8"))["rules"]
    assert 2 < row["labels"] < 3 and row["bound"] <= row["cost"]
    assert "agree 2 else 3" in crowdopt.report(tmp_path / "out").read_text(encoding="utf-8")
    assert run(*words).exit_code == 2  # it is there already


def test_gold_alone_and_what_a_command_lacks(campaign, tmp_path):
    """Tallies are enough; an expert needs a price; a tool's file a folder and one rule."""
    gold = {"worker": ["a", "b", "c"], "correct": [80, 85, 90], "asked": [100, 100, 100]}
    (one,) = crowdopt.rules(gold, rule=["overlap 3"]).prices
    assert one.labels == pytest.approx(3) and one.cost == pytest.approx(3)
    stage = "stage ada settles at .9 else expert"
    for changes, said in (
        ({"rule": []}, "there is no rule"),
        ({"rule": [stage]}, "say the price of an answer with --expert"),
        ({"rule": ["overlap 2", "overlap 3"], "to": "caesar", "output": tmp_path / "x"}, "of one rule"),
        ({"rule": ["overlap 2"], "to": "caesar"}, "give one --rule, and -o FOLDER"),
        ({"rule": ["overlap 50"]}, "at most 10 labels, one of each worker"),
    ):
        with pytest.raises(InputError, match=said):
            crowdopt.rules(campaign, **changes)
    assert crowdopt.rules(campaign, rule=[stage], expert=10.0).prices[0].expert > 0


@pytest.mark.parametrize(
    ("policy", "least", "most"), [("overlap=3", 3, 3), ("agree=2:most=3", 2, 3), ("lead=2:most=5", 2, 5)]
)
def test_a_rule_while_workers_come(campaign, policy, least, most):
    """As a policy each task gets the labels that the rule asks for, no more."""
    found = crowdopt.compare(campaign, policies=[f"rule:{policy}"], trials=3, seed=0)
    row = next(row for row in found.summary if row["policy"] == f"rule:{policy}")
    assert least * 24 <= row["cost"] <= most * 24


@pytest.mark.parametrize("options", ["overlap=3:agree=2", "agree=2", "lead=3:most=2", "overlap=3:most=4"])
def test_a_rule_that_is_none(campaign, options):
    """A sentence."""
    with pytest.raises(InputError, match="policy rule: "):
        crowdopt.compare(campaign, policies=[f"rule:{options}"], trials=1)


def test_a_rule_in_a_live_campaign(campaign):
    """Two labels of a task, a third if they differ: no more is asked, whatever is said."""
    rng, votes = np.random.default_rng(0), dict[str, list[str]]()
    running = crowdopt.live(campaign, policy="rule:agree=2:most=3")
    for worker in ("ada", "bo", "chen", "dana", "emre", "femi", "gus", "hana"):
        while (lease := running.ask(worker)) is not None:
            label = "yes" if rng.random() < 0.7 else "no"
            running.tell(lease.id, label)
            votes.setdefault(lease.task, []).append(label)
    running.close()
    assert len(votes) == 24
    assert all(len(said) == (2 if said[0] == said[1] else 3) for said in votes.values())
