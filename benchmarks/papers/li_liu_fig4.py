"""Li & Liu 2015, Figure 4(b): seven methods on bluebird (39 workers, 108 images); the workers used as their own figure.

python -m benchmarks.papers.li_liu_fig4 [--trials N] [--seed S] [--processes P] [--em one-coin|dawid-skene] [-o DIR]

Their Disambiguity set, Figure 4(a), is not public.
"""

from __future__ import annotations

from benchmarks.papers.li_liu_real import figure
from benchmarks.papers.li_liu_report import arguments

if __name__ == "__main__":
    figure(arguments(__doc__, 100, em=True), 4, "bluebird", 9, "on bluebird 9 workers are selected (Section 4.2)")
