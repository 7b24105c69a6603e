"""What secrets look like: token shapes of services, labels in seven languages, and whether a
value could be one. `privacy` finds the places; nothing here searches a text."""

from __future__ import annotations

import math
import re
from itertools import pairwise

_W = "[A-Za-z0-9]"
_V = "[A-Za-z0-9_-]"
_HEX = "[0-9a-fA-F]"

# (kind, how it can begin, expression): looking for a literal costs next to nothing. Prefixes and
# lengths are those the services publish.
TOKENS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("anthropic_key", ("sk-ant-",), rf"sk-ant-{_V}{{20,}}"),
    ("openai_key", ("sk-",), rf"sk-(?!ant-){_V}{{20,}}"),
    ("github_token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), rf"gh[pousr]_{_W}{{36,}}"),
    ("github_token", ("github_pat_",), rf"github_pat_{_W}{{20,}}_?{_W}*"),
    ("gitlab_token", ("gl",), r"gl(?:pat|ptt|rt|dt|oas|cbt|ft|ffct|imt|agent|soat)-[\w.-]{20,}"),
    ("gitlab_token", ("GR1348941",), rf"GR1348941{_V}{{20,}}"),
    ("npm_token", ("npm_",), rf"npm_{_W}{{36}}"),
    ("pypi_token", ("pypi-",), rf"pypi-{_V}{{40,}}"),
    ("google_key", ("AIza",), rf"AIza{_V}{{35}}"),
    ("google_token", ("ya29.", "GOCSPX-"), rf"(?:ya29\.|GOCSPX-){_V}{{20,}}"),
    ("huggingface_token", ("hf_",), rf"hf_{_W}{{30,}}"),
    ("aws_key", ("AKIA", "ASIA", "ABIA", "ACCA"), r"A(?:KI|SI|BI|CC)A[0-9A-Z]{16}(?![0-9A-Za-z])"),
    ("slack_token", ("xox", "xapp-"), rf"(?:xoxe\.)?(?:xox[abeoprs]|xapp)-{_V}{{10,}}"),
    ("slack_webhook", ("hooks.slack.com",),
     r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{20,}"),
    ("teams_webhook", ("webhookb2/",), r"webhookb2/[\w@./-]{40,}"),
    ("discord_webhook", ("discord",), rf"discord(?:app)?\.com/api/webhooks/\d+/{_V}{{20,}}"),
    ("stripe_key", ("sk_", "rk_", "pk_"), rf"[srp]k_(?:live|test|prod)_{_W}{{16,}}"),
    ("webhook_secret", ("whsec_",), r"whsec_[A-Za-z0-9+/=]{20,}"),
    ("twilio_key", ("SK",), rf"SK{_HEX}{{32}}(?![0-9a-zA-Z])"),
    ("sendgrid_key", ("SG.",), rf"SG\.{_V}{{16,}}\.{_V}{{16,}}"),
    ("mailgun_key", ("key-",), r"key-[0-9a-f]{32}(?![0-9a-zA-Z])"),
    ("digitalocean_token", ("dop_v1_", "doo_v1_", "dor_v1_"), rf"do[opr]_v1_{_HEX}{{64}}"),
    ("shopify_token", ("shp",), rf"shp(?:at|ca|pa|ss)_{_HEX}{{32}}"),
    ("square_token", ("sq0",), rf"sq0(?:atp|csp|idp)-{_V}{{22,}}"),
    ("databricks_token", ("dapi",), rf"dapi{_HEX}{{32}}"),
    ("linear_key", ("lin_",), rf"lin_(?:api|oauth)_{_W}{{32,}}"),
    ("notion_token", ("ntn_", "secret_"), rf"(?:ntn|secret)_{_W}{{40,}}"),
    ("figma_token", ("figd_",), rf"figd_{_V}{{30,}}"),
    ("groq_key", ("gsk_",), rf"gsk_{_W}{{40,}}"),
    ("replicate_token", ("r8_",), rf"r8_{_W}{{30,}}"),
    ("perplexity_key", ("pplx-",), rf"pplx-{_W}{{40,}}"),
    ("xai_key", ("xai-",), rf"xai-{_W}{{40,}}"),
    ("vault_token", ("hvs.", "hvb."), rf"hv[sb]\.{_V}{{24,}}"),
    ("postman_key", ("PMAK-",), rf"PMAK-{_HEX}{{24}}-{_HEX}{{34}}"),
    ("supabase_token", ("sbp_",), rf"sbp_{_HEX}{{40}}"),
    ("sentry_token", ("sntry",), r"sntry[su]_[A-Za-z0-9_+/=-]{40,}"),
    ("new_relic_key", ("NRAK-",), r"NRAK-[A-Z0-9]{27}"),
    ("airtable_token", ("pat",), rf"pat{_W}{{14}}\.{_HEX}{{64}}"),
    ("docker_token", ("dckr_pat_",), rf"dckr_pat_{_V}{{20,}}"),
    ("atlassian_token", ("ATATT3", "ATCTT3", "ATBB"), r"AT(?:ATT3|CTT3|BB)[A-Za-z0-9_=-]{28,}"),
    ("alibaba_key", ("LTAI",), rf"LTAI{_W}{{16,24}}(?![0-9A-Za-z])"),
    ("cloudflare_token", ("cfk_", "cfut_", "cfat_"), rf"cf(?:k|ut|at)_{_W}{{40,}}"),
    ("cloudflare_token", ("v1.0-",), rf"v1\.0-{_HEX}{{24}}-{_HEX}{{100,}}"),
    ("grafana_token", ("glsa_", "glc_"), r"gl(?:sa|c)_[A-Za-z0-9+/_=]{32,}"),
    ("doppler_token", ("dp.",), r"dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,}"),
    ("planetscale_token", ("pscale_",), r"pscale_(?:tkn|oauth|pw)_[\w=.-]{32,}"),
    ("pulumi_token", ("pul-",), rf"pul-{_HEX}{{40}}"),
    ("rubygems_key", ("rubygems_",), rf"rubygems_{_HEX}{{48}}"),
    ("prefect_key", ("pnu_",), rf"pnu_{_W}{{36}}"),
    ("heroku_key", ("HRKU-",), rf"HRKU-{_V}{{36,}}"),
    ("fly_token", ("fo1_", "fm1", "fm2_"), r"(?:fo1_|fm1[ar]_|fm2_)[\w+/=-]{40,}"),
    ("dynatrace_token", ("dt0",), rf"dt0[a-z]\d\d\.{_W}{{24}}\.{_W}{{64}}"),
    ("tailscale_key", ("tskey-",), rf"tskey-[a-z]+-{_W}{{8,}}-{_W}{{8,}}"),
    ("brevo_key", ("xkeysib-",), rf"xkeysib-{_HEX}{{64}}-{_W}{{16}}"),
    ("typeform_token", ("tfp_",), r"tfp_[\w.=-]{40,}"),
    ("artifactory_key", ("AKCp", "cmVmd"), rf"(?:AKCp|cmVmd){_W}{{59,}}"),
    ("onepassword_token", ("ops_eyJ",), r"ops_eyJ[A-Za-z0-9+/_=-]{100,}"),
    ("facebook_token", ("EAA",), rf"EAA[A-Z]{_W}{{80,}}"),
    ("harness_token", ("pat.", "sat."), rf"[ps]at\.{_V}{{22}}\.{_W}{{24}}\.{_W}{{20}}"),
    ("sourcegraph_token", ("sgp_",), rf"sgp_(?:(?:{_HEX}{{16}}|local)_)?{_HEX}{{40}}"),
    ("yandex_key", ("AQVN",), rf"AQVN{_V}{{35,}}"),
    ("openshift_token", ("sha256~",), rf"sha256~{_V}{{43}}"),
    ("readme_key", ("rdme_",), rf"rdme_{_W}{{60,}}"),
    ("octopus_key", ("API-",), r"API-[A-Z0-9]{26,}(?![\w-])"),
    ("shippo_token", ("shippo_",), rf"shippo_(?:live|test)_{_HEX}{{40}}"),
    ("age_key", ("AGE-SECRET-KEY-1",), r"AGE-SECRET-KEY-1[0-9A-Z]{50,}"),
    ("jwt", ("eyJ",), rf"eyJ{_V}{{8,}}\.eyJ{_V}{{8,}}\.{_V}{{8,}}"),
)

# (kind, literal, what stands before the telling part, that part and the rest)
INNER_TOKENS: tuple[tuple[str, str, str, str], ...] = (
    ("discord_token", ".", rf"[MNO]{_V}{{23,27}}", rf"\.{_V}{{6}}\.{_V}{{27,}}"),
    ("telegram_token", ":AA", r"\d{8,10}", rf":AA{_V}{{33}}"),
    ("terraform_token", ".atlasv1.", rf"{_W}{{14}}", rf"\.atlasv1\.{_V}{{40,}}"),
    ("azure_secret", "Q~", r"[A-Za-z0-9_~.]{3}\d", r"Q~[A-Za-z0-9_~.-]{31,34}"),
    ("mailchimp_key", "-us", rf"{_HEX}{{32}}", r"-us\d{1,2}(?!\w)"),
)

IS = (
    r"[ \t]+(?:is|was|should be|will be|to|ist|lautet|est|es)(?:[ \t]{0,2}[:=])?[ \t]+"
    r"|就?是|改成|改为|改為|设为|設為|为|為|用|は|が|を|은|는|이|가|을|를"
)

# What of a label may stand after the literal that gives it away: "pass" and "word".
TAIL = (
    r"(?:[ _-]?(?:word|code|number|nummer|words)|wd|wort|e|[ñn]a|s|o|nature| de acceso"
    r"|(?: de)?(?: api| acceso| secreta)|(?: d['’])?[ -]?(?:api|accès)|[ ]?(?:码|碼|코드|번호))?"
)

# kind: (lower-case literals of which one must be in the text, label, what may join it to a value)
LABELS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "pin": (
        ("pin", "暗証番号"),
        r"(?<![^\W_])pin(?:[ _-]?(?:code|number|nummer))?|暗証番号|pin[ ]?(?:码|碼|코드|번호)",
        IS,
    ),
    "password": (
        (
            *("pass", "pwd", "kennwort", "contrase", "clave", "mdp", "identified by"),
            *("密码", "密碼", "口令", "パスワード", "비밀번호", "비번", "암호"),
        ),
        r"pass[ _-]?word|passwd|passcode|pwd|passwort|kennwort|mot de passe|contraseña|contrasena"
        r"|clave|mdp|비번|암호"
        r"|identified by|pgpassword|密码|密碼|口令|パスワード|비밀번호",
        IS,
    ),
    "secret": (
        (
            *("key", "token", "secret", "credential", "schlüssel", "geheimnis", "clé", "jeton"),
            *("clave", "secreto", "令牌", "密钥", "密鑰", "トークン", "キー", "シークレット"),
            *("秘密鍵", "토큰", "비밀키", "비밀 키", "api 키", "api키"),
        ),
        r"token de acceso"  # before "token", whose value would be "de"
        r"|(?:api|access|secret|private|encryption|signing|auth|account|license)[ _-]?key"
        r"|(?:access|auth|refresh|bearer|api|bot|client|personal access|id)?[ _-]?token"
        r"|secret(?:[ _-]?access[ _-]?key)?|client[ _-]?secret|credentials?"
        r"|api[ -]?schlüssel|zugangsschlüssel|zugangstoken|geheimnis"
        r"|clé(?: d['’])?[ -]?(?:api|accès)|jeton(?: d['’]accès)?"
        r"|clave(?: de)?(?: api| acceso| secreta)|secreto|令牌|(?:api)?[ ]?密[钥鑰]"
        r"|トークン|(?:api|アクセス|秘密)[ ]?キー|秘密鍵|シークレット|토큰|비밀[ ]?키|api[ ]?키",
        IS,
    ),
    # Too short or too common a word: what follows must look like a password, or like noise.
    "pass": (("pass", "pw", "パス"), r"pass|pw|パス", IS),
    "key": (
        (
            *("key", "secret", "token", "auth", "sid", "sig", "schlüssel", "llave"),
            *("キー", "키"),
        ),
        r"key|secret|token|auth|sid|sig(?:nature)?|schlüssel|llave(?: secreta)?"
        r"|キー|[가-힣]{0,4}키",
        IS,
    ),
    "passphrase": (
        ("phrase", "mnemonic", "助记词", "助記詞"),
        r"pass[ _-]?phrase|(?:seed|recovery|mnemonic)[ _-]?(?:phrase|words)|mnemonic|助记词|助記詞",
        r"[ \t]+is[ \t]+|是",
    ),
}

