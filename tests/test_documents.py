"""Documents of known shape: what is wrong is named by file and key."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdopt import InputError
from crowdopt.documents import COUNT, FLAG, NUMBER, TEXT, Each, Keys, Maybe, misfit, read_json, read_toml

SHAPE = Keys(
    required={"title": TEXT, "rows": Each(Keys({"cost": NUMBER, "labels": COUNT}, open=True))},
    optional={"bound": Maybe(NUMBER), "proven": FLAG, "seeds": Each(COUNT, dict)},
)
GOOD = {"title": "t", "rows": [{"cost": 1.5, "labels": 3, "more": None}], "bound": None, "seeds": {"a": 1}}
WRONG = {
    "title is missing": {"rows": []},
    "title must be text in quotes, not 3": {**GOOD, "title": 3},
    "rows[0].cost must be a number, not True": {**GOOD, "rows": [{"cost": True, "labels": 3}]},
    "rows[0].labels must be a whole number of at least 0, not -1": {**GOOD, "rows": [{"cost": 1, "labels": -1}]},
    "seeds.a must be a whole number of at least 0, not 1.0": {**GOOD, "seeds": {"a": 1.0}},
    "unknown key 'provn'; did you mean proven?": {**GOOD, "provn": True},
    "the whole must be a table of keys and values, not a list of 2 entries": [1, 2],
}


def test_the_complaint_names_the_key(tmp_path):
    """Whatever is missing, of another type or out of range, and where it stands; a good document comes as it is."""
    path = tmp_path / "x.json"
    for complaint, found in WRONG.items():
        path.write_text(json.dumps(found), encoding="utf-8")
        with pytest.raises(InputError) as error:
            read_json(path, SHAPE)
        assert str(error.value) == f"x.json: {complaint}"
    path.write_text(json.dumps(GOOD), encoding="utf-8")
    assert read_json(path, SHAPE) == GOOD


JSON = {"[" * 5000: "nested too deeply", "1" * 5000: "number of 5000 digits", "NaN": "says NaN", "": "is not JSON"}
JSON |= {"1e999": "no float holds", '{"a": 1, "a": 2}': "a key twice", '{"a"': "is not JSON"}
TOML = ("a = " + "1" * 5000, "a = " + "[" * 3000, "a = ", "a = 1\na = 2")
READ = [(read_json, SHAPE, text, complaint) for text, complaint in JSON.items()]
READ += [(read_toml, Keys(open=True), text, "x.toml") for text in TOML]
HUGE = f"epsilon = {'9' * 400}\n"  # a whole number has no largest one, a float and an array have
READ += [(read_toml, Keys({"epsilon": kind}), HUGE, "epsilon must be a .*number") for kind in (NUMBER, COUNT)]


@pytest.mark.parametrize(("read", "shape", "text", "complaint"), READ, ids=range(len(READ)))
def test_what_is_no_document_of_ours_is_a_sentence(tmp_path, read, shape, text, complaint):
    """Neither depth nor digits end in a traceback."""
    path = tmp_path / ("x.json" if read is read_json else "x.toml")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=complaint) as error:
        read(path, shape)
    assert "\n" not in str(error.value) and len(str(error.value)) < 400


def test_missing_and_unreadable_files_are_sentences(tmp_path):
    """No file, a folder in its place, no UTF-8."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "latin").write_bytes(b'{"title": "\xe4"}')
    for name, complaint in (("none", "none is missing"), ("folder", "cannot be read"), ("latin", "not UTF-8")):
        with pytest.raises(InputError, match=complaint):
            read_json(tmp_path / name, SHAPE)


NAMES = st.sampled_from(["title", "rows", "cost"])
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)


@settings(max_examples=25)
@given(st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner), max_leaves=8))
def test_any_value_fits_or_is_complained_of(value):
    """The check itself never fails, and says one line."""
    complaint = misfit(value, SHAPE)
    assert complaint is None or "\n" not in complaint
