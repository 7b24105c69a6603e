"""The words by which a standing rule is told from work at hand: "always ...", "ab jetzt ...".

Tables only: each is the text of a case-insensitive regular expression on one sentence, in English,
German, French and Spanish. The whole sentence is the fact.
"""

from __future__ import annotations

# Anywhere in a sentence: it holds from this moment.
STANDING = (
    r"\b(?:from (?:now|here|today|this point)(?: on(?:wards?)?| forward)\b|going forward\b"
    r"|henceforth\b|from today\b"
    r"|(?:ab|von) (?:jetzt|sofort|heute|nun)(?: an)?\b|(?:zu)?künftig\b|fortan\b"
    r"|désormais\b|dorénavant\b|(?:à partir|dès) (?:de |d['’])?(?:maintenant|aujourd['’]hui)\b"
    r"|dès maintenant\b"
    r"|(?:a partir|desde) (?:de )?(?:ahora|hoy)\b|de (?:ahora|hoy) en (?:adelante|más)\b"
    r"|en lo sucesivo\b)"
)
# At the beginning: "always run", but not "always fails" or "never mind".
ALWAYS = (
    r"(?:always|never(?: ever)?)[ ]+(?!\w*[^s\W]s\b|\w+ed\b|(?:mind|been|had|seen|got|knew|went"
    r"|again|the|a|an|in|on|at|more|less|worked|happened|heard|thought|you|i|we|it|this|that)\b)\w"
    r"|(?:do not|don['’]?t)(?: you)? ever\b|under no circumstances\b"
    r"|(?:immer|nie|niemals|stets|grundsätzlich)[ ]+(?!noch\b|wieder (?:das|der|die)|mehr\b"
    r"|dasselbe\b|das(?:selbe)?\b|dieser?\b|wenn ich\b|ich\b|wir\b|er\b|sie\b)\w"
    r"|(?:toujours|jamais)[ ]+(?!pas\b|rien\b|le même|la même|aucun|autant|plus\b|je\b|on\b|il\b"
    r"|elle\b)\w|plus jamais (?:de[ ]|d['’])|n(?:e[ ]|['’])[^.!?;:\n]{1,60}\bjamais\b"
    r"|(?:siempre|nunca|jamás)[ ]+(?!\w+o\b|que\b|he\b|ha\b|había\b|lo mismo\b|me\b|pasa\b|falla\b"
    r"|yo\b"
    r"|más\b|el mismo\b)\w|no \w+[^.!?;:\n]{0,60}\b(?:nunca|jamás)\b"
)
# A verb of asking the assistant for something, then a word for every time.
ORDERED = (
    r"(?:all|every|each)(?: \w+)? (?:commits?|prs?|pull requests?|tests?|branch(?:es)?|migrations?"
    r"|releases?|deploys?|merges?|reviews?|comments?|docstrings?|messages?)\b[^.!?\n]{0,60} (?:must"
    r"|should|has to|have to|needs?|gets?|is to|are to|go(?:es)?)\b"
    r"|you (?:can|may) always (?:assume|use|expect|rely)\b|(?:whenever|every time"
    r"|each time) i (?:say|write|type|ask|mention)\b|when i say\b[^.!?\n]{0,80}\bmean\b"
    r"|(?:make it a habit|get used) to\b"
    r"|(?:mach|mache) es dir zur gewohnheit\b|prends l['’]habitude\b|acostúmbrate a\b|(?:when"
    r"|if) you\b[^.!?\n]{2,120}\b(?:always|never)\b"
    r"|(?:don['’]?t|do not)\b[^.!?\n]{2,100} (?:anymore|any more|any longer|again)[.! ]*$"
    r"|nie wieder \w|keine? [^.!?,\n]{2,60} mehr[.! ]*$|(?:ne |n['’])\w+ plus(?: jamais)?\b"
    r"|no vuelvas a\b"
    r"|wenn du\b[^.!?\n]{2,120}\b(?:immer|nie|niemals|stets|grundsätzlich)\b"
    r"|quand tu\b[^.!?\n]{2,120}\b(?:toujours|jamais)\b|cuando \w+s\b[^.!?\n]{2,120}\b(?:siempre"
    r"|nunca)\b"
    r"|(?:vor|nach|bei|beim|in|im|für|mit|zu|zum|pro) (?!\w+ (?:ich|wir|er|sie"
    r"|es)\b)[^.!?,\n]{2,80}[ ](?:immer|nie|niemals|stets|grundsätzlich)\b[^.!?,\n]{0,80}(?:en|ern"
    r"|eln)[.! ]*$"
    r"|(?:il faut|on doit|vous devez) (?:toujours|systématiquement)\b|il ne faut jamais\b"
    r"|hay que (?:\w+ )?siempre\b|nunca hay que\b|(?:man|es) (?:muss|darf|soll) (?:immer|nie"
    r"|niemals|stets)\b|"
    r"(?:add|answer|ask|avoid|build|call|check|commit|confirm|create|deploy|document|fix|follow"
    r"|format|include|keep|leave|log|make|name|pin|prefer|put|quote|rebase|reply|respond|run|sign"
    r"|speak|squash|start|tag|talk|test|treat|try|use|verify|write)\b"
    r"[^.!?\n]{0,160}\b(?:whenever you|every time you|each time you|any time you|at all times"
    r"|without exception)\b"
    r"|(?:all |our |the )?(?:commits?|commit messages?|branch(?:es)?(?: names)?|prs?|pull requests?"
    r"|tests?|comments?|docstrings?|answers?|replies|responses?|variable names|names|identifiers"
    r"|docs|changelogs?|releases?|deploys?|deployments?|migrations?|code)"
    r" (?:must|should|shall|have to|has to|may|can) (?:always|never|only)\b|i (?:always"
    r"|never) (?:want|expect|prefer|like|need)\b|ich (?:will|möchte|brauche) (?:immer|nie)\b"
    r"|je (?:veux|préfère) toujours\b|siempre quiero\b|quiero siempre\b"
    r"|(?:antworte?|benutze?|beginne?|behandle?|erkläre?|fass|fasse|formatiere?|frage?|führe?|gib"
    r"|halte?|lass|lasse|lege?|lies|lösche?|mache?|nenne?|nimm|nutze?|ändere?|prüfe?|rede|rufe?"
    r"|schreibe?|sei|setze?|sprich|speichere?|starte?|teste?|verwende?|vermeide?|verschiebe?|zeige?"
    r"|füge?|committe?|pushe?|rebase|sag|sage|bleib|bleibe|achte?|duze?|sieze?)\b"
    r"[^.!?,\n]{0,120}[ ,](?:immer|nie|niemals|stets|grundsätzlich|jedes Mal|jedesmal)\b"
    r"|(?!(?:je|tu|il|elle|on|nous|vous|ils|elles|le|la|les|l|un|une|des|ce|cet|cette|ces|ça|cela|c"
    r"|mon|ma|mes|ton|ta|notre|votre|leur|y|qui|que|quoi|est|sont|a|ont|et|mais|pas|pourquoi"
    r"|comment|quand|oui|non|encore|tout|toute)\b)[\w’'-]+(?: bien)? (?:toujours"
    r"|systématiquement)[ ]\w"
    r"|(?!(?:yo|tú|él|ella|nosotros|ellos|ellas|el|la|los|las|un|una|lo|este|esta|eso|esto|mi|mis"
    r"|tu|tus|su|sus|se|me|te|es|son|está|ha|han|y|pero|que|qué|cómo|cuándo|por|casi|no|sí|como"
    r"|para|desde)\b)[\w]+ siempre[ ]\w"
    r"|(?:you (?:should|must|shall|are to|have to|need to)|du (?:sollst|musst|darfst)|tu (?:dois"
    r"|devrais)|(?:debes|tienes que))\b[^.!?\n]{0,160}\b(?:always|never|immer|nie|niemals|toujours"
    r"|jamais|siempre|nunca)\b"
    r"|(?:every time|each time|whenever|any time) you\b|jedes ?Mal,? wenn du\b|immer wenn du\b"
    r"|wann immer du\b|chaque fois que tu\b|à chaque fois que tu\b|cada vez que (?:me )?\w+(?:es"
    r"|as)\b"
)
# To be asked first.
ASK_FIRST = (
    r"(?:ask|check with|consult) me (?:first\b|before\b|always\b|every\b)|(?:tell|warn) me (?:first"
    r"|before)\b"
    r"|frage? mich(?: bitte| immer| erst)* (?:bevor\b|vorher\b|zuerst\b|erst\b|vor\b)"
    r"|frage? mich,? bevor\b"
    r"|demande[- ]moi (?:toujours|avant|d['’]abord)\b|préviens[- ]moi avant\b|(?:pregúntame|avísame"
    r"|consúltame) (?:siempre|antes|primero)\b"
    r"|(?:don['’]?t|do not|never|no|keine?[nrms]?|ne|n['’]|nichts|lösche?|pushe?"
    r"|ändere?)[ ]?[^.!?\n]{1,120}\b(?:without (?:asking|my|checking|confirm)\w*|ohne (?:mich "
    r"|vorher |zu |rück|meine|nach)\w*|sans (?:me |mon |ma |demander)|sin (?:preguntar|consultar"
    r"|avisar|mi )\w*)"
)
# At the end of a sentence: what stands before it holds for good.
FOR_GOOD = (
    r"(?:,[ ](?:always|ever|as a rule|without exception|no exceptions|for good|every time|immer"
    r"|grundsätzlich|ausnahmslos|ohne Ausnahme|prinzipiell"
    r"|never|nie|niemals|jamais|nunca|toujours|sans exception|systématiquement|siempre"
    r"|sin excepci(?:ón|ones)|por norma)|[, ](?:ever again|ein für alle ?mal|une fois pour toutes"
    r"|de una vez por todas))"
    r"(?:,? (?:please|bitte|s['’]il te pla[iî]t|stp|por favor))?[.! \t]*$"
    r"|,[ ](?:that['’]s|das ist|c['’]est|es) (?:the|a|our|die|eine|unsere|la|une|notre|una"
    r"|nuestra) (?:\w+ )?(?:rule|regel|règle|regla|norma)\b"
    r"|,[ ](?:always|immer|toujours|siempre) (?:in|on|with|as|to|auf|mit|als|en|avec|comme|à|con"
    r"|como)\b"
)
# A rule by its name.
NAMED = (
    r"(?:our|my|house|team|new|standing|general|one)(?: \w+)? (?:rules?|conventions?|standard"
    r"|policy)(?: of ours| here| is| are"
    r"|s are)?[ ]?(?::|is\b|are\b)|rules? for (?:this|the|you|all|our|my)\b[^:\n]{0,40}:[ ]"
    r"|(?:unsere|meine) (?:regel|konvention)(?:n|en)?(?: ist| sind| lautet)?[ ]?[:,]?[ ]"
    r"|(?:notre|ma) (?:règle|convention)(?: est)?[ ]?[:,]?[ ]|(?:nuestra|mi) (?:regla|convención"
    r"|norma)(?: es)?[ ]?[:,]?[ ]"
)
# A sentence that makes a rule of the one before it.
MADE_RULE = (
    r"(?:and )?(?:that|this|it)(?:['’]s| is| will be| stays)? (?:a|the|our|my)?[ ]?(?:(?:new "
    r"|standing |general |hard )?rule|holds|applies|counts)\b[^.!?\n]{0,60}[.! ]*"
    r"|das (?:gilt|ist (?:eine|die|unsere|ab)|bleibt)\b[^.!?\n]{0,60}(?:regel|immer|ab (?:jetzt"
    r"|heute|sofort)|dauerhaft|künftig|so)[.! ]*"
    r"|(?:c['’]est|ça reste|cela reste) (?:la|une|notre|ma) règle\b[^.!?\n]{0,60}[.! ]*|(?:ça"
    r"|cela) vaut (?:pour|désormais|toujours)\b[^.!?\n]{0,60}[.! ]*"
    r"|(?:es|queda como) (?:la|una|nuestra|mi) (?:regla|norma)\b[^.!?\n]{0,60}[.! ]*"
    r"|eso vale (?:para|siempre|desde)\b[^.!?\n]{0,60}[.! ]*"
    r"|(?:always|every time|no exceptions|immer|jedes Mal|ohne Ausnahme|toujours|sans exception"
    r"|siempre|sin excepciones)[.! ]*"
)
# These begin no rule: a story, a complaint, a question, somebody else's words.
NOT_FIRST = (
    r"(?:it|he|she|they|there|why|how|what|when|where|who|is|are|was|does|did|do|has|have|if|maybe"
    r"|perhaps|i (?:(?:always|never) (?!want|expect|prefer|like|need)\w+|was|did|had|got|saw|think"
    r"|guess)"
    r"|es|er|warum|wieso|weshalb|wie|was|wann|wo|ist|sind|war|hat|haben|wird|vielleicht|ich (?:habe"
    r"|hatte|war|bin|bekomme|kriege|sehe)"
    r"|il(?! (?:faut|ne faut))|elle|pourquoi|comment|quand(?! tu)|est-ce|peut-être|j['’]ai"
    r"|qu['’]est|¿|por qué|cómo|cuándo"
    r"|quizás?|tal vez|he (?:visto|tenido)"
    r"|(?:the|our|this|der|die|das|dieser?|le|la|ce|cette|el|este|esta) (?:\w+ ){1,3}(?:always"
    r"|never|still|keeps|(?:schlägt|bricht|stürzt|hängt|geht)|(?:plante|échoue)|(?:falla"
    r"|siempre falla))\b)"
)
