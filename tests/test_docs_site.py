"""The site of the documents: what `make docs` makes of the pages (mkdocs.yml, mkdocs_pages.py)."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def pages() -> ModuleType:
    """The module that mkdocs loads; mkdocs itself is installed by `make docs` alone."""
    spec = importlib.util.spec_from_file_location("mkdocs_pages", ROOT / "mkdocs_pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Loader(yaml.SafeLoader):
    """Reads mkdocs.yml, in which a function is named by a tag of its own."""


Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda *_: None)


def listed(nav: Any) -> Iterator[str]:
    """The pages that a menu names."""
    if isinstance(nav, str):
        yield nav
    else:
        for each in nav.values() if isinstance(nav, dict) else nav:
            yield from listed(each)


def test_the_menu_of_the_site_names_every_page_once(pages: ModuleType) -> None:
    settings = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), Loader)
    docs = ROOT / "docs"
    wanted = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    assert sorted(listed(settings["nav"])) == sorted(wanted | set(pages.TOP.values()))
    assert settings["strict"] is True
    assert settings["hooks"] == ["mkdocs_pages.py"]


@pytest.mark.parametrize(
    ("page", "before", "after"),
    [
        ("index.md", "see [limits](docs/safety.md#limits)", "see [limits](safety.md#limits)"),
        ("index.md", "![a](docs/images/demo.svg)", "![a](images/demo.svg)"),
        ("index.md", "[Changes](CHANGELOG.md)", "[Changes](changelog.md)"),
        ("safety.md", "[Changes](../CHANGELOG.md)", "[Changes](changelog.md)"),
        ("safety.md", "[search](inbox.md#undo)", "[search](inbox.md#undo)"),
        ("guides/a.md", "[x](../safety.md) [y](../../README.md)",
         "[x](../safety.md) [y](../index.md)"),
        ("figures.md", "[the notes](../tests/data/search/README.md)", "the notes"),
        ("figures.md", "[a](https://x.org/CHANGELOG.md) [b](#here)",
         "[a](https://x.org/CHANGELOG.md) [b](#here)"),
        ("figures.md", "[gone](../gone.md)", "[gone](../gone.md)"),  # which mkdocs refuses
        ("index.md", "```\n[a](CHANGELOG.md)\n- b\n```", "```\n[a](CHANGELOG.md)\n- b\n```"),
        ("index.md", "Such as:\n- one\n  - two\n- three", "Such as:\n\n- one\n    - two\n- three"),
        ("index.md", "1. one\n   more\n2. two", "1. one\n   more\n2. two"),
    ],
)  # fmt: skip
def test_a_page_reads_on_the_site_as_in_the_checkout(
    pages: ModuleType, page: str, before: str, after: str
) -> None:
    assert pages.converted(before, page) == after


def test_a_site_that_would_fetch_something_is_refused(pages: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "own.js").touch()
    (tmp_path / "404.html").write_text("<script src=/own.js></script>", encoding="utf-8")
    page = tmp_path / "a/page.html"
    page.parent.mkdir()
    page.write_text(
        '<a href="https://example.com/read">more</a><link rel="next" href="https://x.org/n">'
        '<script src="../own.js?v=1"></script><img src="data:image/png;base64,AA==">',
        encoding="utf-8",
    )
    (tmp_path / "a.css").write_text("a{background:url(own.js)}/* https://x.org */", "utf-8")
    assert list(pages.outside(tmp_path)) == []
    for fetched in (
        '<script src="https://unpkg.com/x"></script>', '<img src="//cdn.example.com/x.png">',
        '<link rel="stylesheet" href="https://fonts.example.com/css">', '<img src="gone.png">',
    ):  # fmt: skip
        page.write_text(fetched, encoding="utf-8")
        assert len(list(pages.outside(tmp_path))) == 1, fetched
    page.unlink()
    for fetched in ("@import 'https://x.org/a.css';", "a{background:url(//x.org/a.png)}"):
        (tmp_path / "a.css").write_text(fetched, encoding="utf-8")
        assert len(list(pages.outside(tmp_path))) == 1, fetched
