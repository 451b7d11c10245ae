"""Programs out of the CPLEX LP format."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from crowdopt.core.program import Program
from crowdopt.io.programs.program_reading import Line, Named, assembled, read_text, unescaped

INF = float("inf")
HEADERS = {
    **dict.fromkeys(("minimize", "minimise", "minimum", "min"), "objective"),
    **dict.fromkeys(("maximize", "maximise", "maximum", "max"), "maximum"),
    **dict.fromkeys(("subject to", "such that", "st", "s.t.", "st."), "rows"),
    **dict.fromkeys(("bounds", "bound"), "bounds"),
    **dict.fromkeys(("generals", "general", "gen", "integers", "integer", "int"), "generals"),
    **dict.fromkeys(("binaries", "binary", "bin"), "binaries"),
    "end": "end",
}
TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<sense><=|>=|=<|=>|<|>|=)|(?P<sign>[+-])|(?P<colon>:)"
    r"|(?P<name>[A-Za-z!\"#$%&(),.;?@_'{}~/`|][^\s+*^<>=:\[\]\\-]*))"
)
SENSES = {"<": "<=", "=<": "<=", ">": ">=", "=>": ">="}
INFINITY = {"inf", "infinity"}


def read(path: Path) -> Program:
    """The program in a file of the CPLEX LP format, each section's header on a line of its own.

    A row with two sides that was written as two rows comes back as two.

    A maximum is read as the minimum of its negative, which is told. Raises InputError if it is no such file, or has
    what no linear program has.
    """
    reader = _Lp(path)
    for number, text in enumerate(read_text(path), 1):
        reader.take(Line(path, number), text.split("\\")[0].strip())
        if number == 1 and text.startswith("\\"):
            reader.named.name = _plain(text[1:].strip() or "program")
    reader.close()
    reader.named.as_minimum(path.name)
    return assembled(reader.named, ("(", ")"), _plain)


def _plain(text: str) -> str:
    return unescaped(text.replace("~", "-"))


class _Lp:
    """What was read so far: sections, and the tokens of what is not finished."""

    def __init__(self, path: Path) -> None:
        self.named, self.section = Named(), ""
        self.waiting: list[tuple[str, str]] = []
        self.line = Line(path, 1)

    def take(self, line: Line, text: str) -> None:
        self.line = line
        header = HEADERS.get(" ".join(text.lower().split()))
        if header is not None:
            self._finish()
            self.named.maximum |= header == "maximum"
            self.section = "objective" if header == "maximum" else header
            return
        if not text:
            return
        if self.section in ("", "end"):
            raise line.wrong("stands in no section of an LP file that we know; headers stand on a line of their own")
        tokens = self._tokens(text)
        if self.section == "bounds":
            self._bound(tokens)
        elif self.section in ("generals", "binaries"):
            self._kinds(tokens)
        else:
            self.waiting += tokens
            if self.section == "rows":
                self._rows()

    def close(self) -> None:
        self._finish()
        if self.section != "end":
            raise self.line.wrong("the file ends before End")

    def _tokens(self, text: str) -> list[tuple[str, str]]:
        tokens, place = [], 0
        while place < len(text):
            match = TOKEN.match(text, place)
            if match is None:
                raise self.line.wrong(f"{text[place : place + 20]!r} belongs in no linear program of this format")
            kind = str(match.lastgroup)
            word = match[kind]
            if kind == "name" and word.lower() in INFINITY:
                kind, word = "number", "inf"
            tokens.append((kind, SENSES.get(word, word) if kind == "sense" else word))
            place = match.end()
        return tokens

    def _finish(self) -> None:
        if self.section == "objective":
            tokens = self.waiting
            if len(tokens) > 1 and tokens[1][0] == "colon":
                tokens = tokens[2:]
            terms, constant = self._sum(tokens)
            self.named.constant = constant
            for column, value in terms:
                self._column(column)
                self.named.cost[column] = self.named.cost.get(column, 0.0) + value
        elif self.waiting:
            raise self.line.wrong("a row is not finished: it needs a sense and a side")
        self.waiting = []

    def _rows(self) -> None:
        """Finish every row that is whole: the last one is, once a number follows its sense."""
        tokens = self.waiting
        senses = [k for k, (kind, _) in enumerate(tokens) if kind == "sense"]
        if not senses or tokens[-1][0] != "number" or tokens[-2][0] == "colon":
            return
        if len(senses) == 1 and all(
            kind != "name" for kind, _ in tokens[(2 if self._has_name(tokens) else 0) : senses[0]]
        ):
            return  # a ranged row begins with its lower side: -1 <= x + y ...
        self.waiting = []
        self._row(tokens)

    @staticmethod
    def _has_name(tokens: list[tuple[str, str]]) -> bool:
        return len(tokens) > 1 and tokens[1][0] == "colon"

    def _row(self, tokens: list[tuple[str, str]]) -> None:
        name = f"r{len(self.named.sides) + 1}"
        if self._has_name(tokens):
            name, tokens = tokens[0][1], tokens[2:]
        if name in self.named.sides:
            raise self.line.wrong(f"the row {name[:60]} was there before")
        parts, senses = self._parted(tokens)
        if len(parts) == 2:
            terms, constant = self._sum(parts[0])
            low, high = self._held(senses[0], self._side(parts[1]))
        elif len(parts) == 3:
            terms, constant = self._sum(parts[1])
            # `l <= sum` says of the sum what `sum >= l` does
            first = self._held(_turned(senses[0]), self._side(parts[0]))
            last = self._held(senses[1], self._side(parts[2]))
            low, high = max(first[0], last[0]), min(first[1], last[1])
        else:
            raise self.line.wrong("a row has one sense, or two around its sum")
        self.named.sides[name] = [low - constant, high - constant]
        for column, value in terms:
            self._column(column)
            self.named.entries.append((name, column, value))

    def _parted(self, tokens: list[tuple[str, str]]) -> tuple[list[list[tuple[str, str]]], list[str]]:
        parts: list[list[tuple[str, str]]] = [[]]
        senses = []
        for kind, word in tokens:
            if kind == "sense":
                senses.append(word)
                parts.append([])
            else:
                parts[-1].append((kind, word))
        return parts, senses

    def _held(self, sense: str, side: float) -> tuple[float, float]:
        return {"<=": (-INF, side), ">=": (side, INF), "=": (side, side)}[sense]

    def _side(self, tokens: list[tuple[str, str]]) -> float:
        terms, value = self._sum(tokens)
        if terms:
            raise self.line.wrong("the side of a row or bound is a number; bring its columns to the other side")
        return value

    def _sum(self, tokens: list[tuple[str, str]]) -> tuple[list[tuple[str, float]], float]:
        """Terms ``+ 0.64 y``, columns and coefficients, and the constant among them."""
        terms: list[tuple[str, float]] = []
        constant, sign, factor = 0.0, 1.0, None
        # a sign at the end, so that a number behind the last sign is added as a constant too
        for kind, word in [*tokens, ("sign", "+")]:
            if kind == "name":
                value = sign * (1.0 if factor is None else factor)
                if np.isinf(value):
                    raise self.line.wrong("a coefficient is infinite")
                terms.append((word, value))
                sign, factor = 1.0, None
            elif kind == "number":
                if factor is not None:
                    raise self.line.wrong("two numbers follow one another")
                factor = self.line.number_of(word)
            elif kind == "sign":
                if factor is not None:
                    constant += sign * factor
                    sign, factor = 1.0, None
                # signs multiply: `- - 3 y` is 3 y
                sign *= 1.0 if word == "+" else -1.0
            else:
                raise self.line.wrong("a colon stands where no name is before it")
        return terms, constant

    def _column(self, name: str) -> list[float]:
        return self.named.box.setdefault(name, [0.0, INF])

    def _bound(self, tokens: list[tuple[str, str]]) -> None:
        if len(tokens) == 2 and tokens[1][1].lower() == "free":
            self._column(tokens[0][1])[:] = [-INF, INF]
            return
        parts, senses = self._parted(tokens)
        place = next((k for k, part in enumerate(parts) if len(part) == 1 and part[0][0] == "name"), None)
        if place is None or len(parts) not in (2, 3) or (len(parts) == 3 and place != 1):
            raise self.line.wrong("a bound is a column between sides, or free")
        box = self._column(parts[place][0][1])
        beside = [(parts[0], _turned(senses[0]))] if place else []
        if place + 1 < len(parts):
            beside.append((parts[place + 1], senses[place]))
        for part, sense in beside:
            self._limit(box, sense, self._held(sense, self._side(part)))

    def _limit(self, box: list[float], sense: str, held: tuple[float, float]) -> None:
        low, high = held
        if np.isfinite(low) or sense != "<=":
            box[0] = low
        if np.isfinite(high) or sense != ">=":
            box[1] = high

    def _kinds(self, tokens: list[tuple[str, str]]) -> None:
        for kind, word in tokens:
            if kind != "name":
                raise self.line.wrong("this section lists names of columns")
            box = self._column(word)
            self.named.integer.add(word)
            if self.section == "binaries":
                box[:] = [0.0, 1.0]


def _turned(sense: str) -> str:
    return {"<=": ">=", ">=": "<=", "=": "="}[sense]
