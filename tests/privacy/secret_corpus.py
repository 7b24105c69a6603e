"""Planted secrets and harmless look-alikes, made of seeded random characters at run time.

No secret stands in this file. `python tests/privacy/secret_corpus.py` prints precision and recall.
"""

import base64
import random
import string
import sys
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mdmemory.privacy.redaction import redact

LETTERS = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
DIGITS = string.digits
SYMBOLS = "!#%&*+-=?@^_~"


@dataclass(frozen=True)
class Case:
    """A text, what in it must go, and the group it is counted in. A harmless text hides nothing."""

    group: str
    text: str
    secrets: tuple[str, ...] = ()


class Dice:
    """Random characters that always come out the same for a seed."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def some(self, length: int, alphabet: str = LETTERS) -> str:
        """Characters of the alphabet: at least one of each kind that it has."""
        made = [self.chance.choice(alphabet) for _ in range(length)]
        kinds = [
            k
            for k in (DIGITS, string.ascii_uppercase, string.ascii_lowercase)
            if set(k) <= set(alphabet) or (k == string.ascii_lowercase and alphabet == HEX)
        ]
        for place, kind in zip(self.chance.sample(range(length), len(kinds)), kinds, strict=True):
            made[place] = self.chance.choice([c for c in kind if c in alphabet])
        return "".join(made)

    def password(self) -> str:
        """As people and managers make them: noise, noise with symbols, words with a number."""
        words = ("maple", "river", "Copper", "falcon", "Winter", "tango", "pixel")
        style = self.chance.randrange(4)
        if style == 0:
            return self.some(self.chance.randint(8, 14))
        if style == 1:
            half = self.chance.randint(4, 7)
            return self.some(half) + self.chance.choice(SYMBOLS) + self.some(half)
        if style == 2:
            return self.chance.choice(words) + self.some(2, DIGITS) + self.chance.choice("!#?x")
        return "-".join(self.chance.sample(words, 2)) + "-" + self.some(2, DIGITS)

    def person(self) -> str:
        return self.chance.choice(("marta", "deploy-bot", "j.doe", "svc_backup", "ops@example.org"))

    def iban(self, country: str, length: int) -> str:
        """An account's international number with right check digits."""
        digits = "".join(self.chance.choices(DIGITS, k=length - 4))
        moved = f"{digits}{int(country[0], 36)}{int(country[1], 36)}00"
        return f"{country}{98 - int(moved) % 97:02}{digits}"

    def card(self, prefix: str, length: int) -> str:
        """A card number with a right check digit."""
        digits = prefix + self.some(length - len(prefix) - 1, DIGITS)
        doubled = sum(sum(divmod(2 * int(c), 10)) for c in digits[::-2])
        return digits + str(-(doubled + sum(map(int, digits[-2::-2]))) % 10)


# --- what must go ----------------------------------------------------------------------------

