"""The words that a request to remember goes by: what triggers, its guards, and the types.

Tables only. Each is the text of a case-insensitive regular expression, in English, Chinese,
Japanese and Korean; `wordings_europe` adds five more. A language is added by adding its words.
"""

from __future__ import annotations

from mdmemory.capture import wordings_europe as europe
from mdmemory.capture.whose_words import SAYS, TEXTS

_S = r"[ \t]+"
_MEMORY = rf"(?:to|in|into){_S}(?:your{_S}|the{_S}|long[- ]term{_S})?memory\b"

# What may stand before a trigger at the start of a sentence.
_LEADS = (
    r"(?:please|pls|also|and|so|ok(?:ay)?|hey|hi|btw|by the way|important|note|one more thing"
    r"|fyi|p\.?s|reminder|actually|just|oh|for what it['’]s worth|fwiw"
    r"|it['’]?s important (?:to me )?(?:that )?(?:you|to)"
    r"|quick thing|can you|could you|would you|will you"
    r"|do|for us|for me|i want you to|i need you to|i(?:['’]d| would) like you to|you should"
    r"|you must|first"
    r"|make sure (?:that )?(?:you|to)|be sure to|try to|let['’]?s|heads[- ]up|quick note|one thing"
    r"|thanks|thank you|great|cool|perfect|nice|anyway|also|separately|unrelated|for context"
    rf"|{europe.LEAD}"
)
_BULLET = r"[ \t¿¡]*(?:[-*+•][ \t]+|\d{1,2}[.)][ \t]+)?[*_]{0,3}"
POLITE = rf"{_BULLET}(?:{_LEADS})[,:.!]{{0,2}}[ \t]+){{0,3}}"
LEAD = (
    rf"{_BULLET}(?:{_LEADS}|always)[,:.!]{{0,2}}[ \t]+){{0,3}}"
    r"(?:(?:请务必|请你?|請你?|务必|麻烦你?|另外|对了|對了|还有|好的?|你要|一定要|帮我|幫我|能不能|可以"
    r"|あと|それと|ちなみに|では|じゃあ|なお|必ず|ちゃんと"
    r"|그리고|참고로|그럼|꼭|반드시|제발)[，,、：: \t]*){0,3}"
)

# Then a pointer to the fact ends: "remember this: x", but "remember this branch is frozen".
_ENDS = r"(?=[ \t]*(?:[:：,，—–-]|[.!。！]*[ \t]*$|(?:for me|please|for later)\b))"
# "store it in memory, not on disk" speaks of a program.
_ENDS_MEMORY = (
    r"(?=[ \t]*(?:[:：—–-]|[.!]?[ \t]*$|that\b"
    r"|,(?![ \t]*(?:not|and|or|but|instead|rather)\b)))"
)

# --- asking in Japanese and Korean: the verb may open the sentence, or close it ---------------

_JA_KEEP = (
    r"(?:覚えて(?:おいて)?|覚えといて|忘れないで|忘れないように|メモして(?:おいて)?|メモっといて"
    r"|記憶して(?:おいて)?|記録しておいて|書き留めて(?:おいて)?)"
)
_JA_ASK = (
    rf"{_JA_KEEP}(?:(?:ください|下さい|くれ|ほしい|欲しい|ちょうだい|お願いします)?[ねよ]?"
    r"|(?:くれ|もらえ|いただけ)(?:る|ます|ません)か?)"
)
_JA_THIS = r"(?:(?:これ|それ|このこと|次のこと|次の点|以下(?:のこと|の点)?|この点)[はをも]?[、,]?)?"
_KO_KEEP = (
    r"(?:(?:기억|메모|암기|명심)해[ ]?(?:줘요?|주세요|주십시오|둬요?|두세요|놔)"
    r"|(?:기억|메모|명심)하(?:세요|십시오)|(?:적어|외워)[ ]?(?:둬요?|두세요|줘요?|주세요|놔)"
    r"|(?:잊지|까먹지)[ ]?(?:마(?:세요|라|요)?|말아(?:[ ]?(?:줘요?|주세요))?))(?![가-힣])"
)
_KO_ASK = (
    r"(?:기억|메모)해[ ]?(?:줄래요?|주실래요|주시겠어요|(?:줄|주실)[ ]수[ ]있(?:어요?|나요|을까요))"
)
_KO_THIS = (
    r"(?:(?:이거|이것|이걸|이건|다음(?:[ ]내용)?|아래(?:[ ]내용)?|이[ ]점)[을를은는도]?[ ,]*)?"
)
_TO_THE_END = r"(?=[ \t]*(?:[:：、，,。！!—–-]|$))"

