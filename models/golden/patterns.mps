* by rule exact-error
NAME patterns
ROWS
 N objective
 E task[0]
 E task[1]
 L supply[0]
 L supply[1]
 L supply[2]
 L supply[3]
COLUMNS
 MARKER 'MARKER' 'INTORG'
 given[0] objective 1
 given[0] task[0] 1
 given[0] supply[3] 1
 given[1] objective 1
 given[1] task[0] 1
 given[1] supply[2] 1
 given[2] objective 1
 given[2] task[0] 1
 given[2] supply[1] 1
 given[3] objective 1
 given[3] task[0] 1
 given[3] supply[0] 1
 given[4] objective 1
 given[4] task[1] 1
 given[4] supply[3] 1
 given[5] objective 1
 given[5] task[1] 1
 given[5] supply[2] 1
 given[6] objective 1
 given[6] task[1] 1
 given[6] supply[1] 1
 given[7] objective 1
 given[7] task[1] 1
 given[7] supply[0] 1
 MARKER 'MARKER' 'INTEND'
RHS
 RHS task[0] 2
 RHS task[1] 1
 RHS supply[0] 2
 RHS supply[1] 3
 RHS supply[2] 2
 RHS supply[3] 1
BOUNDS
 UP BND given[0] 2
 UP BND given[1] 2
 UP BND given[2] 2
 UP BND given[3] 2
 UP BND given[4] 1
 UP BND given[5] 1
 UP BND given[6] 1
 UP BND given[7] 1
ENDATA
