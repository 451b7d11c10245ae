* x = 80000 z where x >= 0 >= z leaves x = y = z = 0, cost 0. HiGHS 1.15.1 solves it for x <= 0 first, goes on from there
* and ends "unbounded": along its ray z grows by 1 where x does by 80000.
NAME no_ray
ROWS
 N cost
 E steep
 G floor
 E link
COLUMNS
 x steep 1 link -741
 y cost -1 floor 16080
 y link 1
 z steep -80000 floor 1
RHS
BOUNDS
 FR b y
 MI b z
 UP b z 0
ENDATA
