"""How well a model does what mdmemory asks of it: `make bench-model`, with the server in
BENCH_MODEL, BENCH_BASE_URL and BENCH_API_KEY (docs/models.md), or with `--local`.

Sessions and small stores that are marked by hand go through a real memory; the table says what was
kept, stored, merged and refused, and what it cost. Nothing is asked beyond `--calls`; the texts are
made up, and nothing of this machine is sent.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import local_model
from bench.model_cases import Session, Store, sessions, stores
from bench.model_run import Bench

from mdmemory.llm.answer import ModelFailed
from mdmemory.llm.choose import COMPACT, EXTRACT
from mdmemory.llm.sizes import tokens
from mdmemory.protocol import Protocol, shipped_protocol, task_prompt

SERVER = "https://api.openai.com/v1"
CALLS = 250  # at most, without --calls
PROTOCOL = Protocol(shipped_protocol())
SILENT = 3  # cases in a row without an answer, after which nobody is asked any more


def environment(told: Mapping[str, str]) -> dict[str, str]:
    """The settings that choose the server. Raises SystemExit where no model is named."""
    if not told.get("BENCH_MODEL"):
        raise SystemExit("Name a model: BENCH_MODEL=gpt-5-mini make bench-model (docs/models.md).")
    return {
        "MDMEMORY_PLANNER": "openai",
        "MEMORY_EXTRACT_MODEL": f"openai/{told['BENCH_MODEL']}",
        "OPENAI_BASE_URL": told.get("BENCH_BASE_URL") or SERVER,
        "OPENAI_API_KEY": told.get("BENCH_API_KEY", ""),
        "MDMEMORY_TIMEOUT_S": told.get("BENCH_TIMEOUT_S") or "60",  # as a person has it
    }


def announced(cases: Sequence[Session | Store], calls: int, settings: Mapping[str, str]) -> str:
    """What is about to be asked, and the most that it can cost."""
    told = sum(_length(case) for case in cases)
    server, model = settings["OPENAI_BASE_URL"], settings["MEMORY_EXTRACT_MODEL"]
    return (
        f"{model.removeprefix('openai/')} at {server}: {len(cases)} cases, at least {told} tokens"
        f" in; at most {calls} calls."
    )


def _length(case: Session | Store) -> int:
    rules = task_prompt(EXTRACT if isinstance(case, Session) else COMPACT, PROTOCOL)
    if isinstance(case, Session):
        texts = [text for _, text in case.turns] + [text for note in case.notes for text in note]
    else:
        texts = [text for note in case.notes for text in note.values()]
    return tokens(rules) + tokens("\n".join(texts))


def run(bench: Bench, cases: Sequence[Session | Store]) -> None:
    """All cases, until no call is left or the server is plainly not there."""
    silent = 0
    for number, case in enumerate(cases):
        if bench.calls <= 0 or silent == SILENT:
            why = "no call was left for" if bench.calls <= 0 else "no server for"
            bench.figures.failures[why] += len(cases) - number
            return
        before = bench.figures.counts["output"]
        if isinstance(case, Session):
            bench.session(case)
        else:
            bench.store(case)
        is_silent = bench.figures.counts["output"] == before
        silent = silent + 1 if is_silent and bench.figures.failures[ModelFailed.code] else 0


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--calls", type=int, default=CALLS, help="the most that is asked")
    options.add_argument("--local", action="store_true", help="the smallest model in a package")
    options.add_argument("--details", action="store_true", help="say it case by case, too")
    chosen = options.parse_args()
    with ExitStack() as serving:
        if chosen.local:
            os.environ.update(serving.enter_context(local_model.served()))
        measure(chosen)


def measure(chosen: argparse.Namespace) -> None:
    """Ask about the cases, and print what came of it."""
    settings = environment(os.environ)
    os.environ.update(GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_NOSYSTEM="1")
    cases: list[Session | Store] = [*sessions(), *stores()]
    print(announced(cases, chosen.calls, settings), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), settings, chosen.calls)
        try:
            run(bench, cases)
        except KeyboardInterrupt:
            print("stopped; so far:")
    print(*(bench.figures.details if chosen.details else ()), *bench.figures.lines(), sep="\n")


if __name__ == "__main__":
    main()
