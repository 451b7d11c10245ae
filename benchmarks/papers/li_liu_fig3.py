"""Li & Liu 2015, Figure 3 (a, b): seven methods and the workers they use, on four-option knowledge questions.

python -m benchmarks.papers.li_liu_fig3 [--trials N] [--seed S] [--processes P] [--em one-coin|dawid-skene] [-o DIR]

Their Crowd-test (31 workers, 75 questions) is not public; quiz_medicine (45 workers, 36 questions, 4 options) stands in
for it.
"""

from __future__ import annotations

from benchmarks.papers.li_liu_real import figure
from benchmarks.papers.li_liu_report import arguments

if __name__ == "__main__":
    figure(arguments(__doc__, 100, em=True), 3, "quiz_medicine", 9, "fewer than 10 workers are selected (Section 4)")