# A service: what stands in front (cut in two, so that no scanner stops at this file), how many
# characters of which alphabet follow, and what comes after. Lengths are the published ones.
TOKENS: tuple[tuple[str, int, str, str], ...] = (
    ("sk-" + "ant-api03-", 93, LETTERS, "AA"), ("sk-" + "proj-", 120, LETTERS, ""),
    ("sk-" + "svcacct-", 80, LETTERS, ""), ("sk-" + "or-v1-", 64, HEX, ""),
    ("sk" + "-", 48, LETTERS, ""), ("sk" + "-", 32, HEX, ""), ("gh" + "p_", 36, LETTERS, ""),
    ("gh" + "s_", 36, LETTERS, ""), ("github" + "_pat_", 82, LETTERS, ""),
    ("glp" + "at-", 20, LETTERS, ""), ("glr" + "t-", 20, LETTERS, ""),
    ("gls" + "oat-", 20, LETTERS, ""), ("GR134" + "8941", 20, LETTERS, ""),
    ("np" + "m_", 36, LETTERS, ""), ("py" + "pi-AgEI", 120, LETTERS, ""),
    ("AI" + "za", 35, LETTERS, ""), ("ya" + "29.", 80, LETTERS, ""),
    ("GOC" + "SPX-", 28, LETTERS, ""), ("h" + "f_", 34, string.ascii_letters, ""),
    ("AK" + "IA", 16, UPPER, ""), ("AS" + "IA", 16, UPPER, ""),
    ("xo" + "xb-1234567890-", 24, LETTERS, ""), ("xo" + "xp-", 60, LETTERS, ""),
    ("xa" + "pp-1-A0B1-123-", 64, HEX, ""),
    ("https://hooks.sl" + "ack.com/services/T0A/B0B/", 24, LETTERS, ""),
    ("https://dis" + "cord.com/api/webhooks/1234567890/", 68, LETTERS, ""),
    ("sk_" + "live_", 24, LETTERS, ""), ("rk_" + "test_", 24, LETTERS, ""),
    ("wh" + "sec_", 32, LETTERS, ""), ("S" + "K", 32, HEX, ""), ("ke" + "y-", 32, HEX, ""),
    ("do" + "p_v1_", 64, HEX, ""), ("shp" + "at_", 32, HEX, ""), ("sq0" + "atp-", 22, LETTERS, ""),
    ("da" + "pi", 32, HEX, ""), ("lin_" + "api_", 40, LETTERS, ""), ("nt" + "n_", 46, LETTERS, ""),
    ("sec" + "ret_", 43, LETTERS, ""), ("fi" + "gd_", 40, LETTERS, ""),
    ("gs" + "k_", 52, LETTERS, ""), ("r" + "8_", 37, LETTERS, ""),
    ("ppl" + "x-", 48, LETTERS, ""), ("xa" + "i-", 80, LETTERS, ""), ("hv" + "s.", 90, LETTERS, ""),
    ("a1B2c3D4e5F6g7.atl" + "asv1.", 64, LETTERS, ""), ("sb" + "p_", 40, HEX, ""),
    ("sntr" + "yu_", 64, HEX, ""), ("NR" + "AK-", 27, UPPER, ""),
    ("dckr" + "_pat_", 27, LETTERS, ""), ("AGE-SECRET-" + "KEY-1", 58, UPPER, ""),
    ("ATA" + "TT3", 186, LETTERS, ""), ("abc8" + "Q~", 33, LETTERS, ""),
    ("LT" + "AI", 20, LETTERS, ""), ("cf" + "ut_", 48, LETTERS, ""),
    ("gl" + "sa_", 32, LETTERS, "_0a1b2c3d"), ("dp." + "pt.", 43, LETTERS, ""),
    ("pscale" + "_tkn_", 43, LETTERS, ""), ("pu" + "l-", 40, HEX, ""),
    ("ruby" + "gems_", 48, HEX, ""), ("pn" + "u_", 36, LOWER, ""),
    ("HRKU" + "-AA", 58, LETTERS, ""), ("fo" + "1_", 43, LETTERS, ""),
    ("tskey" + "-auth-kAbC12CNTRL-", 32, LETTERS, ""),
    ("xkey" + "sib-", 64, HEX, "-aB3dE6gH9jK2mN5p"),
    ("", 32, HEX, "-" + "us14"), ("tf" + "p_", 59, LETTERS, ""), ("AK" + "Cp", 69, LETTERS, ""),
    ("op" + "s_eyJ", 260, LETTERS, ""), ("EA" + "AC", 120, LETTERS, ""),
    ("sg" + "p_", 40, HEX, ""), ("AQ" + "VN", 36, LETTERS, ""), ("sha2" + "56~", 43, LETTERS, ""),
    ("rd" + "me_", 70, LOWER, ""), ("AP" + "I-", 26, UPPER, ""), ("ship" + "po_live_", 40, HEX, ""),
)  # fmt: skip

# Where a token is met; `{}` is the token.
PLACES = (
    "{}",
    "use {}, please",
    "here it is: `{}`",
    "export SERVICE_KEY={}",
    'const client = new Client("{}");',
    "  auth: {}  # production",
    '{{"url": "https://example.org", "value": "{}"}}',
    "2026-03-04T10:11:12Z INFO request signed with {} in 12 ms",
    "curl -H 'X-Thing: {}' https://api.example.org/v1",
    "我们用的是{}。",
    "トークンは「{}」です",
    "Der Schlüssel steht hier ({}), bitte ändern.",
    "--auth={} --verbose",
    "| staging | {} | 2026 |",
)

# A label, in context; `{}` is what must go.
LABELLED = (
    "my password is {}", "password: {}", "Password = {}",
    "The password for the staging host is {}.",
    "pwd={}", "DB_PASSWORD={}", "POSTGRES_PASSWORD: {}", "db.password={}", "userPassword: '{}'",
    '{{"user": {{"password": "{}"}}}}', "spring.datasource.password={}", 'passwd = "{}"',
    "<password>{}</password>", "sshpass -p '{}' ssh host", "mysql -u root -p{} shop",
    "root password -> {}", "The wifi password is {} btw", "password `{}`",
    "ALTER USER app WITH PASSWORD '{}';", "ALTER ROLE app IDENTIFIED BY '{}'",
    "2026-01-02 10:00:01 DEBUG login attempt password={} ip=10.0.0.1",
    "密码：{}", "我的密码是{}，别告诉别人", "密碼: {}", "数据库口令为 {}", "生产环境密码 {}",
    "パスワード：{}", "パスワードは{}です", "DBのパスワードは「{}」",
    "비밀번호: {}", "비밀번호는 {} 입니다", "서버 비밀번호는 {}", "Passwort: {}",
    "Das Kennwort lautet {}",
    "Das Passwort für den Server ist {}.", "mot de passe : {}", "Le mot de passe est {}",
    "contraseña: {}", "La contraseña es {}.", "la contraseña del servidor: {}",
    "pass" "phrase for the key: {}", "--password {}", "--password={}", "PGPASSWORD={} psql -h db",
)  # fmt: skip

