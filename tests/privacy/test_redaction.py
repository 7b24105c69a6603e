"""Secrets and private text are stopped; ordinary words, hashes and code are left alone.

Every secret here is made of random characters at run time: none stands in this file.
"""

import random
import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdmemory.privacy import strip_private
from mdmemory.privacy.lexicon import KINDS, find_labels, listed_words
from mdmemory.privacy.redaction import has_secret, redact, says_something

LETTERS = string.ascii_letters + string.digits
SEEDS = range(20)


def noise(seed: int, length: int, alphabet: str = LETTERS) -> str:
    """Random characters, with at least one digit and one of each case, as services make them."""
    chance = random.Random(seed * 1000 + length)
    made = [chance.choice(alphabet) for _ in range(length)]
    for kind in (string.digits, string.ascii_uppercase, string.ascii_lowercase):
        usable = [c for c in kind if c in alphabet]
        if usable and not set(made) & set(usable):
            made[chance.randrange(length)] = chance.choice(usable)
    return "".join(made)


HEX = "0123456789abcdef"
LETTERS_FOR_DIGITS = str.maketrans(string.digits, string.ascii_uppercase[:10])
UPPER = string.ascii_uppercase + string.digits
SHAPES = {  # kind: what stands before, how many characters follow, of which alphabet
    "anthropic_key": ("sk-" + "ant-api03-", 80, LETTERS),
    "openai_key": ("sk-" + "proj-", 48, LETTERS),
    "github_token": ("gh" + "p_", 36, LETTERS),
    "gitlab_token": ("glpat" + "-", 20, LETTERS),
    "npm_token": ("npm" + "_", 36, LETTERS),
    "pypi_token": ("pypi" + "-", 80, LETTERS),
    "google_key": ("AI" + "za", 35, LETTERS),
    "google_token": ("ya29" + ".", 60, LETTERS),
    "huggingface_token": ("hf" + "_", 34, LETTERS),
    "aws_key": ("AK" + "IA", 16, UPPER),
    "slack_token": ("xox" + "b-", 40, LETTERS),
    "stripe_key": ("sk" + "_live_", 24, LETTERS),
    "webhook_secret": ("whsec" + "_", 32, LETTERS),
    "twilio_key": ("S" + "K", 32, HEX),
    "mailgun_key": ("key" + "-", 32, HEX),
    "digitalocean_token": ("dop" + "_v1_", 64, HEX),
    "shopify_token": ("shp" + "at_", 32, HEX),
    "databricks_token": ("da" + "pi", 32, HEX),
    "linear_key": ("lin" + "_api_", 40, LETTERS),
    "notion_token": ("ntn" + "_", 46, LETTERS),
    "figma_token": ("fi" + "gd_", 40, LETTERS),
    "groq_key": ("gs" + "k_", 52, LETTERS),
    "replicate_token": ("r8" + "_", 37, LETTERS),
    "perplexity_key": ("ppl" + "x-", 48, LETTERS),
    "vault_token": ("hv" + "s.", 90, LETTERS),
    "supabase_token": ("sb" + "p_", 40, HEX),
    "docker_token": ("dckr" + "_pat_", 27, LETTERS),
}


@pytest.mark.parametrize("kind", SHAPES)
def test_tokens_of_common_services_are_redacted(kind: str) -> None:
    prefix, length, alphabet = SHAPES[kind]
    for seed in SEEDS:
        token = prefix + noise(seed, length, alphabet)
        for text in (token, f"use {token}, please", f'key="{token}"', f"钥匙：{token}。"):
            redacted, kinds = redact(text)
            assert kinds == [kind]
            assert token not in redacted
            assert token[-8:] not in redacted


def test_an_id_of_aws_is_redacted_whatever_digits_it_has() -> None:
    for seed in SEEDS:
        letters = noise(seed, 16, string.ascii_uppercase).translate(LETTERS_FOR_DIGITS)
        for id in (letters, f"{letters[1:]}7", f"2{letters[1:]}", f"{letters[2:]}23"):
            assert redact(f"The key is AKIA{id}.")[1] == ["aws_key"], id


