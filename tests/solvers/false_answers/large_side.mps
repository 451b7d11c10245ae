* x = 1e20 is a point; 1e20 is infinity to SCIP and to SciPy's HiGHS.
* infeasible: scip 6.3.0, cvxpy-scipy 1.9.3, cvxpy-clarabel 1.9.3
NAME large_side
ROWS
 N cost
 G need
COLUMNS
 x cost 1
 x need 1
RHS
 r need 1e20
BOUNDS
 UP b x 1e25
ENDATA
