# The cheapest adaptive plan: whom to ask after which votes, and where to stop. All of this program is ours [+].
#
#   Two classes, judges who err independently, one vote at a time, no label in yet. The builder also knows more classes,
#   confusion tables, limits by true class, hard tasks, workers alike, rounds, whole tasks whose
#   sets each keep the target, and tasks that stand elsewhere than at the beginning.

param T integer >= 1;                            # kinds of task
param J integer >= 1;                            # judges
set KINDS := 1 .. T;                             # t
set JUDGES := 1 .. J;                            # j
set STATES := 0 .. 3 ** J - 1;                   # s: a digit for each judge, 0 not asked, 1 or 2 the label given

param n{KINDS} integer >= 1;                     # tasks of a kind
param p{KINDS, JUDGES} > 0, < 1;                 # chance of a right label
param c{KINDS, JUDGES} >= 0, default 1;          # price of a label
param epsilon{KINDS} > 0, < 1/2;                 # error target
param surest{KINDS} > 0, default 1;              # error of an answer given its votes, at most
param prior{KINDS} > 0, < 1, default 1/2;        # probability that label 2 is true
param M{JUDGES} >= 0, default Infinity;          # capacity
param expert >= 0, default Infinity;             # price of an answer that is right; Infinity: there is none
param budget_limit >= 0, default Infinity;       # what all of it may cost

param digit{s in STATES, j in JUDGES} := floor(s / 3 ** (j - 1)) mod 3;
param joint{t in KINDS, s in STATES, y in 1 .. 2} := (if y = 2 then prior[t] else 1 - prior[t]) * prod{j in JUDGES}
    (if digit[s,j] = 0 then 1 else if digit[s,j] = y then p[t,j] else 1 - p[t,j]);
param mass{t in KINDS, s in STATES} := joint[t,s,1] + joint[t,s,2];
param error{t in KINDS, s in STATES} := min(joint[t,s,1], joint[t,s,2]) / mass[t,s];

# Numbers of tasks: ask[t,s,j] stand in s and ask j next, answer[t,s] stop there with the likelier class.

set NEXT := {s in STATES, j in JUDGES: digit[s,j] = 0};
var ask{KINDS, NEXT} >= 0;
var answer{KINDS, STATES} >= 0;
var hand_on{t in KINDS, s in STATES: expert < Infinity} >= 0;

minimize cost: sum{t in KINDS, (s,j) in NEXT} c[t,j] * ask[t,s,j]
    + sum{t in KINDS, s in STATES: expert < Infinity} expert * hand_on[t,s];

s.t. flow{t in KINDS, s in STATES}:
    sum{(s,j) in NEXT} ask[t,s,j] + answer[t,s] + (if expert < Infinity then hand_on[t,s]) =
    (if s = 0 then n[t]) + sum{j in JUDGES: digit[s,j] > 0}
        mass[t,s] / mass[t, s - digit[s,j] * 3 ** (j - 1)] * ask[t, s - digit[s,j] * 3 ** (j - 1), j];

s.t. error_row{t in KINDS}: sum{s in STATES} error[t,s] * answer[t,s] <= epsilon[t] * n[t];

s.t. unsure{t in KINDS, s in STATES: error[t,s] > surest[t]}: answer[t,s] = 0;

s.t. capacity{j in JUDGES: M[j] < Infinity}: sum{t in KINDS, (s,j) in NEXT} ask[t,s,j] <= M[j];

s.t. budget{{0}: budget_limit < Infinity}: sum{t in KINDS, (s,j) in NEXT} c[t,j] * ask[t,s,j]
    + sum{t in KINDS, s in STATES: expert < Infinity} expert * hand_on[t,s] <= budget_limit;

end;
