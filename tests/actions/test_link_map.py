"""Which note links to which, kept over many looks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from mdmemory.actions.link_map import LinkMap
from mdmemory.store.store import Store


def test_links_are_followed_in_both_directions(
    tmp_path: Path, write_note: Callable[[Path, str, str], bytes]
) -> None:
    write_note(tmp_path, "project-a.md", "See [[b]], [c](reference-c.md) and [[gone]].")
    write_note(tmp_path, "feedback-b.md", "Of [[project-a]] and [[b]] itself; `[[c]]` is code.")
    write_note(tmp_path, "reference-c.md", "Nothing.")
    found = LinkMap(Store(tmp_path)).look()
    assert found.out_of("project-a.md") == [
        ("b", "feedback-b.md"), ("reference-c", "reference-c.md"), ("gone", None),
    ]  # fmt: skip
    assert found.into("feedback-b.md") == ["project-a.md"]
    assert found.into("project-a.md") == ["feedback-b.md"]
    assert found.into("reference-c.md") == ["project-a.md"]
    assert found.leads_to("B") == "feedback-b.md"
    assert found.leads_to("nothing") is None


def test_only_what_changed_is_read_again(
    tmp_path: Path, write_note: Callable[[Path, str, str], bytes]
) -> None:
    for name in "abc":
        write_note(tmp_path, f"project-{name}.md", "[[a]]")
    read: list[str] = []

    class Counting(Store):
        def note(self, file: str):  # type: ignore[no-untyped-def]
            read.append(file)
            return super().note(file)

    first = LinkMap(Counting(tmp_path)).look()
    assert first.into("project-a.md") == ["project-b.md", "project-c.md"]
    assert first.look() is first
    read.clear()
    write_note(tmp_path, "project-b.md", "Nothing any more, and longer.")
    (tmp_path / "project-c.md").unlink()
    write_note(tmp_path, "project-d.md", "[[a]]")
    second = first.look()
    assert sorted(read) == ["project-b.md", "project-d.md"]
    assert second.into("project-a.md") == ["project-d.md"]
    assert first.into("project-a.md") == ["project-b.md", "project-c.md"], "the old one stays whole"
