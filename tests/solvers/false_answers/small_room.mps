* 1e-9 x <= 1, so x is at most 1e9 and the optimum -1e9; some take the factor for 0.
* unbounded: highs 1.15.1, scip 6.3.0, cvxpy-scipy 1.9.3, cvxpy-scs 1.9.3, cvxpy-osqp 1.9.3
NAME small_room
ROWS
 N cost
 L room
COLUMNS
 x cost -1
 x room 1e-9
RHS
 r room 1
BOUNDS
 UP b x 1e30
ENDATA
