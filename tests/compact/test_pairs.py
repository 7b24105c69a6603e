"""What the offline planner makes of two notes, by the pairs of pairs.jsonl in eight languages.

A merge of two facts that differ is never right; a flag that is missed costs less than one that is
wrong, which costs a person a look.
"""

from __future__ import annotations

from functools import cache

import pytest

from mdmemory.text.relation import Kind, relation
from tests.compact.pairs import Pair, Rates, measure, pairs


@cache
def rates() -> Rates:
    return measure(pairs())


def verb(one: str, other: str) -> str:
    return Pair("", "", one, other, "").verb


@pytest.mark.parametrize("relation", ["contradict", "lookalike"])
def test_facts_that_differ_are_never_merged(relation: str) -> None:
    assert rates().share(relation, "merge") == 0


def test_half_of_the_facts_in_other_words_are_merged() -> None:
    assert rates().share("same", "merge") >= 0.5


def test_contradictions_are_flagged_and_look_alikes_are_not() -> None:
    assert rates().share("contradict", "flag") >= 0.75
    assert rates().share("lookalike", "flag") <= 0.02
    assert rates().share("same", "flag") <= 0.02


DIFFERENT = [
    ("The parser calls the loader", "The loader calls the parser"),
    ("The cache is bigger than the buffer", "The buffer is bigger than the cache"),
    ("The parser depends on the loader", "The loader depends on the parser"),
    ("Anna reviews Bob's code", "Bob reviews Anna's code"),
    ("Copies go from kura-1 to kura-2", "Copies go from kura-2 to kura-1"),
    ("Anna checks the docs and Bob the code", "Bob checks the docs and Anna the code"),
    ("Staging uses port 81, production port 82", "Production uses port 81, staging port 82"),
    ("Restart the worker before the migration", "Run the migration before the worker restarts"),
    ("Restart the worker without asking", "Never restart the worker without asking"),
    ("The billing server is in Bonn", "In Bonn is the billing database"),
    ("The pump must run at night", "The pump may run at night"),
    ("The freezer is kept at -18 degrees", "The freezer is kept at 18 degrees"),
    ("Loads under < 5 t are weighed", "Loads under > 5 t are weighed"),
    ("Logs are in /srv/Data", "In /srv/data are the logs"),
    ("Is the gate open at night?", "The gate is open at night"),
    ("We develop on the branch develop", "We develop on the branch entwicklung"),
    ("The job runs not on Friday but Monday", "The job runs on Friday, not Monday"),
    ("Der Kran hebt die Brücke", "Die Brücke hebt der Kran nicht"),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_the_same_words_in_other_places_are_no_reason_to_merge(one: str, other: str) -> None:
    assert verb(one, other) != "merge"
    assert verb(other, one) != "merge"


SAYS_MORE = [
    ("The lead is Anna", "The lead is Katrin, who signs off every change"),
    ("We have never used feature flags", "Feature flags were retired in May"),
    ("Réunion tous les lundis", "Réunion tous les jeudis, dans la grande salle"),
    ("Der Bericht wird wöchentlich verschickt", "Der Bericht wird täglich verschickt"),
    ("El taller cierra a las 18:00", "El taller cierra a las 19:30, también los lunes"),
    ("Das Lager der Tischlerei ist in Fürth", "Die Tischlerei hat ihr Lager in Erlangen"),
    ("Le garage utilise encore le pont", "Le garage n'utilise plus le pont"),
    ("The freezer is kept at 18 degrees", "The freezer is kept at minus 18 degrees"),
    ("The tank is always full", "The tank is always empty"),
    ("Ivo signs the parcels", "The parcels are not signed"),
    ("酒蔵の倉庫は新潟にある", "酒蔵の倉庫は長野にある"),
    ("花店的账由王姐记", "花店的账由陈姐记"),
    ("The standup is on Monday at 9:00", "The standup is on Tuesday at 10:00"),
]

APART = [
    ("The report service is deployed on Monday", "The shipping service is deployed on Thursday"),
    ("The internal API uses REST", "The external API uses REST"),
    ("Il cancello interno si apre a mano", "Il cancello esterno si apre a mano"),
    ("Die linke Presse ist von 2011", "Die rechte Presse ist von 2019"),
    ("The wool is stored in bags", "The wool is stored in the attic"),
    ("The library opens at 9:00 on Saturdays", "The library opens at 11:00 on Sundays"),
    ("On workdays the pool is open until 20:00", "On Sundays the pool is open until 18:00"),
    ("The clinic closes at 18:00", "The clinic closes at 6 pm"),
]


@pytest.mark.parametrize(("one", "other"), SAYS_MORE)
def test_a_contradiction_is_found_where_one_side_says_more(one: str, other: str) -> None:
    assert verb(one, other) == "flag"


@pytest.mark.parametrize(("one", "other"), APART)
def test_two_facts_that_both_hold_are_not_flagged(one: str, other: str) -> None:
    assert verb(one, other) != "flag"
    assert verb(other, one) != "flag"


def test_a_relation_is_the_same_from_either_side() -> None:
    turned = [pair.id for pair in pairs() if _kind(*pair) is not _kind(pair.b, pair.a)]
    assert turned == []


def _kind(one: str, other: str) -> Kind:
    return relation(one, other).kind


def test_templated_notes_flag_nothing() -> None:
    texts = [f"Server {at:02} lies in rack {at + 20}" for at in range(12)]
    assert {verb(one, other) for one in texts for other in texts if one != other} == {""}
