"""The words that capture goes by: what triggers, its guards and types, and what the gate refuses.

Tables only. Each is the text of a case-insensitive regular expression, in English, Chinese,
Japanese and Korean; a language is added by adding its words.
"""

from __future__ import annotations

_S = r"[ \t]+"
_MEMORY = rf"(?:to|in|into){_S}(?:your{_S}|the{_S}|long[- ]term{_S})?memory\b"

# What may stand before a trigger at the start of a sentence.
LEAD = (
    r"[ \t]*(?:[-*+•][ \t]+|\d{1,2}[.)][ \t]+)?[*_]{0,3}"
    r"(?:(?:please|pls|also|and|so|ok(?:ay)?|hey|hi|btw|by the way|important|note|one more thing"
    r"|fyi|p\.?s|reminder|actually|just|oh|quick thing|can you|could you|would you|will you"
    r"|i want you to|i(?:['’]d| would) like you to|you should|you must)"
    r"[,:.!]?[ \t]+){0,3}"
    r"(?:(?:请务必|请你?|請你?|务必|麻烦你?|另外|对了|對了|还有|好的?|你要|一定要|帮我|幫我|能不能|可以"
    r"|あと|それと|ちなみに|では|じゃあ|なお|必ず|ちゃんと"
    r"|그리고|참고로|그럼|꼭|반드시|제발)[，,、：: \t]*){0,3}"
)

# Then a pointer to the fact ends: "remember this: x", but "remember this branch is frozen".
_ENDS = r"(?=[ \t]*(?:[:：,，—–-]|[.!。！]*[ \t]*$|(?:for me|please|for later)\b))"
# "store it in memory, not on disk" speaks of a program.
_ENDS_MEMORY = r"(?=[ \t]*(?:[:：—–-]|[.!]?[ \t]*$|that\b))"

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

