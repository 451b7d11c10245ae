# The cheapest labels that give every task its guarantee.
#
#   Ho, Jabbari & Vaughan, Adaptive Task Assignment for Crowdsourced Classification, ICML 2013 [HJV]:
#   Section 4.2, equations (1)-(3); types as in Section 3, prices as in Section 7.
#   What the paper does not have is marked [+]; without the data for it, it leaves no trace in the program.
#
# The relaxed program of Section 4.2 is this one without "integer".
# The approximated LP (Section 5.2) is it with estimated p and share = 1 - 4 t / qmin; the sampled LP (Section 5.1)
# is it for the sampled workers alone with share = gamma.

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
set FIXED within TASKS cross WORKERS, default NONE;      # [+] pairs that must be
set COLLECTED within TASKS cross WORKERS, default NONE;  # [+] pairs whose label is already in
param fewest{TASKS} integer >= 0, default 0;     # [+] labels of a task, those already in included
param most{TASKS} >= 0, default Infinity;        # [+]
param load{WORKERS} integer >= 0, default 0;     # [+] tasks that a worker must get at least
param budget_limit >= 0, default Infinity;       # [+] what all labels may cost

set NOBODY := {j in WORKERS: 1 < 0};
set GROUPS, default NOBODY;                      # [+] groups of workers
set OF{GROUPS} within WORKERS;
param least_of{GROUPS} integer >= 0, default 0;  # [+] labels of a group that each task must, and may, have
param most_of{GROUPS} >= 0, default Infinity;
param least_share{GROUPS} >= 0, <= 1, default 0; # [+] share of all labels that must, and may, be a group's
param most_share{GROUPS} >= 0, <= 1, default 1;
param dependent{GROUPS} binary, default 0;       # [+] whether its members may err together: a family

set OWN, default NOBODY;                         # [+] own rows
param own_entry{OWN, TASKS, WORKERS}, default 0;
param own_lower{OWN}, default -Infinity;
param own_upper{OWN}, default Infinity;

# Evidence: what a label is worth, and how much of it a task needs.

param rule symbolic in {"hoeffding", "bhattacharyya"}, default "hoeffding";
param L integer >= 2, default 2;                 # classes

param right{k in TYPES, j in WORKERS} := max(1e-6, min(1 - 1e-6, p[k,j]));   # where a logarithm needs it
param wrong{k in TYPES, j in WORKERS} := (1 - right[k,j]) / (L - 1);         # chance of each wrong label
param worth{k in TYPES, j in WORKERS} :=
    if rule = "hoeffding" then (2 * p[k,j] - 1) ** 2                         # q, Section 3
    else -2 * log(2 * sqrt(right[k,j] * wrong[k,j]) + (L - 2) * wrong[k,j]); # [+]
param q{k in TYPES, j in WORKERS} := if worth[k,j] > 1e-9 then worth[k,j] else 0;

# Labels of a group already in; the most labels that a task can have of one family [+].

param had{g in GROUPS, i in TASKS} := sum{(i,j) in COLLECTED: j in OF[g]} 1;
param family{i in TASKS} := if exists{g in GROUPS} dependent[g] = 1
    then max{g in GROUPS: dependent[g] = 1} max(1, had[g,i], min(most_of[g], card(OF[g]))) else 1;

param C{i in TASKS} := share[i] *
    (if family[i] > 1 then 2 * family[i] * (if rule = "hoeffding" then log(1 / epsilon[i]) else log((L - 1) / epsilon[i]))
    else if rule = "hoeffding" then 2 * log(1 / epsilon[i])                      # C_epsilon, Section 4.1
    else 2 * log((L - 1) / (2 * epsilon[i])));                               # [+]

check: L = 2 or rule = "bhattacharyya";

# [+] What the labels already in leave to be done.

# A task counts as covered if it lacks at most 1e-9: so the program asks for a hair less than that, and its bounds hold
# for every plan that counts.

param tolerance := 1e-9 * (1 + 1e-3);
param need{i in TASKS} := max(0, max(0, C[i] - sum{(i,j) in COLLECTED} q[tau[i],j]) - tolerance);
param fewest_new{i in TASKS} := max(0, fewest[i] - card({(i,j) in COLLECTED}));
param most_new{i in TASKS} := if most[i] = Infinity then Infinity else max(0, most[i] - card({(i,j) in COLLECTED}));
param limited := if exists{i in TASKS} (fewest_new[i] > 0 or most_new[i] < Infinity) then 1 else 0;

# y[i,j] = 1: worker j labels task i. Equation (3); pairs that cannot or must be chosen are bounds.

var y{i in TASKS, j in WORKERS}, integer,
    >= (if (i,j) in FIXED then 1 else 0),
    <= (if (i,j) in FORBIDDEN union COLLECTED then 0 else 1);

# Section 4.2, priced as in Section 7.

minimize cost: sum{i in TASKS, j in WORKERS} c[tau[i],j] * y[i,j];

# Equation (2): every task gets the evidence that its guarantee needs (Lemma 1).

s.t. cover{i in TASKS}: sum{j in WORKERS} q[tau[i],j] * y[i,j] >= need[i];

# Equation (1): nobody gets more tasks than they will do. [+] Nor fewer than they must get.

s.t. capacity{j in WORKERS}:
    (if load[j] > 0 then load[j] else -Infinity) <= sum{i in TASKS} y[i,j] <= M[j];

# [+] A task gets neither too few labels nor too many.

s.t. labels{i in TASKS: limited}: fewest_new[i] <= sum{j in WORKERS} y[i,j] <= most_new[i];

# [+] All labels together cost no more than there is.

s.t. budget{{0}: budget_limit < Infinity}:
    sum{i in TASKS, j in WORKERS} c[tau[i],j] * y[i,j] <= budget_limit;

# [+] Each task has its least and at most its most labels of a group.

s.t. group{g in GROUPS, i in TASKS: least_of[g] > 0 or most_of[g] < Infinity}:
    max(0, least_of[g] - had[g,i]) <= sum{j in OF[g]} y[i,j]
    <= (if most_of[g] = Infinity then Infinity else max(0, most_of[g] - had[g,i]));

# [+] A group's share of all labels, those already in included.

s.t. share_at_most{g in GROUPS: most_share[g] < 1}:
    sum{i in TASKS, j in WORKERS} ((if j in OF[g] then 1 else 0) - most_share[g]) * y[i,j]
    <= most_share[g] * card(COLLECTED) - sum{i in TASKS} had[g,i];
s.t. share_at_least{g in GROUPS: least_share[g] > 0}:
    sum{i in TASKS, j in WORKERS} ((if j in OF[g] then 1 else 0) - least_share[g]) * y[i,j]
    >= least_share[g] * card(COLLECTED) - sum{i in TASKS} had[g,i];

# [+] Whatever else is linear.

s.t. own{r in OWN}: own_lower[r] <= sum{i in TASKS, j in WORKERS} own_entry[r,i,j] * y[i,j] <= own_upper[r];

end;
