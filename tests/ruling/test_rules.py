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
from tests.typed import said

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


def over(text: str, labels: list[int], classes: int = 2) -> bool:
    """Whether a task with these labels has enough, read from the words themselves."""
    words, n = text.split(), len(labels)
    if n >= int(words[-1]) or words[0] == "overlap":
        return n >= int(words[-1])
    for part in text.split(" else")[0].split(" of at")[0].split(" ", 1)[1].split(","):
        value, _, name = part.strip().partition(" for ")
        for k in (k for k in range(classes) if name in ("", NAMES[k])):
            mine, others = labels.count(k), max(labels.count(j) for j in range(classes) if j != k)
            if mine == n >= int(value) if words[0] == "agree" else mine - others >= int(value):
                return True
    return False


def enumerated(text: str, share, chance, prior, price) -> tuple[np.ndarray, np.ndarray]:
    """Labels, cost and error, and errors by class, over every order of the workers and every label."""
    parts, workers, classes, _ = chance.shape
    total, by_class = np.zeros(3), np.zeros(classes)

    def go(part: int, true: int, chances: float, used: tuple[int, ...], said: list[int]) -> None:
        if over(text, said, classes):
            count = [said.count(k) for k in range(classes)]
            best = [k for k in range(classes) if count[k] == max(count)]
            wrong = 1 - (true in best) / len(best)
            total[:] += chances * np.array([len(said), price[list(used)].sum(), wrong])
            by_class[true] += chances * wrong
            return
        free = [j for j in range(workers) if j not in used]
        for j, label in product(free, range(classes)):
            go(part, true, chances / len(free) * chance[part, j, true, label], (*used, j), [*said, label])

    for part, true in product(range(parts), range(classes)):
        go(part, true, share[part] * prior[true], (), [])
    return total, by_class / prior


def decided(tree, text: str, classes: int = 2, workers=()):
    """What a rule as it is typed does in each state of the votes."""
    return parsed(text, NAMES[:classes], workers).decided(tree, NAMES[:classes])


def best_of(tree, error: float, expert: float = np.inf):
    """The best plan of one type."""
    return best_plan([tree], np.ones(1), error, expert)


@pytest.mark.parametrize("seed", [*range(40), *(pytest.param(k, marks=pytest.mark.slow) for k in range(40, 300))])
def test_figures_are_those_of_enumeration(seed):
    """Drawn rules and crowds: 2 to 4 classes, unlike workers, hard tasks; and no rule beats the best plan."""
    rng = np.random.default_rng(seed)
    classes = int(rng.integers(2, 5))
    workers = {2: 5, 3: 4, 4: 3}[classes]
    crowd = drawn_crowd(rng, workers, classes, int(rng.integers(1, 3)))
    text = drawn_rule(rng, classes, workers)
    price = rng.uniform(0.5, 3.0, workers)
    tree = in_any_order(*crowd, price, workers)
    rule = parsed(text, NAMES[:classes], ())
    found = priced(tree, rule.decided(tree, NAMES[:classes]), 0.0)
    total, by_class = enumerated(text, *crowd, price)
    assert (found.labels, found.cost, found.error) == pytest.approx(tuple(total), abs=1e-9)
    assert found.by_class == pytest.approx(by_class, abs=1e-9)
    assert str(parsed(str(rule), NAMES[:classes], ())) == str(rule)
    best = best_of(tree, found.error)
    assert best.cost <= found.cost + 1e-9 and best.cost == pytest.approx(best.bound, abs=1e-9)
    for kin in siblings([tree], np.ones(1), rule, NAMES[:classes], 0.0)[0][:40]:
        assert best_of(tree, kin.error).cost <= kin.cost + 1e-9


@settings(max_examples=20)
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
        plan = decided(tree, "overlap 1", classes)._replace(stops=stops, expert=sends, answer=answer)
        found = priced(tree, plan, expert)
        assert best_of(tree, found.error, expert).bound <= found.cost + 1e-9


def alike(right: float, workers: int, most: int):
    """Two classes, equal workers who are so often right."""
    chance = np.broadcast_to(np.array([[right, 1 - right], [1 - right, right]]), (1, workers, 2, 2))
    return in_any_order(np.ones(1), chance, np.full(2, 0.5), np.ones(workers), most)


@pytest.mark.parametrize(
    ("text", "labels", "error", "least", "most"),
    [
        ("agree 4 else 9", 6.94, 0.02, 0, 4.74),
        ("overlap 5", 5.0, 0.058, 0, 3.01),
        ("agree 2 else 3", 2.32, 0.104, 2.3199, 2.3201),
        ("overlap 60", 60, 0, 0, 40),  # errors are rarer than a ten-millionth
    ],
)
def test_published_figures(text, labels, error, least, most):
    """Accuracy .8, any number of workers: the first four agree, else nine; five always; two, a third if they differ."""
    tree = alike(0.8, 60, 60 if labels == 60 else 31)
    found = priced(tree, decided(tree, text), 0.0)
    assert (round(found.labels, 2), round(found.error, 3)) == (labels, error)
    assert least < best_of(tree, found.error).cost < most


