"""The words of the gate: what tells that a text is no lasting fact.

Tables only. Each is the text of a case-insensitive regular expression, in English, Chinese,
Japanese and Korean; a language is added by adding its words.
"""

from __future__ import annotations

# A reason given: it outweighs the soft codes.
WHY = (
    r"\bwhy:|\bbecause\b|\bso that\b|\bsince\b|\bdue to\b|因为|因為|原因|以便|なので|ため|때문"
    "|위해"
)
# The reason itself: what it tells may have happened once.
REASON = (
    r"\bWhy:.*|原因[：:].*|,? because\b.*|^(?:because|since) [^,]{3,80}, |^(?:因为"
    r"|由于)[^，]{2,60}，"
    "|^[^。]{2,80}(?:ため|ので)、|^[^.]{2,80}(?:때문에|므로|라서) "
)
ASKS = (
    r"[?？][\"'”」)]*$|吗[。]?$|(?:ですか|ますか|でしょうか|나요|까요)[。.]?$"
    "|^(?:is|are|was|does|did|can|could|should|would|will) (?:the|a|i|we|you|it|this|that|there"
    r"|user)\b|^do (?:i|we|you|they)\b|^(?:how|why|where) (?:do|does|did|can|is|are|should)\b"
    r"|^(?:which|whose|what) \w+ (?:do|does|did|is|are|should|would|can|has|have)\b"
    r"|^what(?:['’]s| is| are| does| do| did)\b"
)
# What one does as long as the project lasts, and what one does once.
_STAYS = (
    r"(?:be|keep|support|stay|remain|comply|use|retain|respect|follow|pay|report|store|have|know"
    r"|leave|work|avoid|guarantee|ensure|pass|run (?:on|in|under|with(?:out)?)|take|wear|eat"
    r"|pick up|share|go through|get|match|fit|handle)\b"
)
_WORK_JA = "(?:追加|修正|実装|確認|調査|対応|作成|更新|削除|リファクタリング|テスト|検討)を?"
_WORK_KO = "(?:추가|수정|구현|확인|조사|작성|업데이트|삭제|제거|정리|해결|리팩터링|테스트|검토) ?"
WORK = (
    r"\b(?:add|fix|implement|refactor|debug|rename|remove|delete|update|review|test|finish|continue"
    r"|investigate|convert|extract|merge|commit|push|deploy|revert|undo|rerun|see why"
    r"|(?:create|write|check|look at|try|run|find|change|move|build|generate|start|make) (?:the"
    r"|this"
    r"|that|it|a (?:test|fix|function|script|component|patch|branch)))\b"
)
# Work that is still to be done, an intention, a request of the moment.
TO_DO = (
    r"^(?:respond|reply|answer)\b.{0,9} the user['’]s (?:question|message|request)\b|"
    r"^(?:[-*] \[ \]|to-?do\b|fixme\b|next(?: steps?| up)?\s*(?::|is\b|we\b|,)|plan:|follow[- ]up\b"
    r"|pending:|remaining:|action items?\b|goal:|remember to\b|step \d"
    r"|please\b(?! (?:always|never|do not|don['’]t|avoid|use|prefer|keep))"
    r"|plan(?:s|ning)? to\b)|^(?:the )?(?:assistant|agent) (?:is )?plan(?:s|ning) to\b"
    rf"|^(?:(?:still|also|we|i|you|the (?:user|team|assistant)) )*(?:still )?(?:need|needs|has"
    rf"|have) to (?!{_STAYS})|^need to\b(?! {_STAYS})"
    "|(?:調査|確認|検討|修正|対応)します[。]?$|^[^は。]{0,20}(?:調査|確認|検討|修正|対応)する[。]?$"
    r"|겠습니다[.]?$|(?:확인|수정|검토|추가|조사)할게요|^先(?:看|改|写|查)一?下"
    "|^先?把.{1,30}(?:一下|掉|一点|一些)[。]?$|^まず"
    "|해 ?보자[.]?$|待办|待辦|接下来要?|下一步|需要(?:再|继续)"
    "|(?:我|我们)(?:会|要|准备|打算)(?:去|把|给|在)|^(?:明天|下周)(?:要|得)|^次(?:は|に)"
    f"|やること|{_WORK_JA}しなければ(?:ならない|なりません)[。]?$|다음 단계|할 일|차례(?:이?다"
    f"|입니다)[.]?$"
    f"|^[^은는]{{0,30}}{_WORK_KO}해야 (?:한다|합니다|해요)[.]?$"
)
# A plan: of use where it says when, or tells of a life.
PLANNED = (
    r"^(?:the )?(?:user|team) (?:is )?plan(?:s|ning) to\b"
    r"|^(?:the )?user will (?!be\b|not\b|always\b|never\b|only\b)"
    r"|\b(?:i|we)(?:['’]ll| will|['’]m going to|['’]re going to| am going to| are going to"
    r"| plan to| intend to) (?!never\b|always\b|not\b|only\b|keep\b|stay\b|continue to\b)"
    "|(?:する|行う|追加する|対応する)(?:予定|つもり)|(?:할|추가할|수정할) (?:예정|계획)"
)
# The user's wish told to the assistant: of the moment unless it is feedback.
WISHED_CJK = "用户(?:想|要求?|希望|让)(?:让)?我"
WANTS = (
    "^(?:the )?user (?:wants?|would like|asked|asks|requested|requests|is asking|plans"
    "|intends)(?: me| us| the assistant)? (?:to|for) (?!be\\b|keep|see\\b|know|have|avoid|stay"
    "|use\\b"
    "|get\\b|follow|hear|read\\b|receive|prefer|stick)"
    "|^(?:the )?user wants? (?:a|an|the) (?:quick )?(?:summary|list|fix|review|plan|test"
    "|explanation"
    r"|report|overview)\b"
)
# An order is a rule in feedback; anywhere else it is work, unless it is for every time.
ORDER = (
    "^(?:fix|add|implement|refactor|create|investigate|debug|rename|remove|move|write|update"
    r"|review|finish|deploy|test|merge) (?:an?|the|new|missing|more|tests?|another)\b"
    r"|^(?:add|fix|create|sync|bump|remove|rename|implement|refactor|migrate|install|integrate"
    r"|enable|disable|expand|analy[sz]e|hide|restore|stop|send|hook) (?!to\b)[\w`'/.@-]+ \S"
)
# An order that says how: "Install dependencies with `uv sync`".
HOW = r"\b(?:with|using|via|through|by running|from)\b.{0,12}(?:`|\w/|[a-z]-|\w\.\w| \w+ \w+$)"
# In feedback: what the assistant was to do there and then.
AT_ONCE = (
    r"^(?:now|then|next|ok(?:ay)?|go ahead|go on|continue|proceed|try again|carry on)\b(?! to\b)"
    r"|\bagain(?: and\b|[.!]?$)|^(?:\w+ and )?(?:commit|push|merge|run|fix|do|try|revert|undo"
    r"|deploy|rerun|test) (?:it|this|that|them|the (?:failing|broken|lint|type|remaining))\b"
    r"|^(?:show|give|tell|send) me (?:the|a|what|how|why)\b|^(?:no|yes|ok|okay|yep|right|sure"
    r"|hmm+)[,.!]"
    r"|^also (?:add|fix|update|remove|run|check)\b"
    r"|\ba (?:bit|little) (?:bigger|smaller|wider|higher|lower|darker|lighter|brighter)\b"
    r"|^(?:explain|describe|check|fix|update|change|remove|rename|move|make) the (?:last |first )?"
    r"(?:error|bug|output|failure|change|code|function|test|result|problem|button|header|typo)\b"
    "|^(?:好的?|是的|对|嗯|可以|行)[，,。]|继续吧|^不对|^换一个|^再(?:试|来|跑)|もう一度|^もっと"
    "|^좀 더 자세히|^그렇게 진행|^(?:はい|いや|いいえ)、|^それでお願い"
    "|^(?:네|아니),|한 번 더|다시 (?:시도|해|실행)"
)
# An order that only makes sense once.
ONCE = (
    r"^first\b.{3,}\bthen\b|^(?:finish|restart|continue|draft|complete|resume|re-?run|retry"
    r"|wire up|clean up|follow up"
    r"|investigate|double-check|look into|figure out|set up|bring up|port|try|verify|start|wrap up"
    r"|hook up|sort out|get back to) (?!with\b|from\b)"
)
EACH_TIME = (
    r"\b(?:always|never|each|every|when|whenever|only|unless|until|once|without"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days"
    r"|(?:before|after)(?! (?:lunch|noon|today|tonight|tomorrow|the (?:meeting|demo|weekend)"
    r"|\w+day)))\b"
)
# A state that is the condition of a rule: "deleted once it has been merged".
IF_SO = (
    r"\b(?:(?:that|which|who) (?:has|have|is|are)|once|when|whenever|until|unless|if|only"
    r"|after (?:it|they|an?\b[\w ]{1,20}) ha(?:s|ve))\b"
)
# What turns a state into a condition.
LAW = (
    r"\b(?:always|never|only|must|should|do not|don['’]t|cannot|each|every|any|when|whenever|unless"
    r"|until|if|without|before|where|means?|indicates?|expected|usually|treated|counts?"
    r"|fails? (?:on|under|with|in|behind|for) (?-i:[A-Z])\w+|on (?:windows"
    r"|linux|macos|arm64|apple silicon|ci|wsl))\b"
)
SAW = (
    "opened|looked|discussed|suggested|asked|tried|ran|saw|noticed|read|reviewed|checked"
    "|started(?! (?:an? (?:\\w+ )?(?:job|company|role|position|course|family|diet)|at|as|working"
    "|learning)\\b)|worked|mentioned|said|found|wrote|fixed|added|updated|implemented|removed"
    "|created|moved(?! (?:to|from|away|off|in|out|here)\\b)|merged|pushed|finished|tested|shared"
    "|explored|considered|talked|reported|pasted"
    "|showed|explained|proposed|continued"
)
DOING = (
    "debugging|comparing|fixing|testing|implementing|refactoring|reviewing|reading|looking|trying"
    "|waiting"
    "|checking|investigating|working on|editing|exploring"
    "|running(?! (?:on|as|under|inside|behind|version)\\b| (?-i:[A-Z]))"
    "|writing (?:the|a) (?:test|fix|function|patch|script)"
)
_DOING_JA = (
    "(?:調査|比較|確認|検討|修正|実装|デバッグ|テスト|作業|作成|レビュー|待機|実行|追加|更新)を?"
)
_DOING_KO = (
    "(?:조사|비교|확인|검토|수정|구현|디버깅|테스트|작업|작성|실행|추가|업데이트|대기|진행"
    "|리뷰)(?:을|를)? ?"
)
# "The assistant should ..." before a rule.
DUTY = (
    r"(?<=[てで])(?:ほしい|欲しい)と(?:言われ|頼まれ|要望され|依頼され)(?:た|ている|ました"
    r"|ています)[。]?$"
    r"|달라고 ?(?:요청|부탁|말|당부)?(?:했다|했습니다|한다)[.]?$|"
    r"^(?:the )?(?:assistant|agent|model|ai) (?:should|must|needs to|has to|is to|may)(?= )"
    rf"|^(?:the )?user (?:has )?(?:asked|requested)(?: me| the assistant)? (?:for|to) (?!.*{WORK})"
)
# What was done, or is being done, or came of it.
PROGRESS = (
    "^(?:the )?user (?:is|was|seems) (?:happy|pleased|satisfied|frustrated|confused|annoyed)"
    r"(?!.*:)(?! (?:by|when|whenever|if|that) (?!the\b|this\b))|"
    "^(?:(?:i|we|i['’]ve|we['’]ve|just|have|has|successfully|then"
    "|also) )*(?:(?!need)[a-z]{3,}ed|ran|wrote|built|made|found|sent|did)[ ](?:the|an?|all|some"
    r"|both|several|unused|new|one|two|three|four|five|\d+|it|this|that|tests?|missing|my|our)\b"
    r"|^ran \w"
    "|^(?:we|i|they|(?:the )?(?:assistant|agent|team))(?: has| have| had| then| just"
    rf"| also)? (?:{SAW})\b|^successfully \w|^(?:now )?(?:{DOING})\b(?!:)"
    rf"|\b(?:is|are|was|were|am|['’]m|['’]re) (?:now |still )?(?:{DOING})\b"
    r"|\bnow (?!(?:always|is|uses|requires|works (?:at|for|as|in)|lives|owns|leads|maintains"
    r"|prefers|belongs|runs on|supports|wants|needs|depends|costs|means|expects|reports to"
    r"|goes|consults|teaches|studies|targets|follows|lies|sits)\b)[a-z]+s\b"
    r"|\b(?:works|working) (?:as expected|fine|now)\b|^the (?:fix|change|patch|solution) works\b"
    r"|\blooks (?:correct|good|fine)\b|\bwent (?:through|well|smoothly|fine)\b"
    r"|^as (?:requested|asked|discussed|planned|agreed|suggested)\b"
    r"|\bas the user (?:wished|asked|requested|wanted)\b"
    r"|\b(?:switched|changed) to (?:the |a )?(?:\w+ )?(?:branch|directory|file|tab)\b"
    r"|\b(?:is|are) at (?:step )?\d+ (?:of|/) \d+\b|\bthis time\b|\b(?:is|are) on step \d"
    "|^(?:the )?user (?:has |just )?(?:confirmed|approved|accepted|rejected|acknowledged"
    r"|liked)(?: (?:the|it|this|that|my|our)\b| *$)|\bsaid (?:yes|no|ok|thanks)\b"
    r"|^the (?:bug|error|issue|problem|failure|crash) (?:was|is)\b|\btool call (?:failed|returned"
    r"|was)\b|\bno further (?:action|changes?)\b|(?:修改|改动|修复)(?:之?后|涉及)"
    "|(?:聞か|言わ|頼ま)れ(?:た|まし)"
    "|已经?(?:修|完成|添加|更新|实现|解决|推送|提交|合并|部署(?!在|于)|把)"
    "|^(?:助手|アシスタント[はが]|어시스턴트[는가])(?!.*(?:[应须要不]|べき|こと|ない|야 |말))"
    "|^(?:正在|刚刚?)|(?:执行|运行|处理)完毕|被占用|(?:完成|修好|搞定|改好|写好|跑完)了"
    "|(?:用户|我们?|团队)(?:刚刚?|正在(?:调|修|改|写|看|跑|查|测|运行|讨论|把|迁|处理|重构|实现"
    "|对比|比较))"
    "|^用户切换到|브랜치로 (?:전환|이동|바꿨)"
    "|用户(?:已经?)?(?:同意|确认|批准|接受|看)了|用户问"
    "|(?:测试|构建|编译)(?:全部|都)?(?:通过|失败|成功)|完了しました"
    "|(?:修正|追加|更新|実装|対応|承認|同意|確認)しました|実行中|しているところ"
    f"|{_DOING_JA}して(?:いる|います)[。]?$|(?:テスト|ビルド).{{0,8}}(?:通り|成功し"
    f"|失敗し)(?:まし)?た"
    "|(?:수정|추가|완료|구현|업데이트|배포|해결|승인|동의|확인|통과|실패)했(?:습니다|다|어요)"
    f"|を待ってい|(?<!배우)는 중(?:이다|입니다)|기다리고 있|이미 사용 ?중|すでに使用|실행 ?중"
    f"|{_DOING_KO}(?:하고|는) 있(?:다|습니다)[.]?$|(?:보|읽|고치)고 있(?:다|습니다)[.]?$"
)
# What the user did; of a life, or of a reaction, it tells something that lasts.
USER_DID = rf"^(?:the )?user(?: has| had| then| just| also)? (?:{SAW})\b"
_IT = (
    r"(?: (?:with|to|on|at|for))?(?: (?:the|this|that|it|these|all|both|option|my|me|us)\b"
    r"| an? (?:new )?"
    r"(?:file|test|bug|function|error|branch|commit|screenshot|component|log|diff|patch|terminal"
    r"|tab)"
    r"\b| ?[.!]?$)"
)
OF_THE_USER = r"^(?:the )?user\b|用户|ユーザー|사용자"
IN_SESSION = (
    r"^(?:the )?user (?:has |had |just |then |also |now )*(?:did not like|didn['’]t like|liked"
    r"|chose"
    r"|(?:agree|disagree|accept|approve|confirm|select|pick|click|paste|thank|greet)"
    r"(?:s|d|ed)|replied|responded|replies|responds|said|says|sent|opened|shared|saw|asked|looked"
    r"|discussed"
    r"|suggested|tried|ran|noticed|read|reviewed|checked|showed|copied|fixed|added|updated"
    rf"|implemented|removed|created|merged|pushed|tested|finished|reported){_IT}"
    r"|^(?:用户|他|她)(?:刚|刚刚|已|又|还)?(?:发|贴|粘贴|上传|复制|分享|打开|运行|截|选了|点)"
    "|^(?:ユーザー|利用者)は?[^。]{1,30}(?:送った|貼った|聞いた|開いた)"
    "|^사용자[가는][^.]{1,30}(?:보냈|붙여|공유했|물었|열었|눌렀)|(?:消失|不见|没有)了[。]?$"
)
# The same words in a rule: "Merge only when all tests pass".
PROGRESS_UNLESS_RULE = (
    r"^(?:the )?(?:lint|linter|type[ -]?check|build|ci|pipeline|compilation)(?:ing|er)? (?:now )?"
    r"(?:pass(?:es|ed)|fail(?:s|ed)|succeed(?:s|ed))\b|\bnot (?:\w+ )?(?:correctly|properly)\b|"
    r"\b(?:all )?(?:\d+ )?tests? (?:now )?(?:pass(?:ed|es|ing)?|are green|fail(?:ed|s|ing)?)\b"
    r"|\b(?:is|are) (?:now )?(?:done|complete|completed|finished|fixed|ready for review"
    r"|green)(?=[.,;! ]*(?:$|and\b|now\b))|\btimed out\b|\bretrying\b|\btool call\b"
    r"|\b(?:after|with) (?:the|this|my|our) (?:change|fix|refactoring|patch|update)\b"
    r"|^the new (?:test|function|endpoint|component|button|helper|file)s?\b"
)
# What a past act came to: "We tried Cypress, so we use Playwright".
CAME_TO = (
    r"\bso (?:we|the (?:team|project|app|service|company|user)|all|every\w*|new|nobody|no one)\b"
    r"|\b(?:and|but|who) (?:\w+ly )?(?:prefers|learns|wants|likes|dislikes|expects|needs|works"
    r"|reads"
    r"|uses|finds)\b|\b(?:found|finds|considered) .{3,80}\b(?:too|hard|confusing|unreadable|noisy"
    r"|annoying|easier|harder|clearer)\b"
    r"|^(?:running|testing|editing|reading|checking) .*\b(?:is|are|requires?|needs?|takes?|causes?"
    r"|breaks?|deletes?|duplicates?|resets?|means|must|should|works|costs?|locks?)\b"
    r"|\bin favou?r of\b|\binstead of\b"
    r"|\bbecause\b.{0,120}\b(?:is|are|do(?:es)?|must|cannot|can['’]t)\b"
)
# No report begins so: "Never amend commits that have been pushed".
FORBIDS = r"^(?:please )?(?:never(?! \w+ed\b| ran\b)|always|do not|don['’]t|avoid|nobody|no one)\b"
# A frame around what the user said: the fact is what stands inside.
SAID = (
    r"^(?:the )?user (?:has |also |just )?(?:said|says|mention(?:ed|s)|explain(?:ed|s)|noted|notes"
    r"|confirm(?:ed|s)|clarif(?:ied|ies)|stat(?:ed|es)|point(?:ed|s) out|report(?:ed|s)"
    r"|correct(?:ed|s)(?: me)?|told (?:me|us)|insist(?:ed|s)|emphasi[sz]e[ds]|remind(?:ed"
    r"|s)(?: me)?"
    r"|ask(?:ed|s)) that (?=\S)"
    "|^用户(?:曾|还|也)?(?:说|提到|表示|确认|指出|强调|补充|告知|说明)(?:过"
    "|了)?[，：,:]?(?=[^，。]{4})"
    "|(?:という|との)?と?(?:述べ|言っ|話し|伝え|説明し)(?:た|ている|ていた|ました|ています)[。]?$"
    r"|(?:라고|다고|(?<=[가-힣]달)라고) ?(?:말|언급|설명|강조|이야기|얘기)?(?:했다|했습니다"
    r"|한다)[.]?$"
)
SELF_TALK = (
    r"^(?:ok|okay|yes|sounds good|perfect|hope (?:this|that)|feel free|happy to|here['’]s)\b"
    r"|\blet me know\b|^(?:it )?(?:seems?|looks)(?: like)?\b"
    r"|^(?:could|might|may) be\b|^(?:maybe|perhaps|probably|possibly|i guess|got it)\b|^(?:也许"
    r"|可能|好像|似乎)"
    r"|^(?:ok(?:ay)?|sure|great|alright|certainly|of course|got it)?[,.!]?\s*(?:let me|let['’]s"
    r"|i['’]ll|i should|i need|i can(?:not|['’]t)?\b|i think|i believe|i see|i notice"
    r"|i understand|i apologi[sz]e|i['’]m sorry|allow me|here (?:is|are) )|\bas an ai\b"
    r"|\blanguage model\b"
    r"|\b(?:saved?|stored?|added|noted|recorded) (?:this |that |it )?(?:in|to|into) (?:my |the "
    r"|your )?(?:long-term )?memory\b"
    r"|\bthe assistant (?:will|can|is|has|was|suggested|explained|said)\b"
    r"|^(?:the )?user (?:probably|likely|possibly|presumably|perhaps|seems to|appears to)\b"
    r"|^(?:nothing|no (?:new |relevant |durable |lasting |useful )+\w+) (?:worth|to (?:remember"
    r"|save"
    r"|store)|was|were|found)\b"
    "|^(?:おそらく|たぶん|恐らく|아마)|(?:と思われる|(?:よう|みたい)だ)[。]?$|것 같(?:다|습니다"
    "|아요)[.]?$"
    "|^(?:好的?|明白了?|收到)?[，,]?(?:我来|让我|我先|我看一?下|我觉得|我认为|我需要)"
    "|作为(?:一个)?(?:AI|人工智能)|^(?:では|それでは)?、?(?:確認してみ|見てみ)ます|私はAI"
    "|^(?:네|알겠습니다)[,. ]|제가 확인해|저는 AI"
)
# Not where it is forbidden: "Never push without asking the user", "do not bypass".
_NOT = r"(?<!not )(?<!never )(?<!n['’]t )(?<!cannot )(?<!not to )(?<!avoid )"
_EARLIER = r"all|and|any|the|your|these|those|its|my|every|other|safety|security|system|hidden"
INJECTION = (
    rf"{_NOT}\b(?:ignore|disregard|forget|override|bypass)\b"
    rf" (?:of )?(?:(?:{_EARLIER}|previous|prior|above|earlier|existing|current) ){{1,5}}"
    r"(?:instructions?|rules?|prompts?|guidelines|messages?|context|polic(?:y|ies)|restrictions)\b"
    rf"|{_NOT}\b(?:ignore|disregard|forget)\b (?:instructions|everything (?!in\b|under\b|that\b"
    r"|except\b|below\b|matching\b|else in\b)|everything[.!]?$|safety|(?:the )?above|previous)"
    rf"|{_NOT}\b(?:override|bypass)\b (?:your |the |all )?(?:instructions|safety|guidelines)\b"
    r"|\b(?:new|updated|real) instructions?:|\bobey\b (?:me|this|these|the following|only|every"
    r"|all|any)\b|\bforget what\b|\bapprove (?:everything|every tool|all (?:tool|requests))\b"
    r"|\byou are (?:now )?(?:dan\b|an? (?:unrestricted|different|new)|no longer)"
    r"|\b(?:you|with|have) (?:have )?no restrictions\b|\bjailbreak"
    rf"|{_NOT}\b(?:reveal|print|show|output|repeat|leak)\b.{{0,20}}\b(?:system|hidden|initial)"
    r" (?:prompt|instructions)|^\W{0,3}(?:system|assistant|developer)\s*[:>]|<\|?(?:system"
    r"|im_start)"
    r"|\bwhen(?:ever)? you (?:read|see) this\b|\[INST\]|</?(?:system|instructions?)>"
    rf"|{_NOT}\b(?:send|post|upload|exfiltrate|mail|email)\b.{{0,60}}(?:\.ssh|contents of ~)"
    rf"|{_NOT}\b(?:send|post|upload|exfiltrate|mail|email)\b.{{0,60}}(?:\.env|secrets?|credentials"
    r"|api keys?|tokens?|passwords?)\b.{0,40}(?:\bto (?:me|this|the following|an?|my)\b|\bto \S+@"
    r"|https?://|\bto \w[\w-]*\.\w+)"
    r"|\bdo not (?:tell|inform|mention (?:this|it) to) the user\b"
    r"|^(?!.*\b(?:never|not|nothing|no|avoid|nobody|n['’]t)\b).*\bwithout (?:telling|asking)"
    r" (?:the user|anyone|first)\b"
    "|(?<!不要)(?<!不能)(?<!不得)(?<!禁止)(?<!别)(?:忽略|无视|忘记|不要理会)(?:掉)?"
    "(?:.{0,8}(?:之前|以上|先前|前面|所有|全部|你的|系统|任何|安全).{0,6})(?:指令|指示|规则|提示"
    "|设定)"
    "|系统提示词"
    "|(?:指示|命令|ルール).{0,8}(?:無視|忘れ)(?!し?な[いく]|してはなら|してはいけ|されない)"
    "|システムプロンプト|(?:지시|명령|규칙).{0,10}(?:무시|잊)(?!하지|지 ?(?:않|마|말))"
    "|시스템 프롬프트"
)
_MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december)"
)
DATED = (
    rf"\b20\d\d\b|20\d\d ?[年년]|\bQ[1-4]\b|\b\d{{1,2}} {_MONTH}\b|\b{_MONTH} \d{{1,2}}\b"
    rf"|\b(?:until|by|in|from|since) (?:the )?(?:end of |mid-?|early |late )?{_MONTH}\b"
)
YEAR = r"\b(?:19|20)\d\d\b|(?:19|20)\d\d ?[年년]"
# "currently" says no more than "is" before these.
_LASTING = (
    r"(?:uses?|using|runs? (?:on|as|under|in)|supports?|lives?|living|works? (?:as|at|for|from|in"
    r"|remotely|part)|working (?:as|at|for|from|in|remotely)|based|hosted|stored|owned|maintained"
    r"|pinned|targets?|requires?|depends|deployed|employed|learning|studying|leads?|maintains?"
    r"|no \w+ (?:is )?(?:required|needed|supported)|an? \w+|self-employed|pays?|consists?|belongs?"
    r"|limited)\b"
)
_LASTING_CJK = (
    "[^。]{0,24}(?:使用|采用|工作(?!于这)|住在|居住|任职|就职|在读|运行在|部署在|托管|支持|维护"
    "|负责"
    "|不再|不要|必须|是[^，。]{2,}，(?:不是|而)|在住|住んで|勤務|働いて|採用|利用|運用|所属|稼働"
    "|担当"
    "|사용|거주|살고|근무|재직|일하|운영|지원|담당|소속|다니)"
)
_BRANCH = r"(?:pr|pull request|branch|mr)"
_BRANCH_STATE = (
    r"(?:open(?:ed)?|ready|up|waiting|blocked|behind|ahead|failing|green|red|clean|outdated|stale"
    r"|draft|a draft|in review|under review|pushed|rebased|checked out|conflict\w*|merge conflicts"
    r"|out of date|up to date|\d+ |two |three |several |no |unmerged"
    r"|(?:merged|closed|approved|reviewed)[.!]?$)"
)
# True for now only, unless a date is given.
FOR_NOW = (
    rf"\bcurrently\b(?! {_LASTING})|\b(?:at the moment|right now|at present|for now"
    rf"|for the time being|temporarily"
    "|today|tonight|yesterday|tomorrow"
    "|this (?:morning|afternoon|week|session|conversation|turn)|just now|so far|as of now"
    "|uncommitted|in progress|work in progress|wip"
    r"|current (?:branch|task|step|state)|current (?:directory|file) is|line \d+ (?:of|in)"
    r"|there(?:['’]s| is) an? (?:typo|mistake|syntax error)|has a (?:bug|typo|problem|conflict)"
    r"|in the background)\b"
    r"|\b(?:pr|pull request|mr|issue|ticket) #?\d+ (?:is|are|needs|has|was)\b"
    rf"|\b{_BRANCH} (?:is|are|has) (?:now |still |already |not |been |currently )*{_BRANCH_STATE}"
    rf"|\b(?:the|this|my) {_BRANCH} needs (?!two|2|an? |at least|approv)"
    r"|^(?:at )?\d{1,2}:\d\d\b.*\b(?:started|finished|ended|began)\b"
    r"|第 ?[\d一二三四五六七八九十百]+ ?行(?:有|的|报|出|缺|少)|\d行目|\d번째 줄"
    r"|\b(?:session|conversation|chat) (?:started|began|ended|is about|was about)\b"
    f"|(?:目前|当前|現在|현재)(?!{_LASTING_CJK})|暂时"
    "|暫時|现在(?!起|开始|的|是[^，。]{2,}，(?:不是|而))|刚才|剛才|今天|昨天|明天|本次|这次|這次"
    "|今日|昨日|一時的"
    "|今のところ|とりあえず|지금은|오늘|어제|내일|당분간|일단|이번 (?:주|세션)"
)
RULE = (
    r"\b(?:always|never|only|must|should|do not|don['’]t|instead|prefers?|avoid)\b|:|不要|必须"
    "|一律|只|统一|所有|均|ください|こと|하지|모두|모든|すべて"
)
# Good advice that nobody could break, or would need to be told.
PLATITUDE = (
    r"\b(?:meaningful|properly|readable|maintainable|easy to (?:read|understand|maintain)"
    r"|best practices?|high[- ]quality|robust|clean code"
    r"|good (?:code|documentation|tests?|naming|design)|edge cases)\b|^be (?:careful|patient)\b"
    r"|^it is (?:important|good|best|vital)"
    r" |清晰易懂|要?注意|可读性|良好的|高质量|最佳实践|分かりやすく|読みやすく|大切|重要(?:です"
    r"|である)|의미 있게|깔끔하게"
    "|읽기 쉽게|중요(?:하다|합니다)"
)
# What makes an advice one's own: a name, a number, a path, a limit, somebody.
PARTICULAR = (
    r"[`/\d:;_\"“「《]|\w\.\w|(?-i:\b[A-Z]{2,}\b|(?<=[a-z,] )[A-Z]\w)"
    r"|\b(?:users?|team|we|our|over|rather|instead|not|never|only|every|before|after|under|without"
    r"|because)\b|用户|不|只|必须|ユーザー|チーム|ない|사용자|팀|않|말"
)
MOOD = (
    r"\b(?:great|good|nice|excellent|amazing) (?:job|work|answer|result)"
    r"|\b(?:happy|pleased|satisfied|unhappy|annoyed|frustrated|impressed|angry)\b(?! (?:by|when"
    r"|whenever|if|that) (?!the\b|this\b))"
    r"|\b(?:thank(?:s|ed)?|looks? good|lgtm|well done|congratulat\w+)\b|满意|感谢|谢谢|不错|很好"
    "|很棒|生气|ありがと|満足|素晴らしい|감사|고맙|만족|훌륭"
)
DECIDED = (
    r"\b(?:decid\w+|chose\w*|choosing|agreed|settled|went with|go with)\b|决定|決定|选择|選擇"
    "|决め|決め|選[んび]|选了|결정|선택"
)
# A decision for something that only the session could name.
NO_CHOICE = (
    r"\b(?:proceed|continue|go ahead|move (?:on|forward)"
    "|as (?:discussed|planned|described|suggested|proposed)|option [a-e1-9]"
    "|the (?:first|second|third|last|other|above|latter|former) (?:option|approach|one|plan"
    "|solution)|do (?:it|this|that|so)|try again|fix (?:it|this|that)"
    r"|(?:with|on) (?:it|this|that)\b)|继续|照做|刚才的|上面的|方案[一二三ABC1-9]"
    "|第[一二三]个|続け|この案|案[ABC1-9]|[一二三]つ目の?案|계속|방금|[ABC1-9]안"
    "|(?:첫|두|세) ?번째 (?:안|방안|방법|옵션|제안)"
)
# Begins with, or hangs on, what only the session could tell.
DANGLING = (
    "^(?:this|that|these|those|it|he|she|they|here)"
    r"\b(?! (?:user|team|project|repo(?:sitory)?|company|product|system|app|service"
    r"|customer|codebase|workspace|machine|laptop|monorepo|library|package|organi[sz]ation|client"
    r"|account|server|website|site|plugin|api|database|cluster|environment|computer|household"
    r"|family)\b)|\b(?:as|described|mentioned|shown|listed|see) (?:above|below|earlier)\b"
    r"|\bthe (?:above|following) "
    "|^(?:这|那|此|它|上述|以上)(?!个?(?:项目|仓库|团队|用户|产品|系统|应用|服务|公司|客户))"
    "|^(?:これ|それ|この|その|上記)(?!プロジェクト|リポジトリ|製品|システム|アプリ|サービス"
    "|チーム|会社)|^(?:이|그|저|위의?) (?!프로젝트|저장소|제품|시스템|앱|서비스|팀|회사)"
    "|^(?:이것|그것)"
)

