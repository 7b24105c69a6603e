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
    "|(?:調査|確認|検討|修正|対応)(?:する|します)[。]?$"
    "|(?:확인|수정|검토|추가|조사)(?:하겠습니다|할게요)|^先(?:看|改|写|查)一?下"
    "|^先?把.{1,30}(?:一下|掉)[。]?$|^まず"
    "|해 ?보자[.]?$|待办|待辦|接下来要?|下一步|需要(?:再|继续)"
    "|(?:我|我们)(?:会|要|准备|打算)(?:去|把|给|在)|用户(?:想|要求?|希望|让)(?:让)?我"
    "|^(?:明天|下周)(?:要|得)|(?:する|行う|追加する|対応する)(?:予定|つもり)|^次(?:は|に)"
    "|やること|しなければならない[。]?$|다음 단계|할 일|(?:할|추가할|수정할) (?:예정|계획)"
    "|해야 (?:한다|합니다|해요)[.]?$"
)
WANTS = (
    "^(?:the )?user (?:wants?|would like|asked|asks|requested|requests|is asking|plans"
    "|intends)(?: me| us| the assistant)? (?:to|for) (?!be (?:called|addressed)|keep|see|know"
    "|have|avoid)"
    "|^(?:the )?user wants? (?:a|an|the) (?:summary|list|fix|review|plan|test|explanation"
    r"|report|overview)\b"
)
# An order is a rule in feedback; anywhere else it is work, unless it is for every time.
ORDER = (
    "^(?:fix|add|implement|refactor|create|investigate|debug|rename|remove|move|write|update"
    r"|review|finish|deploy|test|merge) (?:an?|the|new|missing|more|tests?|another)\b"
    r"|^(?:add|fix|create|sync|bump|remove|rename|implement|refactor|migrate|install|integrate"
    r"|enable|disable|expand|analy[sz]e|hide|restore|stop|send|hook) (?!to\b)[\w`'/.@-]+ \S"
)
# An order that only makes sense once.
ONCE = (
    r"^(?:finish|restart|continue|draft|complete|resume|re-?run|retry|wire up|clean up|follow up"
    r"|investigate|double-check|look into|figure out|set up|bring up|port|try|verify|start|wrap up"
    r"|hook up|sort out|get back to) (?!with\b|from\b)"
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
    rf"| also)? (?:{SAW})\b|^successfully \w|^(?:now )?(?:{DOING})\b(?!:)"
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
YEAR = r"\b(?:19|20)\d\d\b|(?:19|20)\d\d ?[年년]"
# True for now only, unless a date is given.
FOR_NOW = (
    r"\b(?:currently|at the moment|right now|at present|for now|for the time being|temporarily"
    "|today|tonight|yesterday|tomorrow"
    "|this (?:morning|afternoon|week|session|conversation|turn)|just now|so far|as of now"
    "|uncommitted|in progress|work in progress|wip"
    r"|current (?:branch|task|step|state)|current (?:directory|file) is|line \d+ (?:of|in)"
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

# --- by kinds: what a session is full of, and no note should hold ------------------------------

# What the user wonders, and what nobody knows yet.
WONDERS = (
    r"^(?:the )?user (?:wonders|wants? to (?:know|understand|find out)|would like to know"
    r"|is (?:asking|wondering|unsure|not sure|curious|looking for)|asks|inquires)\b"
    r"|^(?:it is |it['’]s |still )?(?:unclear|unknown|not (?:sure|clear)|open question)\b"
    r"|\b(?:whether|if) or not\b|\bremains to be seen\b"
    "|用户.{0,4}(?:想知道|问|想问|想了解|不清楚|不确定)|^(?:不确定|不清楚|不知道|还没(?:想好"
    "|决定|定))"
    "|要不要|是不是[^，。]{0,20}的?[。]?$"
    "|かどうか.{0,6}(?:知り|分か|わか|不明|聞|迷|確認|検討)|知りたが|まだ(?:決ま|分か|わか)"
    "|궁금해|(?:인지|는지|을지|ㄹ지|까) ?(?:아직 ?)?(?:모르|모른|묻|물었|고민|알고 ?싶)"
)
# What may be done some day.
PERHAPS = (
    r"\b(?:might|could|may) (?:\w+ ){0,6}(?:at some point|some ?day|later|eventually|one day)\b"
    r"|\bat some point\b|\bsome day\b|\bwhen there is time\b|^(?:later|eventually|someday)\b"
    r"|^(?:we|i|they|one|you) (?:might|could|may)(?: want)?\b"
    r"|\b(?:is|are|was|were) (?:thinking (?:about|of)|considering|hoping|tempted|going to|about to"
    r"|toying with)\b|\b(?:would|could|might) be (?:nice|good|great|better|useful|worth|cool)\b"
    r"|\bwill (?:then |also |later )?be (?:added|fixed|done|implemented|written|updated|handled"
    r"|addressed|tackled|moved|refactored|cleaned|reviewed|tested|removed)\b"
    r"|\b(?:in|as|for) (?:a|the) (?:follow[- ]up|next (?:step|round|iteration|pass|commit|pr))\b"
    r"|^(?:the |our |my )?(?:plan|idea|goal|aim|intention|next (?:thing|step|task)|proposal) (?:is"
    r"|was|here is|for now)\b|\b(?:before|so) (?:we|i|you) can (?:continue|proceed|go on|start)\b"
    r"|^first\b.{3,}\bthen\b|^(?:the )?user (?:intends|hopes|considers|might|may|plans)\b"
    "|^(?:打算|计划|准备|考虑|以后(?:可以|再)|有空|回头|下(?:一轮|一步|个版本)|可以考虑|也许|或许)"
    "|(?:下一轮|下次|回头|晚点|之后)再|(?:つもり|かもしれない|と思っている|考えている"
    "|検討中)(?:です)?[。]?$"
    "|^(?:いずれ|そのうち|後で|あとで)|생각 ?중|(?:할|볼|될) ?(?:계획|생각|예정)|나중에|언젠가"
    "|고려 ?중"
)
# How far the work is.
STATE = (
    r"\bhalf[- ](?:written|done|finished|way)\b|\b(?:is|are) (?:still|not yet|almost|nearly|mostly"
    r"|partly|partially) \w+|\b(?:is|are) (?:failing|passing|red|blocked on|pending|incomplete"
    r"|unfinished|outstanding|underway|under way)\b|^(?:what is |what['’]s )?(?:remaining|left"
    r"|missing|outstanding)\b(?!-)|\b(?:is|are) (?:left|remaining|missing)[.]?$"
    r"|\b(?:half|most|some|\d+|one|two|three|four|five|several) (?:out )?of (?:the |them|\d+"
    r"|our |my )"
    r"[^.;]{0,50}\b(?:is|are|have been|has been) (?:now )?(?:finished|done|ported|converted"
    r"|complete"
    r"|fixed|\w+ed)\b"
    r"|\b(?:has|have) been (?:successfully |already |now )?(?:added|fixed|created|updated|written"
    r"|ported|converted|renamed|refactored|implemented|merged|pushed|saved|applied|installed"
    r"|tested|cleaned)\b"
    "|还(?:差|剩|缺|有[^，。]{1,8}没)|剩下|未完成|没做完|做到一半|进行中|(?:一半"
    "|部分)的?.{1,12}(?:已|完成)|已(?:经)?(?:迁移|修改"
    "|改|完成|添加|移|合|推|修|写|换)"
    "|あと[一二三四五六七八九十\\d]+|残って|途中|未完了|(?:まだ|もう)[^。]{0,14}(?:ていない"
    "|いません|終わ)"
    "|남아 ?있|남았|아직 |진행 ?중|미완|절반"
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
    r"|crashes|happens))\b|\bafter (?:restarting|reinstalling|rebooting|clearing|upgrading"
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
    r"^\W*(?:status|phase|next(?: task| step| up)?|todos?|problem|issue|solution|resolution"
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
    r"|born|promised|signed|corrected|forbade|forbidden|standardi[sz]ed|chose|chosen|prefer\w*"
    r"|used to|asked (?:us|me|the assistant)? ?(?:never|always|not))\b"
)
HAPPENED_CJK = (
    r"(?:(?<![为除])了|过了)[。！]?$|^(?:用户|他|她)(?:刚|刚刚|已|又|还)?(?:发|贴|粘贴|上传"
    r"|复制|试|点|选择?了|打开|运行"
    r"|截|提到)|(?:返回|报)了|(?:消失|不见|没有)了|没有?(?:找到|返回|报错|输出|结果)|^刚(?:才|刚)?"
    r"|(?:った|した|えた|いた|けた|げた|れた|めた|べた|きた|てた|んだ|ました|でした)[。]?$"
    r"|^(?:ユーザー|利用者)は?[^。]{1,30}(?:送った|貼った|言った|聞いた)"
    r"|[했었았였렸됐냈갔왔졌켰쳤겼웠났봤]다[.]?$|[했었았였렸됐냈갔왔졌켰쳤겼웠났봤](?:어요"
    r"|습니다)[.]?$"
)
LASTS_CJK = (
    "决定|決定|改为|改用|换成|选定|选用|采用|停用|下线|废弃|禁止|规定|约定|同意|不再|毕业|搬到|学过"
    "|決め|採用|選ん|選び|廃止|禁止|統一|合意|移行|やめ|卒業|引っ越|学ん"
    "|결정|채택|선택|정했|금지|중단|폐지|도입|합의|전환|졸업|이사|바꿨|그만"
)
# What the code says, said again: the repository knows it better.
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
    r"|checks?|validates?|iterates?|creates?|initiali[sz]es?|defines?|declares?|accepts?|receives?"
    r"|throws?|raises?|wraps?|sets?|gets?|is (?:defined|called|declared|named|imported|used|unused"
    r"|missing|empty|null|nullable|async|cast|typed)|consists?|includes?|does)"
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
    r"\b(?:took|lasted|ran for|(?:finished|completed|done) in|peaked at|dropped to|rose to|went up"
    r"|went down)\b.{0,12}\d|\b(?:in|during|after|of) the (?:last|previous|latest|current) (?:run"
    r"|attempt|build|try|test|execution|measurement)\b"
    r"|\b(?:returned|found|reported|shows?|showed|printed|has|have|there (?:is|are|were"
    r"|was)) (?:about"
    r" |only |exactly )?(?:\d+|no|zero) (?:[\w-]+ )?(?:warnings?|errors?|failures?|match(?:es)?"
    r"|results?|occurrences?|hits?|issues?|tests?|lines?|files?|rows?|output|problems?|todos?)\b"
    r"|\b(?:is|are|was|were) (?:about |around |roughly |now |only )?\d[\d.,]{0,9} ?(?:kb|mb|gb"
    r"|kib|mib|ms"
    r"|s|sec|seconds?|minutes?|lines?|%|percent)\b"
    "|耗时|用(?:了|时)[一二三四五六七八九十百\\d]+|(?:一共|总共"
    "|共)有?[一二三四五六七八九十百\\d]+[条个处行]"
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
    r"\b(?:this|that|these|those|the (?:above|current|same|other|following|first|second|third|last"
    r"|previous|next|latest|proposed|suggested|attached|pasted)) (?:\w+ )?(?:files?|function|class"
    r"|method|line|block|snippet|code|error|message|test|output|log|diff|commit|branch|task|change"
    r"|version|suggestion|proposal|structure|approach|option|answer|screenshot|question|attempt)\b"
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