# "Note that" alone explains; said with "please" it asks.
_PLEASE = r"(?:note|be aware)(?=[ \t]*:|[ \t]+that\b)"

# A sentence that needs the one before it to be understood.
REFERS = (
    r"[ \t]*(?:(?:that|this|it|these|those|they|he|she)(?:['’]s|['’]re)?|das|dies|es|er|sie|sonst"
    r"|otherwise|because|c['’]est|ça|cela|ce|sinon|eso|esto|es|si no)\b"
)
# A trigger that points at a quotation below it.
WHAT_STANDS = r"\bwhat\b|\bwas\b|\bce qu|\blo que\b"
# Where a later clause of a sentence begins. `so`: what stands before it belongs to the fact.
CLAUSE = (
    r"(?:[:;–—]|[ ]-(?=[ ]))[ \t]+|,[ \t]*(?:but|and|yet|aber|und|doch|mais|et|pero|y)[ \t]+"
    r"|,[ \t]+(?=(?:remember|merke?|denke?|retiens|souviens|note|recuerda|anota|keep)\b)"
    r"|(?P<so>,[ \t]*(?:so|hence|therefore|also|daher|deshalb|deswegen|donc|alors|así que|por eso"
    r"|por lo que)[ \t]+)"
)
# Somebody else's words follow.
TELLS = rf"(?:{SAYS}|{TEXTS})"