# A name that is a secret only where a password stands beside it.
USER = (
    r"user(?:[ _-]?(?:name|id))?|login|account|benutzer(?:name)?|anmeldename|utilisateur"
    r"|nom d['’]utilisateur|identifiant|usuario|用户名?|用戶名?|账号|帳號|账户|ユーザー(?:名|ID)?"
    r"|アカウント|사용자(?:[ ]?(?:이름|명))?|아이디|계정"
)

_WORDS = """
    a an the not no none null nil undefined true false yes optional required mandatory missing
    empty blank invalid valid wrong right correct incorrect unknown secret private public safe
    gone weak strong long short unique random same different new old here there it this that
    them out ok okay in on at to of for from with by via see ask use set get reset change
    string str bytes int integer number bool boolean object array any text char varchar secretstr
    password passwd pass pwd passphrase token key user username admin root name value example
    changeme placeholder dummy fake sample redacted hidden masked todo tbd n/a env vault
    1password bitwarden keepass keepassxc lastpass keychain bcrypt scrypt argon2 argon2id pbkdf2
    sha256 sha512 md5 oauth oauth2 jwt base64 hs256 rs256 manager policy field prompt input
    erforderlich falsch richtig notwendig requis obligatoire obligatorio obligatoria requerido
    incorrecta case-sensitive up-to-date read-only basic bearer plaintext cleartext
"""
NOT_A_SECRET = frozenset(_WORDS.split())


