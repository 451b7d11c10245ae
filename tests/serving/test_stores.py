"""The contract of a store: what is kept is kept whole and in order, and nothing is kept of a block that fails."""

from __future__ import annotations

from threading import Thread
from urllib.parse import urlencode

import pytest

import crowdopt
from crowdopt.serving.stores import TOLD, VERSION, Event, SQLiteStore, SQLLedgerbook
from crowdopt.verbs.live import store_of
from tests.serving.stores import CHILDREN, KINDS, PLACES, STORES, server


def told(number: int) -> Event:
    """Some event."""
    return Event(number, 1e9 + number / 3, TOLD, "ada", "photo-1", 3, "cat é\U0001f408")


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_kept_comes_back_as_it_was(kind, tmp_path):
    """Events to the last bit of their time and letter of their label; the newest token; each reply.

    A block that fails keeps nothing: what was not acknowledged has not happened.
    """
    store = STORES[kind](tmp_path)
    with store.hold() as book:
        assert book.last() == 0 and book.after(0) == []
        book.append([told(1), told(2), told(3)])
        book.remember("key", '{"a": 1}')
        for digest, owner in (("one", "ada"), ("two", "ada"), ("three", "bob")):
            book.entitle(digest, owner)
    with pytest.raises(ZeroDivisionError), store.hold() as book:
        book.append([told(4)])
        book.remember("other", "reply")
        book.entitle("four", "ada")
        raise ZeroDivisionError
    if kind != "memory":
        store.close()
        store = STORES[kind](tmp_path)  # what one process kept another finds, and tables are made once
    with store.hold() as book:
        assert book.last() == 3 and book.after(1) == [told(2), told(3)]
        assert book.after(0, 1) == [told(1)] and book.after(1, 5) == [told(2), told(3)]
        assert book.reply("key") == '{"a": 1}' and book.reply("other") is None
        assert [book.owner(digest) for digest in ("one", "two", "three", "four")] == [None, "ada", "bob", None]


def write(place) -> None:
    """Twenty events, each with the number after the last one."""
    store = place if isinstance(place, SQLLedgerbook) else store_of(place)
    for _ in range(20):
        with store.hold() as book:
            book.append([told(book.last() + 1)])


@pytest.mark.parametrize("kind", KINDS)
def test_one_writer_at_a_time(kind, tmp_path):
    """Two threads, and where there is a place two processes, that read the last number and write the next one.

    ``BEGIN IMMEDIATE``, or the lock, makes the second wait before it reads; both processes may find no tables.
    """
    place = PLACES[kind](tmp_path)
    writers = [] if kind == "memory" else [CHILDREN.Process(target=write, args=(place,)) for _ in range(2)]
    for writer in writers:
        writer.start()
    store = STORES[kind](tmp_path)
    threads = [Thread(target=write, args=(store,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for writer in [*threads, *writers]:
        writer.join(60)
    with store.hold() as book:
        assert [event.number for event in book.after(0)] == list(range(1, 1 + 20 * (len(threads) + len(writers))))


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


def test_what_cannot_be_a_store_is_a_sentence(tmp_path):
    """No traceback of a library, no password in it, nothing of an address that becomes a statement."""
    for place in ("no/such/folder/x.db", "."):
        with pytest.raises(crowdopt.InputError, match="cannot be opened as a store"):
            store_of(tmp_path / place)
    store = SQLiteStore(tmp_path / "campaign.db")
    store._base.execute(f"PRAGMA user_version = {VERSION + 1}")  # its tables may mean something else
    store.close()
    with pytest.raises(crowdopt.InputError, match="another version"):
        store_of(tmp_path / "campaign.db")
    pytest.importorskip("psycopg")
    for name in ("a b", "1a", "x" * 61, 'a";drop', ""):
        with pytest.raises(crowdopt.InputError, match="no name for a schema"):
            store_of(f"postgresql://127.0.0.1:1/x?{urlencode({'schema': name})}")
    with pytest.raises(crowdopt.InputError, match="cannot be opened as a store") as refused:
        store_of("postgresql://ada:secret@127.0.0.1:1/x?password=secret")
    assert "secret" not in str(refused.value)
