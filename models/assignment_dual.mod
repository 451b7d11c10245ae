# The dual of the relaxed assignment program: what a unit of evidence is worth on each task.
#
#   Ho, Jabbari & Vaughan, Adaptive Task Assignment for Crowdsourced Classification, ICML 2013 [HJV]:
#   Section 4.3; types as in Section 3, prices as in Section 7.
#   What the paper does not have is marked [+]. Its data are assignment.mod's as far as the paper's dual knows them:
#   no fixed pairs, label limits, minimum loads or budget.

set TASKS;                                       # i
set WORKERS;                                     # j
set TYPES;

param tau{TASKS} symbolic in TYPES;              # type of a task
param p{TYPES, WORKERS} >= 0, <= 1;              # skill: chance of a right label
param M{WORKERS} integer >= 0;                   # capacity
param epsilon{TASKS} > 0, < 1/2;                 # error target
param c{TYPES, WORKERS} >= 0, default 1;         # price of a label, Section 7
param share{TASKS} >= 0, default 1;              # part of the need that has to be covered, Sections 5.1 and 5.2

set NONE := {i in TASKS, j in WORKERS: 1 < 0};   # no pairs
set FORBIDDEN within TASKS cross WORKERS, default NONE;  # [+] pairs that must not be chosen
set COLLECTED within TASKS cross WORKERS, default NONE;  # [+] pairs whose label is already in

# Evidence, as in assignment.mod.

param rule symbolic in {"hoeffding", "bhattacharyya"}, default "hoeffding";
param L integer >= 2, default 2;                 # classes

param right{k in TYPES, j in WORKERS} := max(1e-6, min(1 - 1e-6, p[k,j]));   # where a logarithm needs it
param wrong{k in TYPES, j in WORKERS} := (1 - right[k,j]) / (L - 1);         # chance of each wrong label
param worth{k in TYPES, j in WORKERS} :=
    if rule = "hoeffding" then (2 * p[k,j] - 1) ** 2                         # q, Section 3
    else -2 * log(2 * sqrt(right[k,j] * wrong[k,j]) + (L - 2) * wrong[k,j]); # [+]
param q{k in TYPES, j in WORKERS} := if worth[k,j] > 1e-9 then worth[k,j] else 0;

param C{i in TASKS} := share[i] *
    (if rule = "hoeffding" then 2 * log(1 / epsilon[i])                      # C_epsilon, Section 4.1
    else 2 * log((L - 1) / (2 * epsilon[i])));                               # [+]

check: L = 2 or rule = "bhattacharyya";

param tolerance := 1e-9 * (1 + 1e-3);           # [+] by which a task may be short, see assignment.mod
param need{i in TASKS} := max(0, max(0, C[i] - sum{(i,j) in COLLECTED} q[tau[i],j]) - tolerance);    # [+]
param most{i in TASKS, j in WORKERS} := if (i,j) in FORBIDDEN union COLLECTED then 0 else 1;         # [+] y <= most

var x{TASKS} >= 0;                               # task weight: price of (2), a unit of evidence
var z{WORKERS} >= 0;                             # price of (1), one task more for a worker
var t{TASKS, WORKERS} >= 0;                      # price of y <= 1, the relaxed (3)

maximize worth_of_all:
    sum{i in TASKS} need[i] * x[i] - sum{j in WORKERS} M[j] * z[j] - sum{i in TASKS, j in WORKERS} most[i,j] * t[i,j];

# The task value q x - c is at most what worker and pair are worth.

s.t. value{i in TASKS, j in WORKERS}: c[tau[i],j] - q[tau[i],j] * x[i] + z[j] + t[i,j] >= 0;

end;
