"""The schema of tables: a header says which columns there are, and the guide's tables are the schema's."""

from __future__ import annotations

from pathlib import Path

import crowdopt
from crowdopt.io.campaign.sample import CAMPAIGN
from crowdopt.io.tables.table_kinds import CAMPAIGN_TABLES, TableKind

GUIDE = Path(crowdopt.__file__).with_name("README.md")


def test_a_header_is_its_own_description():
    """Brackets hold what may be left out, wherever it stands."""
    kind = TableKind("worker[,type],accuracy[,price]")
    assert (kind.required, kind.optional) == (("worker", "accuracy"), ("type", "price"))
    assert kind.complaint(["accuracy", "worker"]) is None
    assert "the header must be worker[,type],accuracy[,price]" in (kind.complaint(["worker"]) or "")


def test_the_guide_has_every_table_of_a_campaign_as_its_reader_has_it():
    """One schema: a column that a reader learns stands in the guide, or this fails."""
    text = GUIDE.read_text(encoding="utf-8")
    assert not [kind.header for kind in CAMPAIGN_TABLES.values() if f"`{kind.header}`" not in text]
    files = {name.partition(" ")[0] for name in CAMPAIGN_TABLES}
    assert not [name for name in files if f"`{name}.csv`" not in text]


def test_the_sample_has_its_own_tables_as_their_readers_have_them():
    """The comments of a campaign to start from."""
    for name in ("tasks", "workers", "gold", "skills"):
        assert CAMPAIGN_TABLES[name].header in CAMPAIGN
