"""Notes as people and models write them, made of parts that hold every kind of literal."""

import random
import re

# Literals of each kind.
LITERALS = [
    "8080", "1,200", "-5", "12%", "$3.50", "2026-06-01", "09:30", "v1.2.3", "3.12", "250ms",
    "anna.b@example.co.uk", "git@example.com:acme/site.git", "https://example.com/a/b?x=1#y",
    "postgres://db.internal/app", "/var/log/app/x.log", "~/notes", "src/app/main.py",
    "notes/memory/", "packages/web/lib", "C:\\Tools\\bin", "`make test -j 2`", "`uv run`",
    "parse_config", "fetchUser", "gpt-5-mini", "DATABASE_URL", "os.path.join", "--no-verify",
    "@acme/ui-kit", "C++", ".env.local", '"ship it on green"', "“good enough for now”",
    "'a plain answer'", "「先写测试」", "《团队手册》", "[[monorepo-layout]]", "Postgres",
    "GitHub", "AWS", "Friday",
]  # fmt: skip
FRAMES = [
    *("The worker reads {} before it starts, and keeps it.", "Prefers {} over what came before"),
    *("We agreed on {} for the billing service.", "It broke twice with {}, so ask first."),
    *("Look at {} when the build is red", "- keeps {} in the notes\n- and tells the others"),
    *("1. take {}\n2. run the rest", "Why: {} was the cause of the outage last spring."),
    *("> quoted from the chat: {} is fine", "Use {}, not the older one."),
    *("Never touch {} by hand.", "Do not rely on {} in tests, it is slow."),
    *("服务使用 {} 作为默认值。", "不要修改 {}，先问我。", "本番では {} を使わない。"),
    "Wir nutzen {} seit dem Umbau, nie ohne Absprache mit dem Team.",
    "Nous n'utilisons pas {} le vendredi.",
]
PROSE = [
    *("Answers are short and without a summary.", "The owner's mail stays private; don't quote it"),
    "Tests run first, then the linter, and/or the type checker.",
    *("It is a habit, e.g. after a review.", "喜欢简短的回答", "每次提交前先跑测试。"),
    *("Der Server steht im Keller und wird am Abend gesichert.", "Is a meeting needed? No"),
    *("- [ ] still to be said\n- [x] done", "## How it works\nThe rest follows."),
    *("```sh\nmake deploy\ncargo build --release\n```", "Nothing else matters here"),
]


def store(total: int, seed: int = 7) -> list[tuple[str, str, str, str]]:
    """Type, name, description and body of so many notes, the same for the same seed."""
    chance = random.Random(seed)
    notes = []
    for at in range(total):
        frame, name = chance.choice(FRAMES), chance.choice(LITERALS)
        description = re.sub(r"\s*\n.*|^\d\. |^[->] ", "", frame).format(name)
        first = chance.choice([description, f"{description}.", f"About {name}: {description}"])
        rest = [
            chance.choice([chance.choice(FRAMES).format(chance.choice(LITERALS)),
                           chance.choice(PROSE)])
            for _ in range(chance.randint(0, 4))
        ]  # fmt: skip
        words = re.findall(r"[a-z]{3,}", description.lower())[:3]
        kind = chance.choices(["user", "feedback", "project", "reference"], [2, 4, 5, 2])[0]
        notes.append((kind, "-".join([*words, str(at)]), description, "\n\n".join([first, *rest])))
    return notes
