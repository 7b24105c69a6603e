"""The words of keeping, in every inflection: "if you kept in mind", "tu t'en souviendras".

Tables only: each is the text of a case-insensitive regular expression on one sentence, in English,
German, French and Spanish.
"""

from __future__ import annotations

_IT = r"(?:it|this|that|these|those|them|one|the following|two|three|a few|some)"
# Said of a mind or a memory: what is kept so is a fact.
MIND = (
    r"\b(?:"
    # English, with what fingers make of "remember"
    r"(?=\w{5,12}\b)r?e?m+[em]{1,4}b{1,2}e?re?(?:d|ing)?|(?=\w{5,7}\b)remb?er"
    r"|memori[sz](?:e|ed|ing)|(?:retain|retained|retaining)"
    rf"|(?:keep|kept|keeping|bear|bearing|have|having)(?: {_IT})?(?: firmly| always)? in (?:mind"
    rf"|(?:your )?(?:head|memory))"
    rf"|(?:to|in|into|for|update) (?:your|the|long[- ]term) memory|(?:to|for) memory\b"
    r"|(?:hold|holding|hang) on to (?:this|that|it)|on file|for later(?=[ ]?[:,])"
    r"|(?:don['’]?t|do not|never|won['’]?t|not to) (?:(?:you|u|ever|dare|please) ){0,2}(?:forget"
    r"|let (?:it|this|that) slip)"
    r"|remind yourself|(?:for the record|for future reference|just so you know|so you know)"
    r"|for (?:all |any |the )?(?:future|next|later|coming|other) (?:chats?|sessions?"
    r"|conversations?|times?|prs?|tasks?|requests?|work|code)"
    rf"|(?:make|making|made) it a habit|(?:stick|keep|hold) to (?:it|this|that)\b"
    rf"|(?:apply|follow|respect) (?:it|this|that) (?:everywhere|always|throughout|from)"
    r"|(?:make|making) (?:a |yourself a )?(?:mental )?note(?= (?:of|that|for)\b|[ ]?[:.,]|[ ]?$)"
    r"|take note"
    # German
    r"|merk(?:e|en|st|s)? (?:es )?(?:dir|das|bitte|mal|,|:)|merken|gemerkt|einprägen|präg(?:e)? dir"
    r"|behalt(?:e|en|st)?|(?:im|in den|ins) (?:hinterkopf|kopf|gedächtnis)"
    r"|(?:nicht|nie) (?:mehr )?(?:zu )?vergessen|(?:vergiss|vergesse) (?:bitte |das |mir |es ){0,2}"
    r"(?:nicht|nie)|denke? (?:bitte |immer |auch )*(?:daran|dran)|(?:daran|dran) (?:zu )?denk\w+"
    r"|halte? dich (?:[^.!?,]{0,40} )?(?:daran|dran)|daran halten|ein für alle ?mal"
    r"|(?:damit|nur dass) du (?:es )?(?:weißt|bescheid weißt)|für die akten"
    r"|für (?:die zukunft|später|nächstes mal|das nächste mal|künftige \w+|alle künftigen \w+)"
    # French
    r"|retiens|retenir|retiennes|retenu|retiendras|mémoris\w+|souvien(?:s|nes|dras)|souvenir"
    r"|rappelle[s]?[- ](?:toi|que)|te rappell\w+"
    r"|(?:gard\w+|ga?rd(?:e|er)|met[st]\w*|avoir|aies|aie)(?:[- ](?:le|la|ça|cela|bien|ceci)){0,2}"
    r" (?:en|à|dans) (?:tête|mémoire|l['’]esprit|ta mémoire|un coin)"
    r"|(?:n['’]oublie|ne pas oublier|n['’]oublies|oublie)(?: surtout)? (?:pas|jamais)"
    r"|une (?:bonne )?fois pour toutes|pour (?:la suite|la prochaine fois|les prochaines fois)"
    r"|(?:appliqu|respect)\w+ (?:ça|cela|ceci|cette règle)|tiens-t['’]y"
    # Spanish
    r"|recuerd\w+|recordar(?:as|lo|me|te|ás|a)?|recordaras|acuérdat\w*|acuerdes|acordarte"
    r"|te acordaras|memori(?:za|ces|zar|zal)\w*|memorízalo|grábatelo|tómalo en cuenta"
    r"|tomá?d? nota$|tomes nota"
    r"|(?:ten|tengas|tener|tenerl[oa]|tenl[oa]|tuvieras)(?: siempre)? (?:en cuenta|presente"
    r"|en mente)|(?:no|nunca) (?:se )?(?:te )?olvid\w+|qued(?:ate|arte|a) con|quédate con"
    r"|de una vez por todas|para (?:otras veces|otra vez|la próxima|las próximas|el futuro"
    r"|próximas \w+)"
    r")"
)
# Said of what somebody knows: asks for the fact behind it, and points at nothing.
KNOW = (
    r"\b(?:(?:need|want|like) (?:you|u) to (?:know|be aware|understand|learn)|(?:should|must"
    r"|have to)"
    r" (?:know|be aware|learn)|make sure (?:that )?you (?:know|are aware|understand)|be aware|good"
    r" to know|worth (?:knowing|noting|keeping)|(?:add|put|write) (?:\w+ )?(?:to|in|into|on) your"
    r" (?:notes?|list|notebook|brain|head)|for (?:your|the) (?:notes?|files?|memory"
    r"|info(?:rmation)?)"
    r"|until further notice|once and for all|permanently|take (?:it|this) as (?:a )?given|mark my"
    r" words|internali[sz]e|file (?:this|that|it) away|(?:for )?(?:next|future|later|coming)"
    r" sessions?|new (?:fact|info)|(?:one|two|three|a few|some|several"
    r"|couple of) (?:\w+ )?(?:things?"
    r"|facts?|points?|notes?) (?:about|to know|you)"
    r"|du (?:sollst|solltest|musst) (?:\w+ )?wissen|wissen solltest|sollst du wissen|wisse|damit du"
    r"|gut zu wissen|zur kenntnis|hinter die ohren|nimm zur|bis auf weiteres|fürs protokoll"
    r"|zum mitschreiben|berücksichtige\w*|(?:als |zur )?(?:info|hintergrund|merksatz"
    r"|gedächtnisstütze)"
    r"|sache|saches|à savoir|tiens compte|prends? (?:bien )?(?:en compte|note|acte)|pour (?:info"
    r"|information|mémoire|rappel|ta gouverne)|jusqu['’]à nouvel ordre|grave(?:-toi)? (?:\w+ )?"
    r"|ne perds"
    r" pas de vue|mets-toi (?:bien )?(?:ça|en tête)|(?:bon|important|utile) (?:à|de) (?:savoir"
    r"|noter)"
    r"|sepas|has de saber|debes saber|tienes que saber|toma(?:r|d)? nota|toma en cuenta|grábat\w+"
    r"|que (?:quede|conste)|(?:quede|queda) claro|para siempre|métet\w+|hasta nuevo aviso"
    r"|no pierdas"
    r" de vista|para (?:que lo sepas|tu información|tus notas)|a tener en cuenta|conviene (?:saber"
    r"|recordar)|dato (?:importante|nuevo|útil))\b"
)
# Said of paper too: these ask for a fact behind "that", or point at one.
PAPER = (
    r"\b(?:(?:keep|kept|put)(?= (?:it|this|that|these|them|the following)(?:[ ]?[:.,!]"
    r"|[ ]?$| for\b| please\b| somewhere\b| on\b| as a (?:note|rule|fact)))"
    r"|(?:store|stored|save|saved|note|noted|noting|record|log|jot|write)"
    r"(?= (?:it|this|that|these|down|the following|somewhere|for)\b|[ ]?:)"
    r"|(?:notier|speicher|vermerk|festhalt|aufschreib|abspeicher)\w*|schreib\w*(?= (?:dir|es|das))"
    r"|(?:halte?|nimm|leg)(?= (?:das|es|dies|folgendes|bitte|mal|fest)\b)"
    r"|(?:note[rsz]?|enregistr\w+|inscri\w+|consigne[rs]?)(?=[ -](?:le|la|ça|ceci|cela|que|qu|bien"
    r"|dans ta)\b|[ ]?:)"
    r"|(?:anot|apunt|apúnt|anót|guárd)\w+|(?:guard(?:a|ar|es|arlo)|registra)"
    r"(?= (?:esto|eso|que|lo)\b|[ ]?:))"
)
# On paper of somebody's: a file, a page, a program. Then it is work.
ELSEWHERE = (
    r"\b(?:in|into|to|as|on|of|auf|ins?|zu[mr]?|dans|en|au|al) (?:the |an? |die |der |das |dem "
    r"|den |eine[rnm]? |une? |le |la |el |una? |our |my )?(?:files?|readme|changelog|docs?"
    r"|documentation|issue|ticket|template|table|database|db|csv"
    r"|json|column|commit|wiki|comments?|disk|cookies?|session ?storage|cache|variable|field|as \w+"
    r"\.\w+|log|logs|datei|spalte|tabelle|datenbank|variable|fichier|tableau|colonne|base de"
    r" données|archivo|fichero|tabla|columna|base de datos|localstorage|doku|format|test|tests)\b"
)
# At the beginning of a sentence these explain.
EXPLAINS = r"(?:note|notez|anote|noten) (?:that|que)\b"
# Work at hand follows.
NOW = (
    r",[ ](?:so |and |then |also |donc |alors |así que |y |und )?(?:please |bitte )?(?:fix|explain"
    r"|show|check|look|debug|help|find|give|rewrite|repeat|explica\w*|corrige\w*|arregla\w*"
    r"|muéstra\w*|erklär\w*|zeig\w*|schau|explique\w*|montre\w*|regarde|redonne)\b"
    r"|\b(?:this|these|esta|este|estos|diese[nrsm]?|cette|ce|cet) (?:lists?|functions?|query|files?"
    r"|table|loop|class|method|pr|bug|error|stack|trace|lista|función|consulta|tabla|archivo|liste"
    r"|fonction|requête|fichier|funktion|abfrage|klasse|datei|fehler|methode)\b"
)
# Nobody is asked to keep anything: who remembers is another, or is asked what they remember.
NOBODY = (
    r"\b(?:i|we|he|she|they|people|users?|ich|wir|er|man|je|j['’]|on|il|elle|yo)[ ]?(?:['’]?ll|also"
    r"|still|always|never|just|can|can['’]?t|cannot|could|couldn['’]?t|don['’]?t|do not|didn['’]?t"
    r"|won['’]?t|must|should|have to|need to|will|kann|konnte|muss|werde|ne|n['’]|me|m['’]|no|"
    r"keep|kept|seem to|immer|nie|mich|mir|toujours|(?:peux|arrive) pas)?[ ]?(?:to )?"
    r"(?:remember\w*|recall|forget\w*|forgot|memori[sz]e\w*|vergess\w*|vergaß|erinner\w*|merke"
    r"|behalte|oublie\w*|souviens|retiens|rappelle|olvid\w+|recuerdo|acuerdo|recordamos)"
    r"|^\W*(?:the|an?|our|my|die|der|das|la|le|l['’]|el|une?|una?|notre|nuestr[oa]|unser\w*)[ ]?\w+"
    r"(?: \w+)?[ ](?:should|must|shall|can|has to|needs to|will|soll\w*|muss|kann|doit|devrait"
    r"|peut|debe|debería|puede|tiene que)\b"
    r"|\b(?:i|we|it|they) (?:save|store|note|record|log|write|keep) (?:this|it|that|them)\b"
    r"|\brecuerdas\b(?=[^.!?:]*\?)|\bi do remember|\bremember (?:when|how|why|who|where|which"
    r"|whether|if)\b"
    r"|^\W*(?:remembering|memorizing|retaining)\b|\b\d+ ?[kmgt]i?b\b"
    r"|\bif i (?:remember|recall)|\bas far as i|\bno (?:me )?(?:recuerdo|acuerdo)|\bse me olvid"
    r"|\bdo(?:es)? (?!n['’]t)\w+ (?:\w+ )?(?:remember|store|keep|save|retain)"
    r"|\bdo you (?:still )?(?:remember|have|keep|store|recall)|\bdid you (?:\w+ )?(?:remember|save"
    r"|store|note)|\b(?:what|how|where|why|when|which|who)\b[^.!?:]{0,60}\b(?:remember|store|save"
    r"|keep|retain|memori[sz]e|memory)[^.!?:]{0,80}\?"
    r"|\bto remember (?:me|values|the (?:last|user))|\bremember[- ]me\b|\b(?:it|that|which"
    r"|app|browser|server|form|page|component) (?:should |must |can |will )?(?:remember|retain)s?\b"
    r"|\bremind me\b|\b(?:hast|weißt|erinnerst) du\b|\bmerkst du\b|\bmerkt sich\b|\bbehält\b"
    r"|\b(?:tu te|te|tu) souviens\b|\bse (?:souvien|rappel)\w+|\brappelle[- ]moi\b|\bte acuerdas\b"
    r"|\b(?:qué|cómo|dónde|cuándo) (?:\w+ ){0,3}(?:record|recuerd|guard|memori)\w+"
    r"|\brecuérdame\b|\bre(?:tain|tention) (?:cycle|policy|count)|\b(?:comment|pourquoi|quand"
    r"|wie|warum|wieso|wann)\b[^.!?:]{0,60}\b(?:souvien\w*|retenir|garder|mémoris\w*|merk\w+"
    r"|speicher\w*|behalt\w+)|\b(?:memory|speicher|mémoire|memoria) (?:leak|usage|error|limit"
    r"|cache)"
)
# A clause asks not to keep.
UNWANTED = (
    r"\b(?:(?:don['’]?t|do not|no need to|never|not|needn['’]?t|without) (?:have to |need to |to )?"
    r"(?:store|save|note|remember|keep|record|memori[sz]\w+|retain\w*|write)"
    r"|nicht (?:zu )?(?:merken"
    r"|behalten|speichern|notieren)|(?:merke?|behalte?|speichere?|notiere?) (?:dir )?(?:das |es "
    r"|nichts )?nicht|nichts (?:merken|behalten|speichern)|(?:pas|ne) (?:la peine )?(?:de |le )?"
    r"(?:retenir|retiens|retenez|note|noter|mémoris\w+|souvenir)|no (?:lo |la |hace falta que )?"
    r"(?:guard\w+|anot\w+|apunt\w+|memori\w+|recuerd\w+))\b"
)
# Between the verb and its fact.
JOIN = (
    r"[^:,.!?\n]{0,70}?(?:[ ]?:[ \t]+|,?[ ](?:that|dass|das[sß]|que|de que)[ ]|,?[ ]qu['’]"
    r"|[ ](?:for me|me) that[ ])"
)
JOIN_AT_ONCE = r",?[ ](?:that|dass|das[sß]|que|de que)[ ](?=\S+[ ]\S)|,?[ ]qu['’]|[ ]?:[ ]"
KNOWN = r"[^:,.!?\n]{0,40}?(?:[ ]?:[ \t]+|,?[ ](?:that|dass|das[sß]|que)[ ]|,?[ ]qu['’]|,[ ])"
COLON = r"[^:.!?\n]{0,120}?[ ]?:[ ]+"
# Words that add nothing to a pointer.
_EMPTY = (
    "a an about again all also always and any be better best but can could for from future good "
    "great nice would like love appreciate good i i'd id if in into is it its just keep me mind "
    "my need next now of ok okay on one ones other please pls plz right same should so somewhere "
    "sure that that's the them then these this those thanks thx time times to too two up want we "
    "well will with yes you you'd you'll your yourself down chats chat session sessions "
    "conversations conversation everywhere throughout have make put save store note write record "
    "when fix do doing hold ask later ever "
    "alle allem allen als auch bitte das dass dann daran dass davon dem den der des dich die dies "
    "diese dieses dir doch du dürftest ein eine einfach es gern gerne gut hier ich immer in ja "
    "jetzt kannst könntest künftig mal mir module modulen nur noch ruhig sache sachen schon sein "
    "so solltest sollst sowas stets und unbedingt uns uns wäre willst wir wird würde würdest "
    "zukunft zu fest auf ab halte dich überall danke merken schön später nächstes nächste "
    "aussi bien bon cela ceci ce ces ça c'est de d'accord dois devrais en est et faudrait il j "
    "je le la les l'avenir m merci moi mais me note on ok oui par partout peux peux-tu plaît "
    "pour pourrais pourrais-tu prochaine prochaines fois que s'il s stp suite svp sur t t'en te "
    "toi tout tu veux voudrais y appliquer d'appliquer appliquer serait "
    "a acuérdate bien con de el en eso esto está estaría favor gracias gustaría la lo los las "
    "me mi mucho no o para pls por porfa puedes podrías próxima próximas que quiero se si siempre "
    "solo también te todo tu tú un una vale veces y ya"
)
EMPTY = frozenset(_EMPTY.split())
# What stands before the first word of keeping and asks for it, or only opens the sentence.
