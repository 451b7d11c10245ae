* 2 x + 2 z is even, and never 2.0000005; a tolerance of 1e-6 on rows takes (1, 0) for a point.
* optimal: pulp-cbc 3.3.2, cvxpy-scipy 1.9.3
NAME odd_sum
ROWS
 N cost
 E even
COLUMNS
 M1 'MARKER' 'INTORG'
 x cost 1
 x even 2
 z cost 1
 z even 2
 M2 'MARKER' 'INTEND'
RHS
 r even 2.0000005
BOUNDS
 UP b x 5
 UP b z 5
ENDATA
