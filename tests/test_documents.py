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


TEXTS = {
    "[" * 5000: "nested too deeply",
    "1" * 5000: "number of 5000 digits",
    "NaN": "says NaN",
    "1e999": "no float holds",
    '{"a": 1, "a": 2}': "a key twice",
    '{"a"': "is not JSON",
    "": "is not JSON",
}


def test_what_is_no_json_of_ours_is_a_sentence(tmp_path):
    """Neither depth nor digits end in a traceback."""
    for text, complaint in TEXTS.items():
        (tmp_path / "x.json").write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=complaint) as error:
            read_json(tmp_path / "x.json", SHAPE)
        assert "\n" not in str(error.value) and len(str(error.value)) < 400


def test_missing_and_unreadable_files_are_sentences(tmp_path):
    """No file, a folder in its place, no UTF-8."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "latin").write_bytes(b'{"title": "\xe4"}')
    for name, complaint in (("none", "none is missing"), ("folder", "cannot be read"), ("latin", "not UTF-8")):
        with pytest.raises(InputError, match=complaint):
            read_json(tmp_path / name, SHAPE)


def test_toml_beyond_reason_is_a_sentence(tmp_path):
    """Five thousand digits, three thousand brackets; a whole number has no largest one, a float and an array have."""
    path = tmp_path / "x.toml"
    for text in ("a = " + "1" * 5000, "a = " + "[" * 3000, "a = ", "a = 1\na = 2"):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError) as error:
            read_toml(path, Keys(open=True))
        assert "\n" not in str(error.value)
    path.write_text(f"epsilon = {'9' * 400}\n", encoding="utf-8")
    for shape in (NUMBER, COUNT):
        with pytest.raises(InputError, match="epsilon must be a .*number"):
            read_toml(path, Keys({"epsilon": shape}))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["title", "rows", "cost"]), inner),
    max_leaves=8,
)


@settings(max_examples=25)
@given(VALUES)
def test_any_value_fits_or_is_complained_of(value):
    """The check itself never fails, and says one line."""
    complaint = misfit(value, SHAPE)
    assert complaint is None or "\n" not in complaint
