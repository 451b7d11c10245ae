"""Audits and escalations, rebuilt from their folders: the draw, what was answered, and the bound that follows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from crowdopt.arrays import Bools, Floats, Ints
from crowdopt.documents import read_json
from crowdopt.errors import InputError
from crowdopt.io.answers import AnsweredTable, read_answered
from crowdopt.io.audits import AUDIT, CLAIMED, DRAW, DRAWN, ESCALATES, ESCALATION, STANDING, STANDS
from crowdopt.io.schema import CHECKED, CORRECTED, GOING_UP, LISTED, STANDING_ANSWERS
from crowdopt.io.tables import read_table, table_in
from crowdopt.notebooks import InNotebooks

ROUNDED = 1e-12  # of a sum of chances
RATES = 1e10  # of the mean rate, and its inverse: beyond, shares that are hidden round
ERRORS = 1e-6  # predicted errors lie so far from 0 and from 1, or a single check could decide all


def terms_problems(said: dict[str, Any], table: AnsweredTable) -> list[str]:
    """What a bound cannot be computed with, or would be false with.

    Its theorem needs: groups that are a partition of the answers drawn from, tested numbers that stand for every number
    from 0 on, and predictions that leave no outcome impossible. The chances of all audits add up.

    said: ``draw.json``.
    """
    answers, drawn = len(table.tasks), len(table.tasks) - said["least_sure"]
    spent = sum(earlier["delta"] for earlier in said["earlier"]) + said["delta"]
    size, numbers = [group["size"] for group in said["groups"]], said["numbers"]
    tests = {
        "the answers are not those that were drawn from": table.digest == said["answers_sha256"],
        f"the table has {answers} answers, not {said['answers']}": said["answers"] == answers,
        "the least sure answers leave none to draw from": drawn >= 1,
        "the checks are not more than the least sure, or more than the answers": (
            said["least_sure"] < said["checks"] <= answers
        ),
        "answers without a claimed error are in several groups, or have least sure ones": (
            table.claims is not None or (len(size) == 1 and not said["least_sure"])
        ),
        "the groups are not a partition of the answers drawn from": min(size, default=0) >= 1 and sum(size) == drawn,
        "the numbers tested do not stand for every number of wrong answers": (
            numbers[:1] == [0] and all(np.diff(numbers) > 0) and numbers[-1] <= drawn
        ),
        "the predicted errors are not one inside (0, 1) for each version and group": predicts(said),
        "the groups' rates are too far apart to compute with": comparable(said),
        "the audits spend more than their confidence leaves": spent <= 1 - said["confidence"] + ROUNDED,
        "the slices are not the values of the column that claims are made by": (
            [one["value"] for one in said["slices"]] == sorted(set(table.values))
        ),
    }
    return [problem for problem, passed in tests.items() if not passed]


def commitment_problems(said: dict[str, Any], commitment: str | None, after: tuple[Path, ...]) -> list[str]:
    """Whether a draw is the one that was committed to, and names the earlier audits with what they spent.

    said: ``draw.json``; commitment: as it was handed on; after: folders of earlier audits.
    """
    problems = [] if document_digest(said) == said["commitment"] else ["draw.json was changed after it was written"]
    if commitment not in (None, said["commitment"]):
        problems.append("the draw is not the one whose commitment was handed on")
    named = {earlier["commitment"]: earlier["delta"] for earlier in said["earlier"]}
    for folder in after:
        one = read_json(folder / DRAW, DRAWN, "audit")
        if document_digest(one) != one["commitment"]:
            problems.append(f"{folder / DRAW} was changed after it was written")
        chain = [*one["earlier"], {"commitment": one["commitment"], "delta": one["delta"]}]
        if any(named.get(each["commitment"]) != each["delta"] for each in chain):
            problems.append(f"the draw does not name {folder} among the earlier audits, with the chance it spent")
    return problems


def document_digest(said: dict[str, Any]) -> str:
    """SHA-256 of the JSON text with sorted keys and no blanks, the commitment left out; said: a document."""
    rest = {key: value for key, value in said.items() if key != "commitment"}
    return sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def predicts(said: dict[str, Any]) -> bool:
    """Whether there is a predicted error inside (0, 1) for each version and group; said: a draw."""
    weight, error = (said["predicted"][name] for name in ("weight", "error"))
    if len(weight) != len(error) or any(len(row) != len(said["groups"]) for row in error):
        return False
    inside = all(ERRORS <= value <= 1 - ERRORS for row in error for value in row)
    return inside and sum(weight) > 0


def comparable(said: dict[str, Any]) -> bool:
    """Whether the groups' rates are near enough to each other to compute with; said: a draw."""
    rate, size = (np.array([group[name] for group in said["groups"]], float) for name in ("rate", "size"))
    with np.errstate(over="ignore"):
        mean = rate @ size / max(1.0, size.sum())
    return bool(np.isfinite(mean) and ((rate >= mean / RATES) & (rate / RATES <= mean)).all())


