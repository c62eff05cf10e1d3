"""The rules of time phrases in English and Spanish, layer by layer; `grammar` says how to read them."""

from __future__ import annotations

_NUMBERS = """
NUM           CARDINAL                                     -> CARDINAL
NUM           TENS -|y? ONES                               -> TENS + ONES
NUM           a? couple of?                                -> 2
NUM           un par de                                    -> 2
NUM           half a dozen                                 -> 6
NUM           a|one|una dozen|docena de?                   -> 12
FEW           a? few|several                               -> 1
FEW           unos|unas|varios|varias|algunos|algunas pocos|pocas|cuantos|cuantas? -> 1
FEW           pocos|pocas                                  -> 1
"""

# They look like times and are none: habits, titles, rooms.
_NOT_TIMES = """
NOTHING       every|each other|NUM? WEEKDAY|SHORTDAY|MONTH|SEASON|UNIT|PART -> 1
NOTHING       on? a|one|some|any WEEKDAY PART?             -> 1
NOTHING       WEEKDAY|SHORTDAY through|thru|-|to friday|fri -> 1 unless after_from
NOTHING       read|reading|novel|book|called|room|flight|bus|model|version|highway|route YEAR -> 1
NOTHING       los|cada|todos|un|algun|ningun los? WEEKDAY  -> 1
NOTHING       cada COUNT? UNIT|MONTH|SEASON                -> 1
NOTHING       de lunes a viernes|sabado|domingo|jueves     -> 1
NOTHING       rollito|rollitos|rollo|rollos de primavera   -> 1
NOTHING       leer|lei|leyendo|novela|libro|sala|habitacion|vuelo|modelo|version YEAR -> 1
"""

_FROM_TO = "from|between|entre|del|desde? the|el? DAYTH1 -|to|through|until|al|a|and|y the|el? DAYTH2"
_WRITTEN = f"""
DAY           ISO                                          -> iso_date(ISO)
MONTH_SPAN    YEARMONTH                                    -> year_month(YEARMONTH)
DATE_OF_YEAR  ANYMONTH .? the? MONTHDAY                    -> dates(None, ANYMONTH, MONTHDAY) unless no_date
DAY           ANYMONTH .? the? MONTHDAY ,? of|in? YEAR -> dates_in(YEAR, ANYMONTH, MONTHDAY) unless no_date
DATE_OF_YEAR  ANYDAY of|de|- ANYMONTH                      -> dates(None, ANYMONTH, ANYDAY) unless no_date
DATE_OF_YEAR  DAYTH ANYMONTH                               -> dates(None, ANYMONTH, DAYTH) unless no_date
DAY ANYDAY of|de|-? ANYMONTH .? ,|of|de|del|-? YEAR -> dates_in(YEAR, ANYMONTH, ANYDAY) unless no_date
DAY           SIDE ANYMONTH .? the? MONTHDAY               -> dates(SIDE, ANYMONTH, MONTHDAY)
DAY           SIDE DAYTH of|de? ANYMONTH                   -> dates(SIDE, ANYMONTH, DAYTH)
OF_YEAR       ANYMONTH .? DAYTH1 -|to|through DAYTH2 -> dates(None, ANYMONTH, DAYTH1, DAYTH2) unless no_date
SPAN ANYMONTH .? DAYTH1 -|to|through DAYTH2 ,? YEAR -> dates_in(YEAR, ANYMONTH, DAYTH1, DAYTH2) unless no_date
OF_YEAR       {_FROM_TO} of|de? ANYMONTH -> dates(None, ANYMONTH, DAYTH1, DAYTH2) unless no_date
SPAN {_FROM_TO} of|de? ANYMONTH ,|of|de|del? YEAR -> dates_in(YEAR, ANYMONTH, DAYTH1, DAYTH2) unless no_date
MONTH_SPAN    ANYMONTH .|,? of|de|del|in? YEAR             -> in_year(month(ANYMONTH), YEAR) unless no_date
MONTH_SPAN    MONTH de|del ano YEAR                        -> in_year(month(MONTH), YEAR)
SPAN          YEAR -? QUARTER                              -> in_year(month(3 * QUARTER - 2, None, 3), YEAR)
OF_YEAR       QUARTER                                 -> month(3 * QUARTER - 2, None, 3) unless no_quarter
YEAR_SPAN     YEAR                                         -> year(YEAR) unless no_year
YEAR_SPAN     the|el|del? year|ano YEAR                    -> year(YEAR)
SPAN          the|in DECADE                                -> decade(DECADE)
SPAN          THIRD -? DECADE                              -> third(decade(DECADE), THIRD)
SPAN          los? anos NUMBER                             -> decade_named(NUMBER)
SPAN          decada de|del los? ANY_NUMBER                -> decade_named(ANY_NUMBER)
SPAN          en los NUMBER                                -> decade_named(NUMBER)
DAY           DAYWORD                                      -> unit("day", DAYWORD)
SPAN          NIGHTWORD                                    -> part_of_day(unit("day", NIGHTWORD), NIGHT)
SPAN          recently|lately|recientemente|ultimamente    -> rated(rolling("day", 30), VAGUE)
"""