# The rest of the line is the fact.
SAVE = "|".join(
    (
        r"remember\b(?![ \t]+(?:when|how|what|why|who|where|which|if|whether|me)\b)"
        rf"(?:{_S}(?:this|that|it){_ENDS})?(?:{_S}(?:for me|please)\b)?"
        rf"(?:{_S}for{_S}(?:next{_S}time|later|the{_S}future|future{_S}\w+)(?=[ \t]*:))?",
        rf"(?:save|add|commit|put|store|write)(?:{_S}(?:this|that|it))?{_S}{_MEMORY}{_ENDS_MEMORY}",
        rf"(?:save|store|log|record|note){_S}(?:this|the following)(?:{_S}(?:fact|rule"
        rf"|preference))?{_ENDS}"
        rf"|(?:note|write|jot){_S}(?:this|that|it){_S}down\b|(?:write|jot"
        rf"|note){_S}down(?:(?=[ \t]*:)|{_S}that\b)",
        rf"(?:keep|bear|have)(?:{_S}(?:this|that|it))?{_S}in{_S}mind\b(?:{_S}for{_S}(?:later"
        rf"|the{_S}future)(?=[ \t]*:))?(?=[ \t]*(?:[:,—–-]|that\b"
        rf"|[.!]?[ \t]*$))",
        rf"memori[sz]e(?=[ \t]*:|{_S}(?:that|this)\b)|take{_S}note(?=[ \t]*:|{_S}(?:that"
        rf"|of{_S}this)\b)",
        rf"(?:make|take|keep|add|save|store|leave)(?:{_S}yourself)?{_S}a{_S}(?:mental{_S})?(?:note"
        rf"|memory)"
        rf"(?=[ \t]*:|{_S}that\b)|note{_S}to{_S}self(?=[ \t]*[:,.—–-]|{_S}\w)",
        rf"(?<=please ){_PLEASE}|(?<=please, ){_PLEASE}",
        rf"for{_S}(?:future{_S}reference|the{_S}record(?=[ \t]*[:—–-])|(?:your|the){_S}memory"
        rf"|(?:later|future"
        rf"|next){_S}\w+|later)"
        rf"(?=[ \t]*[:,—–-])|note{_S}for{_S}(?:next{_S}time|later|the{_S}future)(?=[ \t]*[:,]"
        rf"|{_S}that\b)",
        rf"(?:\w+{_S})?(?:things?|points?|rules?|facts?){_S}(?:to|(?:that{_S})?you{_S}should"
        rf"|for{_S}you{_S}to){_S}"
        rf"(?:remember|keep{_S}in{_S}mind|note)\b[^:\n]{{0,40}}(?=:)",
        rf"(?:for|in){_S}(?:all{_S})?(?:the{_S})?(?:future|later|coming)(?:(?=[ \t]*:)"
        rf"|{_S}(?:sessions?|conversations?|chats?)\b)"
        rf"|(?:save|store|keep|record){_S}(?:permanently|forever|for{_S}good)(?=[ \t]*:)"
        rf"|(?:you{_S}should|just{_S}so{_S}you){_S}(?:know|remember)(?=[ \t]*[:,]|{_S}that\b)",
        rf"remember{_S}what(?:['’]s|{_S}is|{_S}stands)\b[^:\n]{{0,120}}(?=:[ \t]*$)",
        rf"(?:don['’]?t|do not|never){_S}forget\b(?:{_S}(?:this|that|it){_ENDS})?",
        rf"from{_S}(?:now|here|today){_S}(?:on|onwards?|forward)\b"
        rf"(?!,?{_S}(?:it|things|this|that|everything){_S}(?:gets?|becomes?|looks?|feels?)\b)"
        rf"|going{_S}forward\b|henceforth\b"
        rf"|as{_S}of{_S}(?:now|today)\b|(?:starting|beginning){_S}(?:now|today)\b"
        rf"|in{_S}(?:the{_S})?future(?=,)",
        europe.SAVE,
        "(?:记住(?!用户的|登录状态|密码功能)|記住|记得|記得|记下来|記下來|记一下|記一下|记下|記下|存一下"
        "|别忘了?|別忘了?|不要忘记|不要忘了)"
        f"(?:(?:这一?点|這一?點|这个|這個|这件事|這件事){_ENDS})?",
        "从现在开始|從現在開始|从今以后|從今以後|从今往后|以后请|以後請|今后请|今後請",
        f"{_JA_THIS}{_JA_ASK}{_TO_THE_END}",
        r"(?:今後は|これからは|以後は)(?=.*(?:[てで](?:ください|下さい|ほしい|くれ)?ね?|こと|ように"
        r"|お願いします|禁止|使う)[。！!]*[ \t]*$)",
        rf"{_KO_THIS}(?:{_KO_KEEP}|(?:기억|명심)해(?=[ ]?[:：,，]))",
        r"(?:앞으로는?|지금부터는?|이제부터는?)(?=[ ,].*(?:줘요?|주세요|하세요|마세요|지[ ]?마"
        r"|말아요?|해라|하자|쓰자|세요|십시오|부탁해요?|부탁드립니다|금지)[.!]*[ \t]*$)",
    )
)
# The whole line, from the trigger on, is the fact.
STATES = (
    rf"my{_S}preference{_S}is\b|i{_S}prefer\b|{europe.STATES}|我偏好|我更喜欢|我更喜歡"
    r"|(?:私|僕)の好みは|(?:私|僕|俺)は[^。、]{1,40}(?:好き(?:です|だ)|好みます)"
    r"|(?:제|내)[ ](?:취향|선호)[은는]|(?:저는|나는|난|전)[ ][^.,]{1,40}"
    r"(?:선호(?:합니다|해요?|한다)|좋아(?:합니다|해요?|한다))"
)
# The fact stands inside: "add that I use zsh to memory", "把我用 zsh 记下来".
AROUND = (
    rf"(?:save|add|commit|put|store){_S}(?:the fact{_S})?that{_S}"
    rf"(?P<between>.{{4,400}}?){_S}{_MEMORY}[.!]?[ \t]*$",
    r"把(?P<between>.{2,200}?)(?:记住|記住|记下来|記下來|记下|存到记忆里?|写进记忆)"
    r"[吧。！!]*[ \t]*$",
)
# The fact stands before: "we deploy on Tuesdays, remember that", "週次だと覚えておいて".
BEFORE = (
    rf"(?P<fact>.{{4,}}?)(?:[,;—–]|[ ]-(?=[ ]))[ \t]*(?:(?:so|and|please|do|bitte|und|et|y"
    rf"|por favor"
    rf"|s['’]il te plaît),?{_S}){{0,2}}"
    rf"(?P<p>remember{_S}(?:this|that|it)|don['’]?t forget(?:{_S}(?:this|that|it))?"
    rf"|note{_S}(?:that|this|it)(?:{_S}down)?|(?:save|store){_S}(?:this|that|it)"
    rf"|keep{_S}(?:this|that|it){_S}(?:in{_S}mind|for\b)|(?:make"
    rf"|take){_S}(?:a{_S})?note{_S}of{_S}(?:it|that|this)"
    rf"|(?:add|save|store|put|commit){_S}(?:this|that|it){_S}{_MEMORY}|{europe.TOLD})"
    r"(?:[ \t]+[^,.;:!?\n]{1,80})?[.!]*[ \t]*$",
    r"(?P<fact>.{2,}?)[，,][ \t]*(?:请你?|請你?|麻烦你?|帮我|一定要|要|给我)?"
    r"(?P<p>记住|記住|记下来|記下來|记一下|別忘了|别忘了)[哦啊吧]?[。！!]*[ \t]*$",
    rf"(?P<fact>.{{2,}}?)[、,]?(?:ちゃんと|必ず|しっかり|よく)?(?P<p>{_JA_ASK})[。！!？?]*[ \t]*$",
    r"(?!(?:나는|난|나도|내가|저는|저도|제가)[ ][^.]*기억해[.!]*[ \t]*$)(?P<fact>.{2,}?)"
    r"(?<![ ,])[ ,]++(?:꼭|반드시|잘|좀)?[ ]?"
    rf"(?P<p>{_KO_KEEP}|{_KO_ASK}|기억해(?!.*[?？]))[.!]*[?？]?[ \t]*$",
)
# What then joins the fact to the verb: "…ということを", "…다는 걸".
TAIL = (
    r"[ \t]*(?:(?:という|っていう)?(?:こと|点|旨)[をはも]?|(?<=[るたいうくすつぶむだな])の[をはも]"
    r"|[をはもと]|って|ので|から"
    r"|(?:이?라는|(?<=다)는)?[ ]?(?:것|거|걸|점|사실)[을를은는도]?|이?라고|(?<=다)고|[을를]"
    r")?[、,，;]?[ \t]*$"
)
# "don't forget to ..." told the same way.
ERRAND = r".*(?:(?<=[るうくすつぶむ])の[をはも]?|(?<![다라])는[ ]?(?:것|거|걸)[을를]?)[ \t]*$"
NOT_TO_FORGET = r"忘れない.*|(?:잊지|까먹지).*"

