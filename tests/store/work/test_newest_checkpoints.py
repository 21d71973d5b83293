"""What a run knows of its checkpoints without reading them again, and where it says that it does not."""

from __future__ import annotations

from cinatra_sdk.store.work.checkpoint_cache import MOST_LINKS, NewestCheckpoints
from cinatra_sdk.store.work.statement import Gathered, StoredCheckpoint


def _written(*numbers: int, namespace: str = "") -> Gathered:
    made = Gathered()
    for number in numbers:
        parent = f"c{number - 1:06}" if number else None
        checkpoint = StoredCheckpoint("r1", namespace, f"c{number:06}", parent, '{"v": 4}', "{}")
        made.checkpoints[namespace, checkpoint.id] = checkpoint
    return made


def test_only_of_a_new_run_is_it_known_that_it_has_no_checkpoint() -> None:
    new, old = (NewestCheckpoints("r1", is_new=is_new) for is_new in (True, False))
    assert (new.is_without(""), old.is_without("")) == (True, False)
    assert (new.list_links("", "", 5), old.list_links("", "", 5)) == (([], False), ([], True))


def test_the_line_of_a_long_run_is_cut_and_known_to_be() -> None:
    known = NewestCheckpoints("r1", is_new=True)
    known.take(_written(*range(MOST_LINKS)))
    links, more = known.list_links("", "", MOST_LINKS + 1)
    assert (len(links), more) == (MOST_LINKS, False)
    known.take(_written(MOST_LINKS))
    links, more = known.list_links("", "", MOST_LINKS + 1)
    assert (len(links), more) == (MOST_LINKS + 1 - MOST_LINKS // 2, True)
    assert [links[0].id, links[1].id] == [f"c{MOST_LINKS:06}", f"c{MOST_LINKS - 1:06}"]


def test_older_links_are_taken_in_where_they_join_on_and_up_to_a_bound() -> None:
    known = NewestCheckpoints("r1", is_new=True)
    known.take(_written(*range(MOST_LINKS + 1)))
    kept, _more = known.list_links("", "", MOST_LINKS + 1)
    older = NewestCheckpoints("r1", is_new=True)
    older.take(_written(*range(MOST_LINKS)))
    page, _more = older.list_links("", kept[-1].id, MOST_LINKS)
    known.learn_links("", "c999999", page, is_last=True)
    assert known.list_links("", "", 2 * MOST_LINKS) == (kept, True)
    known.learn_links("", kept[-1].id, page, is_last=True)
    assert known.list_links("", "", 2 * MOST_LINKS) == ([*kept, *page], False)
    full = NewestCheckpoints("r1", is_new=True)
    full.take(_written(*range(1, MOST_LINKS + 1)))
    before = full.list_links("", "", 2 * MOST_LINKS)
    full.learn_links("", "c000001", page[-1:], is_last=False)
    assert full.list_links("", "", 2 * MOST_LINKS) == before


def test_a_checkpoint_older_than_the_newest_leaves_nothing_known_of_its_graph() -> None:
    known = NewestCheckpoints("r1", is_new=True)
    known.take(_written(5))
    assert known.find("", None) is not None
    known.take(_written(3))
    assert known.find("", None) is None
    assert known.list_links("", "", 5) == ([], True)
    assert known.is_known("") is False
