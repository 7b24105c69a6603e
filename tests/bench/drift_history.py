"""A project's history that is made up, and of which it is known what became of each line.

Edits, insertions, functions that move in a file and between files, renamed files and folders, other
white space, vendored copies, twins in one file, branches that are merged. A line is an object that
lives on; so the truth does not come from comparing texts.
"""

import copy
import random
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

STYLES = (("    ", 88, "\n"), ("  ", 60, "\n"), ("\t", 40, "\n"), ("    ", 120, "\n"),
          ("  ", 30, "\n"), ("    ", 88, "\r\n"))  # fmt: skip
LANGUAGES = ("py", "ts", "go", "toml", "md", "sh")
_NOUNS = (
    "timeout retry cache token socket parser index buffer queue worker limit region account order"
    " invoice cluster replica tenant window batch session cursor digest header"
).split()
_VERBS = "load store fetch merge split check open close send parse apply reset count".split()
_PLAIN = {  # lines that stand in many places
    "py": ("return None", "pass", "else:", "return result"), "ts": ("}", "} else {", "return;"),
    "go": ("}", "return nil", "if err != nil {"), "toml": ("enabled = true",), "md": ("---",),
    "sh": ("fi", "done", "exit 1"),
}  # fmt: skip
_ids = count()


@dataclass
class Row:
    """One line of code as it is thought, however it is laid out: its words, and how deep it is."""

    words: list[str]
    depth: int = 0
    id: int = field(default_factory=lambda: next(_ids))


@dataclass
class Source:
    """A file: its functions, each a list of rows, and how it is laid out."""

    language: str
    blocks: list[list[Row]]
    style: tuple[str, int, str] = STYLES[0]
    id: int = field(default_factory=lambda: next(_ids))

    def rows(self) -> list[Row]:
        """All rows in their order."""
        return [row for block in self.blocks for row in block]

    def words(self) -> Iterator[tuple[int, int, str]]:
        """Each word with its row and its place there."""
        for row in self.rows():
            yield from ((row.id, at, word) for at, word in enumerate(row.words))

    def in_lines(self, lines: tuple[int, int]) -> list[tuple[int, int, str]]:
        """The words that stand in these lines."""
        places, found = self.text()[1], []
        for row in self.rows():
            if places[row.id][0] <= lines[1] and places[row.id][1] >= lines[0]:
                number, at = places[row.id][0], 0
                for line in _laid_out(row, *self.style[:2]):
                    for _ in line.split():
                        if lines[0] <= number <= lines[1]:
                            found.append((row.id, at, row.words[at]))
                        at += 1
                    number += 1
        return found

    def text(self) -> tuple[str, dict[int, tuple[int, int]]]:
        """The text, and for each row its first and last line."""
        indent, width, end = self.style
        lines: list[str] = []
        places: dict[int, tuple[int, int]] = {}
        for block in self.blocks:
            for row in block:
                first = len(lines) + 1
                lines += _laid_out(row, indent, width)
                places[row.id] = first, len(lines)
            lines.append("")
        return "".join(line + end for line in lines), places


def _laid_out(row: Row, indent: str, width: int) -> list[str]:
    lines, line = [], indent * row.depth
    for word in row.words:
        if len(line) + len(word) > width and line.strip():
            lines.append(line.rstrip())
            line = indent * (row.depth + 2)
        line += word + " "
    return [*lines, line.rstrip()]


Tree = dict[str, Source]