ROUNDING = 1e-6  # of a logarithm, and of a tail
HALVINGS = 50
LEAST, MOST = -28.0, np.log(1e4)  # logarithm of the pressure; at the most, all that is left is supposed to be wrong


def exact_holds(answers: int, checked: int, wrong: int, left: int, delta: float) -> bool:
    """Whether ``P(Hyp(n, k + R + 1, a) <= k) <= delta``: more than R wrong ones would have shown.

    answers, checked, wrong: n answers, of which a were drawn and looked at, k of them wrong; left: R, the claim: so
    many are left at most.
    """
    from scipy.stats import hypergeom

    more = wrong + left + 1
    return more > answers - checked + wrong or bool(
        hypergeom.cdf(wrong, answers, more, checked) <= delta * (1 + ROUNDING)
    )


def martingale_holds(said: dict[str, Any], stratum: Ints, wrong: Bools, left: Ints) -> bool:
    """Whether each number of wrong answers above a claim is refuted by its test martingale when the claim is made.

    said: ``draw.json``, held against its table: groups, predictions, numbers, delta; stratum, wrong (checks,) int,
    bool: group of each answer looked at, in the order of the draw, and whether it was wrong; left (checks,): the claim
    after each check: so many are left at most.
    """
    size, rate = (np.array([group[name] for group in said["groups"]], float) for name in ("size", "rate"))
    rate /= rate @ size / size.sum()  # the draw and the bound know ratios of rates only
    numbers, total = np.array(said["numbers"]), int(size.sum())
    upto = np.append(numbers[1:] - 1, total)  # the last number that each one stands for
    seen = np.zeros((wrong.size + 1, size.size))
    seen[1:] = np.cumsum(np.eye(size.size)[stratum], axis=0)
    open_, found = size - seen[:-1], np.cumsum(wrong)
    predicted = predicted_shares(said["predicted"], stratum, wrong)
    says = left < total - np.arange(1, wrong.size + 1)  # that all are wrong that are left needs no proof
    for number, last in zip(numbers.tolist(), upto.tolist(), strict=True):
        excluded = np.flatnonzero(says & (left + found < last))
        if not excluded.size:
            continue
        k = int(excluded[0]) + 1  # checks after which the number must be refuted
        if number - found[k - 1] > total - k:
            continue  # more than there are
        null = number - (found - wrong)[:k]
        if (
            largest_log_product(null, open_[:k], rate, predicted[:k], stratum[:k], wrong[:k])
            < -np.log(said["delta"]) - ROUNDING
        ):
            return False
    return True


def predicted_shares(versions: dict[str, Any], stratum: Ints, wrong: Bools) -> Floats:
    """Bayes' rule, check by check.

    versions: ``predicted`` of the draw; stratum, wrong (checks,): as below; -> (checks, groups).
    """
    belief, error = np.array(versions["weight"], float), np.array(versions["error"], float)
    belief = belief / belief.sum()
    rows = []
    for group, is_wrong in zip(stratum.tolist(), wrong.tolist(), strict=True):
        rows.append(belief @ error)
        belief = belief * (error[:, group] if is_wrong else 1 - error[:, group])
        belief = belief / belief.sum()
    return np.array(rows).reshape(-1, error.shape[1])


