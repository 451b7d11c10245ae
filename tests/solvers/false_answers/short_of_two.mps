* x + z is at most 1.9999993, less than the 2 that is asked for.
* optimal: ortools-glop 9.15.6755, cvxpy-osqp 1.9.3
NAME short_of_two
ROWS
 N cost
 G need
COLUMNS
 x cost 1
 x need 1
 z cost 1
 z need 1
RHS
 r need 2
BOUNDS
 UP b x 0.9999996
 UP b z 0.9999997
ENDATA