# "Can you remember that I use zsh?" asks for it: the question mark is not the fact's.
ASKED = (
    rf"[ \t¿]*(?:[\w' ]{{1,20}}[,!:][ \t]+){{0,2}}(?:please[, \t]+)?"
    rf"(?:(?:can|could|would|will) you\b|{europe.CAN})"
)
# "..., ok?" asks for a nod: the fact ends before it.
TAG = (
    r"[ ](?:ok(?:ay)?|d['’]accord|vale)|,[ \t]{0,3}"
    r"(?:ok(?:ay)?|alright|right|please|yes|ja|oui|d['’]accord|vale|sí)"
)
# Between a trigger and its fact: "remember: x", "**Remember:** x", "remember, that x", "记住：x".
JOIN = (
    r"[*_]{0,3}[ \t]*(?:[:：,，、—–。！]|-(?=[ \t])|[.!]+(?=[ \t]))*[*_]{0,3}[ \t]*"
    rf"(?:(?:that\b|{europe.THAT})[ \t]*)?"
)
BELOW = (
    r"(?:the following|these(?: things)?|folgendes|ce qui suit|lo siguiente|以下|下面|次のこと"
    r"|다음)?[ \t]*[:：]?"
)

# Turned down as a whole, whatever follows.
NOT_AT_ALL = europe.NOT
# Turned down when one of these stands within 30 characters before a word of keeping.
NOT = (
    rf"(?:(?:do{_S}not|don['’]?t|never|not|no need to|(?:there is|there['’]s) no need to"
    rf"|you{_S}(?:needn['’]?t|don['’]?t{_S}(?:need|have){_S}to)"
    rf"|i{_S}don['’]?t{_S}want{_S}you{_S}to)"
    rf"\b(?![ \t]+forget)"
    r"|(?:不要|不用|不必|不需要|别|別|勿|无需|無需)(?!忘))"
)
KEEP = (
    r"(?:(?:remember|memori[sz]e)\b|(?:save|note|store)[ \t]+(?:this|that|it|any of this)\b"
    r"|(?:save|store|keep|add|commit|write|put)\b.{0,40}?\bmemory\b"
    "|记住|記住|记得|記得|记下|記下|记录|記錄|存一下|写入记忆|存到记忆)"
)
# The same where the verb comes first and its refusal after it; at the end of the sentence.
REFUSED = (
    r"(?:覚え|記憶し|メモし)(?:て(?:おか|い))?な(?:いで|くて(?:も)?(?:いい|よい|良い|大丈夫|結構)"
    r"|ければ)(?:ください|下さい|ほしい|です|ね|よ)*"
    r"|(?:覚える|覚えておく|記憶する|メモする)(?:必要(?:は|が)?(?:ない|ありません)|なよ?)(?:です)?"
    r"|(?:기억|메모|암기)(?:하지[ ]?(?:마(?:세요|라|요)?|말아(?:[ ]?(?:줘요?|주세요))?"
    r"|않아도[ ].{1,6})|할[ ]필요(?:는|가)?[ ]?없(?:어요?|습니다|다))|외우지[ ]?마(?:세요|라)?"
)