def largest_log_product(
    null: Ints, sizes: Floats, rate: Floats, predicted: Floats, stratum: Ints, wrong: Bools
) -> float:
    """Largest logarithm of the product that is ever reached.

    null (checks,): wrong answers that are supposed to be left before each; sizes, predicted (checks, groups): answers
    left, and shares predicted; rate (groups,); stratum, wrong (checks,): group of each, and whether it was wrong.
    """
    # If at least m wrong ones are left, a factor's mean is ``1 + lambda (sum_i theta_i - m)`` at most; it is divided
    # by that, so that any pressure is valid and bisection only finds one that is good.
    low, high = np.full(null.size, LEAST), np.full(null.size, MOST)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        hidden = (sizes * _hidden(np.exp(middle)[:, None] / rate, predicted)).sum(axis=1)
        low, high = np.where(hidden >= null, low, middle), np.where(hidden >= null, middle, high)
    pressure = np.exp(low)[:, None] / rate  # h = lambda / pi
    theta, own = _hidden(pressure, predicted), (np.arange(null.size), stratum)
    mean = 1 + np.exp(low) / (sizes @ rate) * ((sizes * theta).sum(axis=1) - null)
    right = np.log1p((pressure * theta)[own])  # (1 - r) / (1 - theta) = 1 + h theta
    factor = np.where(wrong, np.log((predicted / theta)[own]), right) - np.log(np.maximum(mean, 1e-300))
    return float(np.cumsum(np.where((sizes * predicted).sum(axis=1) < null, factor, 0.0)).max(initial=-np.inf))


def _hidden(pressure: Floats, predicted: Floats) -> Floats:
    """The share theta with ``theta - r = h theta (1 - theta)``."""
    half = (pressure - 1) / (2 * pressure)
    root = np.sqrt(half * half + predicted / pressure)
    return np.where(half > 0, half + root, predicted / pressure / np.maximum(root - half, 1e-300))


@dataclass(frozen=True)
class AuditReport(InNotebooks):
    """Whether an audit's claim follows from its draw and the expert's answers."""

    holds: bool
    problems: list[str]  # what is wrong if it does not hold
    sentence: str  # the claim, in words made of what was recomputed; empty if it does not hold
    commitment: str  # as draw.json says
    earlier: int = 0  # audits that draw.json names as done before
    confidence: float = 0.0  # of all their claims and this one together
    delta: float = 0.0  # what this one may spend of the chance of a false claim
    by: str = ""  # column by whose values there are claims too
    slices: list[dict[str, Any]] = field(default_factory=list)
    recall: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Seen:
    """What was looked at."""

    stratum: Ints  # (checks,): group of each drawn answer, in the order of the draw
    wrong: Bools  # (checks,): whether it was wrong
    # looked at and wrong: among the least sure answers, and among those neither drawn nor least sure
    certain: tuple[int, int]  # (int, int)
    others: tuple[int, int]  # (int, int)


def verify_audit(
    answers: str | Path, folder: str | Path, commitment: str | None = None, after: Sequence[str | Path] = ()
) -> AuditReport:
    """Recompute an audit folder: commitment, draw, what was looked at, corrections, the bound.

    answers: the table that was drawn from; commitment: as it was handed on before the expert began: a draw made
    afterwards has another one; after: earlier audits that are known of: the draw must name them, with the chance that
    they spent.
    """
    place = Path(folder)
    said = read_json(place / DRAW, DRAWN, "audit")
    table = read_answered(answers, said["by"])
    claim = read_json(place / AUDIT, CLAIMED, "audit whose answers are in")
    problems = commitment_problems(said, commitment, tuple(Path(one) for one in after)) + terms_problems(said, table)
    if not problems:
        problems = _draw(said, claim, table, place)
    sentence = "" if problems else claim["sentence"]  # which _claims found to be the recomputed one
    report = AuditReport(not problems, problems, sentence, said["commitment"], len(said["earlier"]), said["confidence"])
    return (
        report if problems else replace(report, **{name: claim[name] for name in ("by", "delta", "slices", "recall")})
    )


