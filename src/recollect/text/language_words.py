"""Common words of languages that are written in Latin letters, by which to tell English from the others."""

from __future__ import annotations

ENGLISH = "en"

# What holds sentences together, and what people say of themselves; folded, so without accents. A word that
# English shares with another language stands in both lists and tells nothing, so what is frequent in one and
# rare in the other stands in one list alone.
COMMON_WORDS = {
    ENGLISH: """
    the of and to is in that it for was on with as are be this by at from or have has had not but they his
    her an you he she we my your our their me us him them its what when where who how which why do does did
    will would can could should there been were if so no yes all some any more than then also about after
    before since until into over out up down just only very now new like likes liked live lives lived work
    works worked want wants need needs prefer prefers name named don doesn isn went go goes going get gets
    got make made take took use uses used said says tell told know knows think see every each other between
    while because during please thanks thank hi hello off two three first last next day week year morning
    evening today tomorrow yesterday always never often here come these those too own much many most such
    through again both under
    """,
    "es": """
    el la los las de del que en un una unos unas por para con su sus se lo le les como mas pero es son fue
    era esta este esto estan estas ser estar ha han he hay me mi mis te tu tus nos nuestro nuestra si no ya
    muy al cuando donde quien cual cuales cuanto cuanta cuantos cuantas porque hasta desde entre sobre sin
    tambien antes despues hoy ayer manana ahora aqui alli siempre nunca todo todos toda todas otro otra dia
    dias ano anos vez cada hola gracias soy estoy tengo tiene tienen quiero quiere prefiero prefiere vivo
    vive trabajo trabaja gusta gustan llamo llama puede puedo hacer hace dijo dice yo ella ellos usted
    hermano hermana madre padre hijo hija casa lunes martes miercoles jueves viernes sabado domingo
    """,
    "pt": """
    os as de do da dos das que em um uma por para com seu sua seus suas se no na nos nas ao aos mais mas
    como ou nao sim foi era ser esta sao tem tenho ha eu voce ele ela meu minha meus minhas me lhe quando
    onde quem qual quanto porque ate desde entre sobre sem tambem antes depois hoje ontem amanha agora aqui
    sempre nunca todo todos toda muito ja ainda dia dias ano anos ola obrigado obrigada sou estou gosto
    gosta moro mora trabalho trabalha quero quer prefiro chamo pode isso isto pelo pela num numa
    """,
    "it": """
    il lo la gli le di del della dei delle che un una uno per con su suo sua si in nel nella al alla da dal
    dalla sono era non piu ma come se ha ho hanno io tu lui lei noi mio mia miei mie mi ti ci quando dove
    chi quale quanto perche anche prima dopo oggi ieri domani adesso qui sempre mai tutto tutti ogni molto
    gia ancora giorno anno ciao grazie abito vivo vive lavoro lavora piace voglio vuole preferisco
    preferisce chiamo chiama puo fare questo questa cosa sul sulla ai degli
    """,
    "fr": """
    le la les un une des du de et est en que qui dans pour par sur avec pas ne au aux ce cet cette ces son
    sa ses se plus mais ou comme il elle ils elles on nous vous je tu mon ma mes ton ta tes leur leurs ont
    ai as sont etait ete etre avoir fait quand comment quel quelle quels quelles pourquoi parce avant apres
    depuis entre sans aussi aujourd hui hier demain maintenant ici toujours jamais tout tous toute toutes
    autre tres jour jours an ans bonjour merci suis chez habite travaille aime prefere veux veut appelle
    deux
    """,
    "de": """
    der die das den dem des ein eine einen einem einer eines und ist sind war waren nicht mit von zu zum zur
    auf fur im in an am bei aus nach uber unter vor seit bis um als wie wenn dass ob oder aber auch noch nur
    schon sehr so ich du er sie es wir ihr mich dich sich uns mein meine meinen meiner dein sein seine ihre
    unser hat habe haben hatte wird werden wurde kann muss soll will was wer wo wann warum welche welcher
    welches kein keine heute gestern morgen jetzt hier immer nie alle jeder jede man jahr tag hallo danke
    bin mag wohne wohnt arbeite arbeitet heisse heisst gerne gern mochte ja nein ins vom beim gegen ohne
    durch
    """,
    "nl": """
    de het een en van dat die niet zijn met op te voor aan er om hij zij ze ik je jij wij mijn jouw haar hun
    ons naar bij uit ook maar als dan nog wel geen heeft heb hebben wordt worden kan moet wil wat wie waar
    wanneer waarom hoe dit deze door tot al veel meer vandaag gisteren morgen nu hier altijd nooit alle jaar
    dag hallo dank ben woon woont werkt graag niets
    """,
    # With Danish and Norwegian.
    "sv": """
    och att det som en ett ar av pa med till den har inte om jag du han hon vi de min mitt mina din sin sitt
    sig var fran men eller nar vad vem hur varfor vill kan ska skall blir blev hade idag igar imorgon nu
    alltid aldrig alla mycket ocksa efter innan hej tack bor jobbar heter og ikke er jeg deg meg til fra hva
    hvem hvor ved
    """,
    "ca": """
    el la els les de del dels que un una per amb se ho no es son ha han em et ens meu meva nostre pero com
    mes molt quan on qui avui dema ahir ara aqui sempre mai tot tots dia any hola gracies soc estic tinc
    vull visc treballo agrada aquest aquesta fins des sense tambe
    """,
    "pl": """
    na nie jest sie ze jak po co dla od przez za ale czy tak ja ty ona moj moja moje jego jej ich byl byla
    bylo sa ma mam kiedy gdzie kto dlaczego dzis wczoraj jutro teraz zawsze nigdy lubie mieszkam pracuje
    """,
    "tr": """
    ve bir bu da icin ile cok daha gibi yok ben biz benim senin onun ama sonra simdi bugun dun yarin hep
    evet hayir degil kim nerede neden nasil olan olarak
    """,
}