def test_the_best_plan_is_of_all_types_together():
    """Two types at one mean error: labels go where they lower it most, not to each type's own error."""
    trees, share = [alike(right, 9, 9) for right in (0.95, 0.6)], np.full(2, 0.5)
    errors = [priced(tree, decided(tree, "overlap 5"), np.inf).error for tree in trees]
    apart = np.mean([best_of(tree, error).cost for tree, error in zip(trees, errors, strict=True)])
    whole = best_plan(trees, share, float(share @ errors), np.inf)
    assert whole.cost < apart and whole.cost == pytest.approx(whole.bound)


@pytest.mark.parametrize("seed", range(20))
def test_stages_are_those_of_enumeration(seed):
    """By every way in which they can speak: settled at a chance of Bayes' rule, or on a class, else on."""
    rng = np.random.default_rng(seed)
    share, chance, prior = drawn_crowd(rng, 3, 2, 2)
    price, level, expert = rng.uniform(0.5, 2, 3), float(rng.uniform(0.6, 0.99)), 4.0
    at = rng.random() < 0.5
    how = f"at {level:.4f}" if at else "on yes"
    last = "expert" if rng.random() < 0.5 else "answer"
    text = f"stage a settles {how}, stage b settles {how}, stage c settles {how} else {last}"
    tree = in_stages(share, chance, prior, price)
    found = priced(tree, decided(tree, text, workers="abc"), expert)
    cost = error = 0.0
    for told in product(range(2), repeat=3):
        joint = np.zeros((4, 2))  # after each stage
        for part, true in product(range(2), range(2)):
            steps = [chance[part, n, true, told[n]] for n in range(3)]
            joint[:, true] += share[part] * prior[true] * np.cumprod([1.0, *steps])
        belief = joint / joint.sum(axis=1, keepdims=True)
        settled = belief[1:].max(axis=1) >= round(level, 4) if at else np.array(told) == 1
        n = int(settled.argmax()) + 1 if settled.any() else 3
        cost += joint[3].sum() * price[:n].sum()
        if last == "expert" and not settled.any():
            cost += joint[3].sum() * expert
        else:
            error += joint[3].sum() * (1 - (belief[n].max() if at else belief[n][told[n - 1]]))
    assert (found.cost, found.error) == pytest.approx((cost, error), abs=1e-9)
    assert best_of(tree, found.error, expert).bound <= found.cost + 1e-9


def holds(condition, found: dict[str, float]) -> bool | float:
    """Caesar's language of conditions, as its manual has it."""
    word, *rest = condition
    if word == "const":
        return rest[0]
    if word == "lookup":
        return found.get(rest[0], rest[1])
    values = [holds(one, found) for one in rest]
    if word in ("and", "or"):
        return all(values) if word == "and" else any(values)
    return all({"gte": a >= b, "eq": a == b}[word] for a, b in pairwise(values))


CAESAR = ["overlap 3", "agree 3 else 5", "agree 2 for yes, 3 for no else 5", "lead 2 of at most 6"]


@pytest.mark.parametrize("text", [*CAESAR, "lead 1 for yes, 3 for no of at most 5"])
def test_caesar_retires_where_the_rule_stops(text):
    """By each number of votes that a task can come to."""
    rule = parsed(text, NAMES[:2], ())
    (one,) = json.loads(written("caesar", rule, NAMES[:2], (), ""))["rules"]
    assert one["then"][0]["action"] == "retire_subject"
    for no, yes in product(range(7), repeat=2):
        labels = [0] * no + [1] * yes
        # a task goes no further once it stops, so that it comes to states whose last vote was still asked for
        reachable = any(not over(text, labels[:k] + labels[k + 1 :]) for k in range(len(labels)))
        if labels and reachable and no + yes <= rule.most:
            found = {"count.classifications": no + yes, "stats.no": no, "stats.yes": yes}
            assert holds(one["if"], found) == over(text, labels), labels


def test_the_other_tools_files_are_read_back():
    """Inspect's by Python's own grammar, Label Studio's as JSON, Taskflow's as a table without a header."""
    code = ast.parse(as_of("inspect", "stage exact settles on yes, stage grader settles on yes else answer"))
    calls = [node for node in ast.walk(code) if isinstance(node, ast.Call)]
    assert any(getattr(call.func, "id", "") == "cascade" for call in calls)
    lists = [ast.literal_eval(node) for node in ast.walk(code) if isinstance(node, ast.List)]
    assert lists == [["exact", "grader"]]
    assert json.loads(as_of("label-studio", "overlap 3"))["maximum_annotations"] == 3
    text = as_of("taskflow", "overlap 3", ("a b", "c&d"), f"{HOST}?task={{task}}")
    assert list(csv.reader(text.splitlines())) == [[f"{HOST}?task=a%20b", "3"], [f"{HOST}?task=c%26d", "3"]]