_ENGLISH = """
DAY           the? day before yesterday                    -> unit("day", -2)
DAY           the? day after tomorrow                      -> unit("day", 2)
SPAN          earlier today                                -> up_to_now("day", START)
SPAN          later today                                  -> up_to_now("day", STOP)
SPAN          last night|evening                           -> part_of_day(unit("day", -1), NIGHT)
SPAN          night before last                            -> part_of_day(unit("day", -2), NIGHT)
SPAN          this|esta|este PART                          -> part_of_day(unit("day", 0), PART)
SPAN          just now                                     -> rated(rolling("hour", 1), VAGUE)
BY_UNIT       SIDE SPAN_UNIT                               -> unit(SPAN_UNIT, SIDE) unless of_something
SPAN          SIDE CALENDAR                                -> unit(CALENDAR, SIDE) unless of_something
BY_UNIT       SPAN_UNIT before last                        -> unit(SPAN_UNIT, -2)
SPAN          SIDE weekend                                 -> unit("weekend", SIDE)
SPAN          this? past weekend                           -> unit("weekend", -1)
SPAN          weekend|finde                                -> the_weekend() unless any_weekend
SPAN          earlier this|in the? CALENDAR                -> up_to_now(CALENDAR, START)
SPAN          later this|in the? CALENDAR                  -> up_to_now(CALENDAR, STOP)
SPAN          past|last|previous COUNT UNIT                -> rolling(UNIT, COUNT) unless of_something
SPAN          this? past ROLLING                           -> rolling(ROLLING, 1) unless of_something
SPAN          in|within|over|throughout|during the last ROLLING -> rolling(ROLLING, 1) unless of_something
SPAN          last|past|previous FEW UNIT                  -> rated(rolling(UNIT, 5), VAGUE)
SPAN          next|coming|following COUNT UNIT             -> rolling(UNIT, -COUNT) unless of_something
SPAN          next|coming FEW UNIT                         -> rated(rolling(UNIT, -5), VAGUE)
BY_UNIT       COUNT UNIT ago|back|atras                    -> ago(UNIT, COUNT)
BY_UNIT       COUNT UNIT from now                          -> ago(UNIT, -COUNT)
BY_UNIT       in|en COUNT UNIT                             -> ago(UNIT, -COUNT) unless short_while
SPAN          FEW UNIT ago|back|atras                      -> rated(few_ago(UNIT, 1), VAGUE)
SPAN          in|en FEW UNIT                               -> rated(few_ago(UNIT, -1), VAGUE)
SPAN          half an hour ago                             -> ago("minute", 30)
SPAN          in half an hour                              -> ago("minute", -30)
SPAN          the other day                                -> rated(days_back(10, 2), VAGUE)
BARE_WEEKDAY  WEEKDAY                                      -> weekday(WEEKDAY) unless no_weekday
BARE_WEEKDAY  SHORTDAY                                     -> weekday(SHORTDAY) unless no_short_weekday
DAY           SIDE WEEKDAY                                 -> weekday(WEEKDAY, SIDE)
DAY           SIDE SHORTDAY                                -> weekday(SHORTDAY, SIDE) unless no_sided_weekday
DAY           this? past WEEKDAY                           -> weekday(WEEKDAY, -1)
DAY           this coming|next WEEKDAY                     -> weekday(WEEKDAY, 1)
OF_YEAR       MONTH                                        -> month(MONTH) unless no_month
OF_YEAR       SHORTMONTH                                   -> month(SHORTMONTH) unless no_short_month
MONTH_SPAN    SIDE MONTH                                   -> month(MONTH, SIDE) unless no_sided_month
MONTH_SPAN    this? past MONTH                             -> month(MONTH, -1)
OF_YEAR       SEASON                                       -> month(SEASON, None, 3) unless no_bare_season
SPAN          SIDE SEASON                                  -> month(SEASON, SIDE, 3) unless no_season
SPAN          this? past SEASON                            -> month(SEASON, -1, 3)
SPAN          SEASON of|de|del|,? YEAR                     -> in_year(month(SEASON, None, 3), YEAR)
"""

