"""Whose connection it is, as the kernel's tables say."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from pace import HUNG

from mdmemory.web.access import user_of

LINUX = sys.platform == "linux"
HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
HERE, PEER = ("127.0.0.1", 0x1F90), ("127.0.0.1", 0xE112)
needs_linux = pytest.mark.skipif(not LINUX, reason="only Linux has these tables")


def row(local: str, remote: str, state: str, user: int) -> str:
    return f"   0: {local} {remote} {state} 00000000:00000000 00:00000000 00000000 {user} 0 1 1\n"


def tables(folder: Path, tcp: str, tcp6: str = "") -> Path:
    (folder / "tcp").write_text(HEAD + tcp, encoding="ascii")
    (folder / "tcp6").write_text(HEAD + tcp6, encoding="ascii")
    return folder


@pytest.mark.skipif(sys.byteorder != "little", reason="the rows are of a little-endian machine")
def test_the_row_of_the_other_end_counts(tmp_path: Path) -> None:
    ours, theirs = "0100007F:1F90", "0100007F:E112"
    listening = row(ours, "00000000:0000", "0A", 5)
    assert user_of(PEER, HERE, tables(tmp_path, listening + row(theirs, ours, "01", 1000))) == 1000
    # our own end of the same connection is no answer
    assert user_of(PEER, HERE, tables(tmp_path, listening + row(ours, theirs, "01", 5))) == -1
    # what is closing belongs to nobody any more
    assert user_of(PEER, HERE, tables(tmp_path, listening + row(theirs, ours, "06", 0))) == -1
    mapped = "0000000000000000FFFF00000100007F:"
    six = row(f"{mapped}E112", f"{mapped}1F90", "01", 77)
    assert user_of(PEER, HERE, tables(tmp_path, listening, six)) == 77


def test_a_machine_without_tables_or_without_us_in_them_tells_nothing(tmp_path: Path) -> None:
    assert user_of(PEER, HERE, tmp_path / "none") is None
    assert user_of(PEER, HERE, tables(tmp_path, "")) is None
    assert user_of(PEER, HERE, tables(tmp_path, "nonsense 1 2\n\n")) is None


@needs_linux
def test_a_real_connection_is_of_the_user_who_made_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        here = server.getsockname()
        with socket.create_connection(here) as client:
            assert user_of(client.getsockname(), here) == os.geteuid()


@needs_linux
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_real_connection_of_another_user_is_told_apart() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        here = server.getsockname()
        words = ["bash", "-c", f"exec 3<>/dev/tcp/127.0.0.1/{here[1]}; read"]
        with subprocess.Popen(words, user=65534, stdin=subprocess.PIPE, cwd="/") as child:
            server.settimeout(HUNG)
            connection, peer = server.accept()
            with connection:
                found = user_of(peer, here)
            child.communicate(timeout=HUNG)
    assert found == 65534
