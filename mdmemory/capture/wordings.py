"""The words that force-save triggers, their guards and their types are made of. Tables only.

Each is the text of a case-insensitive regular expression; a language is added by adding its words.
"""

from __future__ import annotations

_S = r"[ \t]+"
_MEMORY = rf"(?:to|in|into){_S}(?:your{_S}|the{_S}|long[- ]term{_S})?memory\b"

# What may stand before a trigger at the start of a line.
LEAD = (
    r"[ \t]*(?:[-*+•][ \t]+|\d{1,2}[.)][ \t]+)?[*_]{0,3}"
    r"(?:(?:please|pls|also|and|so|ok(?:ay)?|hey|hi|btw|by the way|important|note|one more thing"
    r"|can you|could you|would you|will you|i want you to|you should|you must)[,:!]?[ \t]+){0,3}"
    r"(?:(?:请你?|請你?|麻烦你?|另外|对了|對了|还有|好的?|你要|一定要|帮我|幫我|能不能|可以)"
    r"[，,：: ]*){0,3}"
)

# Then a pointer to the fact ends: "remember this: x", but "remember this branch is frozen".
_ENDS = r"(?=[ \t]*(?:[:：,，—–-]|[.!。！]?[ \t]*$|(?:for me|please|for later)\b))"
# "store it in memory, not on disk" speaks of a program.
_ENDS_MEMORY = r"(?=[ \t]*(?:[:：—–-]|[.!]?[ \t]*$|that\b))"

# The rest of the line is the fact.
SAVE = "|".join(
    (
        r"remember\b(?![ \t]+(?:when|how|what|why|who|where|which|if|whether|me)\b)"
        rf"(?:{_S}(?:this|that|it){_ENDS})?(?:{_S}(?:for me|please)\b)?",
        rf"(?:save|add|commit|put|store|write)(?:{_S}(?:this|that|it))?{_S}{_MEMORY}{_ENDS_MEMORY}",
        rf"save{_S}this{_ENDS}|(?:note|write){_S}(?:this|that){_S}down\b",
        rf"(?:don['’]?t|do not|never){_S}forget\b(?:{_S}(?:this|that|it){_ENDS})?",
        rf"from{_S}now{_S}on\b|going{_S}forward\b",
        "(?:记住|記住|记得|記得|记下来|記下來|记一下|記一下|记下|記下|存一下"
        "|别忘了?|別忘了?|不要忘记|不要忘了)"
        f"(?:(?:这一?点|這一?點|这个|這個|这件事|這件事){_ENDS})?",
        "从现在开始|從現在開始|从今以后|從今以後|以后请|以後請|今后请|今後請",
    )
)
# The whole line, from the trigger on, is the fact.
STATES = rf"my{_S}preference{_S}is\b|i{_S}prefer\b|我偏好|我更喜欢|我更喜歡"
# The fact stands inside: "add that I use zsh to memory".
AROUND = (
    rf"(?:save|add|commit|put|store){_S}(?:the fact{_S})?that{_S}"
    rf"(?P<between>.{{4,400}}?){_S}{_MEMORY}[.!]?[ \t]*$"
)
# "Can you remember that I use zsh?" asks for it: the question mark is not the fact's.
ASKED = r"[ \t]*(?:please[, \t]+)?(?:can|could|would|will) you\b.*?(?P<mark>[?？]+)[ \t]*"
# Between a trigger and its fact: "remember: x", "**Remember:** x", "remember, that x", "记住：x".
JOIN = r"[*_]{0,3}[ \t]*(?:[:：,，—–]|-(?=[ \t]))*[*_]{0,3}[ \t]*(?:that\b[ \t]*)?"
BELOW = r"(?:the following|these(?: things)?|以下|下面)?[ \t]*[:：]?"

# Turned down when one of these stands within 30 characters before a word of keeping.
NOT = (
    rf"(?:(?:do{_S}not|don['’]?t|never|not|no need to|you needn['’]?t)\b(?![ \t]+forget)"
    r"|(?:不要|不用|不必|不需要|别|別|勿|无需|無需)(?!忘))"
)
KEEP = (
    r"(?:(?:remember|memori[sz]e)\b|(?:save|note|store)[ \t]+(?:this|that|it|any of this)\b"
    r"|(?:save|store|keep|add|commit|write|put)\b.{0,40}?\bmemory\b"
    "|记住|記住|记得|記得|记下|記下|记录|記錄|存一下|写入记忆|存到记忆)"
)

# Nothing but these: there is no fact, only a pointer to one.
FILLER = (
    r"this|that|it|these|them|please|pls|thanks|thank you|okay|ok|now|for me|for us|always|as well"
    r"|too|everything|all of|in mind|what i said|what i told you"
    "|这个|這個|这些|這些|这一?点|這一?點|这件事|這件事|一下|下来|吧|哦|啊|了|好"
    "|我说的|上面的?|刚才的?|谢谢|謝謝"
)
THANKS = r"[ \t]*[,，]?[ \t]*(?:please|thanks|thank you|谢谢|謝謝)[.!。！]*$"
# "I prefer the second one" speaks of this task.
CHOICE = r"[ \t]*(?:the |that |this |these |your |option|it\b|one\b|what you)"
_LATER = "(?:later|next time|another time|some other time|tomorrow)"
LATER = (
    rf"(?:(?:it|this|that){_S})?(?:for{_S})?{_LATER}\b(?=[ \t]*(?:[,.:;!]|$)).*"
    rf"|.{{0,30}}\b{_LATER}[.!… ]*|.{{0,15}}再(?:说|說|讲|講)[吧。！ ]*"
)
QUESTION = r".*[?？][ \t]*|.{0,40}吗[。 ]*"
# "remember to ..." is a task, unless it speaks of every time.
TASK = (
    r"to[ \t]+(?!.*\b(?:always|never|not|every|each|whenever|when|before|after|only)\b).*"
    "|去(?!.*(?:每|总|總|一律|都)).*"
)

# (type, kind, expression), the first that is found.
TYPES = (
    (
        "reference",
        "",
        r"https?://|\b(?:dashboard|grafana|jira)\b|\b(?-i:Linear|Slack|Notion)\b"
        "|看板|仪表盘|儀表板",
    ),
    (
        "user",
        "",
        r"\bmy (?:full |first |last |user ?)?(?:name|time ?zone|pronouns|birthday) (?:is|are)\b"
        r"|\b(?:i am|i['’]m) (?!\w+ing\b|not\b|sure\b)|\bi live\b|\bi work (?:at|for|as|in)\b"
        "|我叫|我是|我住|我的名字|我的时区|我在.{1,12}工作",
    ),
    (
        "project",
        "decision",
        r"\b(?:decid(?:e|ed)|decision|choose|chose|chosen|we agreed)\b"
        "|决定|決定|选择|選擇|选定|選定",
    ),
    (
        "project",
        "",
        r"\b(?:project|repo|repository|codebase)\b|项目|項目|仓库|倉庫|代码库",
    ),
)