KEYED = (
    "api key: {}", "API_KEY={}", "apiKey: '{}',", "X-API-Key: {}", "client_secret = '{}'",
    "clientSecret: {}", "secret_key = \"{}\"", "AWS_SECRET_ACCESS_KEY={}",
    "aws_secret_access_key = {}",
    "access token: {}", "refresh_token={}", "accessToken={}&lang=en", "auth_token: {}",
    "SESSION_SECRET={}", "JWT_SECRET={}", "signing key is {}", "ENCRYPTION_KEY={}",
    "AccountName=shop;AccountKey={}==;EndpointSuffix=core.windows.net", "token = {}",
    "https://api.example.org/v1?access_token={}&page=2", "?api_key={}", "bot token: {}",
    "private_key: {}", "the secret is {}", "NPM_TOKEN={}", "//registry.example.org/:_authToken={}",
    "API密钥：{}", "令牌: {}", "密钥是 {}", "APIキー: {}", "アクセストークンは{}",
    "シークレットキー：{}",
    "API 키: {}", "토큰: {}", "시크릿 키: {}", "API-Schlüssel: {}", "Zugangstoken: {}",
    "clé API : {}",
    "le jeton est {}", "clave de API: {}", "clave secreta: {}", "token de acceso: {}",
    "Authorization: Bearer {}", "Authorization: token {}", "-H 'authorization: Basic {}'",
    "Proxy-Authorization: Basic {}", "Set-Cookie: session_token={}; HttpOnly",
)  # fmt: skip

PAIRED = (
    "user: {u}, password: {p}", "username={u} password={p}", "login {u} / password {p}",
    "Username: {u}\nPassword: {p}", '{{"username": "{u}", "password": "{p}"}}',
    "用户名：{u}，密码：{p}", "账号 {u} 密码 {p}", "ユーザー名：{u} パスワード：{p}",
    "아이디: {u} 비밀번호: {p}", "Benutzername: {u}, Passwort: {p}",
    "identifiant : {u}, mot de passe : {p}", "usuario: {u}, contraseña: {p}",
    "account: {u}; pwd: {p}",
)  # fmt: skip

URLS = (
    "postgres://app:{}@db.example.org/main", "redis://:{}@cache:6379/0",
    "https://bot:{}@example.org/repo.git", "mongodb+srv://root:{}@cluster0.example.net/?w=1",
    "amqp://guest:{}@mq:5672//", "DATABASE_URL=mysql://shop:{}@10.1.2.3:3306/shop",
)  # fmt: skip


# Written when the rules had passed what stands above, without looking at them.
LABELLED_LATER = (
    "the admin pw is {}", "pass: {}", "PASS={}", "my pass is {}", "passcode {} opens it",
    "use {} as the password", "{} is the root password", "log in with marta / {}",
    "creds: marta:{}", "credentials are marta / {}", "ssh marta:{}@10.0.0.3", "ftp://u:{}@host/x",
    "smtp_pass = '{}'", "smtpPassword={}", 'admin_password: "{}"', "password:{}", "Password：{}",
    "PASSWORD	{}", "password is: {}", "password was {} until may", "new password => {}",
    "pwd: {};", "--db-password={}", "-e MYSQL_ROOT_PASSWORD={}", "ENV APP_PASSWORD {}",
    "define('DB_PASSWORD', '{}');", "'password' => '{}',", ':password => "{}"',
    'String password = "{}";', "const pwd = `{}`;", "password: |\n  {}", '"Pass' 'word=\\"{}\\""',
    "Server=db;User Id=sa;Password={};", "Data Source=x;Pwd={}", "wifi: HomeNet / password {}",
    "密码就是{}", "登录密码：{}", "密码改成 {} 了", "密码为：{}", "パスワードを{}に変更",
    "パスワード {}", "パスは {}", "비번은 {}", "암호: {}", "비밀번호를 {}로 변경",
    "Passwort ist {}", "Kennwort={}", "mdp: {}", "le mot de passe du serveur est {}", "clave: {}",
    "contraseña={}", "mi contraseña es {}", "the vpn password should be {}",
    "i set the password to {}", "changed password from old to {}", "PW={}", "pw: {}",
    "Passwd: {}", "password -> {}", "  password: {}\n  host: db", "ansible_ssh_pass={}",
    "ansible_become_password: {}", "keystore.password={}", "storePassword={}",
    "spring.redis.password: '{}'", "rabbitmq://app:{}@mq", "sudo password {}", "bind_pw {}",
    "ldap bind password: {}", "echo '{}' | sudo -S ls", "htpasswd -b file marta {}",
    "zip -P {} a.zip f", "psql postgresql://me:{}@h/db",
    "curl --user me:{} https://x.example.org", "wget --password={} https://x",
    "net use z: /user:me {}", "user=me;password={};", '<add key="Password" value="{}"/>',
    "密码: {}\n主机: db", "root 密码是「{}」", "开机密码 {}", "管理员密码={}",
    "初期パスワード: {}", "ログインパスワードは {} です。", "관리자 비밀번호 = {}",
    "초기 비밀번호는 {}", "Mein Passwort: {}", "Das WLAN-Passwort lautet {}",
    "mon mot de passe : {}", "contraseña de root: {}",
)  # fmt: skip

