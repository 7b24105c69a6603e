"""What mkdocs does besides, when it makes the site of the documents (see mkdocs.yml).

The pages at the top of the checkout come along, links among all of them lead to the right page, and
a site that would fetch anything from elsewhere is not built.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # mkdocs has loaded them; the tests do without
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent
TOP = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
_LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\[\]]*\])*\])\(([^)\s#]+)(#[^)\s]*)?\)")
_ITEM = re.compile(r"( *)(?:[-*]|\d+\.) ")
# elements that load what they name, and where they name it; an <a> loads nothing
_LOADED = {
    "script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src",
    "audio": "src", "embed": "src", "object": "data", "link": "href",
}  # fmt: skip

_FETCHED = re.compile(r"""(?:url\(|@import)\s*["']?(?:\w+:)?//[^)"';\s]+""")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The pages at the top of the checkout become pages of the site."""
    from mkdocs.structure.files import File

    for name, page in TOP.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, /, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The page as mkdocs wants it."""
    return converted(markdown, page.file.src_uri)


def converted(markdown: str, page: str) -> str:
    """The text of a page with links that hold on the site, and with lists as GitHub reads them."""
    names = {page: name for name, page in TOP.items()}
    here = names.get(page, f"docs/{page}")
    parts = re.split(r"(^```.*?^```$)", markdown, flags=re.MULTILINE | re.DOTALL)
    return "".join(
        part
        if part.startswith("```")
        else _with_lists(_LINK.sub(lambda found: _led(found, here, page), part))
        for part in parts
    )


def _led(found: re.Match[str], here: str, page: str) -> str:
    """A link of the file `here` of the checkout, as the page needs it. Of a file that is no page
    the text alone stays."""
    text, target, anchor = found[1], found[2], found[3] or ""
    if ":" in target:
        return found[0]
    wanted = posixpath.normpath(posixpath.join(posixpath.dirname(here), target))
    place = TOP.get(wanted) or (wanted.removeprefix("docs/") if wanted.startswith("docs/") else "")
    if not place and (ROOT / wanted).exists():
        return text.strip("![]")
    if not place:
        return found[0]  # mkdocs says that it leads nowhere
    return f"{text}({posixpath.relpath(place, posixpath.dirname(page) or '.')}{anchor})"


def _with_lists(text: str) -> str:
    """Lists as GitHub reads them: without an empty line before, and inner ones at two spaces."""
    lines: list[str] = []
    for line in text.split("\n"):
        if item := _ITEM.match(line):
            before = lines[-1] if lines else ""
            if not item[1] and before.strip() and not before.startswith(" ") \
                    and not _ITEM.match(before):  # fmt: skip
                lines.append("")
            if 2 <= len(item[1]) <= 3:
                line = "    " + line.lstrip()
        lines.append(line)
    return "\n".join(lines)


# --- nothing from elsewhere ----------------------------------------------------------------------


def on_post_build(*, config: MkDocsConfig) -> None:
    """Refuse a site that does not stand alone."""
    from mkdocs.exceptions import PluginError

    if faults := list(outside(Path(config.site_dir))):
        raise PluginError("The site does not stand alone:\n" + "\n".join(faults))


def outside(site: Path) -> Iterator[str]:
    """What the site would fetch from another host when it is opened, and files that it lacks."""
    for page in sorted(site.rglob("*.html")):
        yield from _faults(site, page)
    for sheet in sorted(site.rglob("*.css")):
        for each in _FETCHED.findall(sheet.read_text(encoding="utf-8")):
            yield f"{sheet.relative_to(site)}: {each}"


def _faults(site: Path, page: Path) -> Iterator[str]:
    reader = _Loaded()
    reader.feed(page.read_text(encoding="utf-8"))
    for target in reader.targets:
        name = target.partition("#")[0].partition("?")[0]
        if re.match(r"(?:\w+:)?//", target):
            yield f"{page.relative_to(site)}: {target}"
        elif name and ":" not in name and not _there(site, page, name).exists():
            yield f"{page.relative_to(site)}: {target} is not there"


def _there(site: Path, page: Path, name: str) -> Path:
    """The file that a page names; from the top where the name begins with a slash."""
    return site / name[1:] if name.startswith("/") else page.parent / name


class _Loaded(HTMLParser):
    """What a page loads when it is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the element loads; a link to the next page loads nothing."""
        values = dict(attrs)
        if tag == "link" and set((values.get("rel") or "").split()) & {"next", "prev", "canonical"}:
            return
        if target := values.get(_LOADED.get(tag, "")):
            self.targets.append(target)
