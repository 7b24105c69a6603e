"""How the words of a request stand together: expressions over the sections of the word lists.

`wordlists` fills in the sections, such as `{trigger.save}`; all are read case-insensitively.
"""

from __future__ import annotations

_BULLET = r"[ \t¿¡]*(?:[-*+•][ \t]+|\d{1,2}[.)][ \t]+)?[*_]{0,3}"
# What may stand before a trigger at the start of a sentence.
POLITE = _BULLET + r"(?:{trigger.lead}[,:.!]{0,2}[ \t]+){0,3}"
LEAD = (
    _BULLET + r"(?:(?:{trigger.lead}|always)[,:.!]{0,2}[ \t]+){0,3}"
    r"(?:{trigger.lead_joined}[，,、：: \t]*){0,3}"
)
REFERS = r"[ \t]*{trigger.refers}\b"
# Where a later clause of a sentence begins. `so`: what stands before it belongs to the fact.
CLAUSE = (
    r"(?:[:;–—]|[ ]-(?=[ ]))[ \t]+|,[ \t]*{trigger.and}[ \t]+|,[ \t]+(?={trigger.verb}\b)"
    r"|(?P<so>,[ \t]*{trigger.so}[ \t]+)"
)
# Somebody else's words follow.
TELLS = r"(?:{whose.says}|{whose.texts})"
# The fact stands inside: "add that I use zsh to memory", "把我用 zsh 记下来".
AROUND = (
    r"{trigger.put} (?:the fact )?that (?P<between>.{4,400}?) {trigger.memory}[.!]?[ \t]*$",
    r"把(?P<between>.{2,200}?){trigger.ba}[吧。！!]*[ \t]*$",
)
# The fact stands before: "we deploy on Tuesdays, remember that", "週次だと覚えておいて".
BEFORE = (
    r"(?P<fact>.{4,}?)(?:[,;—–]|[ ]-(?=[ ]))[ \t]*(?:{trigger.told_lead},? ){0,2}"
    r"(?P<p>{trigger.told})(?: [^,.;:!?\n]{1,80})?[.!]*[ \t]*$",
    r"(?P<fact>.{2,}?)[，,][ \t]*{trigger.told_joined_lead}?(?P<p>{trigger.told_joined})"
    r"[哦啊吧]?[。！!]*[ \t]*$",
    r"(?P<fact>.{2,}?)[、,]?(?:ちゃんと|必ず|しっかり|よく)?(?P<p>{trigger.ja_ask})"
    r"[。！!？?]*[ \t]*$",
    r"(?!(?:나는|난|나도|내가|저는|저도|제가)[ ][^.]*기억해[.!]*[ \t]*$)(?P<fact>.{2,}?)"
    r"(?<![ ,])[ ,]++(?:꼭|반드시|잘|좀)?[ ]?"
    r"(?P<p>{trigger.ko_keep}|{trigger.ko_ask}|기억해(?!.*[?？]))[.!]*[?？]?[ \t]*$",
)
# What then joins the fact to the verb: "…ということを", "…다는 걸".
TAIL = r"[ \t]*{trigger.tail}?[、,，;]?[ \t]*$"
# "don't forget to ..." told the same way.
ERRAND = r".*{trigger.errand}[ \t]*$"
# "Can you remember that I use zsh?" asks for it: the question mark is not the fact's.
ASKED = r"[ \t¿]*(?:[\w' ]{1,20}[,!:][ \t]+){0,2}(?:please[, \t]+)?{trigger.can}"
# Between a trigger and its fact: "remember: x", "**Remember:** x", "remember, that x", "记住：x".
JOIN = (
    r"[*_]{0,3}[ \t]*(?:[:：,，、—–。！]|-(?=[ \t])|[.!]+(?=[ \t]))*[*_]{0,3}[ \t]*"
    r"(?:{trigger.that}[ \t]*)?"
)
BELOW = r"{trigger.following}?[ \t]*[:：]?"
THANKS = r"[ \t]*[,，]?[ \t]*{trigger.thanks}[.!。！]*$"
CHOICE = r"[ \t]*{trigger.choice}"
POINTS = r"(?:{trigger.filler}|\W)*"
EVERY = "(?!.*{trigger.every}).*"
# Turned down: a refusal within 30 characters before a word of keeping.
TURNED_DOWN = r"(?P<p>{trigger.not}(?:(?!\bto\b).){0,30}?{trigger.keep})"
