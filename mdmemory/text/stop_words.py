"""Words that say nothing by themselves, one list for each language.

A list has up to three parts, each for a wider use: GRAMMAR joins other words, STOP tells no text
apart, and a sentence may have the words of VAGUE or lack them and still say the same.
"""

from __future__ import annotations

# English
_GRAMMAR_EN = (
    "a an and are as at be been by do does did for from had has have he her his i in is it its my "
    "of on or our she so that the their them they this to was we were will with you your"
)
_STOP_EN = (
    "about after again all also am any because being but can could doing done get go got having "
    "here him how if into itself just me mine more most no not once one only out over please shall "
    "should some such than then there these those through too under until up us use used using "
    "user very what when where which while who whom whose why would yours s t d ll m re ve don "
    "doesn didn isn aren wasn won wouldn shouldn couldn"
)
_VAGUE_EN = (
    "against always around before both came come comes currently each etc even every first gets "
    "goes gone like likewise made make makes may much must now ought people per person put puts "
    "same set sets still team users usually via went well written yes kept"
)
# German
_GRAMMAR_DE = (
    "der die das den dem des ein eine einen einem und zu mit im am auf aus bei für von zum zur ist "
    "sind wird werden"
)
_STOP_DE = (
    "aber als auch bis da dann dass denn dies diese diesem diesen dieser dieses doch du durch "
    "einer eines er es etwas euch gegen habe haben ich ihm ihn ihnen ihr immer ins ja jede jeden "
    "jeder jedes jetzt mich mir nach noch nur ob oder ohne schon sein seine sich sie soll sollen "
    "sollte über um uns unser unsere unter vom vor waren weil welche welchem welchen welcher "
    "welches wenn werde wie wir wo wurde zu"
)
_VAGUE_DE = (
    "alle allem allen aller alles an beim benutzer bitte dabei dafür damit danach daran darauf "
    "darf darin darüber davon dazu dir dort dürfen erst gehen geht gemacht genutzt geschrieben "
    "gesetzt hat hier kann kommen kommt können machen macht man muss müssen nachdem bevor nichts "
    "nutzer person so stets verwendet war was zuerst"
)
# French and Spanish
_GRAMMAR_FR = "le la les un une de du des"
_GRAMMAR_ES = "el los las y"
# Chinese and Japanese have no space to find such words by: a pattern that cuts a run at them.
STOP_CJK = (
    "我们|你们|他们|什么时候|多长时间|什么|怎么样|怎么|怎样|如何|为什么|哪个|哪些|哪里|哪儿|哪家|多少|多久|"
    "能不能|请问|可以|应该|需要|有没有|是不是|用户|谁|几|个|吗|呢|吧|啊|的|了|是|在|和|与|或|我|你|他|她|它|"
    "要|会|有|用|把|被|"
    "ですか|ますか|でした|ました|です|ます|する|して|した|どの|どう|どこ|なに|何|いつ|だれ|誰|なぜ|"
    "は|が|を|に|で|と|の|も|へ|か"
)

ENGLISH = frozenset(_GRAMMAR_EN.split())
GRAMMAR = ENGLISH.union(_GRAMMAR_DE.split(), _GRAMMAR_FR.split(), _GRAMMAR_ES.split())
_SMALL_EN = (
    "also always just now still usually currently please per each every any all can could should "
    "must may would"
)
SMALL = ENGLISH.union(_SMALL_EN.split())
STOP = ENGLISH.union(_STOP_EN.split(), _GRAMMAR_DE.split(), _STOP_DE.split())
VAGUE = (STOP - {"use", "using"}).union(_VAGUE_EN.split(), _VAGUE_DE.split())
# Words of asking and doing: an answer mostly lacks them, so their absence says little.
_LIGHT = (
    "actually always another answer before best better big call called choose chosen come day "
    "decide decided decision different ever exactly explain fact find give good happen happened "
    "help keep kind know last let like long look made main make many mean much need never new now "
    "number off often okay old pick picked prefer preferred put question recommend remember right "
    "run say said see set show start stop still sure take talk tell thing things think time told "
    "try usually want way week work year"
)
LIGHT = frozenset(_LIGHT.split())
