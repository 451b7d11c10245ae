"""A second checker of plans, from the file formats alone: plain loops, the standard library, nothing of the package.

Each task's labels of a plan of whole labels are a set that covers it.
"""

import csv
import json
import math
import sys
import tomllib
from fractions import Fraction
from pathlib import Path

NEAR = 1e-9  # evidence that a task may lack, or that counts as none; relative noise in a claim


def read(path, needed=True):
    text = path.read_text("utf-8-sig") if needed or path.exists() else ""
    return [{k.strip(): v.strip() for k, v in r.items()} for r in csv.DictReader(text.split("\n"), strict=True)]


def worth(rule, p, classes):
    p = min(max(p, 1e-6), 1 - 1e-6) if rule == "bhattacharyya" else p
    u = (1 - p) / (classes - 1)
    q = (2 * p - 1) ** 2 if rule == "hoeffding" else -2 * math.log(2 * math.sqrt(p * u) + (classes - 2) * u)
    return q if q > NEAR else 0.0


class Campaign:
    def __init__(self, folder, settings, beside=False):
        toml = tomllib.loads((folder / "campaign.toml").read_text("utf-8-sig")) | settings
        rule, many = toml.get("rule", "bhattacharyya"), toml.get("classes", 2)
        if rule not in ("bhattacharyya", "hoeffding") or not (folder / "skills.csv").exists():
            raise ValueError(f"needs skills.csv and a rule that is known, not {rule}")
        tasks, workers, skills = (read(folder / f"{name}.csv") for name in ("tasks", "workers", "skills"))
        paid, *sets = (read(folder / f"{name}.csv", False) for name in ("prices", "forbidden", "fixed", "collected"))
        forbidden, self.fixed, done = ({(r["task"], r["worker"]) for r in rows} for rows in sets)
        # beside fixed pairs: what is left where they are labels that are in and paid for
        given, self.fixed, done = (self.fixed, set(), done | self.fixed) if beside else (set(), self.fixed, done)
        self.tasks, self.barred, load = [t["task"] for t in tasks], forbidden | done, [j for _, j in given]
        room = {w["worker"]: (int(w.get("min_tasks") or 0), int(w["capacity"])) for w in workers}
        self.room = {j: (max(0, low - load.count(j)), high - load.count(j)) for j, (low, high) in room.items()}
        skill = {(r.get("type"), r["worker"]): float(r["accuracy"]) for r in skills}
        paid = {(r.get("type"), r["worker"]): float(r["price"]) for r in paid + workers if "price" in r}
        self.worth, self.price, self.need, self.had, self.labels = {}, {}, {}, {}, {}
        for t in tasks:
            i, eps = t["task"], toml["epsilon"] if "epsilon" in settings else t.get("epsilon") or toml["epsilon"]
            for j in self.room:
                one, every = (t.get("type", "all"), j), (None, j)
                self.worth[i, j] = worth(rule, skill.get(one, skill.get(every)), many)
                self.price[i, j] = paid.get(one, paid.get(every, 1.0))
            self.need[i] = -2 * math.log(float(eps)) + (2 * math.log((many - 1) / 2) if rule == "bhattacharyya" else 0)
            had = [self.worth[p] for p in done if p[0] == i]
            limits, self.had[i] = (t.get("min_labels") or 0, t.get("max_labels") or "inf"), math.fsum(had)
            self.labels[i] = [max(0.0, float(limit) - len(had)) for limit in limits]
        self.paid = math.fsum(self.price[p] for p in given)
        self.budget = toml.get("budget", 1e300) - self.paid

    def bound(self, x, pull, load, money, whole):
        """What every plan costs at least, by multipliers of need, label limits, loads and budget; never too much."""
        terms, scale = [money * self.budget] + [w * self.room[j][w < 0] for j, w in load.items()], 0.0
        for i in self.tasks:
            free, lack = [j for j in self.room if (i, j) not in self.barred], self.need[i] - self.had[i] - 1.001 * NEAR
            best = sorted((self.worth[i, j] for j in free), reverse=True)
            fewest = max(self.labels[i][0], whole and sum(math.fsum(best[:k]) < lack for k in range(len(best) + 1)))
            price, limit = max(x[i], 0.0), max(pull[i], 0.0) if self.labels[i][1] == math.inf else pull[i]
            terms += [price * max(lack, 0.0), limit * (fewest if limit >= 0 else self.labels[i][1])]
            for j in free:
                parts = [(1 - money) * self.price[i, j], -self.worth[i, j] * price, -limit, -load[j]]
                scale += sum(map(abs, parts)) + price
                terms += parts if (i, j) in self.fixed or math.fsum(parts) < 0 else []
        low = math.fsum(terms) - 1e-14 * (scale + sum(map(abs, terms)))
        return self.up(low) if whole else low

    def up(self, low):
        """The bound, raised to the next multiple of the largest number of which every price is one."""
        exact = [Fraction(str(c)) for c in self.price.values()]
        bottom = math.lcm(*(c.denominator for c in exact))
        step = math.gcd(*(int(c * bottom) for c in exact)) / bottom
        return max(low, math.ceil(low / step - NEAR * max(1.0, abs(low / step))) * step) if step else low


