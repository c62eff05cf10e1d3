"""Words so common in English and Spanish that they say nothing about what is sought."""

from __future__ import annotations

# Folded, as `words.fold` gives them: no accents, no case, no apostrophes (so the pieces `don` and `t`).
_ENGLISH = """
a about above after again against all am an and any are aren as at be because been before being below
between both but by can cannot could couldn d did didn do does doesn doing don down during each few for
from further had hadn has hasn have haven having he her here hers herself him himself his how i if in into
is isn it its itself just ll m me mightn more most mustn my myself needn no nor not now o of off on once
only or other our ours ourselves out over own re s same shan she should shouldn so some such t than that
the their theirs them themselves then there these they this those through to too under until up ve very
was wasn we were weren what when where which while who whom why will with won would wouldn y you your
yours yourself yourselves
"""
_SPANISH = """
al algo algunas algunos ante antes como con contra cual cuando de del desde donde durante e el ella ellas
ellos en entre era eran es esa esas ese eso esos esta estaba estado estan estar estas este esto estos fue
fueron ha habia han hasta hay la las le les lo los mas me mi mis mucho muy nada ni no nos nosotros nuestra
nuestras nuestro nuestros o os otra otras otro otros para pero poco por porque que quien quienes se sea ser
si sido sin sobre son su sus suya suyas suyo suyos tambien tanto te tiene tienen todo todos tu tus un una
unas uno unos vosotros y ya yo
"""

STOPWORDS = frozenset(_ENGLISH.split()) | frozenset(_SPANISH.split())
