"""Damage: what disks, editors, spreadsheets, strangers and typing errors do to files and to options."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from random import Random
from typing import Any

WORDS = "nan inf -1 0 1e999 9223372036854775807 0.5 x a/b .. '=1+1 <b> none True 1_0 ٣ a,b -0.0 1e-320"
CELLS = (*WORDS.split(), "", "9" * 30, "ä" * 300, "\r", "a\rb", "\x00", "\ufeff", " ", '"', "[" * 50)
VALUES = (None, True, -1, 0, 10**18, 10**400, 1.5, float("nan"), float("inf"), "x", "", "ä" * 300)
VALUES += ([], {}, [[]], {"a": {"b": []}})
NUMBERS = ("nan", "inf", "-inf", "-1", "", "x", "1e999", "-0", "0.0000001", "٣", "1_0", " 1")
NAMES = ("", ".", "..", "/", "x" * 300, "ä" * 130, "no/such/place", "caf\udce9", "a\nb", "/dev/null/x")
NAMES += ("labels.csv", "campaign", "-", "~")
MARK = b"\xef\xbb\xbf"
JUNK = (MARK, b"\x00", b"\r", b"\n\n", b",", b'"', b"\xff\xfe", b"[" * 3000, b"9" * 5000, "ä".encode("latin1"))
DEEP = "[" * 4000 + "]" * 4000, '{"a":' * 2000 + "1" + "}" * 2000
COUNTS = "horizon trials seeds jobs processes capacity most classes threads nodes"  # options that are no sizes
Rows = list[list[str]]


def flip(content: bytes, rng: Random) -> bytes:
    """A few bytes changed."""
    changed = bytearray(content or b" ")
    for _ in range(rng.randint(1, 4)):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return changed


def truncate(content: bytes, rng: Random) -> bytes:
    """A copy that broke off."""
    return content[: rng.randint(0, len(content))]


def insert(content: bytes, rng: Random) -> bytes:
    """Something in the middle that was not there."""
    place = rng.randint(0, len(content))
    return content[:place] + rng.choice(JUNK) + content[place:]


def begin_with_a_mark(content: bytes, rng: Random) -> bytes:
    """A byte order mark, once or twice."""
    return MARK * rng.randint(1, 2) + content


def carriage_returns(content: bytes, rng: Random) -> bytes:
    """Lines that end as on an old Mac, or as on Windows."""
    return content.replace(b"\n", rng.choice([b"\r", b"\r\n", b"\n\r"]))


def other_letters(content: bytes, rng: Random) -> bytes:
    """Another encoding."""
    return (content.decode("utf-8", "replace") + "ä").encode(rng.choice(["utf-16", "latin1"]), "replace")


def empty(content: bytes, rng: Random) -> bytes:
    """Nothing left."""
    return rng.choice([b"", b"\n", b" ", b"\x00" * 100])


def missing(path: Path, rng: Random) -> None:
    """Not there."""
    path.unlink()


def a_folder(path: Path, rng: Random) -> None:
    """A folder in its place."""
    path.unlink()
    path.mkdir()


def a_link(path: Path, rng: Random) -> None:
    """A link in its place: to itself, to nowhere, to the whole folder."""
    path.unlink()
    path.symlink_to(rng.choice([path.name, "nowhere", ".", "/dev/null"]))


def a_stranger(path: Path, rng: Random) -> None:
    """Another file of the desk in its place."""
    path.write_bytes(rng.choice([one for one in path.parent.iterdir() if one.is_file()]).read_bytes())


def cell(rows: Rows, rng: Random) -> None:
    """Another value in a cell."""
    row = rng.choice(rows[1:] or rows)
    row[rng.randrange(len(row))] = rng.choice(CELLS)


def header(rows: Rows, rng: Random) -> None:
    """Another name of a column, or one twice."""
    rows[0][rng.randrange(len(rows[0]))] = rng.choice([*CELLS[-6:], *rows[0], rows[0][0].upper()])


def row_twice(rows: Rows, rng: Random) -> None:
    """An id that was there before."""
    rows.insert(rng.randint(1, len(rows)), list(rng.choice(rows)))


def row_gone(rows: Rows, rng: Random) -> None:
    """A row, a few, or all of them missing."""
    rows[:] = rows[:1] if rng.random() < 0.2 else [row for row in rows if rng.random() < 0.8] or rows[:1]


def column_gone(rows: Rows, rng: Random) -> None:
    """A column missing."""
    out = rng.randrange(len(rows[0]))
    for row in rows:
        del row[out : out + 1]


def ragged(rows: Rows, rng: Random) -> None:
    """A cell too many."""
    rng.choice(rows).append("x")


def key_gone(places: list, rng: Random) -> None:
    """A key, or an entry of a list, missing."""
    container, key = rng.choice(places)
    del container[key]


def another_type(places: list, rng: Random) -> None:
    """A value of another type."""
    container, key = rng.choice(places)
    container[key] = rng.choice(VALUES)


def entry_twice(places: list, rng: Random) -> None:
    """An entry of a list that was there before."""
    chosen = rng.choice([value[key] for value, key in places if isinstance(value[key], list) and value[key]] or [[1]])
    chosen.append(rng.choice(chosen))


def another_document(path: Path, rng: Random) -> None:
    """No object at all, or one too deep."""
    path.write_text(rng.choice(["[]", "3", "null", '"x"', *DEEP, "NaN", "{}"]), encoding="utf-8")


def line_twice(path: Path, rng: Random) -> None:
    """A line that was there before."""
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([*lines, rng.choice(lines)]), encoding="utf-8")


BYTES = (flip, truncate, insert, begin_with_a_mark, carriage_returns, other_letters, empty)
PLACES = (missing, a_folder, a_link, a_stranger)
TABLES = (cell, cell, cell, header, row_twice, row_gone, column_gone, ragged)
DOCUMENTS = (key_gone, another_type, another_type, another_document, entry_twice)
LINES = (key_gone, another_type, line_twice)
MORE = {".csv": 3 * TABLES, ".json": 4 * DOCUMENTS, ".jsonl": 8 * LINES}


def damaged(folder: Path, reads: tuple[str, ...], rng: Random) -> str:
    """Damage one file of those that are read; returns what was done, in words."""
    files = [one for name in reads for one in sorted([folder / name, *(folder / name).rglob("*")]) if one.is_file()]
    path = rng.choice(files)
    kind: Any = rng.choice([*BYTES, *PLACES, *MORE.get(path.suffix, ())])
    content = path.read_bytes()
    if kind in BYTES:
        path.write_bytes(kind(content, rng))
    elif kind in TABLES:
        rows = [line.split(",") for line in content.decode().split("\n") if line] or [[""]]
        kind(rows, rng)
        path.write_bytes("".join(",".join(row) + "\n" for row in rows).encode("utf-8", "replace"))
    elif kind in (key_gone, another_type, entry_twice):
        lines = content.decode().splitlines() if path.suffix == ".jsonl" else [content.decode()]
        number = rng.randrange(len(lines)) if path.suffix == ".jsonl" else 0
        document = json.loads(lines[number])
        kind(_places(document) or [({"x": 1}, "x")], rng)
        lines[number] = json.dumps(document)
        path.write_text("\n".join(lines), encoding="utf-8")
    else:
        kind(path, rng)
    return f"{kind.__name__} {path.relative_to(folder)}"


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of a document."""
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [place for key in keys for place in [(value, key), *_places(value[key])]]


def mistyped(words: list[str], rng: Random) -> list[str]:
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
