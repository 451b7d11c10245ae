"""A campaign from tables to answers, as a user would type it."""

from pathlib import Path

import numpy as np

import crowdopt

HERE = Path("here")
crowdopt.init(HERE / "birds", classes=["yes", "no"])
campaign = crowdopt.read_campaign(HERE / "birds")
plan = crowdopt.solve(campaign, time_limit=20, seed=1, output=HERE / "plan")
print(plan.objective, plan.bound, plan.gap, plan.proven, plan.loads.max())
policy = crowdopt.solve(campaign, crowdopt.Adaptive(rounds=2, expert=5.0))
print(policy.orders, policy.pairs)
parts = crowdopt.solve("parts", processes=2, output="plan")
print(parts.found, parts.why)
report = crowdopt.verify(campaign, plan)
assert report.holds, report.problems
spent = crowdopt.budget(campaign, labels=60)
print(spent.wrong)
promised = crowdopt.budget(campaign, labels=60, promise="each")
print(promised.epsilon)
hired = crowdopt.select(np.array([9, 8, 7]), 10, most=2, classes=2)
print(hired.members, hired.in_words)
count = crowdopt.rehearse(HERE / "birds", HERE / "plan", output="labels.csv", truth="truth.csv")
answered = crowdopt.aggregate("labels.csv", plan=HERE / "plan", campaign=HERE / "birds")
print(answered.answers.sure.sum(), count)
voted = crowdopt.aggregate("labels.csv", "majority", truth="truth.csv")
print(voted.right)
audit = crowdopt.audit("answers", "audit", target=0.1)
print(audit.commitment)
why = crowdopt.explain(campaign, plan, time_limit=5)
print(why.sentences)
table = crowdopt.compare(campaign, ["greedy"], trials=2)
print(table.summary)
program = crowdopt.programs.assignment.build(campaign)
solution = crowdopt.solve_program(program, "highs")
print(crowdopt.certify(solution).bound)
print(crowdopt.check("model.mps", {"column": ["x"], "value": [1.0]}, claim="feasible").why)
made = crowdopt.campaign(
    tasks={"task": ["a"]},
    workers={"worker": ["u"], "capacity": [1]},
    skills={"worker": ["u"], "accuracy": [0.9]},
    epsilon=0.2,
)
back = crowdopt.read_plan(HERE / "birds", HERE / "plan")
print(made.n_tasks, back.objective)
gold = crowdopt.plan_gold(campaign, golds=[5, 10], trials=0)
print(gold.rows)
names = [row["name"] for row in crowdopt.list_of("methods").rows]
print(names)