# The same for keys.
KEYED_LATER = (
    "apikey={}", "key={}", "my openai key is {}", "x-auth-token: {}", "Api-Key {}", "secret: {}",
    "bearer {}", '"refreshToken":"{}"', "webhook secret {}", "hmac key: {}",
    "STRIPE_WEBHOOK_SECRET={}", "cookie: sid={}", "github token = {}", "csrf_token={}", "密钥={}",
    "访问令牌：{}", "访问密钥是{}", "アクセスキー: {}", "액세스 토큰: {}", "인증키: {}",
    "Schlüssel: {}", "jeton d'accès : {}", "llave secreta: {}", "AZURE_STORAGE_KEY={}",
    "SharedAccessKey={}=", "license key: {}", "export GH_TOKEN={}", "auth={}", "?token={}",
    "#access_token={}", "OPENROUTER_KEY: {}", "x-goog-api-key: {}", "token={}", '"token": "{}"',
    "'secret': '{}'", "my api key is {}, keep it", "secret access key: {}", "client secret is {}",
    "consumer_secret={}", "signing_secret: {}", 'app_token = "{}"', "Cookie: auth_token={}",
    "?sig={}", "密钥: {}", "API令牌是 {}", "シークレット: {}", "비밀키: {}", "private token: {}",
    "X-Vault-Token: {}", "deploy key {}",
)  # fmt: skip


def positives(seed: int = 1) -> Iterator[Case]:
    """Texts with secrets. Each seed gives other characters."""
    dice = Dice(seed)
    for number, (front, length, alphabet, end) in enumerate(TOKENS):
        token = front + dice.some(length, alphabet) + end
        yield Case("token", PLACES[(number + seed) % len(PLACES)].format(token), (token[-16:],))
    part = dice.some(36)
    yield Case("token", f"eyJ{part}.eyJ{dice.some(60)}.{dice.some(43)}", (part,))
    yield Case("token", f"{dice.some(9, DIGITS)}:AA{dice.some(33)} is the bot", (":AA",))
    yield Case("token", f"key: SG.{dice.some(22)}.{part}", (part,))
    for place in LABELLED:
        secret = dice.password()
        yield Case("password", place.format(secret), (secret,))
    for number, place in enumerate(KEYED):
        secret = dice.some((20, 24, 32, 40)[number % 4])
        yield Case("key", place.format(secret), (secret,))
    for place in LABELLED_LATER:
        secret = dice.password()
        yield Case("later", place.format(secret), (secret,))
    for place in KEYED_LATER:
        secret = dice.some(28)
        yield Case("later", place.format(secret), (secret,))
    for place in PAIRED:
        user, secret = dice.person(), dice.password()
        yield Case("pair", place.format(u=user, p=secret), (user, secret))
    for place in URLS:
        secret = dice.some(12)
        yield Case("url", place.format(secret), (secret,))
    yield from _numbers(dice)
    yield from _blocks(dice)
    yield from _accounts(Dice(seed + 1))


def _accounts(dice: Dice) -> Iterator[Case]:
    for country, length, place in (
        ("DE", 22, "IBAN: {}"), ("AT", 20, "Überweisung an {}."), ("NL", 18, "pay to {} please"),
        ("FR", 27, "账号 {}"), ("NO", 15, "{}"), ("PL", 28, "振込先は{}です"),
    ):  # fmt: skip
        number = dice.iban(country, length)
        yield Case("iban", place.format(number), (number,))
        spaced = " ".join(number[at : at + 4] for at in range(0, length, 4))
        yield Case("iban", place.format(spaced), (spaced,))