_SPANISH = """
DAY           manana                                       -> unit("day", 1) unless is_morning
DAY           antes de ayer                                -> unit("day", -2)
DAY           pasado manana                                -> unit("day", 2)
WEEK_SPAN     semana antepasada                            -> unit("week", -2)
MONTH_SPAN    mes antepasado                               -> unit("month", -2)
YEAR_SPAN     ano antepasado                               -> unit("year", -2)
SPAN          ultimo fin de semana                         -> unit("weekend", -1)
SPAN          fin de semana                                -> the_weekend() unless any_weekend
SPAN          ultimos|ultimas|pasados|pasadas COUNT UNIT   -> rolling(UNIT, COUNT)
SPAN          COUNT ultimos|ultimas UNIT                   -> rolling(UNIT, COUNT)
SPAN          ultimo|ultima ROLLING                        -> rolling(ROLLING, 1) unless of_something
SPAN          ultimos|ultimas FEW? UNIT                  -> rated(rolling(UNIT, 5), VAGUE) unless of_something
SPAN          proximos|proximas COUNT UNIT                 -> rolling(UNIT, -COUNT)
SPAN          COUNT proximos|proximas UNIT                 -> rolling(UNIT, -COUNT)
SPAN          proximos|proximas FEW? UNIT                  -> rated(rolling(UNIT, -5), VAGUE)
BY_UNIT       hace unos|unas|casi|como? COUNT UNIT         -> ago(UNIT, COUNT)
BY_UNIT       dentro de COUNT UNIT                         -> ago(UNIT, -COUNT)
SPAN          hace FEW UNIT                                -> rated(few_ago(UNIT, 1), VAGUE)
SPAN          dentro de FEW UNIT                           -> rated(few_ago(UNIT, -1), VAGUE)
SPAN          hace media hora                              -> ago("minute", 30)
SPAN          dentro de media hora                         -> ago("minute", -30)
SPAN          hace poco tiempo?                            -> rated(rolling("day", 30), VAGUE)
SPAN          el otro dia                                  -> rated(days_back(10, 2), VAGUE)
DAY           ultimo WEEKDAY                               -> weekday(WEEKDAY, -1)
MONTH_SPAN    pasado mes de MONTH                          -> month(MONTH, -1)
MONTH_SPAN    proximo mes de MONTH                         -> month(MONTH, 1)
SPAN          ultimo|ultima SEASON                         -> month(SEASON, -1, 3)
"""
# The last, this and the next, which Spanish says before or after the noun.
_SPANISH_NOUNS = (
    ("BY_UNIT", "UNIDAD", "unit(UNIDAD, {side})"),
    ("SPAN", "fin de semana", 'unit("weekend", {side})'),
    ("DAY", "WEEKDAY", "weekday(WEEKDAY, {side})"),
    ("MONTH_SPAN", "MONTH", "month(MONTH, {side})"),
    ("SPAN", "SEASON", "month(SEASON, {side}, 3)"),
)
_SPANISH_SIDES = (
    ("{noun} pasado|pasada|anterior", "-1"),
    ("pasado|pasada {noun}", "-1"),
    ("este|esta {noun}", "0"),
    ("{noun} que viene|entra", "1"),
    ("proximo|proxima {noun}", "1"),
    ("{noun} proximo|proxima|entrante|siguiente", "1"),
    ("este proximo {noun}", "1"),
)