def test_tokens_of_three_parts_are_redacted() -> None:
    for seed in SEEDS:
        part = noise(seed, 30)
        assert redact("ey" + f"J{part}.eyJ{part}.{part}")[1] == ["jwt"]
        assert redact("S" + f"G.{noise(seed, 22)}.{noise(seed, 43)}")[1] == ["sendgrid_key"]


def test_a_private_key_goes_with_everything_between_its_lines() -> None:
    begin, end = (f"-----{word} OPENSSH PRIVATE " + "KEY-----" for word in ("BEGIN", "END"))
    lines = "\n".join(noise(seed, 64) for seed in range(5))
    assert redact(f"a\n{begin}\n{lines}\n{end}\nb")[0] == "a\n[redacted:private_key]\nb"
    assert redact(f"a\n{begin}\n{lines}")[0] == "a\n[redacted:private_key]"
    assert not has_secret(f"A file that begins with {begin} is a key.")


@pytest.mark.parametrize(
    ("before", "after", "kind", "length"),
    [
        ("Authorization: Bearer ", "", "authorization", 20),
        ("curl -H 'authorization: token ", "'", "authorization", 12),
        ("send Bearer ", " along", "authorization", 40),
        ("postgres://app:", "@db.example.org/main", "url_password", 12),
        ("https://bot:", "@example.org", "url_password", 20),
        ("my password is ", "", "password", 9),
        ("The password for the staging host is ", ".", "password", 9),
        ("DB_PASSWORD=", "", "password", 10),
        ("userPassword: ", "", "password", 9),
        ('{"password": "', '", "port": 1}', "password", 9),
        ("api key: ", "", "secret", 24),
        ("client_secret = '", "'", "secret", 16),
        ("accessToken: ", ",", "secret", 24),
        ("密码：", "", "password", 8),
        ("我的密码是", "，记住", "password", 8),
        ("API密钥：", "", "secret", 20),
        ("令牌: ", "", "secret", 20),
        ("Passwort: ", ".", "password", 9),
        ("Das Kennwort lautet ", "", "password", 9),
        ("API-Schlüssel: ", "", "secret", 20),
        ("mot de passe : ", "", "password", 9),
        ("clé API : ", "", "secret", 20),
        ("contraseña: ", "", "password", 9),
        ("clave de acceso: ", "", "secret", 20),
        ("パスワード：", "", "password", 8),
        ("パスワードは", "", "password", 8),
        ("APIキー: ", "", "secret", 20),
        ("비밀번호: ", "", "password", 8),
        ("비밀번호는 ", "", "password", 8),
        ("토큰: ", "", "secret", 20),
        ("it is ", " I think", "high_entropy", 40),
    ],
)
def test_what_follows_a_label_is_redacted(before: str, after: str, kind: str, length: int) -> None:
    for seed in SEEDS:
        secret = noise(seed, length)
        assert redact(before + secret + after) == (f"{before}[redacted:{kind}]{after}", [kind])


KEY = noise(1, 24)
VALUES = dict.fromkeys(("session", "secret", "weak"), KEY) | {
    "pin": noise(2, 4, string.digits),
    "phrase": "seven herons wade at dusk",
    "codes": f"{noise(3, 4)}-{noise(4, 4)}, {noise(5, 4)}-{noise(6, 4)}",
}


def test_no_wording_of_a_label_is_passed_over() -> None:
    """What is looked for first must not hide what a label says."""
    for kind in KINDS:
        for word in listed_words(kind):
            text = f"{word}: {VALUES.get(kind, 'Kestrel_9920')}"
            assert has_secret(text), text


def test_a_pin_is_redacted() -> None:
    for label in ("PIN: ", "my PIN is ", "pin code: ", "暗証番号：", "PIN码："):
        for seed in SEEDS:
            digits = noise(seed, 4, string.digits)
            assert redact(label + digits)[0] == f"{label}[redacted:pin]"


