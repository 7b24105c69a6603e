"""Contradictions are told from duplicates and from different facts by form alone."""

from __future__ import annotations

import pytest

from mdmemory.text.contradiction import Profile, contradiction

PAIRS = [
    ("The API limit is 100 requests per minute", "The API limit is 500 requests a minute"),
    ("Deploys go out on Friday", "Deploys go out on Monday"),
    ("Use tabs for indentation in Go", "Use spaces for indentation in Go"),
    ("Always squash commits before merging", "Never squash commits before merging"),
    ("Wants comments in test files", "Does not want comments in test files"),
    ("Telemetry is enabled in the worker", "Telemetry is disabled in the worker"),
    ("Runs everything on Node v18", "Runs everything on Node v20"),
    ("The database of the project is Postgres", "The database of the project is MySQL"),
    ("The daily standup is at 9:30", "The daily standup is at 10:00"),
    ("The default branch is `main_dev`", "The default branch is `main_release`"),
    ("Use tabs, not spaces", "Use spaces, not tabs"),
    ("The release was on 2026-03-01", "The release was on 2026-04-01"),
    ("Prefers short answers in reviews", "Prefers long answers in reviews"),
    ("喜欢用制表符缩进代码", "喜欢用空格缩进代码"),
    ("每周三下午开项目例会", "每周五下午开项目例会"),
    ("代码里要写注释", "代码里不要写注释"),
    ("服务器端口是8080", "服务器端口是9090"),
    ("Never restart the worker without asking", "Restart the worker without asking"),
    ("The worker isn't allowed to send mail", "The worker is allowed to send mail"),
    ("Wir nutzen npm im Projekt", "Wir nutzen npm nicht im Projekt"),
]
APART = [
    ("Deploys on Friday", "Standup on Monday"),
    ("Uses pnpm", "Uses pnpm, never npm"),
    ("Uses pnpm in every project", "Uses pnpm in every project."),
    ("The staging server listens on port 8080", "The production server listens on port 9090"),
    ("Alice's phone number is 555-1234", "Bob's phone number is 555-9876"),
    ("The limit is 100 requests", "The limit is 100 requests since 2025"),
    ("Likes green tea in the morning", "The parser is written in Rust"),
    ("The tests do not need a database", "The tests need no database"),
    ("Prefers dark roast coffee", "Prefers dark mode in editors"),
    ("Wants British spelling in docs", "Wants British spelling in docs and comments"),
    ("喜欢喝绿茶", "项目使用Rust语言"),
    ("The billing worker listens on port 8080", "The search worker listens on port 9090"),
    ("Restart the billing worker without asking", "Never restart the search worker"),
    ("Access to the archive is public", "Access to the journal is private"),
    ("账单服务监听端口8080", "搜索服务监听端口9090"),
    ("Uses tabs instead of spaces", "Uses tabs, not spaces"),
    ("", ""),
]


def differ(one: str, other: str, *, types: tuple[str, str] = ("user", "user")) -> str | None:
    return contradiction(Profile(types[0], one, one), Profile(types[1], other, other))


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_a_contradiction_is_named_from_either_side(one: str, other: str) -> None:
    assert differ(one, other)
    assert differ(other, one)


@pytest.mark.parametrize(("one", "other"), APART)
def test_other_pairs_are_left_alone(one: str, other: str) -> None:
    assert differ(one, other) is None
    assert differ(other, one) is None


def test_nothing_contradicts_itself_or_a_note_of_another_type() -> None:
    for one, other in PAIRS:
        assert differ(one, one) is None
        assert differ(one, other, types=("user", "project")) is None


def test_the_reasons_of_two_notes_may_differ() -> None:
    one = Profile("user", "Uses pnpm", "Use pnpm.\n\nWhy: npm broke 2 times in May.")
    other = Profile("user", "Uses pnpm", "Use pnpm.\n\nWhy: npm broke 3 times in June.")
    assert contradiction(one, other) is None


def test_the_difference_names_the_values() -> None:
    assert differ(*PAIRS[1]) == "friday against monday"
