"""A workbook as spreadsheets write it: a zip of XML, sheets of numbers and texts."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"
Row = Sequence[str | int | float | None]


def write_workbook(path: Path, sheets: Mapping[str, Sequence[Row]]) -> Path:
    """Sheets by name, each a list of rows; None is a cell that is not there."""
    tags, goals, kinds, files = "", "", "", {}
    for k, (name, rows) in enumerate(sheets.items(), 1):
        tags += f'<sheet name="{name}" sheetId="{k}" r:id="r{k}"/>'
        goals += f'<Relationship Id="r{k}" Type="{LINKS}/worksheet" Target="worksheets/sheet{k}.xml"/>'
        kinds += f'<Override PartName="/xl/worksheets/sheet{k}.xml" ContentType="{KIND}.worksheet+xml"/>'
        lines = "".join(f'<row r="{n}">{_cells(n, row)}</row>' for n, row in enumerate(rows, 1))
        files[f"xl/worksheets/sheet{k}.xml"] = f'<worksheet xmlns="{SHEET}"><sheetData>{lines}</sheetData></worksheet>'
    files["[Content_Types].xml"] = (
        f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" ContentType='
        '"application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" '
        f'ContentType="{KIND}.sheet.main+xml"/>{kinds}</Types>'
    )
    whole = f'<Relationship Id="r1" Type="{LINKS}/officeDocument" Target="xl/workbook.xml"/>'
    files["xl/workbook.xml"] = f'<workbook xmlns="{SHEET}" xmlns:r="{LINKS}"><sheets>{tags}</sheets></workbook>'
    for name, links in (("_rels/.rels", whole), ("xl/_rels/workbook.xml.rels", goals)):
        files[name] = f'<Relationships xmlns="{PACKAGE}/relationships">{links}</Relationships>'
    with zipfile.ZipFile(path, "w") as packed:
        for name, text in files.items():
            packed.writestr(name, f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n{text}')
    return path


def _cells(number: int, row: Row) -> str:
    """A row's cells, in columns A, B, C, ..."""
    texts = ""
    for place, value in zip("ABCDEFGH", row, strict=False):
        if isinstance(value, str):
            texts += f'<c r="{place}{number}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
        elif value is not None:
            texts += f'<c r="{place}{number}"><v>{value}</v></c>'
    return texts