def _draw(said: dict[str, Any], claim: dict[str, Any], table: AnsweredTable, place: Path) -> list[str]:
    certain, order, group = order_of(said, table, said["least_sure"])
    stratum = group[order]
    chosen = [table.tasks[i] for i in [*certain, *order]]
    listed = read_table(place / "check.csv", LISTED)["task"]
    if listed != chosen[: len(listed)] or len(listed) < said["checks"]:
        return ["check.csv does not list what the seed draws"]
    file = table_in(place, "checked")
    label = expert_labels(file)
    answer = dict(zip(table.tasks, table.labels, strict=True))
    if set(label) - set(answer):
        return ["checked.csv has tasks that have no answer"]
    drawn = [table.tasks[i] for i in order[: max(0, len(listed) - len(certain))]]
    count = next((k for k, task in enumerate(drawn) if task not in label), len(drawn))
    if not count:
        return ["no drawn answer was looked at"]
    if any(task in label for task in drawn[count:]):
        return [f"task {drawn[count]} was skipped while later ones of the draw were looked at"]
    wrong = np.array([label[task] != answer[task] for task in drawn[:count]], bool)
    first = {table.tasks[i] for i in certain}
    beside = first & set(label), set(label) - first - set(drawn)
    counts = [(len(part), sum(label[task] != answer[task] for task in part)) for part in beside]
    seen = Seen(stratum[:count], wrong, *counts)
    problems = [] if sha256(file.read_bytes()).hexdigest() == claim["checked_sha256"] else ["checked.csv was changed"]
    problems += _claims(said, claim, seen) + _corrected(table, label, place)
    return problems + (_slices(said, claim, table, label, (certain, order, stratum), count) if said["by"] else [])


def _slices(
    said: dict[str, Any],
    claim: dict[str, Any],
    table: AnsweredTable,
    label: dict[str, str],
    drawn: tuple[list[int], list[int], Ints],
    count: int,
) -> list[str]:
    """Each slice is a draw of its own: what lies in it of the draw and of the looks, against its share of the chance.

    drawn: least sure answers, the others in the order of the draw, and the group of each of these; count: of them that
    were looked at.
    """
    certain, order, stratum = drawn
    wrong = {i: label[task] != table.labels[i] for i, task in enumerate(table.tasks) if task in label}
    rate = [group["rate"] for group in said["groups"]]
    if [one["value"] for one in claim["slices"]] != [one["value"] for one in said["slices"]]:
        return ["audit.json does not claim for each slice of the draw"]
    problems = []
    for one, told in zip(said["slices"], claim["slices"], strict=True):
        inside = np.array([table.values[i] == one["value"] for i in order], bool)
        sizes, numbers, n = np.bincount(stratum[inside], minlength=len(rate)), one["numbers"], int(inside.sum())
        kept = np.flatnonzero(sizes)
        if sizes.tolist() != one["sizes"] or numbers[:1] != [0] or (np.diff(numbers) <= 0).any() or numbers[-1] > n:
            problems.append(f"the numbers tested, or the groups, are not those of slice {one['value']}")
            continue
        mine, looks = inside[:count], [i for i in wrong if table.values[i] == one["value"]]
        found = np.array([wrong[i] for i, here in zip(order, mine, strict=False) if here], bool)
        unseen = sum(table.values[i] == one["value"] and i not in wrong for i in certain)
        corrected = sum(wrong[i] for i in looks)
        beside = corrected - int(found.sum()) - sum(wrong[i] for i in looks if i in set(certain))
        size = table.values.count(one["value"])
        most = max(0, told["left"] - beside) + unseen + int(said["expert_error"] * said["answers"] + 1e-9)
        facts = {"answers": size, "checked": len(looks), "corrected": corrected, "wrong_at_most": min(size, most)}
        problems += [f"slice {one['value']}: {problem}" for problem in differing(facts, told)]
        own = {
            "groups": [{"size": int(sizes[k]), "rate": rate[k]} for k in kept],
            "predicted": {
                "weight": said["predicted"]["weight"],
                "error": [[row[k] for k in kept] for row in said["predicted"]["error"]],
            },
            "numbers": numbers,
            "delta": said["delta"] / 2 / len(said["slices"]),
        }
        where = np.searchsorted(kept, stratum[:count][mine])
        if not _slice_holds(said["method"], own, where, found, told["left"], n):
            problems.append(f"slice {one['value']}: the answers do not show that at most {told['left']} are wrong")
    return problems + differing({"recall": _recall(claim, table, label)}, claim)


