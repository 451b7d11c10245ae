"""Documents of known shape: what is wrong is named by file and key."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
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
    "rows must be a list, not 'x'": {**GOOD, "rows": "x"},
    "rows[0].cost must be a number, not True": {**GOOD, "rows": [{"cost": True, "labels": 3}]},
    "rows[1].labels must be a whole number of at least 0, not -1": {
        **GOOD,
        "rows": [{"cost": 1, "labels": 0}, {"cost": 1, "labels": -1}],
    },
    "rows[0] must be a table of keys and values, not a list of 0 entries": {**GOOD, "rows": [[]]},
    "seeds.a must be a whole number of at least 0, not 1.0": {**GOOD, "seeds": {"a": 1.0}},
    "unknown key 'provn'; did you mean proven?": {**GOOD, "provn": True},
    "the whole must be a table of keys and values, not a list of 2 entries": [1, 2],
}


@pytest.mark.parametrize("complaint", WRONG)
def test_the_complaint_names_the_key(tmp_path, complaint):
    """Whatever is missing, of another type or out of range, and where it stands."""
    path = tmp_path / "x.json"
    path.write_text(json.dumps(WRONG[complaint]), encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_json(path, SHAPE)
    assert str(error.value) == f"x.json: {complaint}"


def test_what_fits_is_handed_over(tmp_path):
    """A good document comes through as it is."""
    (tmp_path / "x.json").write_text(json.dumps(GOOD), encoding="utf-8")
    assert read_json(tmp_path / "x.json", SHAPE) == GOOD


TEXTS = {
    "nested": ("[" * 5000, "nested too deeply"),
    "digits": ("1" * 5000, "number of 5000 digits"),
    "nan": ("NaN", "says NaN"),
    "huge": ("1e999", "no float holds"),
    "twice": ('{"a": 1, "a": 2}', "a key twice"),
    "cut": ('{"a"', "is not JSON"),
    "empty": ("", "is not JSON"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_no_json_of_ours_is_a_sentence(tmp_path, name):
    """Neither depth nor digits end in a traceback."""
    text, complaint = TEXTS[name]
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


@pytest.mark.parametrize("text", ["a = " + "1" * 5000, "a = " + "[" * 3000, "a = ", "a = 1\na = 2"])
def test_toml_beyond_reason_is_a_sentence(tmp_path, text):
    """Five thousand digits, three thousand brackets."""
    (tmp_path / "x.toml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_toml(tmp_path / "x.toml", Keys(open=True))
    assert "\n" not in str(error.value)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["title", "rows", "cost"]), inner),
    max_leaves=8,
)


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(VALUES)
def test_any_value_fits_or_is_complained_of(value):
    """The check itself never fails, and says one line."""
    complaint = misfit(value, SHAPE)
    assert complaint is None or "\n" not in complaint


@pytest.mark.parametrize("shape", [NUMBER, COUNT])
def test_a_number_of_many_digits_is_none_that_can_be_used(tmp_path, shape):
    """TOML knows no largest whole number; a float and an array do."""
    path = tmp_path / "x.toml"
    path.write_text(f"epsilon = {'9' * 400}\n", encoding="utf-8")
    with pytest.raises(InputError, match="epsilon must be a .*number"):
        read_toml(path, Keys({"epsilon": shape}))
