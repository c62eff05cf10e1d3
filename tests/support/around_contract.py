"""The contract of every store for the turns around a message, through the port only.

Texts of a test have the same length, so that each word near a message weighs exactly its idf:
idf = ln(1 + (N - n + 0.5) / (n + 0.5)), with N texts in the scope, of which n messages contain the word.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from store_contract import ME, YOU, WholeStore, at, one, put, relate
from text_contract import put_message, put_text

from recollect.domain.changes import Amend, Forget, NewEntity, NewText, PutEntity, Restore, Supersede
from recollect.domain.records import Filter, Kind, Scope
from recollect.ranking.factors import microseconds
from recollect.search.candidates import Search
from recollect.search.facts import ranking_facts
from recollect.search.rows import MemoryRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.write.repository import Repository


def talk(store: Repository, session: str, *texts: str, scope: Scope = ME, **fields: Any) -> list[int]:
    return [put_message(store, text, session, second, scope, **fields) for second, text in enumerate(texts)]


def neighbour_scores(
    store: Repository, query: str, where: Filter | None = None, k: int = 100, within: int = 2
) -> dict[int, float]:
    """Return scores by id, in the order of the answer."""
    with store.read() as view:
        hits, _ = Search(view, where or Filter()).by_neighbours(query, k, within)
    assert [(-hit.score, hit.id) for hit in hits] == sorted((-hit.score, hit.id) for hit in hits)
    assert len({hit.id for hit in hits}) == len(hits)
    return {hit.id: hit.score for hit in hits}


def context_scores(
    store: Repository, query: str, ids: Sequence[int], where: Filter | None = None
) -> list[tuple[float, float]]:
    """Return the scores of each memory's neighbours and of its whole conversation."""
    with store.read() as view:
        _, scopes = Search(view, where or Filter()).by_neighbours(query, 1, 2)
        facts = ranking_facts(MemoryRows(view), ids, query, None, microseconds(at(0)))
        each = [scope.for_candidates(facts) for scope in scopes]
    by_id = {
        id_: (sum(near[row] for near, _ in each), sum(whole[row] for _, whole in each))
        for row, id_ in enumerate(facts.ids.tolist())
    }
    return [by_id[id_] for id_ in ids]


def replies(store: Repository, ids: Sequence[int], where: Filter | None = None) -> list[int]:
    with store.read() as view:
        return list(Search(view, where or Filter()).replies(ids))


def idf(texts: int, holding: int) -> float:
    return log(1 + (texts - holding + 0.5) / (holding + 0.5))


