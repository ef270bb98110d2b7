"""The bibliography in the order of the alphabet, where ä stands with a."""

import unicodedata

from pybtex.database import Person
from pybtex.richtext import Text
from pybtex.style.formatting.alpha import Style as Alpha
from pybtex.style.labels.alpha import LabelStyle
from pybtex.style.sorting.author_year_title import SortingStyle


def unaccented(latex):
    letters = unicodedata.normalize("NFD", str(Text.from_latex(latex)))
    return "".join(x for x in letters if not unicodedata.combining(x))


class Order(SortingStyle):
    def person_key(self, person):
        return unaccented(super().person_key(person))


class Labels(LabelStyle):
    """[Sär13] is [Sar13], and not [Sarkka13]."""

    def format_lab_names(self, persons):
        plain = [unaccented(str(who)).replace("'", "") for who in persons]
        return super().format_lab_names([*map(Person, plain)])


class Style(Alpha):
    default_sorting_style = Order
    default_label_style = Labels