# Nothing but these: there is no fact, only a pointer to one.
FILLER = (
    rf"{europe.FILLER}|"
    r"this|that|it|these|them|ours|mine|please|pls|thanks|thank you|okay|ok|now|for me|for us"
    r"|always|as well"
    r"|for (?:later|future|next|all) sessions?|for (?:next time|the future|ever|good)|permanently"
    r"|forever|durably"
    r"|somewhere|irgendwo|quelque part|en alg[uú]n (?:sitio|lado)|about (?:me|us)"
    r"|too|everything|all of|in mind|what i said|what i told you"
    "|这个|這個|这些|這些|这一?点|這一?點|这件事|這件事|一下|下来|吧|哦|啊|了|好"
    "|我说的|上面的?|刚才的?|谢谢|謝謝"
    "|これ|それ|このこと|そのこと|この点|以下|全部|今の|さっきの|上の|話|内容|お願いします|お願い"
    "|ありがとう(?:ございます)?|[をはもねよ]"
    "|이거|이것|이걸|그거|그것|그걸|이 점|이 내용|그 내용|위 내용"
    "|방금 (?:말한|한)|거|것|말|내용"
    "|전부|다|좀|꼭|부탁(?:해|드려)요?|고마워요?|감사합니다|[을를도]"
)
# A noun that only points: "this rule", "the milk", "这个规则".
POINTED = (
    r"(?:this|that|these|those|the|my)[ \t]+[\w-]+(?:[ \t]+(?:above|below|here|i mentioned))?[.! ]*"
    r"|(?:这|那|這|上面|刚才)(?:个|個|些|条|條|种)?的?[^，。：:用是在有要不]{1,6}[。！]*"
    r"|(?:この|その|あの|今の|さっきの|上の)[^はがをにで、。]{1,8}[。！]*"
    r"|(?:이|그|저|위)[ ][^은는이가을를 ]{1,8}[을를은는]?[.!]*"
)
THANKS = r"[ \t]*[,，]?[ \t]*(?:please|thanks|thank you|谢谢|謝謝|お願いします|고마워요?)[.!。！]*$"
# "I prefer the second one" speaks of this task.
CHOICE = r"[ \t]*(?:the |that |this |these |your |option|it\b|one\b|what you)"
_LATER = "(?:later|next time|another time|some other time|tomorrow)"
LATER = (
    rf"(?:(?:it|this|that){_S})?(?:for{_S})?{_LATER}\b(?=[ \t]*(?:[,.:;!]|$)).*"
    rf"|.{{0,30}}\b{_LATER}[.!… ]*|.{{0,15}}再(?:说|說|讲|講)[吧。！ ]*"
    r"|(?:.{0,20}[はがを、])?(?:後で|あとで|次回に?|また今度|今度)(?:また|詳しく)?"
    r"(?:(?:話|説明|言|伝|教|決め)[^、。]{0,12})?[、。！]*"
    r"|(?:.{0,20}[은는이가을를,] ?)?(?:나중에|다음에|이따가?)(?: 다시)?"
    r"(?: ?(?:말|설명|얘기|이야기|알려|정하)[^.,]{0,12})?[,.!]*"
    rf"|.{{0,30}}\b{europe.LATER}"
)
QUESTION = (
    r".*[?？][ \t]*|.{0,40}吗[。 ]*|.*(?:ですか|ますか|でしたか|ましたか|っけ|かな)[。 ]*"
    r"|.*(?:나요|까요|던가)[. ]*"
)
# "remember to ..." is a task, unless it speaks of every time.
_EVERY = (
    r"(?!.*(?:\b(?:always|never|not|every|each|whenever|when|before|after|only)\b|每|总|總|一律|都"
    r"|毎|いつも|必ず|常に|前に|後に|たび|ときは|時は|매번|매일|매주|항상|언제나|전에|후에|때마다|때는"
    rf"|{europe.EVERY}))"
)
EVERY = _EVERY + ".*"
TASK = (
    rf"to[ \t]+{_EVERY}.*|去{_EVERY}.*"
    rf"|(?:i|we)[ \t]+(?:need|have|must|should|want)[ \t](?:to[ \t])?{_EVERY}.*"
    r"\b(?:today|tonight|tomorrow|later|this week|next week|on \w+day)\b.*"
    rf"|(?:我)?(?:明天|今天|今晚|下周|待会儿?|一会儿?)(?!起|开始){_EVERY}.{{0,20}}"
    r"(?:要|得|去|发|买|打电话|提交|修).*"
    rf"|(?:明日|今日|今夜|来週|今週){_EVERY}.{{0,30}}(?:する|やる|買う|送る|行く|出す)(?:こと)?[。]*"
    rf"|(?:내일|오늘|이따가?|다음 ?주|이번 ?주){_EVERY}.{{0,30}}"
    r"(?:기|해야 ?(?:해요?|돼요?|한다|함))[.]*"
    rf"|{_EVERY}(?:{europe.TASK})"
)
# Told of somebody else: "..., he said", "…と言われた".
REPORTED = (
    r".*,[ \t]*(?:(?:he|she|they|someone|(?:my|the|our)[ \t]+\w+)[ \t]+)"
    r"(?:said|says|wrote|told[ \t]+(?:me|us)|keeps? saying)[.! \t]*"
    r"|.*[，,](?:他|她|他们|我?(?:老板|经理|同事|客户))[^，,]{0,4}(?:说过?|講|讲过?|写道|要求)"
    r"[。！ ]*"
    r"|.*(?:と|って)(?:言|書|頼|聞)[^。]{0,8}[。 ]*"
    r"|.*(?:라고|다고|달라고)[ ]?(?:했|말했|하더|그랬|적혀)[^.]{0,8}[. ]*"
    rf"|{europe.REPORTED}"
)
# A later sentence of the line that turns to the work at hand is no part of the fact.
TURN = (
    r"(?:(?:ok(?:ay)?|now|also|then|and|so)[, \t]+)*"
    r"(?:please|(?:can|could|would|will) you|let['’]?s|let us|go ahead|thanks?|thank you)\b.*"
    r"|(?:now|next)\b[, \t]+(?!(?:we|i|it|they|the|our|all|everything|you)\b)\w.*"
    r"|(?:现在|然后|接下来|顺便)?[，,]?(?:请|帮我|麻烦|谢谢).*|(?:现在|接下来)(?!我们|我|都|用|的).*"
    r"|(?:では|じゃあ|それでは|次に|今から).*|(?:이제|그럼|그러면)[ ,].*|.*[?？][ \t]*"
    rf"|{europe.TURN}"
)