def _numbers(dice: Dice) -> Iterator[Case]:
    for prefix, length, place in (
        ("4", 16, "card {} exp 12/29"), ("52", 16, "信用卡 {}"), ("6011", 16, "{}"),
        ("37", 15, "Amex: {}"), ("4", 16, '"pan": "{}"'), ("2221", 16, "カード番号 {}"),
    ):  # fmt: skip
        number = dice.card(prefix, length)
        yield Case("card", place.format(number), (number,))
        spaced = " ".join(number[at : at + 4] for at in range(0, 16, 4))
        if length == 16:
            yield Case("card", place.format(spaced), (spaced,))
    for place in ("PIN: {}", "my PIN is {}", "pin code: {}", "暗証番号：{}", "PIN码：{}",
    "PIN 번호: {}",
                  "Die PIN lautet {}", "le code PIN est {}", "el PIN es {}"):  # fmt: skip
        pin = dice.some(4, DIGITS)
        yield Case("pin", place.format(pin), (pin,))


def _blocks(dice: Dice) -> Iterator[Case]:
    for kind in ("RSA ", "OPENSSH ", "", "EC "):
        lines = [dice.some(64) for _ in range(4)]
        frame = [f"-----{word} {kind}PRIVATE " + "KEY-----" for word in ("BEGIN", "END")]
        block = "\n".join((frame[0], *lines, frame[1]))
        yield Case("block", f"the key:\n{block}\nthanks", tuple(lines))
    escaped = "\\n".join((f"-----BEGIN PRIVATE {'KEY'}-----", dice.some(64), dice.some(64)))
    yield Case("block", f'{{"private_key": "{escaped}"}}', (escaped[-40:],))
    words = " ".join(dice.chance.choices(("apple", "river", "cloud", "stone", "ladder"), k=12))
    yield Case("block", f"seed phrase: {words}", (words,))
    for length in (36, 40, 48, 64):
        noise = dice.some(length)
        yield Case("noise", f"we got {noise} back", (noise,))
        yield Case("noise", f"VALUE={noise}", (noise,))


# --- what must stay --------------------------------------------------------------------------

PROSE = """\
The password must be at least 12 characters and is never sent by mail.
Passwords are rotated every ninety days; the password is case-sensitive.
We count tokens: a note costs 15 to 25 tokens, an index 2000.
max_tokens: 4096, token budget: 8000, tokens_today=12000
The token is expired, so the client must refresh the token first.
The secret is out: everybody uses tabs.
The key is to keep functions small; the key point: one fact per note.
Key: value pairs are sorted by name. Primary key: (tenant_id, note_id)
password manager is 1Password, two-factor is mandatory
The PIN is required at the door. PIN: see the wallet. Pin the version: 2.31.0
The user is a backend engineer; the user name is shown at the top.
Username: lower case, at most 30 characters. Password: at least 12 characters.
login: required; account: optional
Ask Marta for the credentials of staging; credentials live in the vault.
The API key is read from the environment, never from a file in the repository.
API keys: one per service. Access token lifetime: 3600
Authentication: basic auth is off. Authorization: only admins may delete.
Bearer authentication is used; Basic Authentication was dropped in 2024.
secret santa: December 2026
Reset your password at https://example.org/reset?lang=en#form
Call me at +49 30 1234567 or 555-867-5309, room 4711.
ISBN 978-3-16-148410-0 and ISBN 0306406152, issue 1234567890123456
Order 4539 1488 0343 6468 was shipped on 2026-01-02 03:04:05.
Donaudampfschifffahrtsgesellschaftskapitän and Pneumonoultramicroscopicsilicovolcanoconiosis
Invoice 2026-000123, account 12345678, meeting id 987 6543 2100
密码是必填的，令牌会过期。
用户名不区分大小写，密码至少十二位。
密钥由运维保管，不写进仓库。
密码管理器用的是 1Password，令牌桶限流：500 每分钟
パスワードは必須です。トークンは一時間で切れます。
パスワードは12文字以上にしてください。
APIキーは環境変数から読みます。
비밀번호는 필수입니다. 토큰은 한 시간 뒤에 만료됩니다.
비밀번호는 12자 이상이어야 합니다.
Das Passwort ist erforderlich und das Kennwort wird nie gespeichert.
Le mot de passe est obligatoire ; le jeton expire au bout d'une heure.
La contraseña es obligatoria; el token caduca en una hora.
We keep the passphrase in the safe; the recovery phrase is on paper.
Two tokens per word; a token is about four characters.
Keyboard shortcut: ctrl+shift+p; key binding = cmd+k cmd+s
"""