# --- by kinds: what a session is full of, and no note should hold ------------------------------

# What the user wonders, and what nobody knows yet.
WONDERS = (
    r"^(?:the )?user (?:wonders|wants? to (?:know|understand|find out)|would like to know"
    r"|is (?:asking|wondering|unsure|not sure|curious|looking for)|asks|inquires)\b"
    r"|^(?:it is |it['’]s |still )?(?:unclear|unknown|not (?:sure|clear)|open question)\b"
    r"|\b(?:whether|if) or not\b|\bremains to be seen\b"
    "|用户.{0,4}(?:想知道|问|想问|想了解|不清楚|不确定)|^还?(?:不确定|不清楚|不知道|没(?:想好"
    "|决定|定))"
    "|要不要|是不是[^，。]{0,20}的?[。]?$"
    "|かどうか.{0,6}(?:知り|分か|わか|不明|聞|迷|確認|検討)|知りたが|まだ(?:決ま|分か|わか)"
    "|궁금해|(?:인지|는지|을지|ㄹ지|까) ?(?:아직 ?)?(?:모르|모른|묻|물었|고민|알고 ?싶)"
)
# What may be done some day.
PERHAPS = (
    r"\b(?:might|could|may) (?:\w+ ){0,6}(?:at some point|some ?day|later|eventually|one day)\b"
    r"|\bat some point\b|\bsome day\b|\bwhen there is time\b|^(?:later|eventually|someday)\b"
    r"|^(?:we|i|they|one|you) (?:might|could|may)(?! (?:not|only)\b)(?: want)?\b"
    r"|\b(?:is|are|was|were) (?:thinking (?:about|of)|considering|hoping|tempted|going to|about to"
    r"|toying with)\b|\b(?:would|could|might) be (?:nice|good|great|better|useful|worth|cool)\b"
    r"|\bwill (?:then |also |later )?be (?:added|fixed|done|implemented|written|updated|handled"
    r"|addressed|tackled|moved|refactored|cleaned|reviewed|tested|removed)\b"
    r"|\b(?:in|as|for) (?:a|the) (?:follow[- ]up|next (?:step|round|iteration|pass|commit|pr))\b"
    r"|^(?:the |our |my )?(?:plan|idea|goal|aim|intention|next (?:thing|step|task)|proposal) (?:is"
    r"|was|here is|for now)\b|\b(?:before|so) (?:we|i|you) can (?:continue|proceed|go on|start)\b"
    r"|^(?:the )?user (?:intends|hopes|considers (?=\w+ing\b)|(?:might|may)(?! (?:not|only)\b))\b"
    "|^(?:打算|计划|准备|考虑|以后(?:可以|再)|有空|回头|下(?:一轮|一步|个版本)|可以考虑|也许|或许)"
    "|(?:下一轮|下次|回头|晚点|之后)再|(?:つもり|かもしれない|[よおこそとのろ]うと(?:思って"
    "|考えて)い(?:る|ます)"
    "|検討中)(?:です)?[。]?$"
    "|^(?:いずれ|そのうち|後で|あとで)|생각 ?중|(?:할|볼|될) ?(?:계획|생각|예정)|나중에|언젠가"
    "|고려 ?중"
)
# How far the work is.
STATE = (
    r"\bin the middle of\b|\bhalfway through\b|\bha(?:s|ve)(?:n['’]t| not) decided\b|解決済み"
    r"|\d ?%(?: of [\w ]+)? (?:complete|done|finished|migrated|ported)\b"
    r"|\bhalf[- ](?:written|done|finished|way)\b|\b(?:is|are) not yet \w+|\b(?:is|are) (?:still"
    r"|almost|nearly|mostly|partly|partially) (?:failing|broken|red|missing|done|complete\w*|there"
    r"|finished|implemented|working|in progress|open|pending|untested|running|being|not|waiting"
    r"|unclear|unresolved|fixed|to be|ready|green|unknown|\w+ing)\b"
    r"|\b(?:is|are) (?:failing|passing|red(?=[.,;]|$| again| because| since| on)|blocked on|pending"
    r"|incomplete|unfinished|outstanding|underway|under way|broken)\b|^(?:what is "
    r"|what['’]s )?(?:remaining|left"
    r"|missing|outstanding)\b(?!-)|\b(?:is|are) (?:left|remaining|missing)[.]?$"
    r"|^there (?:is|are) .* left[.]?$|\bbeing (?:\w*written|fixed|updated|tested|reviewed"
    r"|refactored"
    r"|migrated|implemented)\b"
    r"|\b(?:half|most|some|\d+|one|two|three|four|five|several) (?:out )?of (?:the |them|\d+"
    r"|our |my )"
    r"[^.;]{0,50}\b(?:is|are|have been|has been) (?:now )?(?:finished|done|ported|converted"
    r"|complete"
    r"|fixed|\w+ed)\b"
    r"|\b(?:has|have) been (?:successfully |already |now )?(?:added|fixed|created|updated|written"
    r"|ported|converted|renamed(?! to)|refactored|implemented|merged|pushed|committed|resolved"
    r"|solved|saved|applied|installed"
    r"|tested|cleaned)\b"
    "|还(?:差|剩|缺|有[^，。]{1,8}没)|剩下|未完成|没做完|做到一半|进行中|(?:一半"
    "|部分)的?.{1,12}(?:已|完成)|已(?:经)?(?:修改|完成|添加|移(?!除)|合|推|修|写"
    "|(?:迁移|改|换)(?!到|至|用|为|成))|待ち(?:です|だ|である|の状態)?[。]?$"
    "|あと[一二三四五六七八九十\\d]+|残って|途中|未完了|(?:まだ|もう)[^。]{0,14}(?:ていない"
    "|いません|終わ)"
    "|남아 ?있|남았|아직 (?!.*(?:지원|제공))|진행 ?중|미완|절반"
)
# What happened: a sentence in the past tense that decides nothing and says nothing of today.
_PAST = (
    r"(?:[a-z]{2,}(?<!need)(?<!embed)(?<!feed)(?<!speed)(?<!shared)(?<!named)(?<!called)ed|was|were"
    r"|took|went|ran|hit|broke|threw|gave|got|sent|found|wrote|made|came|became|rose|fell|began"
    r"|did|had|put|said|saw|told|kept|lost|won)"
)
HAPPENED = (
    rf"^(?:the|a|an|my|our|all|both|some|several|two|three|one|it|there|everything|nothing"
    rf"|\d+|grep|npm|git|ci|tests?)(?: [\w'’./`()-]+){{0,5}} {_PAST}\b"
    r"|\b(?:disappeared|went away|vanished|turned out|is gone|no longer (?:fails|appears|occurs"
    r"|crashes|happens))\b|(?!^)\bafter (?:restarting|reinstalling|rebooting|clearing|upgrading"
    r"|updating|removing|adding|changing|fixing|the restart|the fix)\b"
    r"|^(?:the )?(?:root )?cause (?:is|was)\b|^root cause:"
    r"|^(?:the )?user (?:has |had |just |then |also |now )*(?:did not|didn['’]t|[a-z]+ed"
    r"|chose|sent|wrote|ran|saw|took|went|put|made|gave|got|found|said|says|told)\b"
    r"|^(?:the )?user (?:agrees|disagrees|accepts|approves|confirms|selects|picks|clicks|opens"
    r"|runs|pastes|shares|thanks|greets|replies|responds|says)\b"
)
# The same without a subject: "Created documentation". Of "hosted on" it says how things are.
DID = (
    r"^(?:also |then |just |successfully |partially |partly "
    r"|re-?)?(?:[a-z]{2,}(?<!need)(?<!speed)ed"
    r"|wrote|built|made|ran|sent|found|set up|put|cut|fixed|re-?ran|rewrote|got|took|began)"
    r"(?! (?:on|in|at|to|by|with|from|for|under|as|only|over|via|per)\b)(?: |$)"
)
# A line of a report, by its label.
LABELLED = (
    r"^\W*+(?:status|phase|next(?: task| step| up)?|todos?|problem|issue|solution|resolution"
    r"|(?:[\w-]+ )?fix(?:ed)?|(?:root )?cause|result|outcome|symptoms?|task(?: type)?|complexity"
    r"|progress|blockers?|branch|working tree|(?:latest |last )?commit|(?:key )?changes?"
    r"|uncertainty|summary|completed|done|remaining|pending|blocked|current \w+"
    r"|last (?:updated|session)|started|finished|verified|tested)(?: \d[\d.]*)?: "
    "|^(?:状态|进度|问题|解决|原因|结果|下一步|已完成|待办|采集时间|当前)[：:]"
)
# How it stands, as a report says it.
REPORT = (
    r"\bsuccessfully\b|\bcleanly\b|^no (?:[\w-]+ )?(?:errors?|warnings?|failures?|issues?|problems?"
    r"|changes|regressions?|conflicts?|results?|output|blockers?)\b[^,;:]{0,20}$|^ready (?:for"
    r"|to)\b"
    r"|^\W{0,3}\d{1,6} ?(?:/|of|out of) ?\d+\b|\b\d[\d.]{0,9}%? ?(?:to|→|->|=>) ?\d[\d.]{0,9}%? ?\("
    r"|\b(?:fully|now|all) (?:operational|functional|working|green|clean|passing)\b"
    r"|^(?:[\w ]{1,24} )?(?:commits?|errors?|failures?|warnings?|tests?|status|progress|coverage"
    r"|outcome|result|duration|blockers?|todos?): ?(?:\W*)(?:\d|pass|fail|done|complete|ok|none)"
    r"|\b(?:is|are) (?:a |in )?(?:draft|wip|review|clean|operational)\b|^[\w ]{3,30} (?:clean|green"
    r"|complete|completed|done|finished|verified|passing|failing|collecting|pending|blocked)[.!]?$"
)
PRESENT = (
    r"\b(?:is|are|has|have|must|should|may|can|cannot|can['’]t|do|does|don['’]t|will|needs?|lives?"
    r"|stays?|runs?|uses?|keeps?|holds?|owns?|belongs?|never|always|only|instead|until|every"
    r"|each|when|whenever"
    r"|unless)\b"
)
# Facts that are told in the past tense, as decisions and lives are.
LASTS = (
    r"\b(?:decid\w+|agreed|settled|adopted|dropped|abandoned|banned|deprecated|retired|stopped"
    r"|switched|replaced|migrated|founded|joined|worked|lived|studied|learned|learnt|grew|moved to"
    r"|graduated|married|divorced|emigrated|relocated|majored|trained|taught|raised|played|owned"
    r"|quit"
    r"|started (?:an?|at|as|working|learning)|moved (?:from|here|away|off|in|out)"
    r"|(?:removed|disabled|turned off|pinned|rewritten|rejected|renamed|split|kept)\b"
    r".{0,120}\b(?:because"
    r"|due to|so that|in favou?r of|after)|(?:in|since|with|as of|from) (?:v|version "
    r"|release )\d[\d.]*"
    r"|(?:in|since) \d+\.\d[\d.]*"
    r"|(?<!was )(?<!were )(?:stored|hosted|kept|located|based|managed|deployed|written|built"
    r"|versioned"
    r"|generated|tagged|named|pinned|required|expected|served|signed|encrypted|owned|maintained"
    r"|mirrored|tracked|defined|configured|documented|formatted|allowed|supported|exposed|billed"
    r"|limited|capped|handled|billed)(?: only)? (?:as|in|on|by|via|with|at|under|behind|to|for|from"
    r"|per|using|through)|born|promised|signed|corrected|forbade|forbidden|standardi[sz]ed|chose"
    r"|chosen|prefer\w*"
    r"|used to|asked (?:us|me|the assistant)? ?(?:never|always|not))\b"
)
HAPPENED_CJK = (
    r"(?:(?<![为除])了|过了)[。！]?$|^(?:用户|他|她)(?:刚|刚刚|已|又|还)?(?:发|贴|粘贴|上传|分享"
    r"|展示|提供了"
    r"|复制|试|点|选择?了|打开|运行"
    r"|截|提到)|(?:返回|报)了|(?:消失|不见|没有)了|没有?(?:找到|返回|报错|输出|结果)|^刚(?:才|刚)?"
    r"|(?:った|した|えた|いた|けた|げた|れた|めた|べた|きた|てた|んだ|ました|でした)[。]?$"
    r"|^(?:ユーザー|利用者)は?[^。]{1,30}(?:送った|貼った|言った|聞いた)"
    r"|[했었았였렸됐냈갔왔졌켰쳤겼웠났봤]다[.]?$|[했었았였렸됐냈갔왔졌켰쳤겼웠났봤](?:어요"
    r"|습니다)[.]?$"
)
LASTS_CJK = (
    "以前|曾|原来|原本|ことに(?:した|なった|しました|なりました)|方針|かつて|前職|もともと|元々"
    "|昔は"
    "|기로 (?:했|하였|합의)|예전|과거|원래|이전 (?:직장|회사|팀)|在职|年前|전공|専攻|入社|転職"
    "|生まれ|育っ"
    "|입사|태어|자랐|决定|決定|改为|改用|换成|选定|选用|采用|停用|下线|废弃|禁止|规定|约定|同意"
    "|不再|毕业|搬到|学过"
    "|決め|採用|選ん|選び|廃止|禁止|統一|合意|移行|やめ|卒業|引っ越|学ん"
    "|결정|채택|선택|정했|금지|중단|폐지|도입|합의|전환|졸업|이사|바꿨|그만"
)
# What the code says, said again: the repository knows it better.
# What a reader of the code cannot see there.
OUTSIDE = (
    r"(?-i:\b[A-Z]+_[A-Z_]+\b)|\bport \d|\d ?(?:s|ms|seconds?|minutes?|hours?|days?|mb|gb|kb|times"
    r"|retries|requests?|%)(?!\w)|\b(?:production|staging|customers?|partners?|vendor|legacy"
    r"|deprecated|tenants?|encoding|format|timezone|utc|nightly|daily|weekly|monthly)\b"
)
_KNOWN = (
    r"(?:python|javascript|typescript|java|rust|golang|go|react|vue|angular|git|docker|kubernetes"
    r"|redis|postgres(?:ql)?|mysql|sql|html|css|json|yaml|graphql|http|node(?:\.js)?|linux|bash)"
)
# What any handbook says of a well-known thing.
HANDBOOK = (
    rf"^{_KNOWN} (?:is|are) an? |^{_KNOWN} uses an? (?!\w+ (?:instance|server|fork|cluster))"
    rf"|^{_KNOWN} (?:lists?|tuples?|strings?|objects?|arrays?|hooks?|components?|dictionaries"
    r"|functions?|types?) (?:is|are)\b"
)
_CODE_NOUN = (
    r"(?:function|method|class|module|constructor|component|hook|variable|loop|decorator|handler"
    r"|helper|struct|interface|enum|field|property|parameter|argument|callback|getter|setter"
    r"|loader|parser|wrapper|middleware|controller|serializer|reducer|iterator|constant|macro"
    r"|file|snippet|import|statement|expression|condition|array|object|query|endpoint|route"
    r"|test|fixture|script|stylesheet|template|package)"
)
_CODE_VERB = (
    r"(?:returns?|takes?|has|contains?|calls?|reads?|writes?|exports?|imports?|inherits?|extends?"
    r"|implements?|shadows?|sums?|computes?|parses?|merges?|loads?|converts?|maps?|handles?"
    r"|checks?|validates?|iterates?|renders?|fetch(?:es)?|sorts?|filters?|creates?|initiali[sz]es?"
    r"|defines?|declares?|accepts?|receives?"
    r"|throws?|raises?|wraps?|sets?|gets?|is (?:defined|called|declared|named|imported|used|unused"
    r"|missing|empty|null|nullable|async|cast|typed|incremented|assigned|returned|initiali[sz]ed)"
    r"|consists?|includes?|does)"
)
_NAME = (
    r"(?:`[^`]+`|(?-i:[\w.]{0,40}(?:[a-z][A-Z]|_)\w*(?:\(\))?)|\w{1,40}\(\)"
    r"|[\w/.-]{1,80}\.(?:py|tsx?|jsx?|go|rs|md|json))"
)
RESTATED = (
    rf"^(?:the |a |an |each |this |our )?(?:[\w-]+ ){{0,3}}{_CODE_NOUN}s?(?: {_NAME}| [\w.]+)? "
    rf"{_CODE_VERB}\b|^(?:the )?(?:{_CODE_NOUN} )?{_NAME} (?:{_CODE_NOUN} )?{_CODE_VERB}\b"
    r"|^(?:line endings|indentation|imports?) (?:in|of|are|is)\b"
    "|^(?:函数|方法|类|模块|构造函数|变量|组件|接口|参数|脚本)[^，。]{0,20}(?:返回|接收|接受"
    "|调用|包含|定义|继承|读取|写入|导出"
    "|有[一二两三四五六七八九十\\d])"
    "|^(?:関数|メソッド|クラス|モジュール|コンストラクタ|変数|コンポーネント"
    "|引数)[^。]{0,24}(?:返す|受け取る|呼ぶ|持つ|含む"
    "|定義|継承|読み込む|である)"
    "|^(?:[\\w.]+ )?(?:함수|메서드|클래스|모듈|생성자|변수|컴포넌트"
    "|인자)[은는가이]?[^.]{0,24}(?:반환|받는다|호출|포함|정의"
    "|상속|읽는다|가진다|있다)"
)
# A number that the next run changes.
MEASURED = (
    r"\bthan (?:before|last time|earlier|the (?:previous|last) (?:one|run|time))\b|"
    r"\b(?:took|lasted|ran for|(?:finished|completed|done) in|peaked at|dropped to|rose to|went up"
    r"|went down)\b.{0,12}\d|\b(?:in|during|after|of) the (?:last|previous|latest|current) (?:run"
    r"|attempt|build|try|test|execution|measurement)\b"
    r"|\b(?:returned|found|reports?|reported|shows?|showed|printed|has|have|there (?:is|are|were"
    r"|was)) (?:about"
    r" |only |exactly )?(?:\d+|no|zero) (?:[\w-]+ )?(?:warnings?|errors?|failures?|match(?:es)?"
    r"|results?|occurrences?|hits?|issues?|tests?|lines?|files?|rows?|output|problems?|todos?)\b"
    r"|\b(?:coverage|usage|cpu|memory|size|latency|(?:response|load|build|run|start-?up) ?time"
    r"|build"
    r"|bundle|image|file|module|class|function|suite|test|run|disk|load|duration|output|it|progress"
    r"|accuracy|throughput)\b.{0,30} (?:is|are|was|were|at) (?:about |around |roughly |now |only "
    r"|currently |at )*\d[\d.,]{0,9} ?(?:(?:kb|mb|gb|kib|mib|ms|s|sec|seconds?|minutes?|lines?"
    r"|percent)\b|%)"
    "|耗时|用(?:了|时) ?[一二三四五六七八九十百\\d]+ ?(?:毫?秒|分|小时)|(?:一共|总共"
    "|共)有?[一二三四五六七八九十百\\d]+(?:[条处行]|个(?:错误|警告|测试|文件|结果|匹配|失败|问题"
    "|待))"
    "|(?:上一?次|这次|最近一次)(?:运行|构建|测试)"
    "|(?:前回|今回|最後)の(?:実行|ビルド|テスト)|(?<!\\d)\\d{1,9} ?(?:秒|分|件)(?:かかった"
    "|だった)|(?:지난|이번|마지막) (?:실행|빌드|테스트)"
    "|(?<!\\d)\\d{1,9} ?(?:초|분|건)(?:이)? ?(?:걸렸|이었|였)"
)
# A bound is a rule, however it is measured.
BOUND = (
    r"\b(?:limits?|limited|target|max\w*|min\w*|budget|timeouts?|quota|threshold|interval|ttl"
    r"|retention|sla|must|may|at most|at least|up to|only|never|always|each|every|per|when)\b"
    "|上限|最多|至少|目标|每|必须|目標|以内|毎|최대|최소|목표|이내|매"
)
# Politeness, greetings, praise without a rule.
COURTESY = (
    r"^(?:many )?(?:thanks?|thank you|thx|you['’]re welcome|you are welcome|sorry|no problem"
    r"|no worries|my pleasure|hello|hi|hey|good (?:morning|evening|night|afternoon)|goodbye|bye"
    r"|cheers|congratulations|awesome|cool|wonderful|excellent|brilliant|nice|great|perfect)"
    r"(?:[,.!]| for\b| a lot| so much| very much| there| job| work|$)"
    r"|\bthat (?:was|is) (?:really |very |so )?(?:helpful|great|kind|perfect|useful)\b"
    r"|^(?:the )?user (?:says?|said|wish\w+|sends?|sent|is) (?:me |us )?(?:good|hello|hi|thank\w*"
    r"|goodbye|nice|happy|grateful|welcome)\b|\b(?:glad|happy) (?:it|that|to)\b"
    "|^(?:谢谢|多谢|辛苦了?|太好了|太棒了|你好|您好|早上好|晚安|不客气|抱歉|对不起|没关系|棒|完美)"
    "|非常感谢|^(?:ありがとう|助かり|とても助かり|お疲れ|おはよう|こんにちは|こんばんは"
    "|すみません|ごめん|いいですね"
    "|素晴らしい|完璧)|ありがとうございま"
    "|^(?:고마|감사|정말 (?:고마|감사|도움)|수고|안녕|죄송|미안|좋아요|좋네요|훌륭|완벽)"
    "|(?:고맙습니다|감사합니다)[.!]?$"
)
# A pointer that only the session resolves, anywhere in the text.
HERE = (
    r"(?!\bthe (?!proposed|suggested|above)\w+ (?:\w+ )?version|\bthe (?:first|second|third|last"
    r"|next|previous) (?:\w+ )?(?:line|message)\b)"
    r"\b(?:this|that|these|those|the (?:above|current|other|following|first|second|third|last"
    r"|previous|next|latest|proposed|suggested|attached|pasted)) (?:\w+ )?(?:files?|function|class"
    r"|method|line|block|snippet|code|error|message|test|output|log|diff|commit|branch|task|change"
    r"|version|suggestion|proposal|structure|approach|option|answer|screenshot|question|attempt"
    r"|paragraph|sentence)\b"
    r"|\b(?:code|snippet|example|function|file|list|output|error) (?:above|below)\b"
    r"|\b(?:we|you|i|they) (?:just )?(?:talked about|discussed|mentioned|saw|looked at"
    r"|went through)\b"
    r"|\bearlier (?:today|in|this)\b|\b(?:as|like) (?:before|discussed|mentioned|said)\b"
    "|(?:这|那|该)(?:个|一?段|份|行|些|次|处)?(?:文件|函数|代码|类|方法|测试|报错|错误|日志"
    "|分支|改动|脚本)|上面(?:的|那)"
    "|刚才(?:的|那|说)|(?:この|その|あの)(?:ファイル|関数|コード|クラス|メソッド|テスト|エラー"
    "|行|ログ|変更|ブランチ)"
    "|上の(?:コード|関数|例|ファイル)|(?:^|[ ])(?:이|그|저|위) ?(?:파일|함수|코드|클래스|메서드"
    "|테스트|오류|에러|줄|로그)"
)
