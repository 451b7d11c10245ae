"""The contract of a store: what is kept is kept whole and in order, and nothing is kept of a block that fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from threading import Thread
from urllib.parse import urlencode

import pytest

import crowdopt
from crowdopt.api.live import store_of
from crowdopt.live.stores.event import TOLD, Event
from crowdopt.live.stores.sql_ledgerbook import MIGRATIONS, SQLiteStore
from tests.live.people import small
from tests.live.stores import KEPT, KINDS, PLACES, STORES, server


def told(number: int) -> Event:
    """Some event."""
    return Event(number, 1e9 + number / 3, TOLD, "ada", "photo-1", 3, "cat é\U0001f408")


@pytest.mark.parametrize("kind", KINDS)
def test_events_come_back_as_they_were(kind, tmp_path):
    """To the last bit of their time and the last letter of their label."""
    store = STORES[kind](tmp_path)
    with store.hold() as book:
        assert book.last() == 0 and book.after(0) == [] and book.snapshot() is None
        book.append([told(1), told(2), told(3)])
    with store.hold() as book:
        assert book.last() == 3 and book.after(1) == [told(2), told(3)]
        assert book.after(0, 1) == [told(1)] and book.after(1, 5) == [told(2), told(3)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_block_that_fails_keeps_nothing(kind, tmp_path):
    """Neither events nor snapshots, replies or tokens: what was not acknowledged has not happened."""
    store = STORES[kind](tmp_path)
    with store.hold() as book:
        book.append([told(1)])
        book.keep(1, b"before")
        book.entitle("old", "ada")
    with pytest.raises(ZeroDivisionError), store.hold() as book:
        book.append([told(2)])
        book.keep(2, b"after")
        book.remember("key", "reply")
        book.entitle("new", "ada")
        raise ZeroDivisionError
    with store.hold() as book:
        assert book.after(0) == [told(1)] and book.snapshot() == (1, b"before")
        assert book.reply("key") is None and book.owner("old") == "ada" and book.owner("new") is None


@pytest.mark.parametrize("kind", KINDS)
def test_replies_tokens_and_snapshots(kind, tmp_path):
    """The newest snapshot counts, and a worker's newest token; a reply stays what it was."""
    store = STORES[kind](tmp_path)
    with store.hold() as book:
        book.keep(1, bytes(range(256)))
        book.keep(7, b"later")
        book.remember("key", '{"a": 1}')
        book.entitle("one", "ada")
        book.entitle("two", "ada")
        book.entitle("three", "bob")
    with store.hold() as book:
        assert book.snapshot() == (7, b"later") and book.reply("key") == '{"a": 1}' and book.reply("other") is None
        assert [book.owner(digest) for digest in ("one", "two", "three")] == [None, "ada", "bob"]