CODE = """\
password = os.environ["DB_PASSWORD"]
password = getpass.getpass()
password = getpass()
pwd = input("password: ")
token = os.getenv("TOKEN", "")
const token = process.env.API_TOKEN;
let apiKey = config.get("apiKey")
api_key: ${API_KEY}
password: {{ vault_db_password }}
password: !vault |
token: ${{ secrets.GITHUB_TOKEN }}
def login(user: str, password: str) -> Token:
password: Optional[str] = None
private readonly password: string;
if (password === confirmation) { return next(); }
if password != expected: raise BadPassword(user)
user.password = hash_password(raw)
this.token = await fetchToken(user, password);
self.secret = secret or load_secret()
SECRET_KEY = env("SECRET_KEY")
SECRET_KEY = secrets.token_urlsafe(32)
password_hash = bcrypt.hashpw(password, salt)
<input type="password" name="password" placeholder="Password">
<label for="token">Token</label>
API_KEY=YOUR_API_KEY
API_KEY=<your-key>
password=changeme
password: "********"
token=xxxxxxxxxxxx
postgres://user:password@localhost/db
postgres://${USER}:${PASSWORD}@db/main
redis://localhost:6379/0
http://localhost:8080/path?x=1&token=abc
curl -u "$USER:$PASSWORD" https://example.org
curl -H "Authorization: Bearer $TOKEN" https://example.org
headers = {"Authorization": f"Bearer {token}"}
authorization = request.headers.get("Authorization")
git clone git@github.com:example/example.git
from tokenize import tokenize, TokenInfo
tokens = tokenizer.encode(text)
token_count = len(tokens); max_output_tokens = 1024
primary_key=True, foreign_key="user.id", key=lambda pair: pair[0]
key: str = field(default=""), secret_name="db-credentials"
kubectl get secret db-credentials -o yaml
secretKeyRef: {name: db-credentials, key: password}
ssh-keygen -t ed25519 -f ~/.ssh/id_ed25519
color: #a1b2c3; background: #FFEEDD; --accent: #12ab34cd
grid-template-columns: repeat(auto-fill, minmax(240px, 1fr))
.btn--primary__icon-left:hover { transform: translate3d(0, 0, 0) }
SELECT password_hash FROM users WHERE id = 42
assert response.json()["token"]
print(f"{password=}")
- uses: actions/checkout@v4.2.2
RUN pip install --no-cache-dir mdmemory==1.2.3
src/components/Button2Group/IndexViewModelFactory.tsx
com.example.service.TokenAuthenticationProviderFactoryBean2
/usr/lib/python3.11/site-packages/pkg/__pycache__/module.cpython-311.pyc
C:\\Users\\me\\AppData\\Local\\Programs\\Python\\Python311\\python.exe
test_a_password_that_is_a_word_is_redacted_where_it_stands_2
kAXUIElementErrorNotificationAlreadyRegistered2
"""

