"""The words that a request to remember goes by in German, French, Spanish, Portuguese, Italian.

Tables only, as in `wordings`, which joins them to its own: each is the text of a case-insensitive
regular expression. A language is added by adding its words.
"""

from __future__ import annotations

# What may stand before a trigger at the start of a sentence.
LEAD = (
    # German
    r"bitte|übrigens|außerdem|und|auch|also|ach ja|nebenbei|noch was|noch etwas|wichtig|danke"
    r"|super|gut|alles klar|hallo|kurz"
    # French
    r"|s['’]il (?:te|vous) pla[iî]t|stp|svp|au fait|aussi|alors|et|merci|bon|d['’]accord|salut"
    r"|bonjour|parfait|encore une chose|petite note"
    # Spanish, Portuguese, Italian
    r"|por favor|por cierto|además|también|y|oye|hola|gracias|vale|bueno|perfecto|una cosa más"
    r"|por sinal|além disso|obrigad[oa]|e|per favore|inoltre|anche|grazie|ciao|senti"
)

_DE_PUT = (
    r"(?:[ \t,]+(?:dir|euch|sich|bitte|mal|doch|auch|noch|kurz|gut|das|dies|es|folgendes|ab|auf"
    r"|fest|vorab|schon|jetzt|einfach|unbedingt|für die Zukunft|für später))"
)
_DE_THAT = r"(?=[ \t]*[,:–—-]|[ \t]+(?:dass|das[sß])\b|[ \t]*$|\.[ \t])"
CAN = (
    r"(?:kannst|könntest|würdest|magst) du\b|(?:peux|pourrais)[- ]tu\b|tu (?:peux|pourrais)\b"
    r"|(?:pouvez|pourriez)[- ]vous\b|(?:puedes|podrías|podés|puede|podría)\b|puoi\b|você pode\b"
)
_DE_CAN = r"(?:kannst|könntest|würdest|magst|willst) du"
_DE_MEMORY = r"(?:im|ins|in (?:dein|deinem|das|dem)) (?:Gedächtnis|Speicher|Kopf|Hinterkopf|Memory)"
_FR_THAT = (
    r"(?=[ \t]+(?:que|qu['’]|de ceci|de ça|ceci|ça|cela|bien|aussi|toujours|pour)|[ \t]*[,:–—-]|"
    r"[ \t]*$)"
)
_FR_CAN = r"(?:peux-tu|pourrais-tu|tu peux|tu pourrais|pouvez-vous|pourriez-vous)"
_FR_MEMORY = r"(?:en|dans (?:ta|votre|la)) (?:mémoire|tête)"
_ES_THAT = r"(?=[ \t]+(?:de )?que\b|[ \t]+(?:esto|lo siguiente)|[ \t]*[,:–—-]|[ \t]*$)"
_ES_CAN = r"(?:puedes|podrías|podés|puede|podría|quiero que)"
_RULE = (
    r"(?=[^\n]{0,200}\b(?:siempre|nunca|jamás|cada|antes|después|sempre|nunca|mai|ogni|prima"
    r"|dopo)\b)"
)

