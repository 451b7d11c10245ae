* by rule hoeffding
NAME assignment
ROWS
 N objective
 G cover[a]
 G cover[b]
 G cover[c]
 L capacity[ada]
 L capacity[bo]
 L capacity[chen]
 L capacity[dana]
 G labels[a]
 L labels[b]
 L labels[c]
 L budget
COLUMNS
 MARKER 'MARKER' 'INTORG'
 y[a,ada] objective 2
 y[a,ada] cover[a] 0.8099999999999998
 y[a,ada] capacity[ada] 1
 y[a,ada] labels[a] 1
 y[a,ada] budget 2
 y[a,bo] objective 1.5
 y[a,bo] cover[a] 0.6400000000000001
 y[a,bo] capacity[bo] 1
 y[a,bo] labels[a] 1
 y[a,bo] budget 1.5
 y[a,chen] objective 1
 y[a,chen] cover[a] 0.48999999999999994
 y[a,chen] capacity[chen] 1
 y[a,chen] labels[a] 1
 y[a,chen] budget 1
 y[a,dana] objective 0.5
 y[a,dana] cover[a] 0.3600000000000001
 y[a,dana] capacity[dana] 1
 y[a,dana] labels[a] 1
 y[a,dana] budget 0.5
 y[b,ada] objective 2
 y[b,ada] cover[b] 0.8099999999999998
 y[b,ada] capacity[ada] 1
 y[b,ada] labels[b] 1
 y[b,ada] budget 2
 y[b,bo] objective 1.5
 y[b,bo] cover[b] 0.6400000000000001
 y[b,bo] capacity[bo] 1
 y[b,bo] labels[b] 1
 y[b,bo] budget 1.5
 y[b,chen] objective 1
 y[b,chen] cover[b] 0.48999999999999994
 y[b,chen] capacity[chen] 1
 y[b,chen] labels[b] 1
 y[b,chen] budget 1
 y[b,dana] objective 0.5
 y[b,dana] cover[b] 0.3600000000000001
 y[b,dana] capacity[dana] 1
 y[b,dana] labels[b] 1
 y[b,dana] budget 0.5
 y[c,ada] objective 1
 y[c,ada] cover[c] 0.6400000000000001
 y[c,ada] capacity[ada] 1
 y[c,ada] labels[c] 1
 y[c,ada] budget 1
 y[c,bo] objective 2.5
 y[c,bo] cover[c] 1
 y[c,bo] capacity[bo] 1
 y[c,bo] labels[c] 1
 y[c,bo] budget 2.5
 y[c,chen] objective 1
 y[c,chen] cover[c] 0.3600000000000001
 y[c,chen] capacity[chen] 1
 y[c,chen] labels[c] 1
 y[c,chen] budget 1
 y[c,dana] objective 0.75
 y[c,dana] cover[c] 0.48999999999999994
 y[c,dana] capacity[dana] 1
 y[c,dana] labels[c] 1
 y[c,dana] budget 0.75
 MARKER 'MARKER' 'INTEND'
RHS
 RHS cover[a] 0.7899999989990003
 RHS cover[b] 1.399999998999
 RHS cover[c] 1.6999999989990002
 RHS capacity[ada] 2
 RHS capacity[bo] 3
 RHS capacity[chen] 2
 RHS capacity[dana] 2
 RHS labels[b] 4
 RHS labels[c] 3
 RHS budget 12
RANGES
 RNG capacity[chen] 1
 RNG labels[b] 1
 RNG labels[c] 3
BOUNDS
 FX BND y[a,ada] 0
 UP BND y[a,bo] 1
 UP BND y[a,chen] 1
 UP BND y[a,dana] 1
 UP BND y[b,ada] 1
 UP BND y[b,bo] 1
 UP BND y[b,chen] 1
 FX BND y[b,dana] 1
 UP BND y[c,ada] 1
 UP BND y[c,bo] 1
 FX BND y[c,chen] 0
 UP BND y[c,dana] 1
ENDATA
