"""The words and marks by which pasted text is told from typed: tables for `whose`.

Each is the text of a case-insensitive regular expression on one line, in English, German, French
and Spanish. None begins with a repetition that another part could give back.
"""

from __future__ import annotations

# --- lines that a machine or another program wrote ---------------------------------------------

_CLOCK = r"\d{1,2}[:.h]\d\d(?:[:.]\d\d)?(?:[.,]\d{1,6})?(?:[ ]?[ap]\.?m\.?)?"
_DAY = (
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/. ]{1,2}(?:\d{1,2}"
    r"|[a-zäéû]{3,9})\.?[-/. ]{1,2}\d{2,4})"
)
LOG = (
    rf"[\[(<]?{_DAY}[T ,]{{1,2}}{_CLOCK}|[\[(]?{_CLOCK}[\])]?[ \t]+[\[(<]?"
    r"(?:trace|debug|info|notice|warn|warning|error|fatal|critical)\b"
    r"|[\[(<]?(?:trace|debug|info|notice|warn|warning|error|err|fatal|critical|log"
    r"|verbose)[\])>][ \t:]"
    r"|(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)(?:[:|]|[ \t]{2,}"
    r"|[ \t]+[\[(\w.]+[\]):])"
    r"|level=\w+|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[ ]{1,2}\d{1,2} \d\d:\d\d:\d\d"
    r"|Traceback \(|File \"[^\"]{1,200}\", line \d|at [\w.$<>]{1,100} ?\(|npm (?:ERR!|WARN|warn"
    r"|error)"
    r"|(?:stdout|stderr|output|stdin)[ \t]*[:|>]|remote:[ \t]|\+{1,3}[^\w\s]"
    r"|(?:\d{1,5})[ \t]*[|│][ \t]|[│╭╰├└┌]"
)
# Somebody's terminal: what the command said stands below, to a blank line.
SHELL = (
    r"[+-]{3} [ab]/|@@ -\d|diff --git |[$%❯][ \t]+\S|(?:root"
    r"|\w{1,20})@[\w.-]{1,40}[:~ ][^#$\n]{0,80}[#$][ \t]|>>> |PS [A-Z]:\\"
)
# "[12:03] anna: ...", "12:03 - Anna: ...", "anna (12:03): ...", "<anna> ...", "[Anna]: ...".
CHAT = (
    rf"[\[(]?(?:{_DAY}[,T ]{{1,2}})?{_CLOCK}[\])]?[ \t]*[-–"
    rf"|>:]?[ \t]*[<@\[]?[^\W\d_][\w .'’()+-]{{0,40}}[>\]]?(?:[ \t]*[:>»|]|$)"
    rf"|[<@\[]?[^\W\d_][\w .'’-]{{0,40}}[>\]]?[ \t]*[\[(,"
    rf"|–-]{{1,2}}[ \t]*(?:{_DAY}[,T ]{{0,2}})?{_CLOCK}[\])]?"
    r"|<@?[\w. -]{1,40}>[ \t]+\S|@[\w.-]{1,40}[ \t]*:"
)
# "Name: text", which counts where such lines stand together.
SPEAKER = (
    r"(?:\*\*)?[<@]?(?P<name>[^\W\d_][\w.'’-]{0,30}(?:[ ][^\W\d_][\w.'’-]{0,30}){0,2})[>]?(?:[ ]\("
    r"[^()\n]{1,30}\))?(?:\*\*)?[ ]?:(?:\*\*)?[ \t]+\S"
)
# What stands before a colon like a name, and is none.
_LABELS = (
    "laut selon según according note notes nb ps p.s fyi todo fixme reminder remember important "
    "question questions context also and so ok okay please hey hi hello btw update edit answer "
    "problem issue bug task goal request requests rule rules fact facts memory memo example "
    "warning error expected actual steps environment background summary tldr tl;dr one two "
    "first second third next then finally plus merke merk bitte wichtig hinweis notiz frage "
    "achtung übrigens vergiss und auch außerdem danke rappel important note retiens souviens "
    "question attention aussi merci désormais recuerda nota importante pregunta ojo además "
    "también aviso gracias apunta anota memoriza remember_this always never commit "
    "reminder_to_self thanks sorry well yes no what why how our my the unsere unser meine mein "
    "die der das notre ma mon mes nos nuestra nuestro mi mis la el original source target input "
    "output preference preferences style language name timezone role team stack project "
    "deadline"
    " "
)
LABELS = frozenset(_LABELS.split())
HEADER = (
    r"(?:from|to|cc|bcc|subject|date|sent|reply-to|message-id|received|return-path|mime-version"
    r"|content-type|x-[\w-]{1,40}|von|an|kopie|betreff|gesendet|datum|antwort an"
    r"|de|à|a|objet|envoyé|date|copie|para|asunto|enviado|fecha|enviado el)[ ]?:[ \t]*\S"
)
# One of these alone makes a head; the others need a second.
HEADER_SURE = r"(?:subject|betreff|objet|asunto|message-id|reply-to|return-path)[ ]?:[ \t]*\S"
FORWARDED = (
    r"-{2,}[ ]?(?:original message|forwarded message|ursprüngliche nachricht"
    r"|weitergeleitete nachricht"
    r"|message (?:d['’]origine|transféré)|mensaje (?:original|reenviado))"
    r"|begin forwarded message|anfang der weitergeleiteten|début du message"
)
GREETING = (
    r"(?:hi|hello|hey|dear|good (?:morning|afternoon|evening)|hallo|liebe[rs]?|sehr geehrte[rs]?"
    r"|guten (?:tag|morgen)"
    r"|moin|bonjour|bonsoir|salut|chers?|chères?|cher|hola|estimad[oa]s?|querid[oa]s?|buen(?:os"
    r"|as) (?:días|tardes))"
    r"(?:[ ][\w.'’-]{1,30}){0,5}[ ]?[,!:]?"
)
SIGN_OFF = (
    r"(?:(?:best|kind|warm|many)(?: regards| wishes)?|regards|cheers|thanks(?: a lot| again)?"
    r"|thank you|sincerely"
    r"|yours(?: \w+)?|viele grüße|liebe grüße|beste grüße|mit freundlichen grüßen|grüße|gruß|lg|vg"
    r"|mfg|danke(?: euch)?"
    r"|cordialement|bien (?:cordialement|à (?:vous|toi))|merci(?: d['’]avance)?|à bientôt"
    r"|amicalement|bonne journée"
    r"|saludos(?: cordiales)?|un (?:saludo|abrazo)|atentamente|gracias(?: de antemano)?"
    r"|cordialmente)[ ]?[,.!]?"
)
MARKUP = (
    r"#{1,6}[ \t]+\S|<!--|</?[a-z]+_[\w-]{1,40}[ >]|</?(?:html|head|body|div|p|h[1-6]|ul|ol|li"
    r"|table|tr|td|th|section|article|main|nav|header"
    r"|footer|span|a|img|br|pre|code|blockquote|script|style|meta|title|strong|em|details|summary"
    r"|note|tip"
    r"|instructions?|system|rules?|document|page|file|content|context|email"
    r"|message)\b[^>\n]{0,300}>"
    r"|!\[[^\]\n]{0,200}\]\(|\[!\[|\|[^|\n]{0,200}\||<\?xml|<!doctype|:::|!!! \w|\.\. \w{1,20}::"
    r"|={3,}[ \t]*$|-{3,}[ \t]*$|\[!(?:note|tip|important|warning|caution)\]"
    r"|\*{2}[^*\n]{1,60}\*{2}[ \t]*$"
    r"|={1,5}[ ][^=\n]{1,80}[ ]={1,5}[ \t]*$|---$"
)
RULE = (
    r"(?:[-=*_~#]{3,}|[-=*_~#]{2,}[ ][^-=*_~#\n]{1,60}[ ][-=*_~#]{2,}|[-–—]{2,}[ ]?(?:end|ende|fin"
    r"|snip|cut|eof)\b[^\n]{0,40}|\[/?\w{1,20}\]|[<[{(]?(?:end of|ende d|fin d)[^\n]{0,40})"
)

