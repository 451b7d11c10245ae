"""Files of proof that were tampered with: thirty ways to claim more than is shown."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

Lines = list[str]
Forgery = Callable[[Lines], Lines]


def _at(lines: Lines, word: str) -> int:
    return next(k for k, line in enumerate(lines) if line.startswith(f"{word} "))


def _steps(lines: Lines, reason: str) -> list[int]:
    first = _at(lines, "DER")
    return [k for k in range(first + 1, len(lines)) if f"{{ {reason} " in lines[k]]


def _replaced(lines: Lines, place: int, words: list[str]) -> Lines:
    return [*lines[:place], " ".join(words), *lines[place + 1 :]]


def _word(lines: Lines, place: int, index: int, change: Callable[[str], str]) -> Lines:
    words = lines[place].split()
    words[index] = change(words[index])
    return _replaced(lines, place, words)


def more(by: Fraction | int) -> Callable[[str], str]:
    """A number, larger."""
    return lambda word: str(Fraction(word) + by)


def _claim(by: Fraction | int) -> Forgery:
    return lambda lines: _word(lines, _at(lines, "RTP"), 2, more(by))


def _side(reason: str, which: int, by: Fraction | int) -> Forgery:
    return lambda lines: _word(lines, _steps(lines, reason)[which], 2, more(by))


def _factor(reason: str, which: int, change: Callable[[str], str]) -> Forgery:
    def forged(lines: Lines) -> Lines:
        place = _steps(lines, reason)[which]
        words = lines[place].split()
        return _word(lines, place, words.index("{") + 4, change)

    return forged


def _without_factor(reason: str, which: int) -> Forgery:
    def forged(lines: Lines) -> Lines:
        place = _steps(lines, reason)[which]
        words = lines[place].split()
        start = words.index("{") + 2
        size = str(int(words[start]) - 1)
        return _replaced(lines, place, [*words[:start], size, *words[start + 3 :]])

    return forged


def _reason(before: str, which: int, after: str) -> Forgery:
    def forged(lines: Lines) -> Lines:
        place = _steps(lines, before)[which]
        return _replaced(lines, place, lines[place].replace(f"{{ {before} ", f"{{ {after} ").split())

    return forged


def _as_assumption(reason: str, which: int) -> Forgery:
    def forged(lines: Lines) -> Lines:
        place = _steps(lines, reason)[which]
        words = lines[place].split()
        return _replaced(lines, place, [*words[: words.index("{")], "{", "asm", "}", "-1"])

    return forged


def _left_out(reason: str, which: int) -> Forgery:
    def forged(lines: Lines) -> Lines:
        place, head = _steps(lines, reason)[which], _at(lines, "DER")
        count = int(lines[head].split()[1]) - 1
        return [*lines[:head], f"DER {count}", *lines[head + 1 : place], *lines[place + 1 :]]

    return forged


def _case(which: int, numbers: Callable[[list[str]], list[str]]) -> Forgery:
    def forged(lines: Lines) -> Lines:
        place = _steps(lines, "uns")[which]
        words = lines[place].split()
        start = words.index("{") + 2
        return _replaced(lines, place, [*words[:start], *numbers(words[start : start + 4]), *words[start + 4 :]])

    return forged


def _first_coefficient(reason: str, which: int, by: Fraction | int) -> Forgery:
    return lambda lines: _word(lines, _steps(lines, reason)[which], 5, more(by))


def _weaker_program(lines: Lines) -> Lines:
    """The first need is less: what was derived from it no longer follows."""
    place = next(k for k, line in enumerate(lines) if line.startswith("cover["))
    return _word(lines, place, 2, lambda word: str(Fraction(word) / 2))


def _cheaper_label(lines: Lines) -> Lines:
    """The first label of the objective costs half."""
    return _word(lines, _at(lines, "OBJ") + 1, 2, lambda word: str(Fraction(word) / 2))


def _both(one: Forgery, two: Forgery) -> Forgery:
    return lambda lines: two(one(lines))


def _no_column_whole(lines: Lines) -> Lines:
    place = _at(lines, "INT")
    return [*lines[:place], "INT 0", *lines[_at(lines, "OBJ") :]]


def _half_a_label(lines: Lines) -> Lines:
    return _word(lines, _at(lines, "plan"), 3, lambda _: "1/2")


FORGERIES: dict[str, Forgery] = {
    "bound raised": _claim(1),
    "bound raised a little": _claim(Fraction(1, 1000)),
    "last side raised": lambda lines: _word(lines, len(lines) - 1, 2, more(1)),
    "bound and last side raised": _both(_claim(1), lambda lines: _word(lines, len(lines) - 1, 2, more(1))),
    "bound assumed": _as_assumption("rnd", -1),
    "last step left out": _left_out("rnd", -1),
    "last step not rounded": _reason("rnd", -1, "lin"),
    "side of a rounded step raised": _side("rnd", 0, 1),
    "side of a rounded step raised a little": _side("rnd", 0, Fraction(1, 2)),
    "side of a combined step raised": _side("lin", 0, 1),
    "side of an absurdity's case raised": _side("lin", 1, 1 << 80),
    "multiplier of need doubled": _factor("rnd", 0, lambda word: str(2 * Fraction(word))),
    "multiplier of need a little more": _factor("rnd", 0, more(Fraction(1, 7))),
    "multiplier of the last step changed": _factor("rnd", -1, more(Fraction(1, 3))),
    "multiplier turned": _factor("lin", 0, lambda word: str(-Fraction(word))),
    "multiplier of a case changed": _factor("lin", 0, more(1)),
    "multiplier of need left out": _without_factor("rnd", 0),
    "multiplier of the last step left out": _without_factor("rnd", -1),
    "multiplier of a case left out": _without_factor("lin", 0),
    "first step left out": _left_out("rnd", 0),
    "assumption left out": _left_out("asm", 0),
    "case left out": _left_out("lin", -1),
    "end of cases left out": _left_out("uns", 0),
    "only one case": _case(0, lambda four: [four[0], four[1], four[0], four[1]]),
    "cases swapped": _case(0, lambda four: [four[2], four[1], four[0], four[3]]),
    "end of cases assumed": _as_assumption("uns", -1),
    "assumption of a case wider": lambda lines: _word(lines, _steps(lines, "asm")[1], 2, more(1)),
    "coefficient of a step changed": _first_coefficient("rnd", 0, 1),
    "need of the program halved": _weaker_program,
    "label of the objective cheaper": _cheaper_label,
    "no column whole": _no_column_whole,
    "point of half a label": _half_a_label,
    "value of the point lowered": lambda lines: _word(lines, _at(lines, "RTP"), 3, more(-1)),
}


def _a_label_less(lines: Lines) -> Lines:
    words = lines[_at(lines, "plan")].split()
    return _replaced(lines, _at(lines, "plan"), [words[0], str(int(words[1]) - 1), *words[4:]])


def _no_point(lines: Lines) -> Lines:
    place = _at(lines, "SOL")
    return [*lines[:place], "SOL 0", *lines[place + 2 :]]


LET_THROUGH: dict[str, Forgery] = {  # by viprchk: of a point it checks one constraint, and asks for none
    "a label less": _a_label_less,
    "no point, but a value": _no_point,
}