def test_a_password_that_is_a_word_is_redacted_where_a_password_would_stand() -> None:
    word = random.Random(4).choice(["sunshine", "marmalade", "umbrella"])
    for text in (f"password: {word}", f"the wifi password is {word}", f"pwd = '{word}'"):
        assert word not in redact(text)[0]
    label = "seed " + "phrase:"
    words = " ".join(random.Random(5).choices(["alpha", "river", "cloud", "stone"], k=12))
    assert redact(f"{label} {words}\nnext")[0] == f"{label} [redacted:passphrase]\nnext"


def card(seed: int, prefix: str, length: int) -> str:
    digits = prefix + noise(seed, length - len(prefix) - 1, string.digits)
    doubled = [int(c) * 2 for c in digits[::-2]]
    total = sum(map(int, digits[-2::-2])) + sum(d - 9 if d > 9 else d for d in doubled)
    return digits + str(-total % 10)


@pytest.mark.parametrize(("prefix", "length"), [("4", 16), ("52", 16), ("6011", 16), ("37", 15)])
def test_card_numbers_are_known_by_their_check_digit(prefix: str, length: int) -> None:
    for seed in SEEDS:
        number = card(seed, prefix, length)
        parts = (4, 8, 12) if length == 16 else (4, 10)
        spaced = " ".join(number[a:b] for a, b in zip((0, *parts), (*parts, None), strict=True))
        for shown in (number, spaced, spaced.replace(" ", "-")):
            assert redact(f"card {shown} ok") == ("card [redacted:card_number] ok", ["card_number"])
        wrong = number[:-1] + str((int(number[-1]) + 1) % 10)
        assert not has_secret(f"order {wrong} ok")


HARMLESS = """\
The pairing PIN is the serial number, and dates are YYYY-MM-DD
The password must be at least 12 characters.
Passwords are rotated every ninety days; the password is case-sensitive.
The token is expired. The secret is out. The PIN is required.
The key: value pairs are sorted by name.
the secret: keep functions small
password manager is 1Password
token bucket: 500 per minute, max_tokens: 4096, access token lifetime: 3600
secret santa: December 2026
A pass that has flag+delete of one note and code (0.85^n·score) is refused.
The vault has search+index, behind the mem0/Qdrant gate and a token.
PIN: see the wallet
pinning: versions
pwd: /home/me
password: ~/.config/pass/main
密码是必填的，令牌会过期。
Passwort: erforderlich
password: str
password: Optional[str] = None
def login(user: str, password: str) -> Token:
password = getpass.getpass()
token = os.environ['TOKEN']
token: string;
API_KEY=${API_KEY}
api_key: YOUR_API_KEY
token: ${{ secrets.GITHUB_TOKEN }}
postgres://user:password@localhost/db
http://localhost:8080/path?x=1
https://example.com/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit
550e8400-e29b-41d4-a716-446655440000
ses_0a1b2c3d4e5fABCDefgh123456XYZw msg_0a1b2c3d4e5fABCDefgh123456XYZw
sk-toggleable__content-label-arrow
src/components/Button2Group/IndexViewModelFactory.tsx
docs/2026-01-02/ReportABCFinalVersion2.md
mdmemory.capture.transcript.read_export_and_more_2
door-1-painted-red
billing-database-postgres-15
Bearer authentication is used; Basic information-retrieval-methods too
authorization = request.headers.get("Authorization")
Authorization: the standard flow; authorization: Negotiated by the client
OPENAI_API_KEY="My API Key"
call 1234 5678 9012 3456 at 1780304400000
A API local roda na porta 7200 (antes era 7100)
The login page is at /login2, and its form posts to /api/v2/login2
SMTPは1025番で接続
ポート1025番で接続します
プロキシは3128番に接続してから
用1025端口连接
1025番で接続
数据库用3307连接
门牌号是 4471
먼저 5433번 포트로 연결, SSH로 접속
Use pnpm for installs and scripts; lockfiles of npm are deleted on sight.
"""


def test_ordinary_words_and_code_are_left_alone() -> None:
    for text in (*HARMLESS.splitlines(), HARMLESS):
        assert redact(text) == (text, [])


