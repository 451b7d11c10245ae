"""Damage: what disks, editors, spreadsheets, strangers and typing errors do to files and to options."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

WORDS = "nan inf -1 0 1e999 9223372036854775807 0.5 x a/b .. '=1+1 <b> none True 1_0 ٣ a,b -0.0 1e-320"
CELLS = (*WORDS.split(), "", "9" * 30, "ä" * 300, "\r", "a\rb", "\x00", "\ufeff", " ", '"', "[" * 50)
VALUES = (
    *(None, True, -1, 0, 10**18, 10**400, 1.5, float("nan"), float("inf"), "x", "", "ä" * 300),
    *([], {}, [[]], {"a": {"b": []}}),
)
NUMBERS = ("nan", "inf", "-inf", "-1", "", "x", "1e999", "-0", "0.0000001", "٣", "1_0", " 1")
NAMES = ("", ".", "..", "/", "x" * 300, "ä" * 130, "no/such/place", "caf\udce9", "a\nb", "/dev/null/x")
NAMES += ("labels.csv", "campaign", "-", "~")
JUNK = (
    b"\xef\xbb\xbf",
    b"\x00",
    b"\r",
    b"\n\n",
    b",",
    b'"',
    b"\xff\xfe",
    b"[" * 3000,
    b"9" * 5000,
    "ä".encode("latin1"),
)
Kind = Callable[[Path, random.Random], None]


def damaged(folder: Path, reads: tuple[str, ...], rng: random.Random) -> str:
    """Damage one file of those that are read; returns what was done, in words."""
    files = [path for name in reads for path in _files(folder / name)]
    path = rng.choice(files)
    kinds = [*BYTES, *PLACES]
    if path.suffix == ".csv":
        kinds += 3 * TABLES
    if path.suffix == ".json":
        kinds += 4 * DOCUMENTS
    if path.suffix == ".jsonl":
        kinds += 8 * LINES
    kind = rng.choice(kinds)
    kind(path, rng)
    return f"{kind.__name__} {path.relative_to(folder)}"


def _files(path: Path) -> list[Path]:
    """Files below a name; of results the raw rows too."""
    return sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]


def flip(path: Path, rng: random.Random) -> None:
    """A few bytes changed."""
    content = bytearray(path.read_bytes() or b" ")
    for _ in range(rng.randint(1, 4)):
        content[rng.randrange(len(content))] = rng.randrange(256)
    path.write_bytes(content)


def truncate(path: Path, rng: random.Random) -> None:
    """A copy that broke off."""
    content = path.read_bytes()
    path.write_bytes(content[: rng.randint(0, len(content))])


def insert(path: Path, rng: random.Random) -> None:
    """Something in the middle that was not there."""
    content = path.read_bytes()
    place = rng.randint(0, len(content))
    path.write_bytes(content[:place] + rng.choice(JUNK) + content[place:])


def begin_with_a_mark(path: Path, rng: random.Random) -> None:
    """A byte order mark, once or twice."""
    path.write_bytes(b"\xef\xbb\xbf" * rng.randint(1, 2) + path.read_bytes())


def carriage_returns(path: Path, rng: random.Random) -> None:
    """Lines that end as on an old Mac, or as on Windows."""
    path.write_bytes(path.read_bytes().replace(b"\n", rng.choice([b"\r", b"\r\n", b"\n\r"])))


def other_letters(path: Path, rng: random.Random) -> None:
    """Another encoding."""
    text = path.read_text(encoding="utf-8", errors="replace") + "ä"
    path.write_bytes(text.encode(rng.choice(["utf-16", "latin1"]), "replace"))


def empty(path: Path, rng: random.Random) -> None:
    """Nothing left."""
    path.write_bytes(rng.choice([b"", b"\n", b" ", b"\x00" * 100]))


def missing(path: Path, rng: random.Random) -> None:
    """Not there."""
    path.unlink()


def a_folder(path: Path, rng: random.Random) -> None:
    """A folder in its place."""
    path.unlink()
    path.mkdir()


def a_link(path: Path, rng: random.Random) -> None:
    """A link in its place: to itself, to nowhere, to the whole folder."""
    path.unlink()
    path.symlink_to(rng.choice([path.name, "nowhere", ".", "/dev/null"]))


def a_stranger(path: Path, rng: random.Random) -> None:
    """Another file of the desk in its place."""
    others = [one for one in path.parent.iterdir() if one.is_file()]
    content = rng.choice(others).read_bytes()
    path.write_bytes(content)


def _rows(path: Path) -> list[list[str]]:
    text = path.read_bytes().decode("utf-8", errors="replace")
    return [line.split(",") for line in text.split("\n") if line] or [[""]]


def _keep_rows(path: Path, rows: list[list[str]]) -> None:
    path.write_bytes("".join(",".join(row) + "\n" for row in rows).encode("utf-8", errors="replace"))


def cell(path: Path, rng: random.Random) -> None:
    """Another value in a cell."""
    rows = _rows(path)
    row = rng.choice(rows[1:] or rows)
    row[rng.randrange(len(row))] = rng.choice(CELLS)
    _keep_rows(path, rows)


def header(path: Path, rng: random.Random) -> None:
    """Another name of a column, or one twice."""
    rows = _rows(path)
    rows[0][rng.randrange(len(rows[0]))] = rng.choice([*CELLS[-6:], *rows[0], rows[0][0].upper()])
    _keep_rows(path, rows)


def row_twice(path: Path, rng: random.Random) -> None:
    """An id that was there before."""
    rows = _rows(path)
    rows.insert(rng.randint(1, len(rows)), list(rng.choice(rows)))
    _keep_rows(path, rows)


def row_gone(path: Path, rng: random.Random) -> None:
    """A row, a few, or all of them missing."""
    rows = _rows(path)
    _keep_rows(path, rows[:1] if rng.random() < 0.2 else [row for row in rows if rng.random() < 0.8] or rows[:1])


def column_gone(path: Path, rng: random.Random) -> None:
    """A column missing."""
    rows = _rows(path)
    out = rng.randrange(len(rows[0]))
    _keep_rows(path, [row[:out] + row[out + 1 :] for row in rows])


def ragged(path: Path, rng: random.Random) -> None:
    """A cell too many."""
    rows = _rows(path)
    rng.choice(rows).append("x")
    _keep_rows(path, rows)


def _document(path: Path) -> object:
    return json.loads(path.read_text(encoding="utf-8"))


def _places(value: object) -> list[tuple[object, object]]:
    """Every (container, key) of a document."""
    if isinstance(value, dict):
        return [place for key in value for place in [(value, key), *_places(value[key])]]
    if isinstance(value, list):
        return [place for k in range(len(value)) for place in [(value, k), *_places(value[k])]]
    return []


def key_gone(path: Path, rng: random.Random) -> None:
    """A key, or an entry of a list, missing."""
    document = _document(path)
    container, key = rng.choice(_places(document) or [({"x": 1}, "x")])
    del container[key]
    path.write_text(json.dumps(document), encoding="utf-8")


def another_type(path: Path, rng: random.Random) -> None:
    """A value of another type."""
    document = _document(path)
    container, key = rng.choice(_places(document) or [({"x": 1}, "x")])
    container[key] = rng.choice(VALUES)
    path.write_text(json.dumps(document), encoding="utf-8")


def another_document(path: Path, rng: random.Random) -> None:
    """No object at all, or one too deep."""
    deep = "[" * 4000 + "]" * 4000, '{"a":' * 2000 + "1" + "}" * 2000
    path.write_text(rng.choice(["[]", "3", "null", '"x"', *deep, "NaN", "{}"]), encoding="utf-8")


def _some_line(path: Path, rng: random.Random, change: Kind) -> None:
    """One line of a file changed as a document of its own."""
    lines = path.read_text(encoding="utf-8").splitlines()
    number = rng.randrange(len(lines))
    path.write_text(lines[number], encoding="utf-8")
    change(path, rng)
    lines[number] = path.read_text(encoding="utf-8", errors="replace").replace("\n", " ")
    path.write_text("\n".join(lines), encoding="utf-8")


def line_key_gone(path: Path, rng: random.Random) -> None:
    """A key missing in one line."""
    _some_line(path, rng, key_gone)


def line_of_another_type(path: Path, rng: random.Random) -> None:
    """A value of another type in one line."""
    _some_line(path, rng, another_type)


def line_twice(path: Path, rng: random.Random) -> None:
    """A line that was there before."""
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([*lines, rng.choice(lines)]), encoding="utf-8")


def entry_twice(path: Path, rng: random.Random) -> None:
    """An entry of a list that was there before."""
    document = _document(path)
    lists = [value[key] for value, key in _places(document) if isinstance(value[key], list) and value[key]]
    chosen = rng.choice(lists or [[1]])
    chosen.append(rng.choice(chosen))
    path.write_text(json.dumps(document), encoding="utf-8")


LINES: list[Kind] = [line_key_gone, line_of_another_type, line_twice]
BYTES: list[Kind] = [flip, truncate, insert, begin_with_a_mark, carriage_returns, other_letters, empty]
PLACES: list[Kind] = [missing, a_folder, a_link, a_stranger]
TABLES: list[Kind] = [cell, cell, cell, header, row_twice, row_gone, column_gone, ragged]
DOCUMENTS: list[Kind] = [key_gone, another_type, another_type, another_document, entry_twice]
COUNTS = "horizon trials seeds jobs processes capacity most classes threads nodes"  # options that are no sizes


def mistyped(words: list[str], rng: random.Random) -> list[str]:
    """One word of a command replaced, dropped or doubled; sizes that would take hours are not among those put in."""
    words = list(words)
    place = rng.randrange(1, len(words)) if len(words) > 1 else 0
    before, word = words[place - 1], words[place]
    if rng.random() < 0.1:
        del words[place]
    elif word.startswith("-"):
        words[place] = rng.choice([word + "x", "--json", "--no-such-option", word])
    elif before.startswith("--") and before[2:] in COUNTS.split():
        words[place] = rng.choice(NUMBERS)
    elif word.replace(".", "").isdigit():
        words[place] = rng.choice([*NUMBERS, "1e308", "9" * 30])
    elif before in ("-o", "--truth", "--workers", "--frontier", "--chart") or "." in word or "/" in word:
        words[place] = rng.choice(NAMES)
    else:
        words[place] = rng.choice([*NAMES, *CELLS[:8], word + ":x=nan", word + ":"])
    return words


def copy(desk: Path, folder: Path, reads: tuple[str, ...]) -> None:
    """The files that a command reads, in an empty folder."""
    for name in reads:
        top = name.split("/")[0]
        (shutil.copytree if (desk / top).is_dir() else shutil.copyfile)(desk / top, folder / top)