# --- what a value looks like ---------------------------------------------------------------------


def mixed(text: str) -> bool:
    """Whether it could be random: digits, or both cases (words joined by hyphens are neither)."""
    return any(c.isdigit() for c in text) or (
        any(c.isupper() for c in text) and any(c.islower() for c in text)
    )


def secret_value(kind: str, value: str, quoted: bool, mark: str, last: bool) -> bool:
    """Whether what stands after a label is what the label names.

    `mark` is what joins them ("" for a mere space), `last` whether the sentence ends there.
    """
    if kind == "pin":
        return bool(re.fullmatch(r"[0-9][0-9 -]{2,11}", value))
    if placeholder(value) or code(value):
        return False
    if kind == "key" or (kind == "secret" and mark == ""):
        return len(value) >= 16 and noisy(value, 0.33)
    if kind == "pass":
        return mark != "" and (odd(value) or (quoted and not value.isalpha()))
    if kind == "secret":
        return _keylike(value)
    if mark == "" and not quoted:
        return odd(value)
    return _passwordlike(value, quoted or (last and (mark in _SIGNS or mark.lower() == "is")))


# What joins a label to a value in code and lists.
_SIGNS = ("=>", "->", ":=", ":", "=", "：", "＝", "==", "::")


def _keylike(value: str) -> bool:
    digits = sum(c.isdigit() for c in value)
    numbered = digits >= 2 and not re.fullmatch(r"[0-9.,:/-]+", value)
    return len(value) >= 8 and (numbered or (" " not in value and changes(value) >= 0.3))