def _slice_holds(method: str, own: dict[str, Any], stratum: Ints, wrong: Bools, left: int, answers: int) -> bool:
    checked, found = wrong.size, int(wrong.sum())
    if left >= answers - checked:
        return left <= answers
    if method == "exact":
        return exact_holds(answers, checked, found, left, own["delta"])
    path = answers - np.arange(1, checked + 1)  # before the last look nothing is claimed
    path[-1] = left
    return martingale_holds(own, stratum, wrong, path)


def _recall(claim: dict[str, Any], table: AnsweredTable, label: dict[str, str]) -> dict[str, float]:
    """Of each class: ``(N_c - W_c)`` over that and all wrong ones of other classes."""
    if table.values != table.labels:
        return {}
    now = [label.get(task, text) for task, text in zip(table.tasks, table.labels, strict=True)]
    wrong = {one["value"]: one["wrong_at_most"] for one in claim["slices"]}
    shares = {}
    for name in sorted(set(now)):
        right, others = max(0, now.count(name) - wrong.get(name, 0)), sum(wrong.values()) - wrong.get(name, 0)
        shares[name] = right / (right + others) if right else 0.0
    return shares


def expert_labels(file: Path) -> dict[str, str]:
    """What the expert says of each task that was looked at."""
    rows = read_table(file, CHECKED)
    return {task: text for task, text in zip(rows.unique_ids("task"), rows["label"], strict=True) if text}


def order_of(said: dict[str, Any], table: AnsweredTable, least_sure: int) -> tuple[list[int], list[int], Ints]:
    """The least sure answers, the others in the order of the draw, and the group of each answer."""
    n, rate = len(table.tasks), np.array([group["rate"] for group in said["groups"]])
    claims = np.zeros(n) if table.claims is None else table.claims
    surest = sorted(range(n), key=lambda i: (claims[i], i))
    kept = surest[: n - least_sure]
    group = np.zeros(n, np.int64)
    if rate.size > 1:
        ends = np.cumsum([one["size"] for one in said["groups"]])
        group[kept] = np.searchsorted(ends, np.arange(len(kept)), side="right")
    wait = -np.log1p(-np.random.default_rng(said["seed"]).random(n)) / rate[group]
    order = sorted(kept, key=lambda i: (wait[i], i))
    return surest[len(kept) :][::-1], order, group


def _claims(said: dict[str, Any], claim: dict[str, Any], seen: Seen) -> list[str]:
    """All that audit.json says, but for the bound itself, is counted again; the bound is held against its theorem."""
    facts = {**_facts(said, seen), **_conclusion(said, seen, claim["left"])}
    problems = differing(facts, claim)
    held = {*facts, "left", "checked_sha256", "version", *(("slices", "recall") if said["by"] else ())}
    if not said["by"]:
        problems += differing({"slices": [], "recall": {}}, claim)
        held |= {"slices", "recall"}
    problems += [f"{AUDIT} has an entry {key!r}, which nothing is held against" for key in sorted(claim.keys() - held)]
    if not _bound_holds(said, seen, claim["left"]):
        problems.append(f"the answers do not show that at most {claim['wrong_at_most']} are wrong")
    return problems


def differing(facts: dict[str, Any], claim: dict[str, Any]) -> list[str]:
    """Facts that a claim says otherwise; as JSON, for 1 is no true."""
    some = {name: value for name, value in facts.items() if json.dumps(value) != json.dumps(claim.get(name))}
    return [f"{name} is {value}, not {claim.get(name)}" for name, value in some.items()]


def _facts(said: dict[str, Any], seen: Seen) -> dict[str, Any]:
    parts = {"drawn": (seen.wrong.size, int(seen.wrong.sum())), "least_sure": seen.certain, "others": seen.others}
    groups = []
    for k, group in enumerate(said["groups"]):
        here = seen.stratum == k
        counts = {"checked": int(here.sum()), "wrong": int(seen.wrong[here].sum())}
        groups.append({"answers": group["size"], "claimed": group["claim"], **counts})
    same = ("answers", "answers_sha256", "target", "delta", "confidence", "method", "expert_error", "seed", "by")
    return {
        **{name: said[name] for name in (*same, "commitment")},
        "earlier": len(said["earlier"]),
        **{f"{name}_checked": checked for name, (checked, _) in parts.items()},
        **{f"{name}_wrong": wrong for name, (_, wrong) in parts.items()},
        "checked": sum(checked for checked, _ in parts.values()),
        "corrected": sum(wrong for _, wrong in parts.values()),
        "groups": groups,
    }


