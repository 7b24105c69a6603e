"""What secrets look like: token shapes of services, labels in seven languages, and the words
that stand after a label without being a secret. Tables only; `privacy` reads them."""

from __future__ import annotations

_W = "[A-Za-z0-9]"
_V = "[A-Za-z0-9_-]"
_HEX = "[0-9a-fA-F]"

# (kind, literals of which one must be in the text, expression). The literals come first because
# looking for them costs next to nothing; prefixes and lengths are those the services publish.
TOKENS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("anthropic_key", ("sk-ant-",), rf"sk-ant-{_V}{{20,}}"),
    ("openai_key", ("sk-",), rf"sk-(?!ant-){_V}{{20,}}"),
    ("github_token", ("gh",), rf"gh[pousr]_{_W}{{36,}}"),
    ("github_token", ("github_pat_",), rf"github_pat_{_W}{{20,}}_?{_W}*"),
    ("gitlab_token", ("gl",), r"gl(?:pat|ptt|rt|dt|oas|cbt)-[A-Za-z0-9_.-]{20,}"),
    ("npm_token", ("npm_",), rf"npm_{_W}{{36}}"),
    ("pypi_token", ("pypi-",), rf"pypi-{_V}{{40,}}"),
    ("google_key", ("AIza",), rf"AIza{_V}{{35}}"),
    ("google_token", ("ya29.", "GOCSPX-"), rf"(?:ya29\.|GOCSPX-){_V}{{20,}}"),
    ("huggingface_token", ("hf_",), rf"hf_{_W}{{30,}}"),
    ("aws_key", ("AKIA", "ASIA"), r"(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])"),
    ("slack_token", ("xox", "xapp-"), rf"(?:xox[abeoprs]|xapp)-{_V}{{10,}}"),
    ("slack_webhook", ("hooks.slack.com",), r"hooks\.slack\.com/services/[A-Za-z0-9/]{20,}"),
    ("discord_webhook", ("/webhooks/",), rf"discord(?:app)?\.com/api/webhooks/\d+/{_V}{{20,}}"),
    ("discord_token", (".",), rf"[MNO]{_V}{{23,27}}\.{_V}{{6}}\.{_V}{{27,}}"),
    ("stripe_key", ("_live_", "_test_"), rf"(?:sk|rk|pk)_(?:live|test)_{_W}{{16,}}"),
    ("webhook_secret", ("whsec_",), r"whsec_[A-Za-z0-9+/=]{20,}"),
    ("twilio_key", ("SK",), r"SK[0-9a-f]{32}(?![0-9a-zA-Z])"),
    ("sendgrid_key", ("SG.",), rf"SG\.{_V}{{16,}}\.{_V}{{16,}}"),
    ("mailgun_key", ("key-",), r"key-[0-9a-f]{32}(?![0-9a-zA-Z])"),
    ("telegram_token", (":AA",), rf"\d{{8,10}}:AA{_V}{{33}}"),
    ("digitalocean_token", ("_v1_",), rf"do[opr]_v1_{_HEX}{{64}}"),
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
    ("terraform_token", (".atlasv1.",), rf"{_W}{{14}}\.atlasv1\.{_V}{{40,}}"),
    ("postman_key", ("PMAK-",), rf"PMAK-{_HEX}{{24}}-{_HEX}{{34}}"),
    ("supabase_token", ("sbp_",), rf"sbp_{_HEX}{{40}}"),
    ("sentry_token", ("sntry",), rf"sntry[su]_{_V}{{40,}}"),
    ("new_relic_key", ("NRAK-",), r"NRAK-[A-Z0-9]{27}"),
    ("airtable_token", ("pat",), rf"pat{_W}{{14}}\.{_HEX}{{64}}"),
    ("docker_token", ("dckr_pat_",), rf"dckr_pat_{_V}{{20,}}"),
    ("age_key", ("AGE-SECRET-KEY-1",), r"AGE-SECRET-KEY-1[0-9A-Z]{50,}"),
    ("jwt", ("eyJ",), rf"eyJ{_V}{{8,}}\.eyJ{_V}{{8,}}\.{_V}{{8,}}"),
)

_IS = r"[ \t]+(?:is|was|ist|lautet|est|es|=>|->)[ \t]+|是|为|為|は|が|은|는|이|가"

# kind: (lower-case literals of which one must be in the text, label, what may join it to a value)
LABELS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "password": (
        ("pass", "pwd", "kennwort", "contrase", "密码", "密碼", "口令", "パスワード", "비밀번호"),
        r"pass[ _-]?word|passwd|passcode|pwd|passwort|kennwort|mot de passe|contraseña|contrasena"
        r"|密码|密碼|口令|パスワード|비밀번호",
        _IS,
    ),
    "secret": (
        (
            *("key", "token", "secret", "credential", "schlüssel", "geheimnis", "clé", "jeton"),
            *("clave", "secreto", "令牌", "密钥", "密鑰", "トークン", "キー", "シークレット"),
            *("秘密鍵", "토큰", "비밀키", "비밀 키", "api 키", "api키"),
        ),
        r"(?:api|access|secret|private|encryption|signing|auth|account|license)[ _-]?key"
        r"|(?:access|auth|refresh|bearer|api|bot|client|personal access|id)?[ _-]?token"
        r"|secret(?:[ _-]?access[ _-]?key)?|client[ _-]?secret|credentials?"
        r"|api[ -]?schlüssel|zugangsschlüssel|zugangstoken|geheimnis"
        r"|clé(?: d['’])?[ -]?(?:api|accès)|jeton"
        r"|clave(?: de)?(?: api| acceso| secreta)|secreto|令牌|(?:api)?[ ]?密[钥鑰]"
        r"|トークン|(?:api|アクセス|秘密)[ ]?キー|秘密鍵|シークレット|토큰|비밀[ ]?키|api[ ]?키",
        _IS,
    ),
    "pin": (
        ("pin", "暗証番号"),
        r"(?<![^\W_])pin(?:[ _-]?(?:code|number|nummer))?|暗証番号|pin[ ]?(?:码|碼|코드)",
        _IS,
    ),
    "passphrase": (
        ("phrase", "mnemonic", "助记词", "助記詞"),
        r"pass[ _-]?phrase|(?:seed|recovery|mnemonic)[ _-]?(?:phrase|words)|mnemonic|助记词|助記詞",
        r"[ \t]+is[ \t]+|是",
    ),
}

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
