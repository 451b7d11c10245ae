* by rule hoeffding
NAME missing
ROWS
 N objective
 G cover[a]
 G cover[b]
 L capacity[ada]
 L capacity[bo]
 L capacity[chen]
COLUMNS
 y[a,ada] cover[a] 1
 y[a,ada] capacity[ada] 1
 y[a,bo] cover[a] 0.6400000000000001
 y[a,bo] capacity[bo] 1
 y[a,chen] cover[a] 0.48999999999999994
 y[a,chen] capacity[chen] 1
 y[b,ada] cover[b] 1
 y[b,ada] capacity[ada] 1
 y[b,bo] cover[b] 0.6400000000000001
 y[b,bo] capacity[bo] 1
 y[b,chen] cover[b] 0.48999999999999994
 y[b,chen] capacity[chen] 1
 missing.cover[a] objective 1
 missing.cover[a] cover[a] 1
 missing.cover[b] objective 1
 missing.cover[b] cover[b] 1
RHS
 RHS cover[a] 1.499999998999
 RHS cover[b] 1.499999998999
 RHS capacity[ada] 1
 RHS capacity[bo] 1
 RHS capacity[chen] 2
BOUNDS
 UP BND y[a,ada] 1
 UP BND y[a,bo] 1
 UP BND y[a,chen] 1
 UP BND y[b,ada] 1
 UP BND y[b,bo] 1
 UP BND y[b,chen] 1
ENDATA
