"""Fill in the optima of models/tiny/*.json and write models/golden/*.mps anew: python -m tests.models.make_tiny."""

from __future__ import annotations

import json
import re

from tests.models import exact_optima, golden, tiny

if __name__ == "__main__":
    for of in (tiny, exact_optima):
        for path in of.FILES:
            optimum = json.dumps({"optimum": of.optima(of.facts_of(path))})[1:-1]
            text = re.sub(r'"optimum": \{[^}]*\}', optimum, path.read_text(encoding="utf-8"))
            path.write_text(text, encoding="utf-8")
            print(path.name, optimum)
    for name in golden.BUILT:
        (golden.FOLDER / f"{name}.mps").write_text(golden.text_of(name), encoding="utf-8")