HOST = "https://host.example/"
STAGES = ("a", "b", "c", "exact", "grader", "threshold")


def as_of(tool: str, text: str, tasks=(), address: str = "", classes: int = 2) -> str:
    """A tool's file of a rule as it is typed."""
    return written(tool, parsed(text, NAMES[:classes], STAGES), NAMES[:classes], tasks, address)


@pytest.mark.parametrize(
    ("tool", "text", "complaint"),
    [
        ("inspect", "stage a settles on yes, stage b settles on no, stage c settles on no else answer", "cannot do"),
        ("inspect", "stage threshold settles on yes, stage b settles on yes else answer", "cannot do"),
        *((tool, "agree 2 else 3", "cannot do") for tool in ("label-studio", "taskflow", "inspect")),
        ("caesar", "lead 2 of at most 5", "cannot do"),
        ("taskflow", "overlap 3", "needs the address"),
        ("taskflow", "overlap 3", "gold alone has none"),
    ],
)
def test_what_a_tool_cannot_do(tool, text, complaint):
    """A lead among three classes, say: nothing like it is written in its place."""
    with pytest.raises(InputError, match=complaint):
        as_of(tool, text, () if "gold" in complaint else ("a",), "" if "address" in complaint else f"{HOST}{{task}}", 3)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("three labels", "is not understood; write one such as overlap 3"),
        ("overlap 0", "no number of votes from 1 to 99"),
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
def test_what_is_not_understood(text, complaint):
    """One sentence each."""
    with pytest.raises(InputError, match=complaint):
        parsed(text, ("no", "yes"), ("ann", "bob"))


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    place = tmp_path_factory.mktemp("rules") / "mine"
    crowdopt.init(place)
    return place


@pytest.mark.slow
def test_the_command(campaign, tmp_path):
    """Figures, a folder with the tool's file, and its page; what is there already stays."""
    words = ["rules", campaign, "--rule", "agree 2 else 3", "--to", "caesar", "-o", tmp_path / "out"]
    assert f"solve {campaign}" in said(*words)
    assert json.loads((tmp_path / "out" / "caesar.json").read_text(encoding="utf-8"))["rules"]
    (row,) = json.loads((tmp_path / "out" / "rules.json").read_text(encoding="utf-8"))["rules"]
    assert 2 < row["labels"] < 3 and row["bound"] <= row["cost"]
    assert "agree 2 else 3" in crowdopt.report(tmp_path / "out").read_text(encoding="utf-8")
    said(*words, code=2)


def test_gold_alone_and_what_a_command_lacks(campaign, tmp_path):
    """Tallies are enough; an expert needs a price; a tool's file a folder and one rule."""
    gold = {"worker": ["a", "b", "c"], "correct": [80, 85, 90], "asked": [100, 100, 100]}
    (one,) = crowdopt.rules(gold, rule=["overlap 3"]).prices
    assert (one.labels, one.cost) == pytest.approx((3, 3))
    stage = "stage ada settles at .9 else expert"
    for changes, complaint in (
        ({"rule": []}, "there is no rule"),
        ({"rule": [stage]}, "say the price of an answer with --expert"),
        ({"rule": ["overlap 2", "overlap 3"], "to": "caesar", "output": tmp_path / "x"}, "of one rule"),
        ({"rule": ["overlap 2"], "to": "caesar"}, "give one --rule, and -o FOLDER"),
        ({"rule": ["overlap 50"]}, "at most 10 labels, one of each worker"),
    ):
        with pytest.raises(InputError, match=complaint):
            crowdopt.rules(campaign, **changes)
    assert crowdopt.rules(campaign, rule=[stage], expert=10.0).prices[0].expert > 0


@pytest.mark.parametrize("options", ["overlap=3:agree=2", "agree=2", "lead=3:most=2", "overlap=3:most=4"])
def test_a_rule_that_is_none(campaign, options):
    """A sentence."""
    with pytest.raises(InputError, match="policy rule: "):
        crowdopt.compare(campaign, policies=[f"rule:{options}"], trials=1)


LIVE = {"overlap=3": "overlap 3", "agree=2:most=3": "agree 2 else 3", "lead=2:most=5": "lead 2 of at most 5"}


@pytest.mark.parametrize("options", LIVE)
def test_a_rule_in_a_live_campaign(campaign, options):
    """As a policy each task gets the labels that the rule asks for, and no more, whatever is said."""
    rng, votes = np.random.default_rng(0), dict[str, list[int]]()
    running = crowdopt.live(campaign, policy=f"rule:{options}")
    for worker in ("ada", "bo", "chen", "dana", "emre", "femi", "gus", "hana"):
        while (lease := running.ask(worker)) is not None:
            label = int(rng.random() < 0.7)
            running.tell(lease.id, NAMES[label])
            votes.setdefault(lease.task, []).append(label)
    running.close()
    assert len(votes) == 24
    for labels in votes.values():
        assert [over(LIVE[options], labels[: k + 1]) for k in range(len(labels))] == [False] * (len(labels) - 1) + [
            True
        ]
