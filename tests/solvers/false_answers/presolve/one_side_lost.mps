* z = 1 alone keeps the row, at cost 0. CP-SAT 9.15.6755 ends "optimal" at 1, and at 0 without its presolve.
NAME one_side_lost
ROWS
 N cost
 G row
COLUMNS
 w row -4294967297
 y cost 1 row 3000000000
 z row 2800000000
 v row 2570000000
RHS
 r row 2800000000
RANGES
 r row 2600000000
BOUNDS
 BV b w
 BV b y
 BV b z
 BV b v
ENDATA