def _passwordlike(value: str, stands_alone: bool) -> bool:
    """Words are a password only where nothing but one would stand: last, or in quotes."""
    if len(value) < 4 or re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        return False
    if not re.fullmatch(r"[^\W\d_]+(?:-[^\W\d_]+){0,2}", value):
        return value.isascii() or any(c.isdigit() for c in value)
    if not value.isascii() or re.search(r"(?i)(?:ed|able|ible|ive|ing|ly)$", value):
        return False
    return stands_alone


def placeholder(value: str) -> bool:
    """Whether it only stands for a value, or says something about it."""
    plain = value.lower().strip("\"'`*.,;:!?")
    return (
        plain.partition("|")[0] in NOT_A_SECRET  # "required|min:8"
        or value.startswith(("$", "{", "<", "‹", "%", "...", "your", "YOUR"))
        or len(set(plain)) < 2
    )


def code(value: str) -> bool:
    """Whether it reads as code or a place: a call, a type, a name, a path, a link."""
    return bool(
        re.fullmatch(
            r"\w+[(\[].*|(?:[a-z_][a-z0-9_]*\.)+[A-Za-z_]\w*(?:[(\[].*)?|[a-z]+(?:_[a-z]+)+"
            r"|[A-Z]+(?:_[A-Z]+)+|(?:~|\.{1,2})?/[\w./-]+|https?://.*|[({].*"
            r"|[\w.-]+(?:/[\w.-]+)*/[\w-]+(?:\.[\w-]+)*\.[a-z]{1,4}"
            r"|[A-Z][a-z]+(?:\.[A-Za-z_]+)+",
            value,
        )
    )


def odd(value: str) -> bool:
    """Whether it stands out of a sentence by itself: no word, number, date or word with one."""
    return (
        len(value) >= 6
        and value.isascii()
        and any(c.isdigit() for c in value)
        and any(c.isalpha() for c in value)
        and not re.fullmatch(
            r"(?:[A-Z]?[a-z]+|[A-Z]+)[.-]?v?[\d.]+|v?[\d.,:/-]+(?:[a-z]+|[A-Z]{1,4})", value
        )
    )


def luhn(digits: list[int]) -> bool:
    """Whether the last digit is the right check digit of a card number."""
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def mod97(number: str) -> bool:
    """Whether the check digits of a bank account's international number are right.

    `number` has its country and check digits moved to the end, each letter written as 10 to 35.
    """
    return int(number) % 97 == 1


def noisy(text: str, turns: float = 0.4) -> bool:
    """Whether it has both cases and digits in turn, and as many bits a character as noise has."""
    # what is cheap to see comes first: most long words are paths and names
    if not all(any(map(kind, text)) for kind in (str.isdigit, str.isupper, str.islower)):
        return False
    if changes(text) < turns:
        return False
    shares = [text.count(c) / len(text) for c in set(text)]
    bits = -sum(share * math.log2(share) for share in shares)
    # 4 bits from 32 characters on; 16 characters of noise have 3.7
    return bits >= (4.0 if len(text) >= 32 else 3.2)


def changes(text: str) -> float:
    """How often neighbours differ in class (upper, lower, digit): 0.62 in random text, 0.2 in
    names made of words."""
    classes = [(c.isupper(), c.isdigit()) for c in text if c.isalnum()]
    return sum(a != b for a, b in pairwise(classes)) / max(1, len(classes))