# The rest of the line is the fact.
SAVE = "|".join(
    (
        r"(?:merke? dir|behalte?),? was\b[^:\n]{0,120}(?=:[ \t]*$)|(?:retiens"
        r"|souviens-toi de) ce qu[^:\n]{0,120}(?=:[ \t]*$)"
        r"|recuerda lo que\b[^:\n]{0,120}(?=:[ \t]*$)",
        # German
        rf"(?:merke?|merken Sie|merkt){_DE_PUT}{{1,5}}{_DE_THAT}|bitte merken{_DE_THAT}"
        rf"|das (?:merkst|notierst) du dir(?: bitte)?(?=[ \t]*:)",
        rf"{_DE_CAN}{_DE_PUT}{{0,5}}[ \t]+(?:merken|notieren|aufschreiben|speichern|abspeichern)"
        rf"(?=[ \t]*[,:])",
        rf"(?:denke?|denk|denken Sie)(?:[ \t]+(?:bitte|immer|auch|mal"
        rf"|doch)){{0,3}}[ \t]+(?:für die Zukunft[ \t]+)?d(?:a)?ran{_DE_THAT}",
        rf"(?:vergiss|vergesst|vergessen Sie)(?:[ \t]+(?:bitte|mir|das|es|auch)){{0,3}}[ \t]+nicht"
        rf"{_DE_THAT}",
        rf"(?:behalte?|behalten Sie){_DE_PUT}{{0,3}}(?:[ \t]+{_DE_MEMORY}{_DE_THAT}|(?=,? dass\b))",
        rf"(?:notiere?|notieren Sie|speichere?|speichern Sie|schreibe?|halte?|vermerke?)"
        rf"{_DE_PUT}{{0,5}}(?:[ \t]+{_DE_MEMORY})?{_DE_THAT}(?=[^\n]{{0,40}}(?:[,:]|dass))",
        rf"(?:nimm|leg|lege)(?:[ \t]+(?:das|dies|es|bitte|folgendes)){{0,2}}[ \t]+{_DE_MEMORY}"
        rf"(?:[ \t]+(?:auf|ab))?{_DE_THAT}",
        r"(?:kleine )?(?:notiz|memo|merksatz) (?:an|für) (?:mich(?: selbst)?|dich"
        r"|später)(?=[ \t]*[:,–—-])",
        r"(?:bitte beachten?|beachte?(?: bitte)?)(?=[ \t]*[,:])|(?:zur Erinnerung|merke)(?=[ \t]*:)"
        r"|(?:für die Zukunft|für später|fürs nächste Mal|für (?:die nächsten|künftige"
        r"|spätere) \w+)(?=[ \t]*[:,])",
        r"(?:ab|von) (?:jetzt|sofort|heute|nun)(?: an)?\b|künftig\b|zukünftig\b|in Zukunft\b"
        r"|fortan\b",
        r"für alle (?:künftigen|weiteren|kommenden|nächsten) \w+(?=[ \t]*[:,])",
        # French
        rf"souviens[- ]toi{_FR_THAT}|souvenez[- ]vous{_FR_THAT}|rappelle[- ]toi{_FR_THAT}"
        rf"|rappelez[- ]vous{_FR_THAT}|(?:retiens|retenez)(?: bien)?(?: aussi)?{_FR_THAT}",
        rf"(?:n['’])?oublie(?:z)? (?:pas|jamais){_FR_THAT}",
        rf"(?:note|notez|mémorise|mémorisez|enregistre|enregistrez|sauvegarde|sauvegardez|inscris)"
        rf"(?:[ \t]+(?:bien|aussi|ceci|ça|cela|s['’]il te plaît|stp)){{0,3}}(?:[ \t]+{_FR_MEMORY})?"
        r"(?=[ \t]+(?:que|qu['’])|[ \t]*:|[ \t]*$)",
        rf"(?:garde|gardez|mets|mettez|ajoute|ajoutez)(?:[ \t]+(?:bien|ceci|ça|cela|à l['’]esprit"
        rf"|le)){{0,2}}"
        rf"(?:[ \t]+{_FR_MEMORY}|(?<=esprit))(?=[ \t]+(?:que|qu['’])|[ \t]*[:,])",
        rf"{_FR_CAN}(?:[ \t]+(?:te|vous|bien|aussi)){{0,2}}[ \t]+"
        r"(?:souvenir|rappeler|retenir|noter|mémoriser|enregistrer)(?=[ \t]+(?:que|qu['’]))",
        r"(?:prends|prenez) (?:bonne )?note(?=[ \t]+(?:que|qu['’])|[ \t]*:)|(?:sache"
        r"|sachez)(?=[ \t]+(?:que|qu['’]))",
        r"(?:petite )?note (?:à|pour) (?:moi[- ]même|moi|toi|plus tard)(?=[ \t]*[:,–—-])"
        r"|pour (?:rappel|info|mémoire)(?=[ \t]*:)|pour toutes les prochaines \w+(?=[ \t]*[:,])"
        r"|pour (?:la suite|la prochaine fois|plus tard"
        r"|l['’]avenir)(?=[ \t]*[:,])",
        r"(?:à partir|dès) (?:de )?(?:maintenant|d['’]aujourd['’]hui|aujourd['’]hui)\b|désormais\b"
        r"|dorénavant\b|à l['’]avenir\b",
        # Spanish
        rf"(?:recuerda|recuerde|recuerden|recordá|recordad)(?: tú| bien)?{_ES_THAT}"
        rf"|recuerda {_RULE}"
        rf"|quédate con(?= que\b|:)",
        rf"(?:acuérdate|acuérdese|acordate)(?:[ \t]+siempre)?{_ES_THAT}",
        rf"(?:no (?:te |se )?olvid(?:es|e|éis)|que no se te olvide)(?:[ \t]+nunca)?{_ES_THAT}",
        r"(?:ten|tenga|tené|tened)(?:lo)? (?:en cuenta|presente)(?=[ \t]+(?:siempre )?que\b"
        r"|[ \t]*[:,])",
        rf"(?:anota|anote|anotá|apunta|apunte|memoriza|memorice|registra){_ES_THAT}"
        r"|toma nota(?=[ \t]*:|[ \t]+(?:de )?que)",
        r"(?:guarda|guarde|añade|agrega|pon)(?:[ \t]+(?:esto|lo siguiente))? (?:en|a) (?:la |tu "
        r"|su )?memoria"
        r"(?=[ \t]*[:,]|[ \t]+que\b)|guarda(?: esto| lo siguiente)?(?=[ \t]+que\b|[ \t]*:)",
        rf"{_ES_CAN}(?:[ \t]+(?:por favor|también)){{0,2}}[ \t]+"
        r"(?:recordar|acordarte de|anotar|apuntar|memorizar|guardar|recuerdes|te acuerdes de"
        r"|anotes)"
        r"(?=[ \t]+que\b)",
        r"nota (?:para|a) (?:mí(?: mism[oa])?|ti|después)(?=[ \t]*[:,–—-])",
        r"(?:a partir|desde) (?:de )?(?:ahora|hoy)(?: en adelante)?\b|de (?:ahora"
        r"|hoy) en (?:adelante|más)\b|que sepas(?=[ \t]+que\b)|para (?:todas las próximas \w+"
        r"|la próxima(?: vez)?|el futuro"
        r"|más adelante)(?=[ \t]*[:,])"
        r"|en adelante\b|en lo sucesivo\b|en el futuro\b",
        # Portuguese
        rf"(?:lembre-se|lembra-te|lembra|lembre|anote?|anota|memorize|memoriza){_ES_THAT}"
        rf"|não (?:se |te )?esqueç?(?:a|as){_ES_THAT}",
        r"(?:guarde?|guarda|salve|salva)(?: isto| isso)? na (?:sua |tua )?memória(?=[ \t]*[:,]"
        r"|[ \t]+que\b)"
        r"|(?:tenha|tem) em mente(?=[ \t]+que\b|[ \t]*:)|de agora em diante\b|a partir de agora\b",
        # Italian
        r"(?:ricordati|ricorda|ricordatevi|memorizza|annota|segna|segnati)"
        r"(?=[ \t]+(?:bene )?che\b|[ \t]*[,:])|(?:tieni|tenga) (?:a mente|presente)(?=[ \t]+che\b"
        r"|[ \t]*:)",
        r"non (?:ti )?dimenticare(?=[ \t]+che\b|[ \t]*[,:])|prendi nota(?=[ \t]+che\b|[ \t]*:)"
        r"|d['’]ora in (?:poi|avanti)\b|da (?:ora|adesso|oggi) in (?:poi|avanti)\b",
    )
)
# The whole line, from the trigger on, is the fact.
STATES = (
    r"ich (?:bevorzuge|mag lieber|ziehe)\b|meine (?:Vorliebe|Präferenz) ist\b|mir ist lieber\b"
    r"|je préfère\b|ma préférence est\b|(?:yo )?prefiero\b|mi preferencia es\b"
    r"|(?:eu )?prefiro\b|(?:io )?preferisco\b"
)
# The fact stands before: "wir deployen dienstags, merk dir das".
TOLD = (
    r"(?:speichere?|notiere?|schreibe?|halte?)(?: dir)? (?:das|es)(?: \w+)? (?:ab|auf|fest)"
    r"|das sollst du dir merken"
    r"|merke?(?: dir)?(?: das| es)(?: bitte)?|merk['’]s dir|merken,? bitte|bitte (?:\w+ )?(?:merken"
    r"|behalten"
    r"|speichern|notieren)"
    r"|behalte? das im (?:Kopf|Hinterkopf)"
    r"|vergiss das(?: bitte)? nicht"
    r"|souviens[- ]t['’]en|retiens[- ](?:le|ça)|retiens ça|mémorise[- ]le|enregistre[- ]le"
    r"|note[- ]le|n['’]oublie pas(?: ça)?|ne l['’]oublie pas"
    r"|à retenir|à noter|(?:mets|garde)[- ](?:le|ça) en (?:tête|mémoire)"
    r"|recuérdalo|recuerda eso|tenlo (?:en cuenta|presente|en mente)|que no se te olvide|anótalo"
    r"|apúntalo"
    r"|no lo olvides|guárdalo"
    r"|lembre-se disso|anote isso|ricordatelo|ricordalo|tienilo a mente"
)
# Between a trigger and its fact.
THAT = r"dass\b|das[sß]\b|que\b|qu['’]|de que\b|che\b"
# Turned down.
NOT = (
    r"(?:bitte )?(?:nicht|nichts davon) (?:merken|speichern|notieren|behalten)"
    r"|(?:merke?|speichere?|notiere?|behalte?)(?: dir)? (?:das|dies|es"
    r"|diese[ns]? \w+)(?: bitte)? nicht\b"
    r"|du (?:brauchst|musst) (?:dir )?(?:das |es )?nicht (?:zu )?merken"
    r"|ne (?:(?:te |t['’])?souviens|retiens|note|notez|mémorise|enregistre|garde"
    r"|sauvegarde)\b[^.!?]{0,30}?\bpas\b"
    r"|(?:pas|inutile|pas besoin) (?:besoin )?de (?:retenir|noter|mémoriser|enregistrer"
    r"|te souvenir)"
    r"|no (?:recuerdes|guardes|anotes|apuntes|memorices|registres)\b"
    r"|no (?:hace falta|es necesario|hay que|tienes que) (?:recordar|guardar|anotar|apuntar)"
    r"|não (?:lembre|guarde|anote|memorize)|non (?:ricordare|memorizzare|annotare|salvare)"
)
FILLER = (
    r"das|dies|dieses|diese|es|alles|bitte|danke|mal|hier|folgendes|dir"
    r"|ça|cela|ceci|tout|merci|s['’]il te pla[iî]t|s['’]il vous pla[iî]t|stp|le"
    r"|esto|eso|todo|lo|gracias|por favor|isso|isto|tudo|obrigad[oa]|questo|quello|tutto|grazie"
    r"|per favore"
)
# An errand, unless it speaks of every time.
TASK = (
    r"(?:die |den |das |dem |der |noch |heute |morgen |später |mir "
    r"|dann )?[^,;:]{0,60}\bzu \w+en[.! ]*"
    r"|(?:de |d['’])(?!que\b)(?:\w+(?:er|ir|re)\b)[^\n]*|(?:morgen|heute|demain|mañana)\b[^\n]*"
)
# Of every time: what is said so is a rule.
EVERY = (
    r"\bimmer\b|\bnie(?:mals)?\b|\bjede[nsmr]?\b|\bnicht\b|\bwenn\b|\bbevor\b|\bvor\b|\bnach\b"
    r"|\bstets\b"
    r"|\btoujours\b|\bjamais\b|\bchaque\b|\bavant\b|\baprès\b|\bquand\b|\bpas\b"
    r"|\bsiempre\b|\bcada\b|\bantes\b|\bdespués\b|\bcuando\b|\bsempre\b|\bogni\b|\bprima\b"
)
LATER = (
    r"(?:später|nächstes Mal|ein andermal|plus tard|la prochaine fois|más tarde|luego"
    r"|la próxima vez)[.!… ]*"
)