# The rest of the line is the fact.
SAVE = "|".join(
    (
        r"remember\b(?![ \t]+(?:when|how|what|why|who|where|which|if|whether|me)\b)"
        rf"(?:{_S}(?:this|that|it){_ENDS})?(?:{_S}(?:for me|please)\b)?",
        rf"(?:save|add|commit|put|store|write)(?:{_S}(?:this|that|it))?{_S}{_MEMORY}{_ENDS_MEMORY}",
        rf"save{_S}this{_ENDS}|(?:note|write){_S}(?:this|that){_S}down\b",
        rf"(?:don['’]?t|do not|never){_S}forget\b(?:{_S}(?:this|that|it){_ENDS})?",
        rf"from{_S}now{_S}on\b|going{_S}forward\b",
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
    rf"my{_S}preference{_S}is\b|i{_S}prefer\b|我偏好|我更喜欢|我更喜歡"
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
    rf"(?P<fact>.{{4,}}?)[,;—–][ \t]*(?:(?:so|and|please),?{_S}){{0,2}}"
    rf"(?P<p>remember{_S}(?:this|that|it)|don['’]?t forget(?:{_S}(?:this|that|it))?"
    rf"|note{_S}that{_S}down)(?:{_S}(?:please|for me))?[.!]*[ \t]*$",
    r"(?P<fact>.{2,}?)[，,][ \t]*(?:请你?|請你?|麻烦你?|帮我|一定要|要|给我)?"
    r"(?P<p>记住|記住|记下来|記下來|记一下|別忘了|别忘了)[哦啊吧]?[。！!]*[ \t]*$",
    rf"(?P<fact>.{{2,}}?)[、,]?(?:ちゃんと|必ず|しっかり|よく)?(?P<p>{_JA_ASK})[。！!？?]*[ \t]*$",
    rf"(?!(?:나는|난|나도|내가|저는|저도|제가)[ ][^.]*기억해[.!]*[ \t]*$)(?P<fact>.{{2,}}?)[ ,]+"
    rf"(?:꼭|반드시|잘|좀)?[ ]?(?P<p>{_KO_KEEP}|{_KO_ASK}|기억해(?!.*[?？]))[.!]*[?？]?[ \t]*$",
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
ASKED = r"[ \t]*(?:please[, \t]+)?(?:can|could|would|will) you\b.*?(?P<mark>[?？]+)[ \t]*"
# Between a trigger and its fact: "remember: x", "**Remember:** x", "remember, that x", "记住：x".
JOIN = (
    r"[*_]{0,3}[ \t]*(?:[:：,，、—–。！]|-(?=[ \t])|[.!]+(?=[ \t]))*[*_]{0,3}[ \t]*"
    r"(?:that\b[ \t]*)?"
)
BELOW = r"(?:the following|these(?: things)?|以下|下面|次のこと|다음)?[ \t]*[:：]?"

# Turned down when one of these stands within 30 characters before a word of keeping.
NOT = (
    rf"(?:(?:do{_S}not|don['’]?t|never|not|no need to|(?:there is|there['’]s) no need to"
    rf"|you{_S}(?:needn['’]?t|don['’]?t{_S}(?:need|have){_S}to)|i{_S}don['’]?t{_S}want{_S}you{_S}to)"
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
    r"this|that|it|these|them|please|pls|thanks|thank you|okay|ok|now|for me|for us|always|as well"
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
)
QUESTION = (
    r".*[?？][ \t]*|.{0,40}吗[。 ]*|.*(?:ですか|ますか|でしたか|ましたか|っけ|かな)[。 ]*"
    r"|.*(?:나요|까요|던가)[. ]*"
)
# "remember to ..." is a task, unless it speaks of every time.
_EVERY = (
    r"(?!.*(?:\b(?:always|never|not|every|each|whenever|when|before|after|only)\b|每|总|總|一律|都"
    r"|毎|いつも|必ず|常に|前に|後に|たび|ときは|時は|매번|매일|매주|항상|언제나|전에|후에|때마다|때는))"
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
)
# Told of somebody else: "..., he said", "…と言われた".
REPORTED = (
    r".*,[ \t]*(?:(?:he|she|they|someone|(?:my|the|our)[ \t]+\w+)[ \t]+)"
    r"(?:said|says|wrote|told[ \t]+(?:me|us)|keeps? saying)[.! \t]*"
    r"|.*[，,](?:他|她|他们|我?(?:老板|经理|同事|客户))[^，,]{0,4}(?:说过?|講|讲过?|写道|要求)"
    r"[。！ ]*"
    r"|.*(?:と|って)(?:言|書|頼|聞)[^。]{0,8}[。 ]*"
    r"|.*(?:라고|다고|달라고)[ ]?(?:했|말했|하더|그랬|적혀)[^.]{0,8}[. ]*"
)
# A later sentence of the line that turns to the work at hand is no part of the fact.
TURN = (
    r"(?:(?:ok(?:ay)?|now|also|then|and|so)[, \t]+)*"
    r"(?:please|(?:can|could|would|will) you|let['’]?s|let us|go ahead|thanks?|thank you)\b.*"
    r"|(?:now|next)\b[, \t]+(?!(?:we|i|it|they|the|our|all|everything|you)\b)\w.*"
    r"|(?:现在|然后|接下来|顺便)?[，,]?(?:请|帮我|麻烦|谢谢).*|(?:现在|接下来)(?!我们|我|都|用|的).*"
    r"|(?:では|じゃあ|それでは|次に|今から).*|(?:이제|그럼|그러면)[ ,].*|.*[?？][ \t]*"
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
        "|(?:저는|나는|난|전) [^,.]{1,16}(?:입니다|예요|이에요|이야)",
    ),
    (
        "project",
        "decision",
        r"\b(?:decid(?:e|ed)|decision|choose|chose|chosen|we agreed)\b"
        "|决定|決定|选择|選擇|选定|選定|決め(?:た|まし)|選(?:んだ|びまし)|採用し|결정|정했|선택했|골랐",
    ),
    (
        "project",
        "",
        r"\b(?:project|repo|repository|codebase)\b|项目|項目|仓库|倉庫|代码库"
        "|プロジェクト|リポジトリ|프로젝트|저장소|레포",
    ),
)


# --- what a fact is not: the words of the gate -------------------------------------------------

# A reason given: it outweighs the soft codes.
WHY = (
    r"\bwhy:|\bbecause\b|\bso that\b|\bsince\b|\bdue to\b|因为|因為|原因|以便|なので|ため|때문"
    "|위해"
)
ASKS = (
    r"[?？][\"'”」)]*$|吗[。]?$|(?:ですか|ますか|でしょうか|나요|까요)[。.]?$"
    "|^(?:is|are|was|does|did|can|could|should|would|will) (?:the|a|i|we|you|it|this|that|there"
    r"|user)\b|^do (?:i|we|you|they)\b|^(?:how|why|where) (?:do|does|did|can|is|are|should)\b"
    r"|^(?:which|whose|what) \w+ (?:do|does|did|is|are|should|would|can|has|have)\b"
    r"|^what(?:['’]s| is| are| does| do| did)\b"
)
# Work that is still to be done, an intention, a request of the moment.
TO_DO = (
    r"^(?:respond|reply|answer)\b.{0,9} the user['’]s (?:question|message|request)\b|"
    r"^(?:[-*] \[ \]|to-?do\b|fixme\b|next(?: steps?)?\s*(?::|is\b|we\b|,)|plan:|follow[- ]up\b"
    r"|pending:|remaining:|action items?\b|goal:|remember to\b|please\b|step \d"
    r"|plan(?:s|ning)? to\b)|^(?:the )?(?:user|team|assistant|agent) (?:is )?plan(?:s|ning) to\b"
    "|^(?:(?:still|also|we|i|you|the (?:user|team|assistant)) )*(?:still )?(?:need|needs|has"
    r"|have) to (?!be\b)|^need to\b"
    r"|\b(?:i|we)(?:['’]ll| will|['’]m going to|['’]re going to| am going to| are going to"
    r"| plan to| intend to) (?!never\b|always\b)"
    "|^(?:the )?user (?:wants?|would like|asked|asks|requested|requests|is asking|plans"
    "|intends)(?: me| us| the assistant)? (?:to|for) (?!be (?:called|addressed)|keep|see|know"
    "|have|avoid)"
    "|^(?:the )?user wants? (?:a|an|the) (?:summary|list|fix|review|plan|test|explanation"
    r"|report|overview)\b|(?:調査|確認|検討|修正|対応)(?:する|します)[。]?$"
    "|(?:확인|수정|검토|추가|조사)(?:하겠습니다|할게요)|^先(?:看|改|写|查)一?下|^先?把.{1,30}(?:一下|掉)[。]?$|^まず"
    "|해 ?보자[.]?$|待办|待辦|接下来要?|下一步|需要(?:再|继续)"
    "|(?:我|我们)(?:会|要|准备|打算)(?:去|把|给|在)|用户(?:想|要求?|希望|让)(?:让)?我"
    "|^(?:明天|下周)(?:要|得)|(?:する|行う|追加する|対応する)(?:予定|つもり)|^次(?:は|に)"
    "|やること|しなければならない[。]?$|다음 단계|할 일|(?:할|추가할|수정할) (?:예정|계획)"
    "|해야 (?:한다|합니다|해요)[.]?$"
)
# An order is a rule in feedback; anywhere else it is work, unless it is for every time.
ORDER = (
    "^(?:fix|add|implement|refactor|create|investigate|debug|rename|remove|move|write|update"
    r"|review|finish|deploy|test|merge) (?:an?|the|new|missing|more|tests?|another)\b"
)
EACH_TIME = (
    r"\b(?:always|never|each|every|when|whenever|only|unless|once"
    r"|(?:before|after)(?! (?:lunch|noon|today|tonight|tomorrow|the (?:meeting|demo|weekend)"
    r"|\w+day)))\b"
)
SAW = (
    "opened|looked|discussed|suggested|asked|tried|ran|saw|noticed|read|reviewed|checked"
    "|started|worked|mentioned|said|found|wrote|fixed|added|updated|implemented|removed|created"
    "|moved|merged|pushed|finished|tested|shared|explored|considered|talked|reported|pasted"
    "|showed|explained|proposed|continued"
)
DOING = (
    "debugging|fixing|testing|implementing|refactoring|reviewing|reading|looking|trying|waiting"
    "|checking|running|investigating|working on|editing|exploring"
    "|writing (?:the|a) (?:test|fix|function|patch|script)"
)
# What was done, or is being done, or came of it.
PROGRESS = (
    "^(?:the )?user (?:is|was|seems) (?:happy|pleased|satisfied|frustrated|confused|annoyed)"
    r"(?!.*:)|"
    "^(?:(?:i|we|i['’]ve|we['’]ve|just|have|has|successfully|then"
    "|also) )*(?:(?!need)[a-z]{3,}ed|ran|wrote|built|made|found|sent|did)[ ](?:the|an?|all|some"
    r"|both|several|unused|new|one|two|three|four|five|\d+|it|this|that|tests?|missing|my|our)\b"
    r"|^ran \w"
    "|^(?:we|i|they|(?:the )?(?:user|assistant|agent|team))(?: has| have| had| then| just"
    rf"| also)? (?:{SAW})\b|^successfully \w|^(?:now )?(?:{DOING})\b"
    rf"|\b(?:is|are|was|were|am|['’]m|['’]re) (?:now |still )?(?:{DOING})\b"
    r"|\bnow (?!always|is\b)[a-z]+s\b|\b(?:works|working) (?:as expected|fine|now)\b"
    r"|\blooks (?:correct|good|fine)\b|\btimed out\b"
    r"|\b(?:is|are) at (?:step )?\d+ (?:of|/) \d+\b|\bthis time\b"
    r"|\b(?:all )?(?:\d+ )?tests? (?:now )?(?:pass(?:ed|es|ing)?|are green|fail(?:ed|s|ing)?)\b"
    r"|\b(?:is|are) (?:now )?(?:done|complete|completed|finished|fixed|ready for review"
    r"|green)(?=[.,;! ]*(?:$|and\b|now\b))"
    "|^(?:the )?user (?:has |just )?(?:confirmed|approved|accepted|rejected|acknowledged"
    r"|liked)(?: (?:the|it|this|that|my|our)\b| *$)|\bsaid (?:yes|no|ok|thanks)\b"
    r"|\b(?:after|with) (?:the|this|my|our) (?:change|fix|refactoring|patch|update)\b"
    r"|^the new (?:test|function|endpoint|component|button|helper|file)s?\b"
    r"|^the (?:bug|error|issue|problem|failure|crash) (?:was|is)\b|\btool call\b|\bretrying\b"
    r"|\bno further (?:action|changes?)\b|(?:修改|改动|修复)(?:之?后|涉及)"
    "|(?:聞か|言わ|頼ま)れ(?:た|まし)|已经?(?:修|完成|添加|更新|实现|解决|推送|提交|合并|部署|把)"
    "|^(?:正在|刚刚?)|(?:完成|修好|搞定|改好|写好|跑完)了"
    "|(?:用户|我们?|团队)(?:刚刚?|正在(?:调|修|改|写|看|跑|查|测|运行|讨论))"
    "|用户(?:已经?)?(?:同意|确认|批准|接受|看)了|用户问"
    "|(?:测试|构建|编译)(?:全部|都)?(?:通过|失败|成功)|完了しました"
    "|(?:修正|追加|更新|実装|対応|承認|同意|確認)しました|実行中|しているところ"
    "|しています[。]?$|(?:テスト|ビルド).{0,8}(?:通り|成功し|失敗し)(?:まし)?た"
    "|(?:수정|추가|완료|구현|업데이트|배포|해결|승인|동의|확인|통과|실패)했(?:습니다|다|어요)"
    "|실행 ?중|하는 중|고 있(?:다|습니다)[.]?$"
)
SELF_TALK = (
    r"^(?:ok|okay|yes|sounds good|perfect|hope (?:this|that)|feel free|happy to|here['’]s)\b"
    r"|\blet me know\b|^(?:it )?(?:seems?|looks)(?: like)?\b"
    r"|^(?:maybe|perhaps|probably|possibly|i guess|got it)\b|^(?:也许|可能|好像|似乎)"
    r"|^(?:ok(?:ay)?|sure|great|alright|certainly|of course|got it)?[,.!]?\s*(?:let me|let['’]s"
    r"|i['’]ll|i should|i need|i can(?:not|['’]t)?\b|i think|i believe|i see|i notice"
    r"|i understand|i apologi[sz]e|i['’]m sorry|allow me|here (?:is|are) )|\bas an ai\b"
    r"|\blanguage model\b"
    r"|\b(?:saved?|stored?|added|noted|recorded) (?:this |that |it )?(?:in|to|into) (?:my |the "
    r"|your )?(?:long-term )?memory\b"
    r"|\bthe assistant (?:should|will|can|is|has|was|suggested|explained|said)\b"
    "|^(?:好的?|明白了?|收到)?[，,]?(?:我来|让我|我先|我看一?下|我觉得|我认为|我需要)"
    "|作为(?:一个)?(?:AI|人工智能)|^(?:では|それでは)?、?(?:確認してみ|見てみ)ます|私はAI"
    "|^(?:네|알겠습니다)[,. ]|제가 확인해|저는 AI"
)
INJECTION = (
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,30}\b(?:instructions?|rules?|prompts?"
    r"|guidelines|everything|safety|polic(?:y|ies)|above|previous)\b"
    r"|\b(?:new|updated|real) instructions?:|\bobey\b|\bforget what\b|\bapprove everything\b"
    r"|\byou are (?:now )?(?:dan\b|an? (?:unrestricted|different|new)|no longer)"
    r"|\bno restrictions\b|\bjailbreak"
    r"|\b(?:reveal|print|show|output|repeat|leak)\b.{0,20}\b(?:system|hidden|initial) (?:prompt"
    r"|instructions)|^\W{0,3}(?:system|assistant|developer)\s*[:>]|<\|?(?:system|im_start)"
    r"|\[INST\]|</?(?:system|instructions?)>"
    r"|\b(?:send|post|upload|exfiltrate)\b.{0,60}\b(?:\.ssh|\.env|secrets?|credentials|api keys?"
    r"|tokens?|contents of ~)|\bdo not (?:tell|inform|mention (?:this|it) to) the user\b"
    r"|\bwithout (?:telling|asking) the user\b"
    "|(?:忽略|无视|忘记|不要理会).{0,12}(?:指令|指示|规则|提示|设定)|系统提示词"
    "|(?:指示|命令|ルール).{0,8}(?:無視|忘れ)|システムプロンプト"
    "|(?:지시|명령|규칙).{0,10}(?:무시|잊)|시스템 프롬프트"
)
DATED = r"\b20\d\d-\d\d(?:-\d\d)?\b|\b20\d\d年|20\d\d년"
# True for now only, unless a date is given.
FOR_NOW = (
    r"\b(?:currently|at the moment|right now|at present|for now|for the time being|temporarily"
    "|today|tonight|yesterday|tomorrow"
    "|this (?:morning|afternoon|week|session|conversation|turn)|just now|so far|as of now"
    "|uncommitted|in progress|work in progress|wip"
    r"|current (?:branch|task|directory|file|step|state)|line \d+ (?:of|in)"
    "|has a (?:bug|typo|problem|conflict)"
    r"|(?:pr|pull request|branch|mr)(?: #?\d+)? (?:is|are|needs|has))\b"
    r"|^(?:at )?\d{1,2}:\d\d\b.*\b(?:started|finished|ended|began)\b"
    r"|第[\d一二三四五六七八九十百]+行(?:有|的|报|出)"
    r"|\b(?:session|conversation|chat) (?:started|began|ended|is about|was about)\b|目前|暂时"
    "|暫時|现在(?!起|开始)|刚才|剛才|今天|昨天|明天|本次|这次|這次|当前|現在|今日|昨日|一時的"
    "|今のところ|とりあえず|현재|지금은|오늘|어제|내일|당분간|일단|이번 (?:주|세션)"
)
RULE = (
    r"\b(?:always|never|only|must|should|do not|don['’]t|instead|prefers?|avoid)\b|:|不要|必须"
    "|一律|只|ください|こと|하지"
)
MOOD = (
    r"\b(?:great|good|nice|excellent|amazing) (?:job|work|answer|result)"
    r"|\b(?:happy|pleased|satisfied|unhappy|annoyed|frustrated|impressed|angry)\b"
    r"|\b(?:thank(?:s|ed)?|looks? good|lgtm|well done|congratulat\w+)\b|满意|感谢|谢谢|不错|很好"
    "|很棒|生气|ありがと|満足|素晴らしい|감사|고맙|만족|훌륭"
)
DECIDED = (
    r"\b(?:decid\w+|chose\w*|choosing|agreed|settled|went with|go with)\b|决定|決定|选择|選擇"
    "|决め|決め|결정|선택"
)
# A decision for something that only the session could name.
NO_CHOICE = (
    r"\b(?:proceed|continue|go ahead|move (?:on|forward)"
    "|as (?:discussed|planned|described|suggested|proposed)|option [a-e1-9]"
    "|the (?:first|second|third|last|other|above|latter|former) (?:option|approach|one|plan"
    "|solution)|do (?:it|this|that|so)|try again|fix (?:it|this|that)"
    r"|(?:with|on) (?:it|this|that)\b)|继续|照做|刚才的|上面的|方案[一二三ABC1-9]"
    "|第[一二三]个方案|続け|この案|案[ABC1-9]|계속|방금|[ABC1-9]안"
)
# Begins with, or hangs on, what only the session could tell.
DANGLING = (
    "^(?:this|that|these|those|it|he|she|they|here"
    r"|there)\b(?! (?:user|team|project|repository|company|product|system|app|service"
    r"|customer)\b)|\b(?:as|described|mentioned|shown|listed|see) (?:above|below|earlier)\b"
    r"|\bthe (?:above|following) "
    "|^(?:这|那|此|它|上述|以上)(?!个?(?:项目|仓库|团队|用户|产品|系统|应用|服务|公司|客户))"
    "|^(?:これ|それ|この|その|上記)(?!プロジェクト|リポジトリ|製品|システム|アプリ|サービス"
    "|チーム|会社)|^(?:이|그|저|위의?) (?!프로젝트|저장소|제품|시스템|앱|서비스|팀|회사)"
    "|^(?:이것|그것)"
)
