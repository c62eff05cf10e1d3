"""Labels of things, not of people: `Note: …`, `Pros: …`. They may well alternate, and still nobody speaks."""

from __future__ import annotations

_WORDS = """
a action actions address advantages after afternoon age agenda aim amount answer answers aside
assignee attendees attention author background before benefits bonus breakfast bug category cause
caution caveat challenge city claim color colour comment comments conclusion cons context cost
country created critical danger date day deadline decision decisions definition deliverable demo
description details difficulty dinner disclaimer dose duration email error evening example examples
expected explanation fact fix focus from genre goal hint how impact important info ingredients input
instructions issue item key keywords language link links location lunch material materials method
mitigation mood morning motivation name new next night note notes number objective old option output
owner parent participants phone place plan price priority pro problem progress pros purpose q
quantity question questions quote rating reason reference references remember reminder requirements
result results risk role rule scope see serves size solution source sources start state status step
steps subject subtitle summary symptom tag tags task temperature text theme time tip tips title to
today todo tomorrow topic topics total type update updated url usage value version warning weather
week weight what when where who why year yesterday yield
monday tuesday wednesday thursday friday saturday sunday
aviso ejemplo fecha hora ingredientes nota precio pregunta respuesta resumen tarea tema título
"""

THINGS = frozenset(_WORDS.split())
