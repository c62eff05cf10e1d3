"""What drops a sentence outright: questions, requests, the phrases of assistants, and words that say nothing.

As with the signs, patterns read a sentence without case and accents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.text.statements.signs import any_of

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping

DROPS: Mapping[str, re.Pattern[str]] = {
    "question": any_of(
        r"[?？]\W*$",
        r"^(?:do|does|did|is|are|was|were|can|could|would|will|shall|should|have|has|am|don't|didn't|isn't"
        r"|aren't) (?:you|i|we|they|he|she|it|there|the|this|that|my|your|any\w*)\b",
        r"^(?:what|who|where|when|why|how|which|whose|what's|who's|where's|how's|when's)(?:'s|'re|'d| is"
        r"| are| was| were| do| does| did| can| could| should| would| will| has| many| much| long| about"
        r"| come| kind| time (?:is|does))\b",
        r"^(?:any (?:idea|tips|thoughts|plans|advice)|anything|guess what|tell me|wonder|i wonder"
        r"|i was wondering)\b",
        r"^(?:cual|cuales|quien|quienes|donde|cuant[oa]s?|por que|que tal|que (?:es|son|hora|significa"
        r"|opinas|piensas)|como (?:se|te|esta|estas|puedo|funciona|hago|va))\b",
        r"^¿",
    ),
    "request": any_of(
        r"^(?:please|pls|plz|kindly|por favor)\b",
        r"^(?:hey |ok |okay |so |now |then |just |can we |first )*(?:can|could|would|will) (?:you|u)\b",
        r"^(?:now |then |just |also |first |next |finally )*(?:write|rewrite|reword|rephrase|make|give|show"
        r"|tell|explain|help|fix|add|create|generate|summari[sz]e|translate|list|find|describe|compare"
        r"|convert|draft|edit|improve|shorten|expand|continue|try|check|review|proofread|suggest|recommend"
        r"|provide|use|include|remove|delete|change|update|implement|refactor|debug|analy[sz]e|calculate"
        r"|compute|draw|design|answer|respond|reply|act as|pretend|imagine|consider|assume|look at|look up"
        r"|search|run|do|don't|stop|open|read|send|set|put|let me|come up|ask|turn|think|pick|choose|be|go"
        r"|stay|believe|trust|take|keep|check out|hang in|enjoy|wait|format|return|output)\b(?!')",
        r"\bi(?:'d| would)? (?:need|want|like|love|would like) (?:you|u|it|this|that) to\b|\bi need "
        r"(?:some |your )*help\b",
        r"\bi have (?:an?|another|one|some|two) (?:quick |last |few )*(?:questions?|requests?)\b",
        r"^tengo una? (?:duda|pregunta)\b|^quiero una? (?:resumen|lista|tabla|texto|idea)\b",
        r"\bi(?:'d| would) (?:appreciate|be grateful)|\bi (?:want|need) (?:an?|some|the) (?:list|recipes?"
        r"|ideas?|advice|examples?|tips|summary|script|poem|table|function)\b",
        r"\blet me know\b|\bfeel free\b|\bget back to (?:you|me)\b|\bkeep me (?:posted|updated)\b",
        r"^(?:puedes|podrias|podes|puede|podria|me (?:puedes|podrias)|me gustaria que|necesito que"
        r"|quiero que|quisiera que)\b",
        r"^(?:ahora |luego |tambien )*(?:escrib|reescrib|resum|traduc|explic|corrig|gener|orden|clasific"
        r"|compar|analiz|calcul|revis|suger|recomiend|describ|enumer|complet|mejor|ayud|cuent|prepar)(?:e|a"
        r"|i|an|en)(?:me|nos|lo|la|los|las)*\b(?! (?:que|mi|mis|el|la)? ?(?:tengo|soy|es)\b)",
        r"^(?:dame|dime|hazme|haz|pon|ponme|busca|buscame|crea|usa|muestra|muestrame|ensename|di|deja"
        r"|dejame|mira|necesito ayuda)\b",
    ),
    "boilerplate": any_of(
        r"^as an? (?:ai|artificial|large language|language model|assistant)\b",
        r"^(?:sure|certainly|of course|absolutely)\W+(?:here|i can|i'd|i'll|let)\b",
        r"^here(?:'s| is| are) (?:a|an|the|your|some|my|how|what)\b|^below (?:is|are)\b|^based on (?:your"
        r"|the)\b",
        r"\bi(?:'m| am) (?:just |only )?an? (?:ai|large language model|language model|virtual assistant"
        r"|chatbot)\b",
        r"\bhope (?:this|that) helps\b|\bis there anything else\b|\bi can help (?:you )?with\b"
        r"|\bhappy to help\b",
        r"\bi (?:don't|do not|cannot|can't) have (?:personal|access to)\b",
        r"^como (?:modelo|una? ia|ia|asistente|inteligencia)\b|^aqui (?:tienes|esta|estan|te dejo|va)\b"
        r"|^claro\W+aqui\b",
        r"\b(?:avisame|hazmelo saber|dime si|espero que (?:te |esto )*(?:sirva|ayude))\b",
    ),
    "empty": any_of(
        r"^(?:i |we )?(?:really |totally |completely |do |just |honestly )*(?:think|guess|hope|believe"
        r"|suppose|bet|know|see|agree|understand|mean|wish|get it|hear you|hear that|swear|promise|feel "
        r"(?:you|that|the same))(?: so| not| you| it| that| too| completely| totally| right| what you mean"
        r"| how you feel| the feeling)*\W*$",
        r"^i (?:don't|do not|didn't) (?:know|think so|care|mind|understand|get it|remember|mean (?:it"
        r"|that))\b(?!.{25})",
        r"^(?:i(?:'m| am|m| was| feel| felt)|we(?:'re| are| were)|soy|estoy|estaba) (?:so |really |very "
        r"|just |a bit |a little |all |too |pretty |super |not |also |feeling |always |still |muy |bien "
        r"|un poco )*(?:fine|good|ok|okay|great|well|sorry|sure|here|back|in|done|ready|serious|kidding"
        r"|glad|happy|sad|excited|tired|bored|shocked|surprised|amazed|proud|grateful|thankful|blessed"
        r"|confused|lost|stuck|worried|nervous|jealous|joking|curious|impressed|touched|speechless|thrilled"
        r"|pumped|stoked|listo|lista|seguro|segura|feliz|triste|contento|contenta|cansad[oa]|emocionad[oa]"
        r"|de acuerdo|sorprendid[oa])(?: now| too| today| again| here| about (?:it|that|this)| for (?:you"
        r"|it)| to (?:hear|see) (?:that|it|this)| thanks| thank you| ahora| hoy)*\W*$",
        r"^i(?:'ll| will) (?:definitely |surely |totally )*(?:think|see|try|check|let|get back|be (?:there"
        r"|here|fine|ok|back|right)|keep (?:that|it|you|ya|at|\w+ing|in|on)|do (?:that|it|my best)"
        r"|reach out|add|give it|have a|look into|take a look|have to (?:check|try))\b(?!.{30})",
        r"^(?:i|we|yes i|yeah i) (?:really |sure |totally )?(?:will|do|did|have|am|was|can|would|could"
        r"|should|had)\W*$",
        r"^(?:if i were|if you|if only)\b",
        r"^(?:let's (?:see|go(?! with)|do (?:it|this|that)|talk|catch|keep|chat|hope|make|create|continue"
        r"|show|enjoy|stay|celebrate|support)|no se\W*$|depende|creo que (?:si|no)|eso (?:es|creo)"
        r"|it depends)\b",
        r"^(?:many |so many |thanks|thank you|appreciate|(?:muchas |mil )?gracias)\b|\byou(?:'re"
        r"| are) welcome\b",
        r"\bbeen a while since\b(?!.{40})",
        r"^remember (?:when|that time|how)\b",
        r"^(?:hi|hello|hey|hola|good (?:morning|evening|night|afternoon)|buen[oa]s (?:dias|tardes|noches)"
        r"|see you|talk (?:to you )?(?:soon|later)|bye|adios|hasta|nos vemos|take care|cheers)\b(?!.{40})",
        r"^(?:ok|okay|vale|yes|no|haha\w*|jaja\w*|lol)\W*$",
    ),
}
