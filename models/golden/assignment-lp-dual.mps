* by rule hoeffding
NAME assignment-lp-dual
ROWS
 N objective
 L y[a,ada]
 L y[a,bo]
 L y[a,chen]
 L y[a,dana]
 L y[b,ada]
 L y[b,bo]
 L y[b,chen]
 E y[b,dana]
 L y[c,ada]
 L y[c,bo]
 L y[c,chen]
 L y[c,dana]
COLUMNS
 cover.lower[a] objective -0.7899999989990003
 cover.lower[a] y[a,ada] 0.8099999999999998
 cover.lower[a] y[a,bo] 0.6400000000000001
 cover.lower[a] y[a,chen] 0.48999999999999994
 cover.lower[a] y[a,dana] 0.3600000000000001
 cover.lower[b] objective -1.399999998999
 cover.lower[b] y[b,ada] 0.8099999999999998
 cover.lower[b] y[b,bo] 0.6400000000000001
 cover.lower[b] y[b,chen] 0.48999999999999994
 cover.lower[b] y[b,dana] 0.3600000000000001
 cover.lower[c] objective -1.6999999989990002
 cover.lower[c] y[c,ada] 0.6400000000000001
 cover.lower[c] y[c,bo] 1
 cover.lower[c] y[c,chen] 0.3600000000000001
 cover.lower[c] y[c,dana] 0.48999999999999994
 capacity.lower[ada] y[a,ada] 1
 capacity.lower[ada] y[b,ada] 1
 capacity.lower[ada] y[c,ada] 1
 capacity.lower[bo] y[a,bo] 1
 capacity.lower[bo] y[b,bo] 1
 capacity.lower[bo] y[c,bo] 1
 capacity.lower[chen] objective -1
 capacity.lower[chen] y[a,chen] 1
 capacity.lower[chen] y[b,chen] 1
 capacity.lower[chen] y[c,chen] 1
 capacity.lower[dana] y[a,dana] 1
 capacity.lower[dana] y[b,dana] 1
 capacity.lower[dana] y[c,dana] 1
 capacity.upper[ada] objective 2
 capacity.upper[ada] y[a,ada] -1
 capacity.upper[ada] y[b,ada] -1
 capacity.upper[ada] y[c,ada] -1
 capacity.upper[bo] objective 3
 capacity.upper[bo] y[a,bo] -1
 capacity.upper[bo] y[b,bo] -1
 capacity.upper[bo] y[c,bo] -1
 capacity.upper[chen] objective 2
 capacity.upper[chen] y[a,chen] -1
 capacity.upper[chen] y[b,chen] -1
 capacity.upper[chen] y[c,chen] -1
 capacity.upper[dana] objective 2
 capacity.upper[dana] y[a,dana] -1
 capacity.upper[dana] y[b,dana] -1
 capacity.upper[dana] y[c,dana] -1
 labels.lower[a] y[a,ada] 1
 labels.lower[a] y[a,bo] 1
 labels.lower[a] y[a,chen] 1
 labels.lower[a] y[a,dana] 1
 labels.lower[b] objective -3
 labels.lower[b] y[b,ada] 1
 labels.lower[b] y[b,bo] 1
 labels.lower[b] y[b,chen] 1
 labels.lower[b] y[b,dana] 1
 labels.lower[c] y[c,ada] 1
 labels.lower[c] y[c,bo] 1
 labels.lower[c] y[c,chen] 1
 labels.lower[c] y[c,dana] 1
 labels.upper[a] y[a,ada] -1
 labels.upper[a] y[a,bo] -1
 labels.upper[a] y[a,chen] -1
 labels.upper[a] y[a,dana] -1
 labels.upper[b] objective 4
 labels.upper[b] y[b,ada] -1
 labels.upper[b] y[b,bo] -1
 labels.upper[b] y[b,chen] -1
 labels.upper[b] y[b,dana] -1
 labels.upper[c] objective 3
 labels.upper[c] y[c,ada] -1
 labels.upper[c] y[c,bo] -1
 labels.upper[c] y[c,chen] -1
 labels.upper[c] y[c,dana] -1
 budget.upper objective 12
 budget.upper y[a,ada] -2
 budget.upper y[a,bo] -1.5
 budget.upper y[a,chen] -1
 budget.upper y[a,dana] -0.5
 budget.upper y[b,ada] -2
 budget.upper y[b,bo] -1.5
 budget.upper y[b,chen] -1
 budget.upper y[b,dana] -0.5
 budget.upper y[c,ada] -1
 budget.upper y[c,bo] -2.5
 budget.upper y[c,chen] -1
 budget.upper y[c,dana] -0.75
 y.lower[a,ada] y[a,ada] 1
 y.lower[a,bo] y[a,bo] 1
 y.lower[a,chen] y[a,chen] 1
 y.lower[a,dana] y[a,dana] 1
 y.lower[b,ada] y[b,ada] 1
 y.lower[b,bo] y[b,bo] 1
 y.lower[b,chen] y[b,chen] 1
 y.lower[b,dana] objective -1
 y.lower[b,dana] y[b,dana] 1
 y.lower[c,ada] y[c,ada] 1
 y.lower[c,bo] y[c,bo] 1
 y.lower[c,chen] y[c,chen] 1
 y.lower[c,dana] y[c,dana] 1
 y.upper[a,ada] y[a,ada] -1
 y.upper[a,bo] objective 1
 y.upper[a,bo] y[a,bo] -1
 y.upper[a,chen] objective 1
 y.upper[a,chen] y[a,chen] -1
 y.upper[a,dana] objective 1
 y.upper[a,dana] y[a,dana] -1
 y.upper[b,ada] objective 1
 y.upper[b,ada] y[b,ada] -1
 y.upper[b,bo] objective 1
 y.upper[b,bo] y[b,bo] -1
 y.upper[b,chen] objective 1
 y.upper[b,chen] y[b,chen] -1
 y.upper[b,dana] objective 1
 y.upper[b,dana] y[b,dana] -1
 y.upper[c,ada] objective 1
 y.upper[c,ada] y[c,ada] -1
 y.upper[c,bo] objective 1
 y.upper[c,bo] y[c,bo] -1
 y.upper[c,chen] y[c,chen] -1
 y.upper[c,dana] objective 1
 y.upper[c,dana] y[c,dana] -1
RHS
 RHS y[a,ada] 2
 RHS y[a,bo] 1.5
 RHS y[a,chen] 1
 RHS y[a,dana] 0.5
 RHS y[b,ada] 2
 RHS y[b,bo] 1.5
 RHS y[b,chen] 1
 RHS y[b,dana] 0.5
 RHS y[c,ada] 1
 RHS y[c,bo] 2.5
 RHS y[c,chen] 1
 RHS y[c,dana] 0.75
BOUNDS
 FX BND capacity.lower[ada] 0
 FX BND capacity.lower[bo] 0
 FX BND capacity.lower[dana] 0
 FX BND labels.upper[a] 0
 FX BND y.lower[a,ada] 0
 FX BND y.lower[a,bo] 0
 FX BND y.lower[a,chen] 0
 FX BND y.lower[a,dana] 0
 FX BND y.lower[b,ada] 0
 FX BND y.lower[b,bo] 0
 FX BND y.lower[b,chen] 0
 FX BND y.lower[c,ada] 0
 FX BND y.lower[c,bo] 0
 FX BND y.lower[c,chen] 0
 FX BND y.lower[c,dana] 0
ENDATA