def _conclusion(said: dict[str, Any], seen: Seen, left: list[int]) -> dict[str, Any]:
    n, error = said["answers"], said["expert_error"]
    unseen, expert = said["least_sure"] - seen.certain[0], int(error * n + 1e-9)
    most = min(n, max(0, left[-1] - seen.others[1]) + unseen + expert) if left else n
    looks = [
        sum(pair) for pair in zip((seen.wrong.size, int(seen.wrong.sum())), seen.certain, seen.others, strict=True)
    ]
    sure = np.floor(1e10 * (1 - own_delta(said)) + 1e-4) / 1e8  # never rounded up
    sentence = (
        f"with {sure:.10g} % confidence at most {most} of the {n} answers are wrong, whatever the workers did "
        f"({looks[0]} checked, {looks[1]} corrected)"
    )
    if error:
        sentence += f", if the expert errs on at most {100 * error:.12g} % of the tasks"
    return {"wrong_at_most": most, "certified": most <= said["target"] * n + 1e-9, "sentence": sentence}


def own_delta(said: dict[str, Any]) -> float:
    """What the claim of all answers may spend: half, where there are claims by slices beside it."""
    return float(said["delta"]) / (2 if said["by"] else 1)


def _bound_holds(said: dict[str, Any], seen: Seen, left: list[int]) -> bool:
    drawn, checked, found = said["answers"] - said["least_sure"], seen.wrong.size, int(seen.wrong.sum())
    if said["method"] == "exact":
        fixed = said["checks"] - said["least_sure"]
        return len(left) == 1 and checked == fixed and exact_holds(drawn, checked, found, left[0], own_delta(said))
    own = {**said, "delta": own_delta(said)}
    return len(left) == checked and martingale_holds(own, seen.stratum, seen.wrong, np.array(left, np.int64))


def _corrected(table: AnsweredTable, label: dict[str, str], place: Path) -> list[str]:
    rows = read_table(place / "answers.csv", CORRECTED)
    wanted = [label.get(task, text) for task, text in zip(table.tasks, table.labels, strict=True)]
    looked = ["yes" if task in label else "no" for task in table.tasks]
    same = rows["task"] == list(table.tasks) and rows["label"] == wanted
    same = same and ("checked" not in rows or rows["checked"] == looked)
    return [] if same else ["answers.csv is not the answers with the expert's corrections"]


SPENT = 1e-12  # of a sum of chances


def verify_escalation(
    answers: str | Path, folder: str | Path, commitment: str | None = None, after: Sequence[str | Path] = ()
) -> AuditReport:
    """Recompute an escalation folder: commitment, what it may spend, draw, looks, thresholds, what stands and goes up.

    answers: the table that was drawn from; commitment: as it was handed on before the expert began; after: the
    escalation of the tier below, which this one must name with what it spent and sent up.
    """
    place, table = Path(folder), read_answered(answers)
    said = read_json(place / ESCALATION, ESCALATES, "escalation")
    claim = read_json(place / STANDING, STANDS, "escalation whose answers are in")
    if said["below"] and not after:
        raise InputError(
            f"{place} goes on after a tier below, and nothing else shows what that spent: give it as --after"
        )
    problems = _committed(said, commitment) + _terms(said, table) + _below(said, table, [Path(one) for one in after])
    if not problems:
        problems = _standing(said, claim, table, place)
    sentence = "" if problems else claim["sentence"]
    return AuditReport(not problems, problems, sentence, said["commitment"], len(said["below"]), said["confidence"])


def _committed(said: dict[str, Any], commitment: str | None) -> list[str]:
    problems = [] if document_digest(said) == said["commitment"] else [f"{ESCALATION} was changed after it was written"]
    if commitment not in (None, said["commitment"]):
        problems.append("the draw is not the one whose commitment was handed on")
    return problems


