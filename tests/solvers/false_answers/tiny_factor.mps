* x = 1e10 is a point: 1e-10 * 1e10 = 1. Factors below 1e-9 count as 0 in HiGHS and SCIP, and then there is none.
* infeasible: highs 1.15.1, scip 6.3.0, cvxpy-scipy 1.9.3, cvxpy-clarabel 1.9.3
NAME tiny_factor
ROWS
 N cost
 G need
COLUMNS
 x cost 1
 x need 1e-10
RHS
 r need 1
BOUNDS
 UP b x 1e11
ENDATA