# Harmless lines, written as late as the secrets above.
PLAIN_LATER = (
    "password field is required on the login form",
    "The password reset link expires after 24 hours", "password length: 12",
    "password: min 12 chars, 1 digit", "Password policy v2.1 applies", "password protected zip",
    "password hashing uses argon2id with m=65536", "pass the token through",
    "pass: 42 tests, fail: 0", "PASS tests/test_a.py (3.2 s)", "passed: 118",
    "passkey support landed in v3.2", "bypass the proxy", "compass heading 270",
    "passport number format", "pwd prints /home/me/work", "token ring network 802.5",
    "token: 15 per line", "token usage: input 1200, output 300", "tokens per second: 45.3",
    "next token is ')'", "EOF token expected at line 12", "secret manager is Vault 1.15",
    "secrets are mounted at /run/secrets/db", "keyboard: HHKB Pro 2",
    "key: tenant_id, value: notes", "keys = ['alpha', 'beta42']", "sort key=created_at",
    "key_size=2048", "public key: ssh-rsa AAAAB3NzaC1yc2E", "partition key: user_id_2024",
    "cache_key = f'{user}:{day}'", "account: 42 users", "account manager: Marta Lopez",
    "login: https://sso.example.org", "user: marta, team: platform", "用户名：小王，部门：平台组",
    "账号体系用 OAuth2", "密码策略：至少 12 位，含数字", "口令强度检查在 v2 加入",
    "令牌长度 64 位", "パスワード管理は 1Password", "トークン数は 4096 まで", "キーは user_id",
    "비밀번호 정책은 12자 이상", "토큰 한도: 4096", "Kennwortregeln: 12 Zeichen",
    "Passwort-Manager: KeePassXC", "le mot de passe doit contenir 12 caractères",
    "la clave está en la documentación", "clave: usar tabs siempre",
    "Basic auth is off since 2024-01-01", "authorization: role-based, see RFC 6749",
    "pin numpy to 1.26.4", "PIN entry screen, build 4711", "spinner: 3000 ms", "card layout 4111",
    "IBAN field validation", "UUID 7f3c9a1e-0b2d-4c5e-8f6a-1b2c3d4e5f60",
    "version 2026.01.02-rc1+build.45", "sha 9fceb02",
    "GUID {3F2504E0-4F89-11D3-9A0C-0305E82C3301}", "isbn=9783161484100",
    "phone: +1 (415) 555-0132", "ports 5432, 6379 and 27017",
    "ipv6 2001:0db8:85a3:0000:0000:8a2e:0370:7334", "mac 00:1B:44:11:3A:B7",
    "chrome extension id aapbdbdomjkkjkaonfhkkikfgjllcleb", "ticket ABC-12345-DEF",
    "node_modules/.pnpm/react-dom@18.2.0_react@18.2.0",
    "getUserAuthenticationTokenFromRequestHeaderV2",
    "AbstractSingletonProxyFactoryBean2Test4ImplV3",
    "https://x.example.org/?utm_source=a&id=Ab12Cd34", "curl -u admin https://example.org",
    "password = request.form['password']", "password=self.password",
    "auth = HTTPBasicAuth(user, password)", "token = jwt.encode(payload, key)",
    'token := os.Getenv("TOKEN")', "secret = Rails.application.credentials.secret",
    "apiKey: process.env.KEY!", "password VARCHAR(255) NOT NULL",
    '"password": {"type": "string", "minLength": 12}', "password: z.string().min(8)",
    "Password: <input>", "password: 'required|min:8'", "password_reset_token_expires_in = 3600",
    "AKIA is the prefix of AWS keys", "keys start with sk- or ghp_",
    "use hf_ tokens for hugging face", "rgb(12, 34, 56) #a1b2c3d4",
    "M12.5 3.2c1.1 0 2-.9 2-2s-.9-2-2-2-2 .9-2 2 .9 2 2 2z", "mp4 1080p60 H264 AAC2",
    "Base64 of hello is aGVsbG8gd29ybGQ=", "the password prompt appears twice",
    "my password manager generates 20 characters", "password rules changed in v3.1 of the app",
    "set the password to something long", "passwords: hashed with bcrypt cost 12",
    "pass rate: 98.5%", "pw stands for password", "auth: oauth2, provider: github",
    "auth flow v2", "authors: marta", "sid 42 is the session", "key takeaways: 1) tests 2) docs",
    "key features2024 list", "token limit 200000 for opus-4", "tokenizer: cl100k_base",
    "secret sauce 4ever", "secretary of state", "credentials.json is ignored by git",
    "log in with GitHub / Google", "login via example.org/sso2", "user:group 1000:1000",
    "marta:platform@example.org", "see team@example.org:8080",
    "image: ghcr.io/example/app:v1.2.3-rc1", "npm i react18@npm:react@18.2.0",
    "password: ${{ secrets.DB_PASSWORD }}", "password=%(db_password)s",
    'password = "{}".format(x)', "password: process.env.DB_PASS",
    "$password = $_POST['password'];", "PASSWORD_MIN_LENGTH = 12",
    "PasswordResetTokenGenerator2FA", "key: '2024-01-02T03:04:05Z'", "key=sha256-2b4c",
    "cache key v3:users:42:profile", "object key: uploads/2024/01/photo123.jpg",
    "s3 key = backups/db-2024-01-02.sql.gz", "registry key HKEY_LOCAL_MACHINE\\SOFTWARE\\X64",
    "hotkey: Ctrl+Shift+F12", "api key rotation every 90d",
    "keyId: arn:aws:kms:eu-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab",
    "auth required since 2024", "Version 4111.1111.1111.1111", "密码复杂度：大写、小写、数字",
    "关键是 v2 接口", "用户名: admin", "キーボードは HHKB2", "鍵は user42_profile",
    "키보드 단축키: F12", "Schlüssel: tenant42_id", "la clave: 12 tests", "jeton CSRF v2",
)  # fmt: skip

