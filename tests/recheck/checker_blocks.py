"""The second checker for plans that are certified by blocks: each task's labels are a whole set that covers it."""

import json
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from checker import NEAR
from checker import check as check_rows


def by_blocks(c, x, pull, load, money, whole):
    """What every plan costs at least; the evidence's own multipliers x are not needed. Never too much."""
    terms = [money * c.budget] + [w * c.room[j][w < 0] for j, w in load.items()]
    for i in c.tasks:
        limit = max(pull[i], 0.0) if c.labels[i][1] == math.inf else pull[i]
        terms += [limit * (c.labels[i][0] if limit >= 0 else c.labels[i][1])] if limit else []
        lack, rest = c.need[i] - c.had[i] - 1.001 * NEAR, []
        for j in (j for j in c.room if (i, j) not in c.barred):
            cost, worth = (1 - money) * c.price[i, j] - limit - load[j], c.worth[i, j]
            if (i, j) in c.fixed or cost < 0:
                lack -= worth
                terms.append(cost)
            elif worth > 0:
                rest.append((cost / worth, cost, worth))
        terms.append(cheapest(sorted(rest), lack) - NEAR)
    low = math.fsum(terms) - 1e-12 * sum(map(abs, terms))
    proven = c.up(low) if whole and math.isfinite(low) else low
    return max(proven, c.bound(x, pull, load, money, whole))


def cheapest(items, lack, spent=0.0, best=math.inf):
    """What items (ratio, cost, worth), sorted, of which enough meet the lack cost at least, up to NEAR: depth first."""
    for k, (ratio, cost, worth) in enumerate(items):
        if lack <= 0 or spent + ratio * lack >= best - NEAR:
            break
        best = cheapest(items[k + 1 :], lack - worth, spent + cost, best)
    return min(best, spent) if lack <= 0 else best


def check(campaign, plan):
    """The problems (None: the plan holds), and the bound that its multipliers prove, by whichever form it names."""
    blocks = json.loads((Path(plan) / "plan.json").read_text("utf-8")).get("certified_by") == "blocks"
    return check_rows(campaign, plan, by_blocks) if blocks else check_rows(campaign, plan)


if __name__ == "__main__":
    problems, bound = check(*sys.argv[1:3])
    print(*(problems or ["the plan holds"]), f"its multipliers prove that every plan costs at least {bound}", sep="\n")
    raise SystemExit(1 if problems else 0)
