"""A note never holds less than a fact: what a secret leaves behind is looked at."""

from rows import each

from mdmemory.privacy.redaction import says_something

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


def test_a_text_that_only_told_a_secret_says_nothing() -> None:
    def empty(text: str) -> None:
        assert not says_something(text)

    each(NOTHING, empty)


def test_a_text_that_tells_more_than_a_secret_is_kept() -> None:
    def kept(text: str) -> None:
        assert says_something(text)

    each(SOMETHING, kept)