HASHES: tuple[Callable[[Dice], str], ...] = (
    lambda d: f"commit {d.some(40, HEX)} broke it",
    lambda d: f"{d.some(7, HEX)} fix: something",
    lambda d: f"sha256:{d.some(64, HEX)}",
    lambda d: f"{d.some(64, HEX)}  dist/app.tar.gz",
    lambda d: f"md5 = {d.some(32, HEX)}",
    lambda d: f'"integrity": "sha512-{d.some(86)}=="',
    lambda d: f"integrity sha1-{d.some(27)}=",
    lambda d: f"golang.org/x/text v0.3.7 h1:{d.some(43)}=",
    lambda d: f'hash = "sha384-{d.some(64)}"',
    lambda d: f"--hash=sha256:{d.some(64, HEX)}",
    lambda d: f"image: example/app@sha256:{d.some(64, HEX)}",
    lambda d: f"SHA256:{d.some(43)} me@host (ED25519)",
    lambda d: f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA{d.some(44)} me@host",
    lambda d: f'ETag: "{d.some(32, HEX)}"',
    lambda d: f"id {uuid.UUID(int=d.chance.getrandbits(128))}",
    lambda d: f"trace_id={d.some(32, HEX)} span_id={d.some(16, HEX)}",
    lambda d: f"ses_{d.some(26)} msg_{d.some(26)} prt_{d.some(26)}",
    lambda d: f"toolu_{d.some(24)} call_{d.some(24)}",
    lambda d: f"chatcmpl-{d.some(29)}",
    lambda d: f"req_{d.some(24)}",
    lambda d: f"https://example.org/watch/{d.some(44)}",
    lambda d: f"https://docs.example.org/d/{d.some(44)}/edit",
    lambda d: f"https://example.org/a.js?v={d.some(12, HEX)}",
    lambda d: f"https://cdn.example.org/assets/index-{d.some(8)}.js",
    lambda d: f"data:image/png;base64,iVBORw0KGgo{d.some(120)}=",
    lambda d: f"![logo](data:image/svg+xml;base64,{d.some(90)})",
    lambda d: f"url(data:font/woff2;base64,{d.some(120)})",
    lambda d: f"X-Amz-Date: 20260102T030405Z, build {d.some(10, DIGITS)}",
    lambda d: f"phone {d.some(11, DIGITS)}, order {d.some(12, DIGITS)}",
    lambda d: f"tracking number 1Z{d.some(16, UPPER)}",
    lambda d: f"/nix/store/{d.some(32, LOWER)}-python3-3.11.9",
    lambda d: f"arn:aws:iam::{d.some(12, DIGITS)}:role/deploy",
    lambda d: f"time={d.some(13, DIGITS)} level=info msg=done",
    lambda d: f"worktree {d.some(40, HEX)} refs/heads/feature-{d.some(4, DIGITS)}",
)


def negatives(seed: int = 1) -> Iterator[Case]:
    """Texts that hold no secret, though they look or talk like one."""
    dice = Dice(seed)
    for line in PROSE.splitlines():
        yield Case("prose", line)
    for line in CODE.splitlines():
        yield Case("code", line)
    for make in HASHES:
        yield Case("ids", make(dice))
    account = Dice(seed + 1).iban("DE", 22)
    yield Case("ids", f"part {account[:-1]}{(int(account[-1]) + 1) % 10} of the batch")
    wrong = dice.card("4", 16)
    yield Case("ids", f"order {wrong[:-1]}{(int(wrong[-1]) + 1) % 10} ok")
    prose = base64.b64encode(b"plain words of no account at all").decode().lower()
    yield Case("ids", f"lower case {prose}")
    for line in PLAIN_LATER:
        yield Case("later", line)


# --- the figures -----------------------------------------------------------------------------


def missed(case: Case) -> bool:
    """Whether a secret of the case is still to be read."""
    return any(secret in redact(case.text)[0] for secret in case.secrets)


def touched(case: Case) -> bool:
    """Whether anything was taken from a harmless text."""
    return bool(redact(case.text)[1])


@dataclass(frozen=True)
class Figures:
    """Precision and recall over the texts of some seeds, and the texts that went wrong."""

    planted: int
    harmless: int
    lost: tuple[Case, ...]
    false: tuple[Case, ...]

    @property
    def recall(self) -> float:
        return 1 - len(self.lost) / self.planted

    @property
    def precision(self) -> float:
        found = self.planted - len(self.lost)
        return found / (found + len(self.false))


def measure(seeds: range = range(1, 6)) -> Figures:
    """The figures; the lines of prose and code are the same for every seed, and counted once."""
    planted = [case for seed in seeds for case in positives(seed)]
    harmless = list(dict.fromkeys(case for seed in seeds for case in negatives(seed)))
    return Figures(
        len(planted),
        len(harmless),
        tuple(filter(missed, planted)),
        tuple(filter(touched, harmless)),
    )


def main() -> None:
    figures = measure()
    for word, cases in (("missed", figures.lost), ("wrongly redacted", figures.false)):
        for case in cases:
            print(f"{word} ({case.group}): {redact(case.text)[0]!r}", file=sys.stderr)
    print(f"planted {figures.planted}, missed {len(figures.lost)}: recall {figures.recall:.3f}")
    print(
        f"harmless {figures.harmless}, redacted {len(figures.false)}: "
        f"precision {figures.precision:.3f}"
    )


if __name__ == "__main__":
    main()
