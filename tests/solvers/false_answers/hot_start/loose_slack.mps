* x <= 1e-6 y, .01 x + 50 z <= 30 y, y and z at most 1: cost -2 at (-2000, 1, 1). HiGHS 1.15.1 solves it for
* cost -y first, goes on from there and ends "optimal" at -1.6: one multiplier is 2e-8 too low, its tolerance is 1e-7.
* first: y
NAME loose_slack
ROWS
 N cost
 G tiny
 G room
COLUMNS
 x tiny -10000 room -.01
 y cost -1 tiny .01
 y room 30
 z cost -1 room -50
RHS
BOUNDS
 FR b x
 UP b y 1
 UP b z 1
ENDATA