ELEMENT = r"<(?P<name>[a-z][\w-]{0,40})(?:[ ][^<>\n]{0,300})?>"
# A word for keeping, which makes an announcement the user's own: "for your notes: ...".
KEEPS = (
    r"^(?:(?:it['’]s |this is )?(?:an? )?(?:(?:our|my|new|neue|house|team|standing|nueva"
    r"|nouvelle) )?(?:rules?|standards?|policy|instruction"
    r"|regel|règle|regla|norma|convention|konvention|convención)(?: (?!page|text|file|doc)\w+){0,5}"
    r"[ ]?:)|\byour (?:notes?|list|memory|notebook|head)\b|\bon file\b|\b(?:remembering|retain"
    r"|retenir|mémoriser|merken|behalten|notieren|hold on|for later)\b"
    r"|\b(?:remember|memory|memori[sz]e|note|save|store|keep|forget|from now|merke?|denke?|notiere?"
    r"|behalte?|vergiss|gedächtnis|ab jetzt"
    r"|souviens|retiens|note|garde|mémoire|mémorise|oublie|désormais|recuerda|anota|apunta|guarda"
    r"|memoria|olvides|ten|nota)\b"
)

# --- what announces somebody else's text -------------------------------------------------------

TEXTS = (
    r"(?:web ?pages?|pages?|readme(?:\.md)?|docs?|documentation|guides?|handbook|manual|wiki"
    r"|article|post|blog(?: ?post)?"
    r"|e-?mails?|mails?|message|msg|chat|thread|conversation|transcript|slack|teams|discord|ticket"
    r"|issue|comment|review"
    r"|logs?|output|trace|snippets?|file|config|text|excerpt|quote|paste|notes|minutes|changelog"
    r"|release notes|policy"
    r"|instructions|prompt|agents\.md|claude\.md|contributing(?:\.md)?|spec|announcement|newsletter"
    r"|letter|description"
    r"|content|contents|section|paragraph|passage|answer|reply|response|tweet|story|script|template"
    r"|faq|tutorial|runbook|essay|aufsatz|ensayo|rédaction|correos?|lyrics|poem|recipe|slides?"
    r"|slogan|clause|caption|poster|rezept|recette"
    r"|receta|cartel|schild|panneau|meme|ad|advice|rules?|requirements?|draft"
    r"|seite|webseite|doku|dokumentation|anleitung|handbuch|artikel|beitrag|nachricht|verlauf"
    r"|gespräch|protokoll|ausgabe"
    r"|datei|auszug|zitat|notizen|richtlinie|anweisungen|brief|inhalt|abschnitt|antwort"
    r"|beschreibung|kommentar|hinweise"
    r"|courriel|guide|manuel|fil|conversation|journal|sortie|fichier|extrait|citation|consignes"
    r"|lettre|contenu|réponse"
    r"|message|documentation|texte|commentaire|règlement|note de service|compte[- ]rendu"
    r"|página|correo|mensaje|guía|artículo|hilo|conversación|registro|salida|archivo|extracto|cita"
    r"|notas|instrucciones"
    r"|texto|contenido|respuesta|comentario|carta|política|documentación|fragmento)"
)
SAYS = (
    r"(?:says?|said|wrote|writes|writing|reads?|told|tells|sent|posted|states?|stated|mentions?"
    r"|goes|looks like|replied|asked|announced"
    r"|sagte|sagt|schrieb|schreibt|geschrieben|steht|lautet|meinte|geschickt|antwortete|hei(?:ß"
    r"|ss)t es|besagt"
    r"|dit|a dit|écrit|a écrit|envoyé|répondu|indique|voici|disait|précise|raconte|annonce|stipule"
    r"|dice|dijo|escribió|escribe|envió|mandó|respondió|pone|reza|decía|comentó|cuenta|avisa)"
)
# The user's own words of before.
I_SAY = (
    r"\b(?:i|we)(?:['’]d|['’]ve| have| had)? (?:just |also )?(?:said|told|wrote|asked|mention\w*)"
    r"|\bich (?:sagte|schrieb|meinte|habe? [^:]{0,20}(?:gesagt|geschrieben))|\bj['’]ai (?:dit"
    r"|écrit)|\b(?:dije|he dicho|escribí)\b"
)
POINTS = (
    r"(?:here(?:['’]s| is| are| was| comes)|this is|these are|that['’]s|below(?: is| are|['’]s)?"
    r"|following|pasted?|pasting|copied|copy of|quoting|quoted|from|attached|forwarding|i got"
    r"|i found|i received|found this"
    r"|hier(?: ist| sind| kommt| die| der| das)?|das ist|das steht|folgende[rsn]?|eingefügt|kopiert"
    r"|aus|zitat|im anhang|unten|anbei"
    r"|voici|voilà|ci-dessous|suivante?|collé|copié|extrait|tiré|j['’]ai (?:reçu|trouvé)"
    r"|aquí (?:está|tienes|va|te dejo)|esta es|este es|siguiente|pegado|copiado|extracto|abajo"
    r"|adjunto|recibí|encontré|te pego)"
)
# At the end of a line of the user's: what follows is not theirs.
ANNOUNCES = (
    rf"\b{SAYS}[ ]*$|\b(?:see below|below|siehe (?:unten|hier|folgend\w*)|s\.[ ]?u\.|hier unten"
    rf"|voir (?:ci-dessous|plus bas)"
    r"|ci-dessous|ver (?:más )?abajo|véase abajo|más abajo|a continuación)[ ]?[).:!]{0,2}[ ]*$"
)
# A list of the user's own that they begin with a colon.
OWN_LIST = (
    r"\b(?:things?|points?|requests?|wishes|preferences|notes? (?:to|for) (?:you|self|myself)"
    r"|rules for (?:you|us|me|this)|todos?|to-?do|tasks?|questions?)\b[^:\n]{0,30}:[ ]*$"
    r"|\b(?:please|you|me|us"
    r"|dinge|sachen|punkte|wünsche|bitten|aufgaben|fragen|choses|points?|demandes|tâches|questions?"
    r"|cosas|puntos|peticiones|tareas|preguntas|bitte)[ ]?:[ ]*$"
)
# What is done with a text, which then stands below or behind a colon.
DONE_WITH = (
    r"\b(?:translat\w*|summari[sz]\w*|sum up|proofread\w*|spell-?check|paraphras\w*|rephras\w*"
    r"|rewrite|shorten|transcri\w+|bullet points|tl;?dr"
    r"|extract|count|what does|what do(?:es)? .{1,30} mean|what(?:['’]s| is) the \w+ for|explain"
    r"|analy[sz]e|review|classify|correct the|check the (?:spelling|grammar)|is the advice"
    r"|who (?:wrote|said|says)|typos?|grade|rate|make it|spam|reword|is (?:the|my) \w+ (?:ok|okay"
    r"|right|correct|fine|clear)"
    r"|is (?:this|that|it|the) (?:clear|good|right|correct|ok|true)"
    r"|which|what (?:do you think|is)|thoughts on|opinions? on|continue"
    r"|übersetz\w*|fass\w*|zusammenfass\w*|korrektur\w*|korrigier\w*|tippfehler|rechtschreib\w*"
    r"|was (?:bedeutet|heißt|steht|ist|hältst|meinst)|welche\w*|ist (?:dies\w*|der|das)"
    r"|stimmt (?:das|dies)(?: so"
    r"| überhaupt)?\?|erklär\w*|was meint|mach es|schau|analysier\w*|zähl\w*|umformulier\w*"
    r"|formulier\w*|gegenles\w*"
    r"|tradui\w*|résum\w*|reli[st]\w*|corrig\w*|orthographe|que (?:veut dire|signifie|dit|penses)"
    r"|c['’]est (?:quoi|correct|clair)|quel\w*|expliqu\w*|regarde|rends-le|analys\w*|reformul\w*"
    r"|extra(?:is|ire)"
    r"|traduc\w*|tradúce\w*|resum\w*|resúme\w*|corrig\w*|corrij\w*|tildes|ortograf\w*"
    r"|es correct[ao]|qué (?:significa|quiere decir|es|dice|opinas|te parece)|está bien|cuál\w*"
    r"|explica\w*"
    r"|analiza\w*|extrae\w*|reformul\w*)"
)
# A sentence that is asked about, and follows the question.
WORDING = (
    r"\b(?:sentence|wording|phrase|phrasing|tone|grammar|spelling|clause|satz|formulierung|ton"
    r"|grammatik|ausdruck|tournure|ton|grammaire|frase|tono|gramática|expresión)\b"
)
# A word that points at a text below.
THIS = (
    rf"\b(?:this|these|following|below|it|{TEXTS}|speaker|strings?|labels?|dies\w*|folgende\w*"
    rf"|text\w*|ce|cet|cette|ces|ceci|libellés|suivant\w*|este|esta|estos|estas|esto|siguiente\w*"
    rf"|hier|here|ici|aquí|párrafo|passage|abschnitt)\b"
)
# What makes a line before a list a heading of somebody's page.
PAGE_NAMES = (
    r"(?:team |project |house |coding |general |our |the )?(?:rules|guidelines?|checklist"
    r"|contributing|conventions?|policy|policies|setup|installation|usage|requirements"
    r"|onboarding|overview|getting started|deployment|development|testing|security|faq"
    r"|troubleshooting|best practices|agenda|minutes|attendees|prerequisites|quick ?start"
    r"|regeln|richtlinien|checkliste|einrichtung|voraussetzungen|übersicht|sicherheit|ablauf"
    r"|hinweise"
    r"|règles|consignes|prérequis|sécurité|aperçu|déploiement|reglas|normas|requisitos|instalación"
    r"|seguridad|resumen|despliegue)"
)

