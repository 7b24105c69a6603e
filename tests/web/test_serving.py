"""`mdmemory web` as a process: where it listens, what it prints, and how it ends."""

import http.client
import os
import signal
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import demo_store
import pytest
from pace import HUNG
from running import running

from mdmemory.cli import main

pytestmark = pytest.mark.slow


def ask(address: str, path: str, **headers: str) -> tuple[int, str]:
    """The status of a page, and the cookie that it sets."""
    place = urlsplit(address)
    connection = http.client.HTTPConnection(str(place.hostname), place.port, timeout=HUNG)
    with closing(connection):
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        answer.read()
    return answer.status, str(answer.headers.get("set-cookie", "")).partition(";")[0]


def cookie_of(address: str) -> str:
    place = urlsplit(address)
    status, cookie = ask(address, f"{place.path}?{place.query}")
    assert status == 200
    return cookie


def test_it_serves_one_browser_at_one_address_and_ends_by_ctrl_c(folder: Path) -> None:
    with running(folder / "billing", demo_store.environment(folder)) as (address, process):
        place = urlsplit(address)
        assert (place.scheme, place.hostname) == ("http", "127.0.0.1")
        cookie = cookie_of(address)
        assert ask(address, "/inbox", Cookie=cookie)[0] == 200
        assert ask(address, "/inbox")[0] == 403
        assert ask(address, "/inbox", Cookie=cookie, Host=f"evil.example:{place.port}")[0] == 403
        # no other address of this machine answers
        for name in ("::1", *{row[4][0] for row in socket.getaddrinfo(socket.gethostname(), None)}):
            if name != "127.0.0.1" and not str(name).startswith("127."):
                with pytest.raises(OSError):
                    socket.create_connection((str(name), place.port or 0), timeout=1).close()
        process.send_signal(signal.SIGINT)
        assert process.wait(HUNG) == 0
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", place.port or 0), timeout=1).close()


def test_it_ends_when_nobody_asks_any_more(folder: Path) -> None:
    environment = demo_store.environment(folder)
    with running(folder / "billing", environment, "--idle", "0.03") as (address, process):
        assert ask(address, "/inbox")[0] == 403, "who is not let in does not keep it alive"
        assert process.wait(HUNG) == 0


@pytest.mark.skipif(os.geteuid() != 0 or sys.platform != "linux", reason="needs two users")
def test_another_user_of_the_machine_is_refused_with_the_token_in_hand(folder: Path) -> None:
    with running(folder / "billing", demo_store.environment(folder)) as (address, _):
        place = urlsplit(address)
        asked = f"GET {place.path}?{place.query} HTTP/1.1\\r\\nHost: {place.netloc}\\r\\n"
        script = (
            f"exec 3<>/dev/tcp/127.0.0.1/{place.port}; "
            f"printf '{asked}Connection: close\\r\\n\\r\\n' >&3; cat <&3"
        )
        told = subprocess.run(
            ["bash", "-c", script], user=65534, cwd="/", capture_output=True, text=True,
            timeout=HUNG,
        )  # fmt: skip
        assert told.stdout.startswith("HTTP/1.1 403"), told
        assert "another user" in told.stdout
        assert cookie_of(address), "the token is still good for its owner"


def test_it_prints_the_address_once_and_says_how_to_come_from_elsewhere(folder: Path) -> None:
    environment = {**demo_store.environment(folder), "SSH_CONNECTION": "10.0.0.1 1 10.0.0.2 22"}
    words = [sys.executable, "-P", "-m", "mdmemory", "web", "--idle", "0.02"]
    done = subprocess.run(
        words, cwd=folder / "billing", env=environment, capture_output=True, text=True, timeout=HUNG
    )
    assert done.returncode == 0
    assert done.stdout.count("/open?token=") == 1
    assert "Stopped: nobody asked" in done.stdout
    port = urlsplit(done.stdout.split()[0]).port
    assert f"ssh -L {port}:127.0.0.1:{port} HOST" in done.stderr
    assert "token" not in done.stderr


def test_what_it_cannot_do_is_one_sentence(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(folder / "billing")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert main(["web", "--no-open", "--port", port]) == 1
        assert f"Port {port} cannot be used" in capsys.readouterr().err
    for words in (["--port", "70000"], ["--port", "x"], ["--idle", "0"], ["--idle", "soon"]):
        assert main(["web", *words]) == 2
        assert words[1] in capsys.readouterr().err
    monkeypatch.setenv("MDMEMORY_HOME", str(tmp_path / "none"))
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    assert main(["web", "--no-open"]) == 1
    assert "no memory store" in capsys.readouterr().err


def test_its_output_is_json_where_that_is_asked_for(folder: Path) -> None:
    with running(folder / "billing", demo_store.environment(folder)) as (_, process):
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=HUNG)
    assert (out, err) == ("", ""), "one line, which `running` has read"
