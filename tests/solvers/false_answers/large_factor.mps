* 2^53 x + 3 z >= 2^53 + 4: the optimum is 2, at (2, 0); (1, 0) breaks the row by 4, and (1, 2) costs 3.
* optimal: scip 6.3.0, pulp-cbc 3.3.2
* infeasible: cvxpy-scipy 1.9.3
NAME large_factor
ROWS
 N cost
 G need
COLUMNS
 M1 'MARKER' 'INTORG'
 x cost 1
 x need 9007199254740992
 z cost 1
 z need 3
 M2 'MARKER' 'INTEND'
RHS
 r need 9007199254740996
BOUNDS
 UP b x 5
 UP b z 5
ENDATA