_FEASTS = """
christmas|xmas time|holidays?   dates({side}, 12, 24, 26)
christmas|xmas day              dates({side}, 12, 25)
christmas|xmas eve              dates({side}, 12, 24)
boxing day                      dates({side}, 12, 26)
new year 's? eve                dates({side}, 12, 31)
new years '? eve                dates({side}, 12, 31)
new year 's? day                dates({side}, 1, 1)
new years day                   dates({side}, 1, 1)
valentine 's? day               dates({side}, 2, 14)
valentines day                  dates({side}, 2, 14)
halloween                       dates({side}, 10, 31)
thanksgiving day?               feast({side}, thanksgiving, 0)
black friday                    feast({side}, thanksgiving, 1)
easter sunday|day?              feast({side}, easter_sunday, 0)
easter monday                   feast({side}, easter_sunday, 1)
good friday                     feast({side}, easter_sunday, -2)
ash wednesday                   feast({side}, easter_sunday, -46)
palm sunday                     feast({side}, easter_sunday, -7)
holy week                       feast({side}, easter_sunday, -7, 8)
navidad|navidades               dates({side}, 12, 24, 26)
dia de navidad                  dates({side}, 12, 25)
nochebuena                      dates({side}, 12, 24)
nochevieja                      dates({side}, 12, 31)
fin de ano                      dates({side}, 12, 31)
ano nuevo                       dates({side}, 1, 1)
dia de ano nuevo                dates({side}, 1, 1)
dia de los? reyes               dates({side}, 1, 6)
reyes magos                     dates({side}, 1, 6)
san valentin                    dates({side}, 2, 14)
pascua                          feast({side}, easter_sunday, 0)
domingo de pascua|resurreccion  feast({side}, easter_sunday, 0)
semana santa                    feast({side}, easter_sunday, -7, 8)
viernes santo                   feast({side}, easter_sunday, -2)
jueves santo                    feast({side}, easter_sunday, -3)
domingo de ramos                feast({side}, easter_sunday, -7)
"""
_FEAST_SIDES = (
    ("OF_YEAR {feast} -> {make} unless no_feast", "None"),
    ("SPAN SIDE {feast} -> {make} unless no_feast", "SIDE"),
    ("SPAN {feast} pasado|pasada|pasadas -> {make}", "-1"),
    ("SPAN pasado|pasada|pasadas|ultima|ultimas {feast} -> {make}", "-1"),
    ("SPAN este|esta|estas {feast} -> {make}", "0"),
    ("SPAN proximo|proxima|proximas {feast} -> {make}", "1"),
    ("SPAN {feast} que viene -> {make}", "1"),
)