@pytest.mark.parametrize("kind", KINDS)
def test_one_writer_at_a_time(kind, tmp_path):
    """Threads that each read the last number and write the next one never write the same."""
    store = STORES[kind](tmp_path)

    def write() -> None:
        for _ in range(20):
            with store.hold() as book:
                book.append([told(book.last() + 1)])

    threads = [Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with store.hold() as book:
        assert [event.number for event in book.after(0)] == list(range(1, 81))


WRITER = """
import sys
from crowdopt.api.live import store_of
from tests.live.test_stores import told
store = store_of(sys.argv[1])
for _ in range(40):
    with store.hold() as book:
        book.append([told(book.last() + 1)])
"""


@pytest.mark.parametrize("kind", KEPT)
def test_two_processes_never_write_the_same_number(kind, tmp_path):
    """``BEGIN IMMEDIATE``, or the lock, makes the second wait before it reads; both may find no tables."""
    place = PLACES[kind](tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    running = [subprocess.Popen([sys.executable, "-c", WRITER, str(place)], env=environment) for _ in range(2)]
    assert [process.wait(60) for process in running] == [0, 0]
    with STORES[kind](tmp_path).hold() as book:
        assert [event.number for event in book.after(0)] == list(range(1, 81))


@pytest.mark.parametrize("kind", KEPT)
def test_a_store_is_opened_again(kind, tmp_path):
    """What one process kept another finds, and tables are made once."""
    first = STORES[kind](tmp_path)
    with first.hold() as book:
        book.append([told(1)])
        book.keep(1, b"state")
    first.close()
    with STORES[kind](tmp_path).hold() as book:
        assert book.after(0) == [told(1)] and book.snapshot() == (1, b"state")


@pytest.mark.servers
def test_a_server_that_loses_its_power_keeps_what_was_acknowledged(tmp_path):
    """The call in between says so; the connection is made anew, and all that was acknowledged is there."""
    store = STORES["postgresql"](tmp_path)
    with store.hold() as book:
        book.append([told(1)])
    server().kill()
    try:
        with pytest.raises(crowdopt.InputError, match="cannot be written"), store.hold() as book:
            book.append([told(2)])
    finally:
        server().start()
    with store.hold() as book:
        assert book.after(0) == [told(1)]
        book.append([told(2)])


@pytest.mark.servers
def test_two_campaigns_in_one_database(tmp_path):
    """Each has a schema of its own, and one does not wait for the other."""
    (tmp_path / "a").mkdir()
    one, other = STORES["postgresql"](tmp_path), STORES["postgresql"](tmp_path / "a")
    with one.hold() as mine, other.hold() as theirs:
        mine.append([told(1)])
        assert theirs.last() == 0


@pytest.mark.servers
def test_a_schema_of_a_newer_version_is_refused(tmp_path):
    """As with a file."""
    with STORES["postgresql"](tmp_path).hold() as book:
        book._run("UPDATE version SET number = ?", (len(MIGRATIONS) + 1,))
    with pytest.raises(crowdopt.InputError, match="newer version"):
        STORES["postgresql"](tmp_path)


@pytest.mark.parametrize("name", ["a b", "1a", "x" * 61, 'a";drop', ""])
def test_a_schema_has_a_plain_name(name):
    """Nothing of an address becomes a statement."""
    pytest.importorskip("psycopg")
    with pytest.raises(crowdopt.InputError, match="no name for a schema"):
        store_of(f"postgresql://127.0.0.1:1/x?{urlencode({'schema': name})}")


def test_a_server_that_is_not_there_is_a_sentence():
    """It does not repeat the password."""
    pytest.importorskip("psycopg")
    with pytest.raises(crowdopt.InputError, match="cannot be opened as a store") as refused:
        store_of("postgresql://ada:secret@127.0.0.1:1/x?password=secret")
    assert "secret" not in str(refused.value)


def test_a_store_of_a_newer_version_is_refused(tmp_path):
    """Its tables may mean something else."""
    store = SQLiteStore(tmp_path / "campaign.db")
    store._base.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    store.close()
    with pytest.raises(crowdopt.InputError, match="newer version"):
        SQLiteStore(tmp_path / "campaign.db")


@pytest.mark.parametrize("place", ["no/such/folder/x.db", "."])
def test_a_place_that_cannot_be_opened_is_a_sentence(place, tmp_path):
    """No traceback of a library."""
    with pytest.raises(crowdopt.InputError, match="cannot be opened as a store"):
        SQLiteStore(tmp_path / place)


def test_a_full_disk_keeps_what_was_acknowledged(tmp_path):
    """The call that finds no room says so and has not happened; with room again all goes on where it was."""
    instance, _ = small()
    live = crowdopt.live(instance, policy="greedy", store=tmp_path / "campaign.db")
    assert live.ask("0") is not None
    base = live.store._base
    pages = base.execute("PRAGMA page_count").fetchone()[0]
    base.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(crowdopt.InputError, match="cannot be written"):
        for k in range(400):
            if (lease := live.ask(str(k % 20))) is not None:
                live.tell(lease, "0")
    events = live.events()
    base.execute("PRAGMA max_page_count = 1000000")
    told_so_far = len(live.labels())
    lease = next(lease for k in range(20) if (lease := live.ask(str(k))) is not None)
    live.tell(lease, "0")
    assert len(live.labels()) == told_so_far + 1
    assert live.events()[: len(events)] == events
