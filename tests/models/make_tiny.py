"""Fill in the optima of models/tiny/*.json and write models/golden/*.mps anew: python -m tests.models.make_tiny."""

from __future__ import annotations

import json
import re

from tests.models import exact_optima, golden, tiny


def main() -> None:
    for path in tiny.FILES:
        optimum = json.dumps({"optimum": tiny.optima(tiny.facts_of(path))})[1:-1]
        text = re.sub(r'"optimum": \{[^}]*\}', optimum, path.read_text(encoding="utf-8"))
        path.write_text(text, encoding="utf-8")
        print(path.name, optimum)
    for path in exact_optima.FILES:
        optimum = json.dumps({"optimum": exact_optima.optima(exact_optima.facts_of(path))})[1:-1]
        text = re.sub(r'"optimum": \{[^}]*\}', optimum, path.read_text(encoding="utf-8"))
        path.write_text(text, encoding="utf-8")
        print(path.name, optimum)
    for name in golden.BUILT:
        (golden.FOLDER / f"{name}.mps").write_text(golden.text_of(name), encoding="utf-8")


if __name__ == "__main__":
    main()