_PARTS_OF_WHOLES = """
DAY           BARE_WEEKDAY of|de|in|,|-? la? WEEK_SPAN     -> weekday_in(WEEK_SPAN, BARE_WEEKDAY)
DAY           WEEK_SPAN 's|on|,|el|- el? BARE_WEEKDAY      -> weekday_in(WEEK_SPAN, BARE_WEEKDAY)
DAY           WEEK_SPAN BARE_WEEKDAY                       -> weekday_in(WEEK_SPAN, BARE_WEEKDAY)
DAY           BARE_WEEKDAY ,? the|el? DAY                  -> DAY
DATE_OF_YEAR  BARE_WEEKDAY ,? the|el? DATE_OF_YEAR         -> DATE_OF_YEAR
DAY           DAYTH of|de|del el? MONTH_SPAN               -> day_in(MONTH_SPAN, DAYTH)
DAY           on the ORDINAL                        -> rated(day_of_month(ORDINAL), BARE) unless counts_things
DAY           BARE_WEEKDAY ,? the|el|dia? DAYTH       -> rated(day_of_month(DAYTH), BARE) unless counts_things
DAY           dia DAYNUM                             -> rated(day_of_month(DAYNUM), BARE) unless counts_things
MONTH_SPAN    YEARLY of|in|de|del|,? el? YEAR_SPAN         -> in_year(YEARLY, YEAR_SPAN)
MONTH_SPAN    YEARLY of|de|del|,? YEAR                     -> in_year(YEARLY, YEAR)
MONTH_SPAN    YEAR_SPAN 's|in|en|,|por|de? the|el|la? YEARLY -> in_year(YEARLY, YEAR_SPAN)
"""
_PARTS_OF_YEARS = """
SPAN          {part} of|de|del|in|,? YEAR                  -> in_year(month({first}, None, {months}), YEAR)
SPAN          {part} of|de|del|in|,? el? YEAR_SPAN -> in_year(month({first}, None, {months}), YEAR_SPAN)
SPAN          {part} of|de|del the|este? year|ano -> in_year(month({first}, None, {months}), unit("year", 0))
"""

_PARTS_OF_MONTHS = """
OF_YEAR       THIRD of|de|del|in|-? the|el? OF_YEAR        -> third(OF_YEAR, THIRD)
SPAN          THIRD of|de|del|in|-? the|el? LONG_SPAN     -> third(LONG_SPAN, THIRD)
SPAN          THIRD of|de|del|in|-? YEAR                   -> third(year(YEAR), THIRD)
SPAN          THIRD of|de|del the|el? CALENDAR             -> third(unit(CALENDAR, 0), THIRD)
WEEK_SPAN     week|semana of|de|del the|el? DATE_NAMED     -> week_of(DATE_NAMED)
SPAN        NTH week|semana of|in|de|del THIRDABLE -> days_in(THIRDABLE, 7 * NTH - 7, 7) if NTH <= 4 else None
SPAN          last|ultima week|semana of|in|de|del THIRDABLE -> days_in(THIRDABLE, -7, 7)
DAY           last|ultimo day|dia of|in|de|del THIRDABLE   -> days_in(THIRDABLE, -1, 1)
DAY           first|primer day|dia of|in|de|del THIRDABLE  -> days_in(THIRDABLE, 0, 1)
OF_YEAR       month|mes of|de OF_YEAR                      -> OF_YEAR
MONTH_SPAN    month|mes of|de MONTH_SPAN                   -> MONTH_SPAN
"""

_PARTS_OF_DAYS = """
SPAN          DATED ,? PART                                -> part_of_day(DATED, PART)
SPAN          DATED ,? in|at|por|de|en|a the|la|el? PART   -> part_of_day(DATED, PART)
SPAN          PART of|de|del the|el|ayer? DATED            -> part_of_day(DATED, PART)
SPAN          DATED ,? at|around|about|by|sobre|- CLOCK    -> at_clock(DATED, CLOCK)
SPAN          DATED ,? CLOCK                               -> at_clock(DATED, CLOCK)
SPAN          DATED ,? at|a NOON                           -> at_clock(DATED, NOON)
SPAN          at|around? CLOCK ,|on|of|de|del? the|el? DATED -> at_clock(DATED, CLOCK)
SPAN          NOON on|of|,? DATED                          -> at_clock(DATED, NOON)
SPAN          from|between? CLOCK1 to|-|and|until CLOCK2 ,|on? DATED -> clock_range(DATED, CLOCK1, CLOCK2)
SPAN          DATED ,? from|between? CLOCK1 to|-|and|until CLOCK2 -> clock_range(DATED, CLOCK1, CLOCK2)
SPAN          DATED ,? a|sobre las|la HOUR         -> at_clock(DATED, HOUR)
SPAN          DATED ,? a|sobre las|la HOUR de|por la PART -> at_clock(DATED, HOUR, PART)
SPAN          a las|la HOUR de|del|,? el? DATED    -> at_clock(DATED, HOUR)
SPAN          a las|la HOUR de la PART de|del|,? el? DATED -> at_clock(DATED, HOUR, PART)
"""