def by_sets(c, x, pull, load, money, whole):
    """What every plan costs at least where each task's set keeps its limits on labels by itself. Never too much."""
    terms = [money * c.budget] + [w * c.room[j][w < 0] for j, w in load.items()]
    for i in c.tasks:
        pairs = [((1 - money) * c.price[i, j] - load[j], c.worth[i, j]) for j in c.room if (i, j) not in c.barred]
        items = [(-1.0 if cost <= 0 else cost / worth if worth else math.inf, cost, worth) for cost, worth in pairs]
        terms.append(cheapest_set(sorted(items), c.need[i] - c.had[i] - 1.001 * NEAR, *c.labels[i]) - NEAR)
    low = math.fsum(terms) - 1e-12 * sum(map(abs, terms))
    return max(c.up(low) if math.isfinite(low) else low, c.bound(x, pull, load, money, whole))


def cheapest_set(items, lack, fewest, most, spent=0.0, best=math.inf):
    """What items (ratio, cost, worth), sorted, cost at least that meet the lack, from fewest to most: depth first."""
    if lack <= 0 and fewest <= 0 <= most:
        best = min(best, spent)
    for k, (_, cost, worth) in enumerate(items):
        bring = [one for one in items[k:] if one[1] <= 0]  # they come first
        short = lack - sum(one[2] for one in bring)
        dear = items[k + len(bring)][0] if k + len(bring) < len(items) else math.inf
        if most < 1 or spent + sum(one[1] for one in bring) + (short * dear if short > 0 else 0.0) >= best - NEAR:
            break
        best = cheapest_set(items[k + 1 :], lack - worth, fewest - 1, most - 1, spent + cost, best)
    return best


def check(campaign, plan):
    """The problems (None: the plan holds), and the bound that its multipliers prove (None: they prove nothing)."""
    said = json.loads((Path(plan) / "plan.json").read_text("utf-8"))
    c, whole = Campaign(Path(campaign), said.get("in_place_of_campaign", {})), said["program"] == "ip"
    prove = by_sets if whole else Campaign.bound
    rows, tasks, workers = (read(Path(plan) / f"{name}.csv") for name in ("assignment", "tasks", "workers"))
    y = {(r["task"], r["worker"]): float(r.get("value", 1)) for r in rows}
    ids = [[r["task"] for r in tasks], [r["worker"] for r in workers]]
    if not y.keys() <= c.price.keys() or len(y) < len(rows) or ids != [c.tasks, list(c.room)]:
        return ["a task, worker or pair is unknown, missing or there twice"], None
    wrong = [f"{p} has {v}" for p, v in y.items() if not whole <= v + NEAR or v > (p not in c.barred) + NEAR]
    wrong += [f"{p} must be in the plan" for p in c.fixed if not y.get(p, 0) >= 1 - NEAR]
    for side, name, (least, most) in [(0, *one) for one in c.labels.items()] + [(1, *one) for one in c.room.items()]:
        count = math.fsum(v for p, v in y.items() if p[side] == name)
        wrong += [] if least - NEAR <= count <= most + NEAR else [f"{name} has {count}, not {least} to {most}"]
    lack = {i: c.need[i] - math.fsum([c.had[i], *(y[p] * c.worth[p] for p in y if p[0] == i)]) for i in c.tasks}
    wrong += [f"{i} lacks evidence: {v}" for i, v in lack.items() if not v <= NEAR * (1 if whole else 1.01)]
    cost, proven = math.fsum(v * c.price[p] for p, v in y.items()), -math.inf
    if all(r["dual"] for r in tasks + workers):
        x, pull = ({r["task"]: float(r.get(name, 0)) for r in tasks} for name in ("dual", "labels_dual"))
        load = {r["worker"]: float(r["dual"]) for r in workers}
        left = Campaign(Path(campaign), said.get("in_place_of_campaign", {}), whole)
        proven = left.paid + prove(left, x, pull, load, min(0.0, said.get("budget_dual", 0.0)), whole)
    noise, top = NEAR * max(1.0, cost), min(cost, proven if said["proof"] == "certificate" else cost)
    right = {"objective": (cost, cost), "cost": (cost, min(cost, c.budget)), "certified_bound": (-math.inf, proven)}
    right["bound"] = cost if said["proven"] else -math.inf, top
    said |= {name: -math.inf for name in right if said[name] is None}
    wrong += [f"{k} says {said[k]}, not {v}" for k, v in right.items() if not v[0] - noise <= said[k] <= v[1] + noise]
    return wrong or None, proven if proven > -math.inf else None


if __name__ == "__main__":
    problems, bound = check(*sys.argv[1:3])
    print(*(problems or ["the plan holds"]), f"its multipliers prove that every plan costs at least {bound}", sep="\n")
    raise SystemExit(1 if problems else 0)
