"""Notes as people and models write them, made of parts that hold every kind of literal."""

from __future__ import annotations

import random
import re

from hypothesis import strategies as st

# One literal of each kind, and how it may be lost without a word being missing: (kind, as it
# stands, what it is changed into).
LITERALS = [
    ("number", "8080", "8081"),
    ("number", "1,200", "1,300"),
    ("number", "-5", "5"),
    ("number", "12%", "12"),
    ("money", "$3.50", "€3.50"),
    ("date", "2026-06-01", "2026-06-10"),
    ("time", "09:30", "09:45"),
    ("version", "v1.2.3", "v1.2.4"),
    ("version", "3.12", "3.1"),
    ("unit", "250ms", "250s"),
    ("mail", "anna.b@example.co.uk", "anna@example.co.uk"),
    ("mail", "git@example.com:acme/site.git", "git@example.com:acme/shop.git"),
    ("url", "https://example.com/a/b?x=1#y", "https://example.com/a/c?x=1#y"),
    ("url", "postgres://db.internal/app", "postgres://db.internal/web"),
    ("path", "/var/log/app/x.log", "/var/log/app/y.log"),
    ("path", "~/notes", "~/note"),
    ("path", "src/app/main.py", "src/app/main.rs"),
    ("path", "notes/memory/", "notes/memories/"),
    ("path", "packages/web/lib", "packages/web/src"),
    ("path", "C:\\Tools\\bin", "D:\\Tools\\bin"),
    ("code span", "`make test -j 2`", "`make test -k 2`"),
    ("code span", "`uv run`", "`uv sync`"),
    ("identifier", "parse_config", "parse_configs"),
    ("identifier", "fetchUser", "fetchUsers"),
    ("identifier", "gpt-5-mini", "gpt-5-nano"),
    ("identifier", "DATABASE_URL", "DATABASE_URI"),
    ("identifier", "os.path.join", "os.path.split"),
    ("identifier", "--no-verify", "--no-edit"),
    ("identifier", "@acme/ui-kit", "@acme/ui-kits"),
    ("identifier", "C++", "C"),
    ("identifier", ".env.local", ".env"),
    ("quoted", '"ship it on green"', '"ship it on red"'),
    ("quoted", "“good enough for now”", "“good enough for ever”"),
    ("quoted", "'a plain answer'", "'a plain question'"),
    ("quoted", "「先写测试」", "「先写代码」"),
    ("quoted", "《团队手册》", "《团队指南》"),
    ("link", "[[monorepo-layout]]", "[[monorepo-tools]]"),
    ("proper noun", "Postgres", "Mongo"),
    ("proper noun", "GitHub", "GitLab"),
    ("proper noun", "AWS", "GCP"),
    ("proper noun", "Friday", "Monday"),
]

FRAMES = [
    "The worker reads {} before it starts, and keeps it.",
    "Prefers {} over what came before",
    "We agreed on {} for the billing service.",
    "It broke twice with {}, so ask first.",
    "Look at {} when the build is red",
    "- keeps {} in the notes\n- and tells the others",
    "1. take {}\n2. run the rest",
    "Why: {} was the cause of the outage last spring.",
    "> quoted from the chat: {} is fine",
    "Use {}, not the older one.",
    "Never touch {} by hand.",
    "Do not rely on {} in tests, it is slow.",
    "服务使用 {} 作为默认值。",
    "不要修改 {}，先问我。",
    "本番では {} を使わない。",
    "Wir nutzen {} seit dem Umbau, nie ohne Absprache mit dem Team.",
    "Nous n'utilisons pas {} le vendredi.",
]
PROSE = [
    "Answers are short and without a summary.",
    "The owner's mail stays private; don't quote it",
    "Tests run first, then the linter, and/or the type checker.",
    "It is a habit, e.g. after a review.",
    "喜欢简短的回答",
    "每次提交前先跑测试。",
    "Der Server steht im Keller und wird am Abend gesichert.",
    "Is a meeting needed? No",
    "- [ ] still to be said\n- [x] done",
    "## How it works\nThe rest follows.",
    "```sh\nmake deploy\ncargo build --release\n```",
    "Nothing else matters here",
]

literal = st.sampled_from([written for _, written, _ in LITERALS])
sentence = st.one_of(
    st.builds(str.format, st.sampled_from(FRAMES), literal), st.sampled_from(PROSE)
)
# A description is one line, and what it names the body says, too.
described = st.builds(
    lambda frame, name: (re.sub(r"\s*\n.*|^\d\. |^[->] ", "", frame).format(name), name),
    st.sampled_from(FRAMES),
    literal,
)


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, str]:
    """The description and the body of one note."""
    description, name = draw(described)
    rest = draw(st.lists(sentence, max_size=4))
    first = draw(st.sampled_from([description, f"{description}.", f"About {name}: {description}"]))
    return description, draw(st.sampled_from(["\n", "\n\n", " "])).join([first, *rest])


def store(total: int, seed: int = 7) -> list[tuple[str, str, str, str]]:
    """Type, name, description and body of so many notes, the same for the same seed."""
    chance = random.Random(seed)
    notes = []
    for at in range(total):
        frame, (_, name, _) = chance.choice(FRAMES), chance.choice(LITERALS)
        description = re.sub(r"\s*\n.*|^\d\. |^[->] ", "", frame).format(name)
        first = chance.choice([description, f"{description}.", f"About {name}: {description}"])
        rest = [
            chance.choice([chance.choice(FRAMES).format(chance.choice(LITERALS)[1]),
                           chance.choice(PROSE)])
            for _ in range(chance.randint(0, 4))
        ]  # fmt: skip
        words = re.findall(r"[a-z]{3,}", description.lower())[:3]
        kind = chance.choices(["user", "feedback", "project", "reference"], [2, 4, 5, 2])[0]
        notes.append((kind, "-".join([*words, str(at)]), description, "\n\n".join([first, *rest])))
    return notes