_RANGES = """
SPAN          since|desde THE|around|about|mid? BOUND      -> after(BOUND, START) unless no_bound
SPAN          ever since THE? BOUND                        -> after(BOUND, START) unless no_bound
SPAN          from|starting THE|in|on? BOUND on|onward|onwards|forward -> after(BOUND, START) unless no_bound
SPAN          a partir de|del THE? BOUND                   -> after(BOUND, START) unless no_bound
SPAN          desde THE? BOUND en adelante                 -> after(BOUND, START) unless no_bound
SPAN          until|till|til|by|hasta THE? BOUND           -> before(BOUND, STOP) unless no_bound
SPAN          up until|till THE? BOUND                     -> before(BOUND, STOP) unless no_bound
SPAN          up to YEAR_DATED                             -> before(YEAR_DATED, STOP) unless no_bound
SPAN          before|pre THE|-? BOUND                      -> before(BOUND, START) unless no_bound
SPAN          prior to THE? BOUND                          -> before(BOUND, START) unless no_bound
SPAN          antes de|del THE? BOUND                      -> before(BOUND, START) unless no_bound
SPAN          after|post|tras THE|-? BOUND                 -> after(BOUND, STOP) unless no_bound
SPAN          despues de|del THE? BOUND                    -> after(BOUND, STOP) unless no_bound
SPAN          between|entre THE? BOUND1 and|y|e THE? BOUND2 -> between(BOUND1, BOUND2) unless no_bound
SPAN from THE? BOUND1 to|until|till|til|through|thru|- THE? BOUND2 -> between(BOUND1, BOUND2) unless no_bound
SPAN          from THE? BOUND1 up to|until THE? BOUND2     -> between(BOUND1, BOUND2) unless no_bound
SPAN          desde|de|del THE? BOUND1 a|al|hasta THE? BOUND2 -> between(BOUND1, BOUND2) unless no_bound
SPAN DATED_BOUND1 -|..|to|through|a|hasta DATED_BOUND2 -> between(DATED_BOUND1, DATED_BOUND2) unless no_bound
SPAN          YEAR1 -|..|to|until|a|hasta YEAR2            -> between(YEAR1, YEAR2) unless no_year_range
"""


def _lines(table: str, **filled: str) -> list[str]:
    return table.format(**filled).strip().splitlines()


_SPANISH_NOUN_RULES = [
    f"{kind} {pattern.format(noun=noun)} -> {make.format(side=side)}"
    for kind, noun, make in _SPANISH_NOUNS
    for pattern, side in _SPANISH_SIDES
]
_FEAST_RULES = [
    rule.format(feast=feast, make=make.strip().format(side=side))
    for feast, _, make in (line.partition("  ") for line in _FEASTS.strip().splitlines())
    for rule, side in _FEAST_SIDES
]
LAYERS = (
    _lines(_NUMBERS),
    [
        *_lines(_NOT_TIMES),
        *_lines(_WRITTEN),
        *_lines(_ENGLISH),
        *_lines(_SPANISH),
        *_SPANISH_NOUN_RULES,
        *_FEAST_RULES,
        "OF_YEAR reyes -> dates(None, 1, 6) unless no_kings",
    ],
    [
        *_lines(_PARTS_OF_WHOLES),
        *_lines(_PARTS_OF_YEARS, part="QUARTER", first="3 * QUARTER - 2", months="3"),
        *_lines(_PARTS_OF_YEARS, part="QUARTERTH quarter|trimestre", first="3 * QUARTERTH - 2", months="3"),
        *_lines(_PARTS_OF_YEARS, part="HALFTH half|mitad|semestre", first="6 * HALFTH - 5", months="6"),
    ],
    _lines(_PARTS_OF_MONTHS),
    _lines(_PARTS_OF_DAYS),
    _lines(_RANGES),
)