class MadeUp:
    """A project that lives for some commits. `states` has the tree after each commit."""

    def __init__(self, folder: Path, seed: int, commits: int) -> None:
        self.folder, self._random = folder, random.Random(seed)
        self.states: list[tuple[str, Tree]] = []
        folder.mkdir(parents=True)
        self._git("init", "-q", "-b", "main")
        self._git("config", "user.email", "made@up.example")
        self._git("config", "user.name", "Made Up")
        self.tree: Tree = {}
        for _ in range(14):
            self._new_file()
        self._commit()
        while len(self.states) < commits:
            if self._random.random() < 0.04:
                self._branch()
            else:
                for _ in range(self._random.choice((1, 1, 1, 2, 3))):
                    self._change()
                self._commit()

    def _git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.folder, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def _write(self) -> None:
        for path in self._git("ls-files").splitlines():
            if path not in self.tree:
                (self.folder / path).unlink()
        for path, source in self.tree.items():
            place = self.folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(source.text()[0].encode())

    def _commit(self, *words: str) -> None:
        self._write()
        self._git("add", "-A")
        self._git("commit", "-q", "--allow-empty", "-m", f"change {len(self.states)}", *words)
        self.states.append((self._git("rev-parse", "HEAD"), copy.deepcopy(self.tree)))

    def _branch(self) -> None:
        """Two lines of work on different files, of which one renames a file that the other edits,
        and the merge of both."""
        paths = sorted(self.tree)
        self._random.shuffle(paths)
        mine, theirs = paths[::2], paths[1::2]
        base = self.states[-1][0]
        self._edit_some(mine)
        renamed = self._random.choice(theirs)
        source = self.tree.pop(renamed)
        new = self._free(source.language)
        self.tree[new] = source
        self._commit()
        ours = copy.deepcopy(self.tree)
        self._git("switch", "-q", "-c", "side", base)
        self.tree = copy.deepcopy(self.states[-2][1])
        self._edit_some([*theirs, renamed, renamed])
        side = {new if path == renamed else path: self.tree[path] for path in theirs}
        self._write()
        self._git("add", "-A")
        self._git("commit", "-q", "--allow-empty", "-m", "on the side")
        self._git("switch", "-q", "main")
        self.tree = {**ours, **side}
        self._git("merge", "-q", "--no-ff", "--no-edit", "-m", "merge", "side")
        self._git("branch", "-q", "-D", "side")
        for path, source in self.tree.items():
            assert (self.folder / path).read_bytes() == source.text()[0].encode(), path
        self.states.append((self._git("rev-parse", "HEAD"), copy.deepcopy(self.tree)))

    def _edit_some(self, paths: list[str]) -> None:
        for path in dict.fromkeys(self._random.sample(paths, min(3, len(paths)))):
            self._edit(self.tree[path])

    def _change(self) -> None:
        happens = {
            lambda: self._edit(self.tree[self._path()]): 34,
            self._inserted: 20, self._deleted: 7, self._grown: 9,
            self._moved_inside: 5, self._moved_between: 5, self._renamed: 5,
            self._folder_renamed: 1, self._reformatted: 5, self._vendored: 2, self._twinned: 2,
            self._file_deleted: 1, self._new_file: 2, lambda: self._renamed(2): 2,
        }  # fmt: skip
        self._random.choices([*happens], [*happens.values()])[0]()

    def _path(self) -> str:
        own = [path for path in sorted(self.tree) if not path.startswith("vendor/")]
        return self._random.choice(own)

    def _edit(self, source: Source) -> None:
        row = self._random.choice(source.rows())
        at = self._random.randrange(len(row.words))
        row.words[at] = f"{self._name()}{self._random.randrange(100)}"

    def _inserted(self) -> None:
        source = self.tree[self._path()]
        block = self._random.choice(source.blocks)
        at = self._random.randint(1, len(block))
        for _ in range(self._random.choice((1, 1, 2))):
            row = self._row(source.language)
            # a line beside its like: nobody can tell which of the two was there before
            if row.words not in [each.words for each in block[at - 1 : at + 1]]:
                block.insert(at, row)

    def _deleted(self) -> None:
        source = self.tree[self._path()]
        block = self._random.choice(source.blocks)
        if len(block) > 3:
            del block[self._random.randrange(1, len(block))]

    def _grown(self) -> None:
        source = self.tree[self._path()]
        at = self._random.randint(0, len(source.blocks))
        source.blocks.insert(at, self._block(source.language))

    def _moved_inside(self) -> None:
        blocks = self.tree[self._path()].blocks
        block = blocks.pop(self._random.randrange(len(blocks)))
        blocks.insert(self._random.randint(0, len(blocks)), block)

    def _moved_between(self) -> None:
        path = self._path()
        source = self.tree[path]
        if len(source.blocks) < 3:
            return
        block = source.blocks.pop(self._random.randrange(len(source.blocks)))
        same = [
            p for p, s in sorted(self.tree.items())
            if s.language == source.language and p != path and not p.startswith("vendor/")
        ]  # fmt: skip
        if same and self._random.random() < 0.6:
            target = self.tree[self._random.choice(same)]
            target.blocks.insert(self._random.randint(0, len(target.blocks)), block)
        else:
            self.tree[self._free(source.language)] = Source(
                source.language, [block, self._block(source.language)], source.style
            )

    def _renamed(self, edits: int = 0) -> None:
        source = self.tree.pop(self._path())
        self.tree[self._free(source.language)] = source
        for _ in range(edits):
            self._edit(source)

    def _folder_renamed(self) -> None:
        folder = self._path().rpartition("/")[0]
        new = f"{self._name()}{self._random.randrange(100)}"
        moved = [path for path in self.tree if path.startswith(f"{folder}/")]
        for path in moved:
            self.tree[f"{new}/{path[len(folder) + 1 :]}"] = self.tree.pop(path)

    def _reformatted(self) -> None:
        source = self.tree[self._path()]
        source.style = self._random.choice(STYLES)
        for row in source.rows():
            if self._random.random() < 0.1:
                row.depth = self._random.randrange(4)

    def _vendored(self) -> None:
        folder = self._path().rpartition("/")[0]
        number = self._random.randrange(1000)
        for path in [path for path in self.tree if path.startswith(f"{folder}/")]:
            self.tree[f"vendor/{number}/{path.rpartition('/')[2]}"] = _twin(self.tree[path])

    def _twinned(self) -> None:
        """A function is copied beside itself, and one of the two is changed."""
        blocks = self.tree[self._path()].blocks
        at = self._random.randrange(len(blocks))
        other = [Row([*row.words], row.depth) for row in blocks[at]]
        other[0].words[-1] = f"{self._name()}{self._random.randrange(100)}"
        blocks.insert(at + self._random.randrange(2), other)
        row = self._random.choice(self._random.choice((blocks[at], blocks[at + 1])))
        row.words[self._random.randrange(len(row.words))] = f"x{self._random.randrange(1000)}"

    def _file_deleted(self) -> None:
        if len(self.tree) > 10:
            del self.tree[self._path()]

    def _new_file(self) -> None:
        language = self._random.choice(LANGUAGES)
        blocks = [self._block(language) for _ in range(self._random.randint(3, 9))]
        self.tree[self._free(language)] = Source(language, blocks)

    def _name(self) -> str:
        return f"{self._random.choice(_VERBS)}_{self._random.choice(_NOUNS)}"

    def _free(self, language: str) -> str:
        while True:
            folder = self._random.choice(("src", "src/core", "lib", "tools", "docs"))
            path = f"{folder}/{self._name()}{self._random.randrange(50)}.{language}"
            if path not in self.tree:
                return path

    def _block(self, language: str) -> list[Row]:
        name = f"{self._name()}{self._random.randrange(1000)}"
        head = Row(["def", name, "(", self._name(), "):"])
        return [head, *(self._row(language) for _ in range(self._random.randint(3, 12)))]

    def _row(self, language: str) -> Row:
        depth = self._random.randint(1, 3)
        if self._random.random() < 0.25:
            return Row(self._random.choice(_PLAIN[language]).split(), depth)
        names = [self._name() for _ in range(self._random.randint(1, 6))]
        number = str(self._random.randrange(10_000))
        words = [names[0], "=", f"{names[-1]}("]
        for name in names[1:]:
            words += [name, ","]
        return Row([*words, number, ")"], depth)


def _twin(source: Source) -> Source:
    blocks = [[Row([*row.words], row.depth) for row in block] for block in source.blocks]
    return Source(source.language, blocks, source.style)


def is_changed(before: Tree, after: Tree, path: str, lines: tuple[int, int] | None) -> bool:
    """Whether what stood in these lines of a file stands nowhere any more as it was, word after
    word; of a whole file, whether it is gone."""
    source = before[path]
    if lines is None:
        return all(each.id != source.id for each in after.values())
    wanted = source.in_lines(lines)
    for each in after.values():
        words = [*each.words()]
        if wanted and wanted[0] in words:
            at = words.index(wanted[0])
            now = words[at : at + len(wanted)]
            return [word for *_, word in now] != [word for *_, word in wanted]
    return True
