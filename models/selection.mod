# At most K workers, chosen by their answers to control questions: pick one size k, then k workers.
#
#   Li & Liu, Cheaper and Better: Selecting Good Workers for Crowdsourcing, 2015 [LL]:
#   problem (11) with the score (7)-(8) and the estimates (10). The program is ours: its relaxation, without "binary",
#   has the same optimum, and Algorithm 1 attains it (Theorem 4).

set WORKERS;                                     # i

param L integer >= 2;                            # classes
param n{WORKERS} integer >= 2;                   # control questions put to a worker (the paper: the same to all)
param correct{i in WORKERS} integer >= 0, <= n[i];    # answered correctly: the paper's c
param K integer >= 1;                            # the most workers

set SIZES := 1 .. min(K, card(WORKERS));         # k = |S|; the empty set has no score

# The estimates (10), and the worth (8) of a worker.

param w_hat{i in WORKERS} := correct[i] / n[i];
param var_hat{i in WORKERS} := correct[i] * (n[i] - correct[i]) / (n[i] ** 2 * (n[i] - 1));
param G{i in WORKERS} := (L * w_hat[i] - 1) ** 2 - L ** 2 * var_hat[i];

var u{SIZES}, binary;                            # u[k] = 1: the set has k workers
var w{SIZES, WORKERS} >= 0;                      # w[k,i] = 1: it has k workers, i is one of them

# (11) with (7): F_hat(S) = sum of G over S, divided by the root of |S|.

maximize score: sum{k in SIZES, i in WORKERS} G[i] / sqrt(k) * w[k,i];

s.t. member{k in SIZES, i in WORKERS}: w[k,i] <= u[k];

s.t. count{k in SIZES}: sum{i in WORKERS} w[k,i] = k * u[k];

s.t. one{{0}}: sum{k in SIZES} u[k] = 1;

end;
