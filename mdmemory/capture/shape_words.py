"""The words by which the shape of a message tells what was pasted: who is spoken to, and of what.

Tables only: each is the text of a case-insensitive regular expression on the beginning of a
paragraph, in English, German, French and Spanish.
"""

from __future__ import annotations

# What is done with a text that stands beside it.
TASK = (
    r"\b(?:translat\w*|summari[sz]\w*|sum (?:it|this|that) up|proofread\w*|paraphras\w*|rephras\w*"
    r"|reword\w*|rewrit\w*|shorten\w*|condense|tighten|polish|simplify|typos?|grammar|tone|tl;?dr"
    r"|bullet points|spell\w*|explain|extract|classify|(?:convert|turn|make|format|put|change|fix"
    r"|correct|check|review|read|improve|parse|count|sort|cent(?:er|re)|clean) (?:both|this|that"
    r"|it|these|them|the (?:diff|text|following|list|wording|sentences?|paragraph|lines?|tips?|mail"
    r"|e-?mail|letter|above|below)|to|into|up)\b|(?:what|how) (?:does|do) (?:this|that|it|these"
    r"|they"
    r"|the \w+) (?:mean|say|sound|read|look)|(?:give|get|send) me an? [\w ]{0,30}(?:version"
    r"|translation|summary|draft)|(?:in|into|to)"
    r" (?:plain )?(?:english|german|french|spanish|italian|dutch|polish)|friendlier|politer"
    r"|more (?:formal|polite))"
    r"|\b(?:(?:über)?setz\w*|übersetz\w*|kürz\w*|fass\w* (?:\w+ ){0,3}zusammen|zusammenfass\w*"
    r"|korrigier\w*|umformulier\w*|formulier\w*|vereinfach\w*|erklär\w*|fehler|rechtschreibung"
    r"|tippfehler|stichpunkt\w*|mach\w* (?:mir |bitte |mal )*(?:daraus|da draus|das|es|eine)"
    r"|freundlicher|höflicher|gegenlesen|lies|(?:was|wie) (?:heißt|bedeutet|meint|klingt|will))\b"
    r"|\b(?:tradui\w*|résum\w*|corrig\w*|reformul\w*|raccourci\w*|relis\w*|expliqu\w*|fautes"
    r"|simplifi\w*|rends|mets (?:ça|ceci|cela|le|la|les)|transforme|améliore|plus (?:poli|pro"
    r"|formel|court)\w*|(?:que|qu['’]est-ce que) (?:veut dire|signifie|ça veut))\b"
    r"|\b(?:traduc\w*|tradú\w*|resum\w*|resúm\w*|corrig\w*|corrij\w*|reformul\w*|acort\w*|explic\w*"
    r"|pás(?:a|e)l[oa]|pasa (?:esto|eso)|pon (?:esto|eso)|conviert\w*|mejora\w*|hazlo|más (?:formal"
    r"|corto|amable|educado)|faltas|(?:qu[eé]) (?:significa|quiere decir)|c[oó]mo suena)\b"
)
# A question may be about the text, or lead to it.
QUESTION = r"[^\n]{0,240}[?？][ )]*$"
# A question about what stands beside it.
THIS = (
    r"\b(?:this|that|these|those|here|it|das|dies\w*|hier|damit|daran|darin|es|ça|ceci|cela|cette"
    r"|ce|cet|esto|est[ea]|eso|aquí|lo|entwurf|draft|brouillon|borrador|escrit[oa]|paragraph\w*"
    r"|abschnitt|absatz|párrafo)\b"
)
# Where a text was had from.
SOURCE = (
    r"\b(?:this|these|das hier|folgendes|ça|ceci|cela|esto|eso)[ ]*$"
    r"|\b(?:(?:sent|wrote|posted|mailed|forwarded|showed|left) (?:me |us )?(?:this|that|these)\b"
    r"|(?:got|found|received|saw|copied|pasted|read|spotted|stumbled on) (?:this|that|it|these)"
    r"\b|this (?:is|was|came|comes|landed|arrived|showed)\b|(?:hab|habe) (?:ich )?(?:das|dies\w*"
    r"|folgend\w*|gerade|hier)\b[^\n]{0,60}\b(?:gefunden|bekommen|gelesen|gesehen|erhalten)"
    r"|(?:das|dies\w*) (?:stand|kam|steht|hing|stammt)\b|(?:trouvé|reçu|lu|vu|copié) (?:ça|ceci"
    r"|cela|dans|sur)\b|(?:ça|ceci|cela) (?:vient|venait|était)\b|(?:esto|eso) (?:me )?(?:sali[oó]"
    r"|lleg\w+|ven[ií]a|viene|aparec\w+|pone|dice|estaba|encontr\w+)\b|encontré (?:esto|eso)\b"
    r"|me (?:lleg|sali|mand|envi)\w+ (?:esto|eso)|here(?:['’]s| is| are)? (?:the|my|an?) \w+"
    r"|\b(?:output|ausgabe"
    r"|log|sortie|salida)\b[^.\n]{0,60}$)"
)
# The last paragraph looks back at a text above it.
LOOKS_BACK = (
    r"\b(?:above|(?:that|this|the) (?:text|message|mail|notice|snippet|paragraph|stuff|thing)|(?:it"
    r"|that|this) (?:was|is|came|comes|stood|says|said) (?:in|from|on|hidden|part)\b|daraus|davon"
    r"|stand (?:so )?(?:in|auf|im)|steht (?:so )?(?:in|auf|im)|(?:das|dies) (?:steht|stand|kam"
    r"|stammt|hing)|oben|obige\w*|ci-dessus|(?:ça|ceci|cela) (?:vient|venait|était|est) (?:de|du"
    r"|dans|sur)|trouvé (?:ça |ceci )?(?:dans|sur)|eso (?:ven[ií]a|viene|estaba|me lleg\w+|sali[oó]"
    r"|pone)|de arriba|anterior)\b"
)
# Someone speaks of themselves or their own.
FIRST = (
    r"\b(?:i|i['’]?m|i['’]ve|i['’]d|im|me|my|mine|we|we['’]re|we['’]ve|us|our|ours|ich|mir|mich"
    r"|mein\w*|wir|uns|unser\w*|je|j['’]\w+|moi|mon|ma|mes|nous|notre|nos|on|qu['’]on|yo|mi|mis|me"
    r"|nosotros|nuestr\w+|aquí|hier|here|ici|soy|estoy|tengo|vivo|prefiero|uso|\w{2,12}[aei]mos)\b"
)
# A group is spoken to, or somebody formally.
TO_MANY = (
    r"\b(?:(?:merken|denken|beachten|notieren|vergessen|behalten|bedenken|geben|nehmen) Sie|merkt"
    r" euch|denkt (?:immer |bitte |auch )*(?:dran|daran)|vergesst|beachtet|retenez|souvenez|notez"
    r"|n['’]oubliez|pensez|veuillez|rappelez-vous|gardez|recuerden?|no olviden?|anoten?|tengan?"
    r"|apunten|(?:hi|hello|hey|dear) (?:all|team|everyone|folks|colleagues|tenants|\w+s)\b|hallo"
    r" (?:zusammen|team|alle|ihr)|liebe \w+|sehr geehrte\w*|bonjour(?: à tous|,)|chers?|chères?"
    r"|hola a todos|estimad[oa]s|querid[oa]s|all (?:members|employees|staff|residents|students"
    r"|guests|visitors))\b"
)
# Something of the user's own follows, whatever stood before.
ASIDE = (
    r"(?:also|and|but|btw|by the way|oh|ps|p\.s|one more|another|separately|unrelated|anyway"
    r"|besides|for us|for our|on our side|here we|that['’]s|ok|okay|so|hm+|no\b|nope|not|don['’]?t"
    r"|ignore|forget|die|das|davon|bei uns|für uns|übrigens|außerdem|und|aber|noch|nein|nee|au fait"
    r"|aussi|par ailleurs|sinon|et|mais|non|chez nous|pour nous|de notre côté|ça|c['’]est|por"
    r" cierto|además|también|y|pero|no|eso|solo|nosotros|aquí|en nuestro|lo que|what i|all i|please"
    r" just|just|only|nur|seulement|de mi parte|por nuestra parte)\b"
)
# The user goes on about their own, where no text is waited for.
GOES_ON = r"(?:our|we|i|ours|my|wir|ich|mein\w*|unser\w*|nous|notre|je|on|nuestr\w+|mi|yo)\b"
# Only pages and machines begin a line so.
LABELLED = (
    r"[ \t]*(?!(?:REMEMBER|IMPORTANT|RULE|MERKE|WICHTIG|REGEL|REGLA|RECUERDA|RETIENS)\b)"
    r"(?:[A-ZÄÖÜÉÈÁÍÓÚÑ]{3,}(?: [A-ZÄÖÜÉ]+){0,6}[ ]?:|[A-ZÄÖÜÉ]{3,}(?: [A-ZÄÖÜÉ]+){2,})"
)