# (type, kind, expression), the first that is found.
TYPES = (
    (
        "reference",
        "",
        r"https?://|\b(?:dashboard|grafana|jira)\b|\b(?-i:Linear|Slack|Notion)\b"
        "|看板|仪表盘|儀表板|ダッシュボード|대시보드",
    ),
    (
        "user",
        "",
        r"\bmy (?:full |first |last |user ?)?(?:name|time ?zone|pronouns|birthday) (?:is|are)\b"
        r"|\b(?:i am|i['’]m) (?!\w+ing\b|not\b|sure\b)|\bi live\b|\bi work (?:at|for|as|in)\b"
        "|我叫|我是|我住|我的名字|我的时区|我在.{1,12}工作"
        "|(?:私|僕|俺)の(?:名前|誕生日)|に住んで|で働いて|(?:私|僕|俺)は[^、。はがを]{1,16}(?:です|だ)(?:[。、]|$)"
        "|(?:제|내) (?:이름|생일)|에 살(?:아|고|아요)|에 삽니다|에서 일(?:해|하|합)"
        rf"|(?:저는|나는|난|전) [^,.]{{1,16}}(?:입니다|예요|이에요|이야)|{europe.USER}",
    ),
    (
        "project",
        "decision",
        r"\b(?:decid(?:e|ed)|decision|choose|chose|chosen|we agreed)\b"
        "|决定|決定|选择|選擇|选定|選定|決め(?:た|まし)|選(?:んだ|びまし)|採用し|결정|정했|선택했|골랐"
        f"|{europe.DECISION}",
    ),
    (
        "project",
        "",
        r"\b(?:project|repo|repository|codebase)\b|项目|項目|仓库|倉庫|代码库"
        f"|プロジェクト|リポジトリ|프로젝트|저장소|레포|{europe.PROJECT}",
    ),
)
