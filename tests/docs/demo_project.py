"""The demo's notes as the store of a project, on which tests of pages try commands."""

import json
import re
import shutil
from pathlib import Path

from mdmemory import assets

_SESSION = Path(__file__).parents[1] / "capture/data/claude.jsonl"


def prepare(project: Path) -> None:
    """The notes: two that say the same, two that contradict, one without frontmatter. Beside the
    store are a session (session.json) and a plan (plan.json), one op of which is refused."""
    shutil.copytree(assets.asset_path("templates/demo/notes"), project / "notes/memory")
    shutil.copy(assets.asset_path("templates/demo/transcript.json"), project / "session.json")
    text = (project / "notes/memory/reference-error-dashboard.md").read_text("utf-8")
    (project / "notes/memory/note-without-head.md").write_text(text.split("---")[-1], "utf-8")
    plan = {
        "ops": [
            {"op": "delete", "file": "reference-error-dashboard.md", "reason": "shut down"},
            {"op": "rewrite", "file": "project-postgres-for-billing.md", "body": "A database."},
            {"op": "delete", "file": "user-works-as-backend-engineer.md", "reason": "left"},
        ],
        "digests": {"user-works-as-backend-engineer.md": "0" * 64},
    }
    (project / "plan.json").write_text(json.dumps(plan), "utf-8")


def talk(project: Path) -> None:
    """A session of Claude Code in the project, as it lies in the home."""
    slug = re.sub(r"[^0-9A-Za-z]", "-", str(project))
    file = Path.home() / ".claude/projects" / slug / "0d1f6c1e-6a53-4a0e-9c0b-2f7a3f9f0001.jsonl"
    file.parent.mkdir(parents=True)
    text = _SESSION.read_text("utf-8")
    file.write_text(text.replace('"/repo"', json.dumps(str(project))), "utf-8")