def _terms(said: dict[str, Any], table: AnsweredTable) -> list[str]:
    """What the thresholds' theorem needs: a partition by claims, and no more spent than is there."""
    size = [group["size"] for group in said["groups"]]
    wrong = said["allowed"] + sum(tier["wrong"] for tier in said["below"])
    chance = said["delta"] + sum(tier["delta"] for tier in said["below"])
    first = said["first"]
    most = int(said["target"] * first + 1e-9) - int(said["expert_error"] * first + 1e-9)
    tests = {
        "the answers are not those that were drawn from": table.digest == said["answers_sha256"],
        "the answers claim no error": table.claims is not None,
        f"the table has {len(table.tasks)} answers, not {said['answers']}": said["answers"] == len(table.tasks),
        "the first tier does not have the answers that are drawn from": (
            said["answers"] <= first if said["below"] else said["answers"] == first
        ),
        "the groups are not a partition of the answers": (min(size, default=0) >= 1 and sum(size) == len(table.tasks)),
        "the predicted errors are not one inside (0, 1) for each version and group": predicts(said),
        "the groups' rates are too far apart to compute with": comparable(said),
        "the tiers may leave more wrong answers than the target": wrong <= max(0, most),
        "the tiers spend more than their confidence leaves": chance <= 1 - said["confidence"] + SPENT,
        "a tier before the last one spends all that is left": (
            said["allowed"] * said["tiers"] <= max(0, most - wrong + said["allowed"])
        ),
    }
    return [problem for problem, passed in tests.items() if not passed]


def _below(said: dict[str, Any], table: AnsweredTable, after: list[Path]) -> list[str]:
    """Whether the tiers below are named as they are, and what they sent up is what was answered here."""
    problems = []
    named = {tier["commitment"]: tier for tier in said["below"]}
    for folder in after:
        one = read_json(folder / ESCALATION, ESCALATES, "escalation")
        stood = read_json(folder / STANDING, STANDS, "escalation whose answers are in")
        same = ("first", "target", "expert_error", "confidence")
        wanted = {"commitment": one["commitment"], "delta": one["delta"]}
        wanted |= {"up_sha256": stood["up_sha256"], "wrong": stood["wrong_at_most"]}
        chain = [*one["below"], wanted]
        if any(named.get(tier["commitment"]) != tier for tier in chain) or any(said[key] != one[key] for key in same):
            problems.append(f"the draw does not name {folder} as a tier below, with what it spent and sent up")
        up, whole = read_table(folder / "up.csv", GOING_UP)["task"], 1 - one["confidence"]
        left = whole - sum(tier["delta"] for tier in one["below"])
        tests = {
            f"{folder / ESCALATION} was changed after it was written": document_digest(one) == one["commitment"],
            f"{folder / STANDING} is of another draw": stood["commitment"] == one["commitment"],
            f"{folder} spends more than its part of the chance": one["delta"] * one["tiers"] <= left + SPENT,
            f"{folder} was drawn with another number of tiers": (
                one["tiers"] + len(one["below"]) == said["tiers"] + len(said["below"])
            ),
            f"{folder / 'up.csv'} does not list what went up": _digest(up) == stood["up_sha256"],
            f"the answers are not those to {folder / 'up.csv'}": (
                all(tier["commitment"] != one["commitment"] for tier in said["below"][-1:])
                or sorted(up) == sorted(table.tasks)
            ),
        }
        problems += [problem for problem, passed in tests.items() if not passed]
    return problems


def _standing(said: dict[str, Any], claim: dict[str, Any], table: AnsweredTable, place: Path) -> list[str]:
    _, order, group = order_of(said, table, 0)
    listed = read_table(place / "check.csv", LISTED)["task"]
    if listed != [table.tasks[i] for i in order[: len(listed)]] or len(listed) < said["checks"]:
        return ["check.csv does not list what the seed draws"]
    checked = table_in(place, "checked")
    label = expert_labels(checked)
    if set(label) - set(table.tasks):
        return ["checked.csv has tasks that have no answer"]
    drawn = [table.tasks[i] for i in order[: len(listed)]]
    count = next((k for k, task in enumerate(drawn) if task not in label), len(drawn))
    if not count or any(task in label for task in drawn[count:]):
        return ["the answers were not looked at in the order of the draw"]
    answer = dict(zip(table.tasks, table.labels, strict=True))
    wrong = np.array([label[task] != answer[task] for task in drawn[:count]], bool)
    return (
        ([] if sha256(checked.read_bytes()).hexdigest() == claim["checked_sha256"] else ["changed"])
        + _claims_of_stratum(said, claim, group[order], wrong)
        + _tables(said, claim, table, group, label, place)
    )