class AroundContract(WholeStore):
    # Neighbours

    def test_a_word_is_near_two_places_before_and_after_it_and_not_where_it_stands(
        self, store: Repository
    ) -> None:
        ids = talk(store, "one", "aaaa", "bbbb", "cccc", "rome", "dddd", "eeee", "ffff")
        # 7 texts, 1 of which holds the word: ln(1 + 6.5 / 1.5) = 1.6740
        near = neighbour_scores(store, "rome")
        assert near == pytest.approx(dict.fromkeys([ids[1], ids[2], ids[4], ids[5]], 1.6740), abs=1e-4)
        assert list(neighbour_scores(store, "rome", within=1)) == [ids[2], ids[4]]
        assert list(neighbour_scores(store, "rome", within=3)) == [
            ids[0],
            ids[1],
            ids[2],
            ids[4],
            ids[5],
            ids[6],
        ]

    def test_each_word_counts_once_however_many_neighbours_hold_it(self, store: Repository) -> None:
        ids = talk(store, "one", "rome", "rome", "aaaa", "rome", "tram", "bbbb")
        # rome: 3 of 6 hold it, ln(1 + 3.5 / 3.5) = ln 2; tram: 1 of 6, ln(1 + 5.5 / 1.5) = ln 4.6667
        rome, tram = log(2), log(1 + 5.5 / 1.5)
        near = neighbour_scores(store, "rome tram")
        assert near == pytest.approx(
            {
                ids[2]: rome + tram,  # rome at 1, 2 and 4; tram at 5
                ids[3]: rome + tram,  # rome at 2; tram at 5
                ids[5]: rome + tram,  # rome at 4; tram at 5
                ids[0]: rome,
                ids[1]: rome,
                ids[4]: rome,
            }
        )
        assert list(near) == [ids[2], ids[3], ids[5], ids[0], ids[1], ids[4]]

    def test_a_word_says_more_in_a_short_message_and_counts_where_it_says_the_most(
        self, store: Repository
    ) -> None:
        ids = talk(store, "one", "rome", "aaaa", "rome bbbbbbb")
        # 2 of 3 hold it: ln(1 + 1.5 / 2.5) = 0.47000; 4 and 12 letters, 8 in the mean: lengths of 0.5 and 1.5
        # short: 0.47 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 0.5)) = 0.47 * 1.25714 = 0.59086
        # long:  0.47 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 1.5)) = 0.47 * 0.83019 = 0.39019
        assert neighbour_scores(store, "rome") == pytest.approx(
            {ids[1]: 0.59086, ids[2]: 0.59086, ids[0]: 0.39019}, abs=1e-5
        )

    def test_the_worked_example_of_the_page_on_ranking(self, store: Repository) -> None:
        texts = (
            "Do you still paint?",
            "Yes, each weekend..",
            "And since when, eh?",
            "The year in Rome...",
            "I never knew it....",
        )
        assert {len(text) for text in texts} == {19}
        ids = talk(store, "one", *texts)
        # paint at 1 and Rome at 4, each in 1 of 5 texts: ln 4 = 1.386
        near = [near for near, _ in context_scores(store, "Who paints in Rome?", ids)]
        assert near == pytest.approx([0, 2 * log(4), 2 * log(4), 0, log(4)])
        assert replies(store, ids) == [ids[1], ids[3]]

    def test_the_ends_of_a_talk_have_neighbours_on_one_side(self, store: Repository) -> None:
        first = talk(store, "one", "rome", "aaaa", "bbbb", "cccc")
        last = talk(store, "two", "dddd", "eeee", "ffff", "rome")
        assert set(neighbour_scores(store, "rome")) == {first[1], first[2], last[1], last[2]}

    def test_the_same_places_of_other_talks_are_not_near(self, store: Repository) -> None:
        talk(store, "one", "aaaa", "rome", "bbbb")
        other = talk(store, "two", "cccc", "dddd", "eeee")
        third = talk(store, "three", "tram", "ffff")
        assert not set(other) & set(neighbour_scores(store, "rome"))
        assert list(neighbour_scores(store, "tram")) == [third[1]]

    def test_a_talk_of_one_message_has_nothing_around_it(self, store: Repository) -> None:
        talk(store, "one", "rome")
        assert neighbour_scores(store, "rome") == {}

    def test_words_match_by_their_stems(self, store: Repository) -> None:
        ids = talk(store, "one", "she paints", "aaaa bbbbb")
        assert list(neighbour_scores(store, "painting")) == [ids[1]]

    def test_notes_and_entities_are_neither_near_nor_found(self, store: Repository) -> None:
        put_text(store, "rome")
        put(store, "rome")
        ids = talk(store, "one", "aaaa", "bbbb")
        put_text(store, "cccc")
        assert neighbour_scores(store, "rome") == {}
        assert context_scores(store, "rome", ids) == [(0, 0), (0, 0)]

    def test_a_query_without_a_telling_word_finds_by_what_it_has(self, store: Repository) -> None:
        ids = talk(store, "one", "and so on", "aaaa bbbb")
        assert list(neighbour_scores(store, "and so on")) == [ids[1]]

    def test_a_query_without_any_word_finds_nothing(self, store: Repository) -> None:
        talk(store, "one", "aaaa", "bbbb")
        for query in ("", "  ", "?!", '"', "* NEAR("):
            assert neighbour_scores(store, query) == {}

    @pytest.mark.parametrize(
        ("text", "query"),
        [("Едем в Рим", "рим"), ("Ελλάδα", "ελλαδα"), ("पानी पीना", "पानी"), ("café", "CAFE")],
    )
    def test_words_of_other_scripts_are_near_too(self, store: Repository, text: str, query: str) -> None:
        ids = talk(store, "one", text, "aaaa")
        assert list(neighbour_scores(store, query)) == [ids[1]]

    def test_the_best_are_kept_and_ties_go_to_the_lower_id(self, store: Repository) -> None:
        # The conversation whose name is last in the alphabet was stored first.
        late = talk(store, "z", "rome", "aaaa", "bbbb")
        early = talk(store, "a", "rome", "cccc", "dddd")
        both = talk(store, "m", "rome", "tram", "eeee")
        assert list(neighbour_scores(store, "rome", k=1)) == [late[1]]
        assert list(neighbour_scores(store, "rome", k=3)) == [late[1], late[2], early[1]]
        assert list(neighbour_scores(store, "rome tram", k=1)) == [both[2]]
        assert neighbour_scores(store, "rome", k=0) == {}

    # Whole conversations

    def test_a_whole_conversation_weighs_as_one_text_of_messages(self, store: Repository) -> None:
        first = talk(store, "one", "rome", "aaaa", "rome", "bbbb", "cccc", "dddd")
        second = talk(store, "two", "rome", "eeee")
        third = talk(store, "three", "ffff", "gggg")
        # 10 texts, 3 of which hold the word: ln(1 + 7.5 / 3.5) = 1.14513
        # lengths of the talks that hold it: 6 and 2, 4 in the mean
        # one: 2 messages, 1.2 * (0.25 + 0.75 * 6 / 4) = 1.65: 1.14513 * 2 * 2.2 / (2 + 1.65) = 1.38043
        # two: 1 message,  1.2 * (0.25 + 0.75 * 2 / 4) = 0.75: 1.14513 * 1 * 2.2 / (1 + 0.75) = 1.43959
        wholes = [whole for _, whole in context_scores(store, "rome", [*first, *second, *third])]
        assert wholes == pytest.approx([1.38043] * 6 + [1.43959] * 2 + [0] * 2, abs=1e-5)

    def test_what_is_near_is_told_of_everybody_not_only_of_those_found(self, store: Repository) -> None:
        ids = talk(store, "one", "aaaa", "rome", "bbbb", "cccc", "dddd")
        note = put_text(store, "eeee")
        weight = idf(6, 1)
        near = [near for near, _ in context_scores(store, "rome", [*ids, note])]
        assert near == pytest.approx([weight, 0, weight, weight, 0, 0])

    def test_every_scope_that_is_asked_tells_of_its_own(self, store: Repository) -> None:
        team = [Scope("me", "a"), Scope("me", "b")]
        first = talk(store, "one", "rome", "aaaa", scope=team[0])
        second = talk(store, "one", "bbbb", "cccc", "rome", scope=team[1])
        both = Filter(owner="me", agent=None)
        assert set(neighbour_scores(store, "rome", both)) == {first[1], second[0], second[1]}
        near = [near for near, _ in context_scores(store, "rome", [*first, *second], both)]
        # Talks of one name in two scopes are two talks.
        assert near == pytest.approx([0, idf(2, 1), idf(3, 1), idf(3, 1), 0])

    # Messages that count, and messages that can be found

    def test_other_owners_never_count(self, store: Repository) -> None:
        talk(store, "one", "rome", "aaaa", scope=YOU)
        mine = talk(store, "one", "bbbb", "cccc")
        assert neighbour_scores(store, "rome") == {}
        assert context_scores(store, "rome", mine) == [(0, 0), (0, 0)]
        talk(store, "one", "rome")
        # Their texts weigh nothing here: 1 of my 3 holds the word.
        assert neighbour_scores(store, "rome") == pytest.approx(dict.fromkeys(mine, idf(3, 1)))

    def test_forgotten_messages_neither_speak_nor_are_found_until_restored(self, store: Repository) -> None:
        ids = talk(store, "one", "rome", "aaaa", "bbbb", "cccc")
        before = neighbour_scores(store, "rome")
        assert list(before) == [ids[1], ids[2]]
        one(store, Forget(ME, (ids[1],)), 10)
        assert list(neighbour_scores(store, "rome")) == [ids[2]]
        one(store, Forget(ME, (ids[0],)), 20)
        assert neighbour_scores(store, "rome") == {}
        for id_ in ids[:2]:
            one(store, Restore(ME, id_), 30)
        assert neighbour_scores(store, "rome") == before

    def test_a_gap_left_by_a_forgotten_message_stays_a_place(self, store: Repository) -> None:
        ids = talk(store, "one", "rome", "aaaa", "bbbb", "cccc")
        one(store, Forget(ME, (ids[1],)), 10)
        assert ids[3] not in neighbour_scores(store, "rome")

    def test_superseded_messages_speak_only_where_they_are_asked_for(self, store: Repository) -> None:
        ids = talk(store, "one", "rome", "aaaa")
        one(store, Supersede(ME, (ids[0],), NewText(Kind.NOTE, "no, not rome")), 10)
        assert neighbour_scores(store, "rome") == {}
        assert list(neighbour_scores(store, "rome", Filter(superseded=True))) == [ids[1]]

    def test_the_past_is_told_as_it_stood(self, store: Repository) -> None:
        ids = talk(store, "one", "rome", "aaaa", "bbbb")
        one(store, Forget(ME, (ids[0],)), 10)
        later = put_message(store, "oslo", "one", 20)
        assert neighbour_scores(store, "rome") == {}
        assert list(neighbour_scores(store, "rome", Filter(as_of=at(5)))) == [ids[1], ids[2]]
        assert neighbour_scores(store, "oslo", Filter(as_of=at(15))) == {}
        assert list(neighbour_scores(store, "oslo", Filter(as_of=at(25)))) == [ids[1], ids[2]]
        assert later not in neighbour_scores(store, "rome", Filter(as_of=at(5)))

    def test_the_past_speaks_in_its_own_words(self, store: Repository) -> None:
        ids = talk(store, "one", "rome", "aaaa")
        one(store, Amend(ME, ids[0], text="oslo"), 10)
        assert list(neighbour_scores(store, "rome", Filter(as_of=at(5)))) == [ids[1]]
        assert neighbour_scores(store, "oslo", Filter(as_of=at(5))) == {}
        assert list(neighbour_scores(store, "oslo")) == [ids[1]]
        assert neighbour_scores(store, "rome") == {}

    def test_neighbours_of_any_speaker_count_for_whom_the_filter_lets_through(
        self, store: Repository
    ) -> None:
        asked = put_message(store, "rome", "one", speaker="Ana")
        reply = put_message(store, "aaaa", "one", 1, speaker="Bob")
        again = put_message(store, "bbbb", "one", 2, speaker="Ana")
        assert list(neighbour_scores(store, "rome", Filter(speaker="Bob"))) == [reply]
        assert list(neighbour_scores(store, "rome", Filter(speaker="Ana"))) == [again]
        assert asked not in neighbour_scores(store, "rome")

    def test_a_filter_does_not_lose_those_who_stand_behind_many_others(self, store: Repository) -> None:
        for place in range(30):
            talk(store, f"full {place}", "rome tram", "aaaa bbbb")
        wanted = talk(store, "wanted", "rome cccc", "dddd eeee", speaker="Bob")
        for where in (Filter(session="wanted"), Filter(current="wanted"), Filter(speaker="Bob")):
            assert list(neighbour_scores(store, "rome tram", where, k=1)) == [wanted[1]]

    def test_only_messages_of_the_current_session_are_found_where_one_asks_for_it(
        self, store: Repository
    ) -> None:
        talk(store, "before", "rome", "aaaa")
        now = talk(store, "now", "rome", "bbbb")
        assert list(neighbour_scores(store, "rome", Filter(current="now"))) == [now[1]]

    def test_who_does_not_want_messages_gets_none(self, store: Repository) -> None:
        ids = talk(store, "one", "rome", "aaaa")
        notes = Filter(kinds=frozenset({Kind.NOTE}))
        assert neighbour_scores(store, "rome", notes) == {}
        assert context_scores(store, "rome", ids, notes) == [(0, 0), (0, 0)]

    def test_what_was_just_asked_says_nothing_of_what_stands_beside_it(self, store: Repository) -> None:
        before = talk(store, "before", "rome", "aaaa")
        now = talk(store, "now", "bbbb", "rome")
        with store.read() as view:
            hits, scopes = Search(view, Filter()).by_neighbours("rome", 10, 2, ("now", "rome"))
            beside = scopes[0].for_candidates(
                ranking_facts(MemoryRows(view), [*before, *now], "rome", "now", 0)
            )
        # One of four texts contains it: ln(1 + 3.5 / 1.5)
        assert [hit.id for hit in hits] == [before[1]]
        assert hits[0].score == pytest.approx(idf(4, 1))
        assert beside[0].tolist() == pytest.approx([0, idf(4, 1), 0, 0])
        assert list(neighbour_scores(store, "rome")) == [before[1], now[0]]
        with store.read() as view:
            # No store contains half a surrogate pair.
            assert len(Search(view, Filter()).by_neighbours("rome", 10, 2, ("now", "rome \ud83d"))[0]) == 2

    # Replies

    @pytest.mark.parametrize("question", ["More tea?", "更多茶？", "شاي؟", "More tea? \n\t", "Really? More?"])
    def test_the_message_right_after_a_question_is_its_reply(self, store: Repository, question: str) -> None:
        ids = talk(store, "one", "Hello.", question, "Yes.", "Good.")
        assert replies(store, ids) == [ids[2]]

    @pytest.mark.parametrize("statement", ["Tea.", "More? Tea!", "", "?no"])
    def test_what_follows_no_question_is_no_reply(self, store: Repository, statement: str) -> None:
        ids = talk(store, "one", statement or "-", "Yes.")
        assert replies(store, ids) == []

    def test_replies_are_told_by_id_and_of_the_questions_given_alone(self, store: Repository) -> None:
        second = talk(store, "b", "Tea?", "Yes.")
        first = talk(store, "a", "Milk?", "No.")
        assert replies(store, [first[0], second[0]]) == [second[1], first[1]]
        assert replies(store, [first[0]]) == [first[1]]
        assert replies(store, []) == []

    def test_the_last_word_of_a_talk_has_no_reply(self, store: Repository) -> None:
        ids = talk(store, "a", "Tea?")
        talk(store, "b", "Yes.", "Yes.")
        assert replies(store, ids) == []

    def test_notes_ask_nobody(self, store: Repository) -> None:
        note = put_text(store, "Is it tea?")
        entity = one(store, PutEntity(ME, NewEntity("tea?", "thing")), 0).ids[0]
        talk(store, "a", "Yes.")
        assert replies(store, [note, entity]) == []

    def test_a_filter_says_whose_replies_are_heard(self, store: Repository) -> None:
        asked = put_message(store, "Tea?", "one", speaker="Ana")
        reply = put_message(store, "Yes.", "one", 1, speaker="Bob")
        theirs = talk(store, "one", "Tea?", "No.", scope=YOU)
        assert replies(store, [asked, *theirs]) == [reply]
        assert replies(store, [asked], Filter(speaker="Bob")) == [reply]
        assert replies(store, [asked], Filter(speaker="Ana")) == []
        assert replies(store, [asked], Filter(current="two")) == []
        assert replies(store, [asked], Filter(kinds=frozenset({Kind.NOTE}))) == []
        one(store, Forget(ME, (reply,)), 10)
        assert replies(store, [asked]) == []
        assert replies(store, [asked], Filter(as_of=at(5))) == [reply]

    # Columns for the ranking

    def test_facts_tell_the_place_in_a_talk(self, store: Repository) -> None:
        first = talk(store, "one", "aaaa", "bbbb")
        second = talk(store, "two", "cccc", "dddd")
        same_name = talk(store, "one", "eeee", "ffff", scope=Scope("me", "b"))
        note = put_text(store, "gggg")
        with store.read() as view:
            facts = ranking_facts(MemoryRows(view), [*first, *second, *same_name, note], "", None, 0)
        assert facts.position.tolist() == [1, 2, 1, 2, 1, 2, 0]
        one_, again, two, _, other, _, none = facts.session.tolist()
        assert one_ == again
        assert len({one_, two, other, none}) == 4
        assert none == 0

    def test_facts_tell_who_is_named(self, store: Repository) -> None:
        ana = put_message(store, "aaaa", "one", speaker="Ana María")
        bob = put_message(store, "I saw Ana.", "one", 1, speaker="Bob")
        unknown = put_message(store, "Ana was here.", "one", 2)
        note = put_text(store, "Tea is what ANA likes.")
        other = put_text(store, "Bananas")
        entity = one(store, PutEntity(ME, NewEntity("Ana", "person")), 0).ids[0]
        asked = [ana, bob, unknown, note, other, entity]

        def ids_named_in(query: str) -> list[int]:
            with store.read() as view:
                facts = ranking_facts(MemoryRows(view), asked, query, None, 0)
            return [id_ for id_, is_so in zip(facts.ids.tolist(), facts.named, strict=True) if is_so]

        # Bob mentions her, but is not the speaker asked for.
        assert ids_named_in("What does ana like?") == [ana, unknown, note, entity]
        assert ids_named_in("maria") == [ana]
        assert ids_named_in("What does Bob like?") == [bob]
        assert ids_named_in("What is there?") == []
        assert ids_named_in("") == []

    def test_facts_tell_what_ends_with_a_question(self, store: Repository) -> None:
        texts = ("Tea?", "Tea.", "茶？", "شاي؟", "Tea? \n", "Tea? Yes", "?")
        ids = talk(store, "one", *texts)
        note = put_text(store, "Shall we?")
        entity = one(store, PutEntity(ME, NewEntity("who?", "thing")), 0).ids[0]
        with store.read() as view:
            facts = ranking_facts(MemoryRows(view), [*ids, note, entity], "", None, 0)
        assert facts.asks.tolist() == [True, False, True, True, True, False, True, True, False]

    def test_who_is_alone_in_a_talk_is_part_of_none(self, store: Repository) -> None:
        (alone,) = talk(store, "short", "Tea is on the stove")
        first, second = talk(store, "long", "Tea is on the stove", "Thanks a lot for it")

        def sessions() -> list[bool]:
            with store.read() as view:
                facts = ranking_facts(MemoryRows(view), [alone, first, second], "tea", None, 0)
            return [session != 0 for session in facts.session.tolist()]

        assert sessions() == [False, True, True]
        put_message(store, "And biscuits", "short", 9)
        assert sessions() == [True, True, True]

    # The share of a query that a text contains

    def test_the_share_that_a_text_holds_is_of_what_its_words_weigh(self, store: Repository) -> None:
        both = put_text(store, "Green tea in the garden")
        one_word = put_message(store, "The garden is far", "one")
        entity = put(store, "Garden", "tea grows there")
        nothing = put_text(store, "Rain")
        with store.read() as view:
            shares = Search(view, Filter()).matched_shares(
                "teas in gardens, and dragons", np.array([both, one_word, entity, nothing])
            )
        # Of four texts two hold `tea`, three `garden`, none `dragon`, whose weight is ln(1 + 4.5 / 0.5).
        tea, garden, dragon = idf(4, 2), idf(4, 3), idf(4, 0)
        assert (tea, garden, dragon) == pytest.approx((0.69315, 0.35667, 2.30259), abs=1e-5)
        whole = tea + garden + dragon
        # In the order of the ids; the last contains none of them.
        assert shares.tolist() == pytest.approx(
            [(tea + garden) / whole, garden / whole, (tea + garden) / whole, 0.0]
        )

    def test_a_share_counts_only_the_texts_of_the_filters_scopes(self, store: Repository) -> None:
        mine = put_text(store, "Green tea")
        theirs = put_text(store, "Green tea", scope=YOU)
        with store.read() as view:
            shares = Search(view, Filter()).matched_shares("tea", np.array([mine, theirs]))
        assert shares.tolist() == [1.0, 0.0]

    def test_scripts_without_spaces_have_shares_too(self, store: Repository) -> None:
        tokyo = put_text(store, "東京の天気")
        kyoto = put_text(store, "京都の天気")
        with store.read() as view:
            shares = Search(view, Filter()).matched_shares("東京", np.array([tokyo, kyoto]))
        assert shares.tolist() == [1.0, 0.0]

    def test_a_query_without_words_is_held_by_nobody(self, store: Repository) -> None:
        note = put_text(store, "Tea")
        with store.read() as view:
            assert Search(view, Filter()).matched_shares("?!", np.array([note])).tolist() == [0.0]

    # Entities related to those that a query names

    def test_whom_the_graph_ties_to_a_named_one_is_found_by_how_much_of_the_relation_is_said(
        self, store: Repository
    ) -> None:
        put(store, "Ada")
        babbage, byron, engine = (put(store, name) for name in ("Babbage", "Byron", "Engine"))
        for source, type_, target in (
            ("Ada", "worked_with", "Babbage"),
            ("Byron", "is_father_of", "Ada"),
            ("Ada", "wrote_programs_for", "Engine"),
            ("Babbage", "built", "Engine"),
        ):
            one(store, relate(source, type_, target), 1)

        def links(query: str, where: Filter | None = None, now: float = 9) -> dict[int, float]:
            with store.read() as view:
                hits = Search(view, where or Filter()).by_links(query, microseconds(at(now)))
            assert [(-hit.score, hit.id) for hit in hits] == sorted((-hit.score, hit.id) for hit in hits)
            return {hit.id: hit.score for hit in hits}

        # `worked` contains `work`. `wrote programs` and `father` are not mentioned: at least a quarter.
        assert links("Who was working with ada?") == {babbage: 1.0, byron: 0.25, engine: 0.25}
        # Half of `wrote programs`; the direction of a relation does not matter.
        assert links("For what did Ada write programs?") == {engine: 0.5, babbage: 0.25, byron: 0.25}
        # Both ends are named, so they are no answer.
        assert links("Did Ada work with Babbage on it?") == {byron: 0.25, engine: 0.25}
        assert links("Who worked with whom?") == {}
        assert links("Who worked with Ada?", Filter(kinds=frozenset({Kind.NOTE}))) == {}
        assert links("Who worked with Ada?", now=0) == {}
        one(store, Forget(ME, (babbage,)), 10)
        assert links("Who worked with Ada?", now=11) == {byron: 0.25, engine: 0.25}

    def test_links_of_several_scopes_come_best_first(self, store: Repository) -> None:
        others = [Scope("me", agent) for agent in ("a", "b")]
        for scope, types in zip(others, (("knows",), ("knows", "likes")), strict=True):
            for name in ("Ada", *types):
                put(store, name, scope=scope)
            for type_ in types:
                one(store, relate("Ada", type_, type_, scope=scope), 1)
        with store.read() as view:
            hits = Search(view, Filter("me", None)).by_links("Whom does Ada like?", microseconds(at(9)))
        assert [hit.score for hit in hits] == [1.0, 0.25, 0.25]
        assert hits[1].id < hits[2].id
