# At most K workers, chosen by their answers to control questions: pick one size k, then k workers.
#
#   Li & Liu, Cheaper and Better: Selecting Good Workers for Crowdsourcing, 2015 [LL]:
#   problem (11) with the score (7)-(8) and the estimates (10). The program is ours: its relaxation, without "binary",
#   has the same optimum, and Algorithm 1 attains it (Theorem 4). What the paper does not have is marked [+].

set WORKERS;                                     # i

param L integer >= 2;                            # classes
param n{WORKERS} integer >= 2;                   # control questions put to a worker (the paper: the same to all)
param correct{i in WORKERS} integer >= 0, <= n[i];    # answered correctly: the paper's c
param K integer >= 1;                            # the most workers

set SIZES := 1 .. min(K, card(WORKERS));         # k = |S|; the empty set has no score

# [+] What ranking cannot do.

set REQUIRED within WORKERS, default {};
set BARRED within WORKERS, default {};
set GROUPS default {};                           # g
set OF{GROUPS} within WORKERS, default {};       # the workers of a group
param fewest{GROUPS} integer >= 0, default 0;    # r, the fewest of them
param price{WORKERS} >= 0, default 0;            # c
param money_limit >= 0, default Infinity;        # B

# The estimates (10), and the worth (8) of a worker.

param w_hat{i in WORKERS} := correct[i] / n[i];
param var_hat{i in WORKERS} := correct[i] * (n[i] - correct[i]) / (n[i] ** 2 * (n[i] - 1));
param G{i in WORKERS} := (L * w_hat[i] - 1) ** 2 - L ** 2 * var_hat[i];

var u{SIZES}, binary;                            # u[k] = 1: the set has k workers
var w{SIZES, i in WORKERS} >= 0,                 # w[k,i] = 1: it has k workers, i is one of them
    <= (if i in BARRED then 0 else 1);
var hired{WORKERS: money_limit < Infinity}, binary;   # [+] money makes fractions worth while

# (11) with (7): F_hat(S) = sum of G over S, divided by the root of |S|.

maximize score: sum{k in SIZES, i in WORKERS} G[i] / sqrt(k) * w[k,i];

s.t. member{k in SIZES, i in WORKERS}: (if i in REQUIRED then 0 else -Infinity) <= w[k,i] - u[k] <= 0;

s.t. count{k in SIZES}: sum{i in WORKERS} w[k,i] - k * u[k] = 0;

s.t. one{{0}}: sum{k in SIZES} u[k] = 1;

# [+] Enough of each group, and no more money than there is.

s.t. group{k in SIZES, g in GROUPS: exists{h in GROUPS} fewest[h] > 0}: sum{i in OF[g]} w[k,i] - fewest[g] * u[k] >= 0;

s.t. money{k in SIZES: money_limit < Infinity}: sum{i in WORKERS} price[i] * w[k,i] - money_limit * u[k] <= 0;

s.t. whole{i in WORKERS: money_limit < Infinity}: sum{k in SIZES} w[k,i] - hired[i] = 0;

end;
