# The true minimum: how many tasks of each kind get which pattern of labels, by the exact errors of their votes.
#
#   Ho, Jabbari & Vaughan, Adaptive Task Assignment for Crowdsourced Classification, ICML 2013 [HJV] ask for it (Section 3:
#   the fewest labels such that every error is at most epsilon) and replace it by Lemma 1's sufficient sum of evidence.
#   All of this program is ours [+]. Two classes; workers of a pool have equal skills and prices; votes by log-odds.

param T integer >= 1;                            # kinds of task
param G integer >= 1;                            # pools of workers
set KINDS := 1 .. T;                             # t
set POOLS := 1 .. G;                             # g
set PATTERNS;                                    # every way to choose some workers of each pool

param n{KINDS} integer >= 0;                     # tasks of a kind
param p{KINDS, POOLS} >= 1/2, < 1;               # skill: chance of a right label (below 1/2: turned round)
param c{KINDS, POOLS} >= 0, default 1;           # price of a label
param epsilon{KINDS} > 0, < 1/2;                 # error target
param prior{KINDS} > 0, < 1, default 1/2;        # probability of class 1
param fewest{KINDS} integer >= 0, default 0;     # labels of a task
param most{KINDS} >= 0, default Infinity;
param size{POOLS} integer >= 1;                  # workers in a pool
param M{g in POOLS, r in 1 .. size[g]} >= 0;     # the r-th largest of their capacities, at most the number of tasks
param a{PATTERNS, POOLS} integer >= 0;           # labels of a pool in a pattern
param average binary, default 0;                 # the target is for the mean error of all tasks
param budget_limit >= 0, default Infinity;       # what all labels may cost

# The exact error of a pattern: over all ways x in which its N labels can fall, the less likely class.

param N{P in PATTERNS} := sum{g in POOLS} a[P,g];
param behind{P in PATTERNS, g in POOLS} := sum{h in 1 .. g} a[P,h];
param skill{t in KINDS, P in PATTERNS, j in 1 .. N[P]} :=
    sum{g in POOLS: behind[P,g] - a[P,g] < j and j <= behind[P,g]} p[t,g];
param error{t in KINDS, P in PATTERNS} := sum{x in 0 .. 2 ** N[P] - 1} min(
    prior[t] * prod{j in 1 .. N[P]} (if floor(x / 2 ** (j - 1)) mod 2 = 1 then skill[t,P,j] else 1 - skill[t,P,j]),
    (1 - prior[t]) * prod{j in 1 .. N[P]} (if floor(x / 2 ** (j - 1)) mod 2 = 1 then 1 - skill[t,P,j] else skill[t,P,j]));

# What a task may get: enough, and no label to spare. For the average any pattern may be worth it.

set ENOUGH{t in KINDS} := setof{P in PATTERNS:
    fewest[t] <= N[P] and N[P] <= most[t] and (average = 1 or error[t,P] <= epsilon[t] + 1e-12)} P;
set CHOICES{t in KINDS} := setof{P in ENOUGH[t]: average = 1 or not exists{Q in ENOUGH[t]}
    (N[Q] < N[P] and forall{g in POOLS} a[Q,g] <= a[P,g])} P;

# given[t,P]: so many tasks of a kind get the pattern.

var given{t in KINDS, P in CHOICES[t]}, integer, >= 0, <= n[t];

minimize cost: sum{t in KINDS, P in CHOICES[t]} (sum{g in POOLS} c[t,g] * a[P,g]) * given[t,P];

s.t. task{t in KINDS}: sum{P in CHOICES[t]} given[t,P] = n[t];

# Labels beyond the h-th of each task come from workers other than the h with most room. By Gale (1957) and Ryser (1957)
# these rows hold just if the labels can be dealt, no task twice to anybody; where all capacities of a pool are equal the
# first of them implies the rest.

param depth{g in POOLS} := if exists{r in 1 .. size[g]} M[g,r] < M[g,1] then size[g] else 1;

s.t. supply{g in POOLS, h in 0 .. depth[g] - 1}:
    sum{t in KINDS, P in CHOICES[t]} max(0, a[P,g] - h) * given[t,P] <= sum{r in h + 1 .. size[g]} M[g,r];

s.t. budget{{0}: budget_limit < Infinity}:
    sum{t in KINDS, P in CHOICES[t]} (sum{g in POOLS} c[t,g] * a[P,g]) * given[t,P] <= budget_limit;

# The mean error, as wrong answers expected in all; in thousandths, for solvers' tolerances are absolute.

s.t. wrong{{0}: average = 1}:
    sum{t in KINDS, P in CHOICES[t]} 1000 * error[t,P] * given[t,P] <= 1000 * sum{t in KINDS} n[t] * epsilon[t];

end;