# --- where the user speaks again ---------------------------------------------------------------

# At the beginning of a paragraph behind pasted text; nobody's page or mail begins one so.
# It takes a stand to what stood before, asks something of the assistant, or changes the subject.
BACK = (
    r"(?:(?:ok(?:ay)?|so|and|now|but|ah|oh|hm+|alright|right|well|anyway|thanks"
    r"|hey)[,.!:]?[ ]+){0,2}"
    r"(?:(?:can|could|would|will) you\b|what (?:do you|does (?:this|that|it)|should i|would you)\b"
    r"|how (?:do|should|would|can) i\b|do you\b"
    r"|(?:please )?(?:summari[sz]e|explain|translate|review|draft|rewrite|shorten|proofread|extract"
    r"|fix|analy[sz]e|look at|tell me|give me|help me|ignore|disregard|forget|skip|turn (?:this"
    r"|that|it))\b"
    r"|anyway\b|by the way\b|btw\b|unrelated\b|separately\b|apart from (?:that|this)\b"
    r"|besides that\b|on another note\b|other topic\b"
    r"|one more thing\b|another thing\b|p\.?s\.?[ :]|(?:for|from) (?:me|us|you|my (?:side|part"
    r"|team)|our)\b|that(?:['’]s|['’]ll| is| was| does| doesn['’]?t| will)\b|those (?:are|were)\b"
    r"|(?:this|it)(?:['’]s| is| was) (?:the|from|what|old|outdated|wrong|not|their|just)\b"
    r"|so much for\b|end of\b|back to\b"
    r"|we (?:don['’]?t|do not|never|use|do|have|already|agreed|decided)\b|(?:not|none) (?:for us"
    r"|of that)\b|our (?:own|rule|team|way)\b|ours\b|here,? we\b|unlike (?:them|that)\b"
    r"|instead,? we\b|ah right\b|right,|true\b|no longer\b|outdated\b"
    r"|my (?:own )?(?:question|request|wish|point|rule|preference|team)\b|i(?:['’]d| would) (?:like"
    r"|rather)\b|i (?:want|need|use|prefer|don['’]?t|agree|disagree|think|wonder)\b|i['’]m\b"
    r"|the above\b|what i\b|me:|as for me\b|personally\b|(?:most|some|all|none) of (?:that|this"
    r"|it)\b"
    r"|(?:also|and|so|now|but),?[ ]+(?:please[ ,]+|do |for )*(?:remember|note|keep|from now|i|my|we"
    r"|our)\b|please also\b|(?:please |do )*remember (?:that |: ?|this: ?)?(?:i|my|i['’]\w+|me|our"
    r"|we|us)\b"
    r"|(?:kannst|könntest|würdest) du\b|was (?:meinst|hältst|soll)\b|wie (?:soll|kann|würde)\b"
    r"|(?:bitte )?(?:fasse?|erkläre?|übersetze?|schau|hilf|formuliere?|ignoriere?|vergiss)\b"
    r"|übrigens\b|davon abgesehen\b|noch (?:was|etwas|eins)\b|unabhängig davon\b|abgesehen davon\b"
    r"|zurück zu\b|soweit\b|so viel\b|das (?:war|ist|gilt|stimmt|steht|stammt|sehen|machen|kommt)\b"
    r"|für (?:mein\w*|unser\w*|uns|mich)\b|bei uns\b|wir (?:nicht|machen|nutzen|haben|halten)\b"
    r"|mein\w* (?:frage|bitte|regel)\b|ich (?:möchte|brauche|hätte|nutze|will|bin)\b|(?:außerdem"
    r"|und|aber):?,? (?:merk|bitte|denk|vergiss)\w*|merke? dir (?:bitte,? )?(?:dass |: ?)?(?:ich"
    r"|mein\w*|wir|unser\w*|bei uns)\b|unser\w* (?:regel|team)\b"
    r"|(?:peux|pourrais)[- ]tu\b|que (?:penses|dois)\b|qu['’]en penses\b|comment (?:je|dois"
    r"|faire)\b|(?:résume|explique|traduis|vérifie|regarde|aide|ignore|corrige|oublie)\b|au fait\b"
    r"|sinon\b|à part (?:ça|cela)\b|autre chose\b|encore une chose\b|voilà\b|(?:c['’]|ça "
    r"|cela )(?:était|est|vient|ne)\b|ma (?:question|demande)\b|je (?:voudrais|veux|souhaite"
    r"|préfère|suis)\b|(?:et|mais) (?:souviens|retiens|note|n['’]oublie|nous|pour)\b"
    r"|souviens-toi (?:que |qu['’])(?:je|mon|ma|j['’]|nous|on|notre)|nous (?:non|,|ne)|pour (?:nous"
    r"|moi|notre|mon|ma|mémoire)\b|chez nous\b|notre (?:règle|équipe)\b|on (?:ne|n['’])"
    r"|¿|(?:puedes|podrías)\b|qué (?:opinas|debo)\b|(?:resume|explica|traduce|mira|ayúdame|ignora"
    r"|olvida)\b|por cierto\b|aparte(?: de eso)?\b|otra cosa\b|una cosa más\b|eso (?:es|era|no|lo"
    r"|decía|dice)\b|ya no\b|mi (?:pregunta|petición|regla|equipo)\b|quiero que\b|(?:y"
    r"|pero) (?:recuerda|anota|no olvides|nosotros)\b|además,? (?:recuerda|anota)\b"
    r"|recuerda que (?:yo|mi|me|nosotros|nuestr\w+|aquí)\b|nosotros\b|para (?:nosotros|mí|mi)\b"
    r"|en (?:nuestro|mi) (?:equipo|caso)\b|nuestra (?:regla|norma)\b)"
)