def _claims_of_stratum(said: dict[str, Any], claim: dict[str, Any], stratum: Ints, wrong: Bools) -> list[str]:
    size, groups = np.array([one["size"] for one in said["groups"]]), claim.get("groups")
    if type(groups) is not int or not 0 <= groups <= size.size:
        return ["standing.json names a threshold that is none"]
    below = stratum[: wrong.size] < groups
    stand, corrected = int(size[:groups].sum()), int(wrong[below].sum())
    left = min(max(0, said["allowed"] - corrected), stand - int(below.sum()))
    sure = np.floor(1e10 * (1 - said["delta"]) + 1e-4) / 1e8  # never rounded up
    sentence = (
        f"with {sure:.10g} % confidence at most {left} of the {stand} answers that stand are wrong, whatever the "
        f"workers did ({wrong.size} checked); the other {said['answers'] - stand} of {said['answers']} go up a tier"
    )
    facts = {"stand": stand, "wrong_at_most": left, "corrected": corrected, "sentence": sentence}
    facts |= {name: said[name] for name in ("allowed", "delta", "planned", "commitment", "answers_sha256")}
    facts |= {"drawn_checked": wrong.size, "drawn_wrong": int(wrong.sum())}
    problems = differing(facts, claim)
    open_ = [g for g in range(1, groups + 1) if not _refuted(said, size, stratum[: wrong.size], wrong, g)]
    if open_:
        problems.append(f"the looks do not show that few enough are wrong in the first {open_[0]} groups")
    return problems


def _refuted(said: dict[str, Any], size: Ints, stratum: Ints, wrong: Bools, groups: int) -> bool:
    null = said["allowed"] + 1
    if size[:groups].sum() < null:
        return True
    below = stratum < groups
    own, found = stratum[below], wrong[below]
    seen = np.zeros((own.size + 1, groups))
    seen[1:] = np.cumsum(np.eye(groups)[own], axis=0)
    open_ = size[:groups] - seen
    left = null - np.concatenate([[0], np.cumsum(found)])
    impossible = left > open_.sum(axis=1)
    if impossible.any():
        return True
    rate = np.array([one["rate"] for one in said["groups"]][:groups], float)
    predicted = predicted_shares(said["predicted"], stratum, wrong)[below][:, :groups]
    reached = largest_log_product(left[:-1], open_[:-1], rate / rate.mean(), predicted, own, found)
    return bool(reached >= -np.log(said["delta"]) - ROUNDING)


def _tables(
    said: dict[str, Any], claim: dict[str, Any], table: AnsweredTable, group: Ints, label: dict[str, str], place: Path
) -> list[str]:
    above = {task for task, g in zip(table.tasks, group.tolist(), strict=True) if g >= claim["groups"]}
    how = ["up" if t in above - set(label) else "checked" if t in label else "stands" for t in table.tasks]
    texts = ["" if h == "up" else label.get(t, a) for h, t, a in zip(how, table.tasks, table.labels, strict=True)]
    rows = read_table(place / "answers.csv", STANDING_ANSWERS)
    up = [task for task, where in zip(table.tasks, how, strict=True) if where == "up"]
    cost = said["expert_price"] * len(label) + said["next_price"] * len(up)
    tests = {
        "answers.csv is not what stands, was checked and goes up": (
            (rows["task"], rows["label"], rows["how"]) == (list(table.tasks), texts, how)
        ),
        "up.csv does not list what goes up": read_table(place / "up.csv", GOING_UP)["task"] == up,
        "up_sha256 is not that of up.csv": _digest(up) == claim["up_sha256"],
        "the number of answers that go up, or of looks, is another one": (
            (claim["up"], claim.get("checked")) == (len(up), len(label))
        ),
        "the cost is another one": abs(claim.get("cost", np.inf) - cost) <= 1e-9 * max(1.0, cost),
    }
    return [problem for problem, passed in tests.items() if not passed]


def _digest(tasks: list[str]) -> str:
    return sha256("".join(f"{task}\n" for task in tasks).encode()).hexdigest()
