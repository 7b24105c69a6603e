"""No literal and no negation is lost or invented, and no honest merge is refused for one."""

from __future__ import annotations

import re
import runpy
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pace import scaled
from rows import each

from mdmemory.text.literals import audit
from mdmemory.text.statements import turned

REALISTIC = runpy.run_path(str(Path(__file__).with_name("realistic.py")))
LITERALS, FRAMES, PROSE = (REALISTIC[name] for name in ("LITERALS", "FRAMES", "PROSE"))
reflow, sentence = REALISTIC["reflow"], REALISTIC["sentence"]
notes = st.lists(REALISTIC["texts"](), min_size=2, max_size=5)
widths = st.sampled_from([30, 72, 10_000])


def said(note: tuple[str, str]) -> str:
    return "\n\n".join(note)


def refusals(sources: list[str], result: str) -> list[object]:
    return [found for found in (*audit(sources, result), turned(sources, result)) if found]


@given(notes, st.sampled_from(["\n", "\n\n"]), st.randoms(use_true_random=False))
@settings(max_examples=scaled(150), deadline=None)
def test_a_plain_merge_is_never_refused(notes, joint, chance) -> None:  # type: ignore[no-untyped-def]
    """In any order, with every text as it was."""
    sources = [said(note) for note in notes]
    shuffled = chance.sample(sources, len(sources))
    assert refusals(sources, joint.join(shuffled)) == []


@given(notes, widths)
@settings(max_examples=scaled(150), deadline=None)
def test_a_merge_with_its_lines_broken_elsewhere_is_never_refused(notes, width) -> None:  # type: ignore[no-untyped-def]
    sources = [said(note) for note in notes]
    assert refusals(sources, reflow("\n\n".join(sources), width)) == []


@given(notes, widths, st.integers(0, 4))
@settings(max_examples=scaled(150), deadline=None)
def test_the_description_of_one_will_do_for_all(notes, width, kept) -> None:  # type: ignore[no-untyped-def]
    """The bodies one after the other, under one of the descriptions."""
    sources = [said(note) for note in notes]
    bodies = "\n\n".join(body for _, body in notes)
    description = notes[kept % len(notes)][0]
    assert refusals(sources, said((description, reflow(bodies, width)))) == []


@given(REALISTIC["texts"](), widths)
@settings(max_examples=scaled(150), deadline=None)
def test_a_note_with_its_lines_broken_elsewhere_may_be_written(note, width) -> None:  # type: ignore[no-untyped-def]
    assert refusals([said(note)], said((note[0], reflow(note[1], width)))) == []


def see_literal(frame: str, written: str, changed: str) -> None:
    before = f"{frame.format(written)}\n\n{PROSE[0]}"
    dropped = f"{frame.format('that')}\n\n{PROSE[0]}"
    lost, _ = audit([before], dropped)
    assert lost, "dropped"
    lost, invented = audit([before], before.replace(written, changed))
    assert lost or invented, "changed"
    _, invented = audit([dropped], before)
    assert invented, "invented"


def test_a_literal_dropped_or_changed_is_seen() -> None:
    each(((frame, *row[1:]) for frame in FRAMES for row in LITERALS), see_literal)


@given(st.data(), st.sampled_from(LITERALS), st.lists(sentence, max_size=3))
@settings(max_examples=scaled(150), deadline=None)
def test_a_literal_changed_in_any_letter_is_seen(data, row, others) -> None:  # type: ignore[no-untyped-def]
    _, written, _ = row
    core = written.strip("`\"'“”「」《》[]")
    at = data.draw(st.integers(0, len(core) - 1))
    new = data.draw(st.sampled_from("qz70"))
    changed = core[:at] + new + core[at + 1 :]
    if changed.casefold() == core.casefold():
        return
    # Among German prose a capital says nothing.
    others = [other for other in others if core not in other and not re.search("Wir |Der ", other)]
    before = "\n\n".join([f"We agreed on {written} for now.", *others])
    assert any(audit([before], before.replace(core, changed)))


FLIPS = [
    ("Use npm for scripts.", "Do not use npm for scripts."),
    ("Deploy on Friday", "Never deploy on Friday"),
    ("Wants a summary at the end.", "Doesn't want a summary at the end."),
    ("Use spaces.", "Use tabs instead of spaces."),
    ("Wants the server with a cache", "Wants the server without a cache"),
    ("Write commit messages in English", "Avoid commit messages in English"),
    ("使用 npm 安装", "不要使用 npm 安装"),
    ("代码里要写注释", "代码里不要写注释"),
    ("周五部署", "禁止周五部署"),
    ("Wir verwenden npm im Projekt", "Wir verwenden npm nicht im Projekt"),
    ("Mit Cache testen", "Ohne Cache testen"),
    ("On utilise npm pour les scripts", "On n'utilise jamais npm pour les scripts"),
    ("Usar npm en el proyecto", "Nunca usar npm en el proyecto"),
    ("npmを使う", "npmを使わない"),
    ("npm을 쓴다", "npm을 쓰지 않는다"),
]


@pytest.mark.parametrize(("yes", "no"), FLIPS, ids=[no for _, no in FLIPS])
def test_what_is_denied_stays_denied(yes: str, no: str) -> None:
    """Alone, and where something else is denied before and after."""
    for more in ("", "\n\nThe old tool is not maintained.", "\n\n旧的工具没有人维护。"):
        assert turned([f"{no}{more}"], f"{yes}{more}")
        assert turned([f"{yes}{more}"], f"{no}{more}")
        assert turned([no, f"Something else.{more}"], f"{yes}\n\nSomething else.{more}")
        assert turned([f"{no}{more}"], f"{no}{more}") == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Use tabs, not spaces.", "Use tabs instead of spaces."),
        ("Never use npm; use pnpm.", "Use pnpm and never npm."),
        ("Do not deploy on Friday.", "No deploy on Friday."),
        ("不要用 npm", "避免用 npm"),
        ("Not only tabs work.", "Tabs work, and not only they."),
    ],
)
def test_another_way_to_deny_the_same_is_fine(before: str, after: str) -> None:
    assert turned([before], after) == []


NASTY = [
    *("-", "a/", "`", '"a ', "1,", "a_", "[[", "A", "不", "not ", ".a", "'a b", "why: ", "```\n"),
    *("a@", "“", "*", "_", "a ", "\n- ", "a-", "ない", "Aa "),
]


@pytest.mark.slow
@pytest.mark.parametrize("text", [(part * 20_000)[:20_000] for part in NASTY], ids=NASTY)
def test_no_text_makes_the_audit_slow(text: str) -> None:
    start = time.process_time()
    audit([text], text[:-1])
    turned([text], text[:-1])
    assert time.process_time() - start < 10