# --- what reads like an order to an assistant, or harms ----------------------------------------

_MACHINE = (
    r"(?:(?:ai|coding|language|large language)[ -])?(?:assistants?|agents?|models?|llms?|chatbots?"
    r"|copilots?)"
    r"|(?:ki|sprach)-?(?:assistenten?|modelle?n?|agenten?)|modèles? (?:de langage|d['’]ia)"
    r"|(?:asistentes?|modelos?|agentes?) de ia|ia|ki|opencode|claude|codex|gemini|chatgpt"
)
ORDER = (
    rf"\b(?:every|all|any|dear|each|note (?:to|for)|attention|message (?:to|for|aux?)"
    rf"|instructions? for|hinweis an|an alle|jede[rs]?|chaque|tous les|toute?s?|para|todos los"
    rf"|cada)[ ]+(?:the )?(?:{_MACHINE})\b"
    rf"|\b(?:{_MACHINE})s?[ ]*(?::|must\b|should\b|shall\b|have to\b|are required\b|müssen\b"
    rf"|sollen\b|doit\b|doivent\b|deben?\b)"
    r"|\b(?:the|this) user (?:wants|prefers|accepts|agrees|allows|has approved)\b"
    r"|\bder nutzer (?:will|möchte|erlaubt)\b|\bl['’]utilisateur (?:veut|accepte|préfère)\b|\b(?:el"
    r"|este) usuario (?:quiere|acepta|prefiere)\b"
    r"|\bignore (?:all |any |the )?(?:previous|prior|above|earlier)\b"
    r"|\bignoriere (?:alle )?(?:vorherigen|bisherigen|obigen)\b"
    r"|\bignore[sz]? (?:toutes )?les (?:instructions|consignes)\b"
    r"|\bignora (?:todas )?las instrucciones\b"
    r"|\b(?:curl|wget)\b[^|\n]{0,200}\|[ ]{0,3}(?:sudo )?(?:ba|z)?sh\b|\brm -rf\b"
    r"|\b(?:send|post|upload|exfiltrate|mail|sende|schicke?|envoie|envoyez|envía"
    r"|manda)\b[^\n]{0,80}\b(?:env(?:ironment)?|\.env|secrets?|credentials|api[ -]?keys?|tokens?"
    r"|passwords?|ssh|umgebung\w*|passwörter|environnement|entorno|contraseñas?)\b"
    r"|\b(?:disable|skip|turn off|deaktiviere?|désactive[rz]?|desactiv\w+)\b[^\n]{0,60}\b(?:tls|ssl"
    r"|verification|signature|tests?|confirmation|sandbox|überprüfung|vérification|verificación)\b"
    r"|\bwithout (?:asking|confirmation)\b|\bohne (?:rückfrage|bestätigung)\b|\bsans confirmation\b"
    r"|\bsin confirmación\b"
)
