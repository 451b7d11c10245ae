* by rule hoeffding
NAME assignment-dual
ROWS
 N objective
 L value[a,ada]
 L value[a,bo]
 L value[a,chen]
 L value[a,dana]
 L value[b,ada]
 L value[b,bo]
 L value[b,chen]
 L value[b,dana]
 L value[c,ada]
 L value[c,bo]
 L value[c,chen]
 L value[c,dana]
COLUMNS
 x[a] objective -1.399999998999
 x[a] value[a,ada] 0.8099999999999998
 x[a] value[a,bo] 0.6400000000000001
 x[a] value[a,chen] 0.6400000000000001
 x[a] value[a,dana] 0.3600000000000001
 x[b] objective -1.399999998999
 x[b] value[b,ada] 0.8099999999999998
 x[b] value[b,bo] 0.6400000000000001
 x[b] value[b,chen] 0.6400000000000001
 x[b] value[b,dana] 0.3600000000000001
 x[c] objective -1.499999998999
 x[c] value[c,ada] 0.3600000000000001
 x[c] value[c,bo] 0.6400000000000001
 x[c] value[c,chen] 0.8099999999999998
 x[c] value[c,dana] 0.6400000000000001
 z[ada] objective 1
 z[ada] value[a,ada] -1
 z[ada] value[b,ada] -1
 z[ada] value[c,ada] -1
 z[bo] objective 3
 z[bo] value[a,bo] -1
 z[bo] value[b,bo] -1
 z[bo] value[c,bo] -1
 z[chen] objective 2
 z[chen] value[a,chen] -1
 z[chen] value[b,chen] -1
 z[chen] value[c,chen] -1
 z[dana] objective 2
 z[dana] value[a,dana] -1
 z[dana] value[b,dana] -1
 z[dana] value[c,dana] -1
 t[a,ada] objective 1
 t[a,ada] value[a,ada] -1
 t[a,bo] objective 1
 t[a,bo] value[a,bo] -1
 t[a,chen] objective 1
 t[a,chen] value[a,chen] -1
 t[a,dana] objective 1
 t[a,dana] value[a,dana] -1
 t[b,ada] objective 1
 t[b,ada] value[b,ada] -1
 t[b,bo] objective 1
 t[b,bo] value[b,bo] -1
 t[b,chen] objective 1
 t[b,chen] value[b,chen] -1
 t[b,dana] objective 1
 t[b,dana] value[b,dana] -1
 t[c,ada] objective 1
 t[c,ada] value[c,ada] -1
 t[c,bo] objective 1
 t[c,bo] value[c,bo] -1
 t[c,chen] objective 1
 t[c,chen] value[c,chen] -1
 t[c,dana] objective 1
 t[c,dana] value[c,dana] -1
RHS
 RHS value[a,ada] 1
 RHS value[a,bo] 1
 RHS value[a,chen] 1
 RHS value[a,dana] 1
 RHS value[b,ada] 1
 RHS value[b,bo] 1
 RHS value[b,chen] 1
 RHS value[b,dana] 1
 RHS value[c,ada] 1
 RHS value[c,bo] 1
 RHS value[c,chen] 1
 RHS value[c,dana] 1
BOUNDS
ENDATA
