"""Whether a text reads like an order to an assistant: then no machine stores it, and what other
hands wrote waits for a person. Pure."""

from __future__ import annotations

import re
from functools import cache

# No order: "do not ignore the rules".
_NOT = r"(?<!not )(?<!never )(?<!n['’]t )(?<!cannot )(?<!not to )(?<!avoid )"
_WHOSE = "all|and|any|every|hidden|its|my|other|security|system|the|these|those|your"
_SENT = rf"{_NOT}\b(?:send|post|upload|exfiltrate|mail|email)\b"
_ENGLISH = (
    # what tries to pass for the system's voice
    r"</?(?:system|system-reminder|assistant|instructions?)\b[^>]{0,40}>",
    r"<\|?(?:system|im_start)|<\|[a-z_]{2,20}\|>|\[INST\]",
    r"\A\W{0,3}(?:system|assistant|developer)\s*[:>]",
    r"\b(?:new|updated|real) instructions?:",
    # what turns rules off
    rf"{_NOT}\b(?:ignore|disregard|forget)\b (?:instructions|safety|(?:the )?above|previous"
    r"|everything (?!in\b|under\b|that\b|except\b|below\b|matching\b|else in\b)|everything[.!]?$)",
    rf"{_NOT}\b(?:ignore|disregard|forget|override|bypass)\b (?:of )?"
    rf"(?:(?:{_WHOSE}|previous|prior|above|earlier|existing|current|preceding) ){{1,5}}"
    r"(?:instructions?|rules?|prompts?|guidelines|messages?|context|polic(?:y|ies)|restrictions)\b",
    rf"{_NOT}\b(?:override|bypass)\b (?:your |the |all )?(?:instructions|safety|guidelines)\b",
    r"\b(?:you|with|have) (?:have )?no restrictions\b|\bjailbreak|\bforget what\b",
    r"\byou are (?:now )?(?:dan\b|an? (?:unrestricted|different|new)|no longer)",
    # what commands, or hides
    r"\bobey\b (?:all|any|every|me|only|the following|these|this)\b",
    r"\bapprove (?:everything|every tool|all (?:tool|requests))\b",
    r"\bdo not (?:tell|inform|mention (?:this|it) to) the user\b",
    r"\bwhen(?:ever)? you (?:read|see) this\b",
    r"\A(?!.*\b(?:never|not|nothing|no|avoid|nobody|n['’]t)\b).*"
    r"\bwithout (?:telling|asking) (?:the user|anyone|first)\b",
    # what carries secrets away
    rf"{_NOT}\b(?:reveal|print|show|output|repeat|leak)\b.{{0,20}}"
    r"\b(?:system|hidden|initial) (?:prompt|instructions)",
    rf"{_SENT}.{{0,60}}(?:\.env|secrets?|credentials|api keys?|tokens?|passwords?)\b.{{0,40}}"
    r"(?:\bto (?:me|this|the following|an?|my)\b|\bto \S+@|https?://|\bto \w[\w-]*\.\w+)",
    rf"{_SENT}.{{0,60}}(?:\.ssh|contents of ~)",
)
_OTHERS = (
    r"(?<!不要)(?<!不能)(?<!不得)(?<!禁止)(?<!别)(?:忽略|无视|忘记|不要理会)(?:掉)?"
    r"(?:.{0,8}(?:之前|以上|先前|前面|所有|全部|你的|系统|任何|安全).{0,6})(?:指令|指示|规则|提示|设定)",
    r"系统提示词|システムプロンプト|시스템 프롬프트",
    r"(?:指示|命令|ルール).{0,8}(?:無視|忘れ)(?!し?な[いく]|してはなら|してはいけ|されない)",
    r"(?:지시|명령|규칙).{0,10}(?:무시|잊)(?!하지|지 ?(?:않|마|말))",
)


def is_order(text: str) -> bool:
    """Whether one line, or one fact, reads like an order to an assistant."""
    return _order_pattern(is_plain=text.isascii()).search(text) is not None


@cache
def _order_pattern(*, is_plain: bool) -> re.Pattern[str]:
    rows = _ENGLISH if is_plain else (*_ENGLISH, *_OTHERS)
    return re.compile("|".join(rows), re.IGNORECASE)