USER = (
    r"\bich hei(?:ß|ss)e\b|\bmein(?:e)? (?:Name|Zeitzone|Geburtstag) ist\b|\bich (?:wohne|lebe)\b"
    r"|\bich bin (?!mir|nicht|sicher|dafür|dagegen)\b|\bich arbeite (?:bei|als|für|in)\b"
    r"|\bje m['’]appelle\b|\bmon (?:nom|prénom|anniversaire|fuseau) \w*\b|\bj['’]habite\b"
    r"|\bje suis (?!sûr|d['’]accord|pas)\b|\bje travaille (?:chez|comme|pour|à|dans)\b"
    r"|\bme llamo\b|\bmi (?:nombre|cumpleaños|zona horaria) es\b|\bvivo en\b|\bsoy (?!consciente)\b"
    r"|\btrabajo (?:en|como|para)\b|\bmi chiamo\b|\bvivo a\b|\bmeu nome é\b|\bmoro em\b"
)
DECISION = (
    r"\bentschieden\b|\bbeschlossen\b|\bEntscheidung\b|\bdécidé\b|\bdécision\b|\bchoisi\b"
    r"|\bdecidi(?:mos|do|ó)\b|\bdecisión\b|\belegimos\b|\bdeciso\b"
)
PROJECT = (
    r"\bProjekt\w*\b|\bRepositor\w+\b|\bprojet\b|\bdépôt\b|\bproyecto\b|\bprojeto\b|\bprogetto\b"
)

# Told of somebody else.
REPORTED = (
    r".*,[ \t]*(?:sagte|sagt|schrieb|meinte) (?:er|sie|mein\w* \w+|der \w+|die \w+)[.! \t]*"
    r"|.*,[ \t]*(?:a-t-(?:il|elle) (?:dit|écrit)|dit-(?:il|elle)|dijo (?:él|ella|mi \w+|el \w+)"
    r"|dijo"
    r"|m['’]a(?:-t-on)? dit \w+)[.! \t]*"
)
# A later sentence that turns to the work at hand.
TURN = (
    r"(?:(?:jetzt|nun|dann|und|so|ok),?[ \t]+)*(?:bitte|kannst du|könntest du|lass uns|danke)\b.*"
    r"|(?:(?:maintenant|ensuite|puis|et),?[ \t]+)*(?:peux-tu|pourrais-tu|merci"
    r"|s['’]il te pla[iî]t)\b.*"
    r"|(?:(?:ahora|luego|y),?[ \t]+)*(?:puedes|podrías|por favor|gracias)\b.*"
    r"|(?:jetzt|maintenant|ahora)\b[, \t]+(?!(?:wir|nous|on|je|ich|yo|nosotros)\b)\w.*"
)