def test_hashes_and_public_keys_are_left_alone() -> None:
    for seed in SEEDS:
        for length in (7, 12, 32, 40, 64):
            assert not has_secret(f"commit {noise(seed, length, HEX)} broke it")
        assert not has_secret(f"sha256:{noise(seed, 64, HEX)}")
        assert not has_secret(f'"integrity": "sha512-{noise(seed, 86)}=="')
        assert not has_secret(f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA{noise(seed, 44)} me@host")
        assert not has_secret(f"https://example.org/watch/{noise(seed, 44)}")


@given(st.text(max_size=300))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once, kinds = redact(text)
    assert redact(once) == (once, [])
    assert bool(kinds) == has_secret(text)


PARTS = (
    'password|token|: |=| is |Bearer |://a:b@c|hunter2hunter2|"|PIN|4711|[redacted:pin]|\n|seed '
    "phrase: a b c|Zx9|密码是|<private>|."
).split("|")


@given(st.lists(st.sampled_from(PARTS), max_size=14).map("".join))
def test_redacting_twice_changes_nothing_more_around_labels(text: str) -> None:
    once = redact(text)[0]
    assert redact(once) == (once, [])


def test_private_blocks_are_cut_out() -> None:
    for text, kept, blocks in (
        ("a <private>b</private> c", "a  c", 1),
        ("a <PRIVATE>b</Private> c <private >d</ private>", "a  c ", 2),
        ("a <private>b <private>c</private> d</private> e", "a  e", 1),
        ("a <private>b\n\nc", "a ", 1),
        ("`<private>b</private>`", "``", 1),
        ("a </private> b", "a </private> b", 0),
        ('<private reason="x">b</private>', "", 1),
        ("private, <privateer>", "private, <privateer>", 0),
        ("a [PRIVATE]b[/PRIVATE] c", "a  c", 1),
        ("a [private]b [PRIVATE]c[/private] d[/Private] e", "a  e", 1),
        ("a [PRIVATE]b\nc", "a ", 1),
        ("a [PRIVATE]b <private>c [/PRIVATE] d</private> e", "a  e", 1),
        ("a <private>b [/PRIVATE] c</private> e", "a  e", 1),
        ("see [private](private.md) [/private]", "see [private](private.md) [/private]", 0),
    ):
        assert strip_private(text) == (kept, blocks)


def _labels(text: str) -> list[tuple[str, str]]:
    return [(each.word, each.kind) for each in find_labels(text, text)]


def test_only_the_digits_of_a_label_decide_whether_it_is_one() -> None:
    assert _labels("our 3fa seed") != _labels("our 2fa seed") == [("2fa seed", "secret")]
    for digits in ("1", "2", "90", "314"):
        text = f"{digits}x9_{digits} log{digits}/password{digits}_{digits}key {digits}password"
        assert _labels(text) == _labels(re.sub(r"\d", "7", text))
        assert ("password", "password") in _labels(text)


# What a secret leaves behind is looked at: a note never holds less than a fact.

NOTHING = """\
API key is [redacted:openai_key]
my password is [redacted:password]
The password of the wifi at the office is [redacted:password], keep it.
Das Passwort für den Testserver lautet [redacted:password].
La contraseña del servidor de pruebas es [redacted:password].
数据库密码是[redacted:password]，别忘了
テスト環境のパスワードは[redacted:password]です。
Il mio portatile si sblocca con [redacted:password] se ti serve sudo.
[redacted:github_token]
""".splitlines()
SOMETHING = """\
the staging database listens on port 5433, password: [redacted:password]
Postgres runs at postgres://app:[redacted:url_password]@db.example.org/main
Log in as deploy. The password is [redacted:password]. Releases are cut on Tuesdays by Jonas.
The password rules of the shop follow the OWASP guide
""".splitlines()


def test_a_text_that_only_told_a_secret_says_nothing_and_one_that_tells_more_is_kept() -> None:
    assert [text for text in NOTHING if says_something(text)] == []
    assert [text for text in SOMETHING if not says_something(text)] == []
