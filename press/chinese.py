"""The Chinese edition: ``make zh`` runs this module.

The same pages with their sentences from the catalogues (translation.py), in
_build/html/zh; then every page has a link to its twin, and the archive has
both editions.  What has no translation is listed, and stops nobody.
"""

import logging
import sys
from typing import Any

import jieba
import yaml
from jupyter_book.config import get_final_config
from sphinx.application import Sphinx
from sphinx.search import languages
from sphinx.search.zh import SearchChinese
from sphinx.util.docutils import docutils_namespace, patch_docutils

from press import take_away, twins
from press.reader import ROOT
from press.translation import TRANSLATED, glossary_terms, not_yet, say

TOC = ROOT / "_build" / "toc.zh.yml"
# A query is cut into the longest words that the pages have been cut into.
CUT = """function splitQuery(query) {
  const { terms, titleterms } = Search._index;
  const isKnown = (word) => word in terms || word in titleterms;
  const cut = (run) => {
    const words = [];
    for (let at = 0, to; at < run.length; at = to) {
      for (to = run.length; to > at + 1; to--)
        if (isKnown(run.slice(at, to))) break;
      if (to > at + 1) words.push(run.slice(at, to));
    }
    return words.length ? words : [run];
  };
  return query.split(/[^\\p{L}\\p{N}_]+|(\\p{Script=Han}+)/u).filter(Boolean)
    .flatMap((part) => /\\p{Script=Han}/u.test(part) ? cut(part) : part);
}"""


def configuration():
    """That of the English pages, and what is said otherwise."""
    config, _ = get_final_config(
        user_yaml=ROOT / "_config.yml",
        cli_config={"latex_individualpages": False},
        sourcedir=ROOT,
    )
    book = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    for part in book["parts"]:
        part["caption"] = say(part["caption"])
    TOC.write_text(
        yaml.safe_dump(book, allow_unicode=True, sort_keys=False), "utf-8"
    )
    return config | {
        "language": "zh_CN",
        "external_toc_path": str(TOC),
        "html_title": say("Kernelbook: every equation runs"),
        "nb_code_prompt_show": say("Show the code"),
        "nb_code_prompt_hide": say("Hide the code"),
        "nitpicky": True,
    }


class Words(set):
    """For Sphinx, who looks through a list of all words for each of them."""

    extend = set.update


class Search(SearchChinese):
    js_splitter_code = CUT
    latin_terms: Any = Words()

    def stem(self, word):
        if word not in self.stems:
            self.stems[word] = super().stem(word)
        return self.stems[word]

    def init(self, options):
        super().init(options)
        self.stems: dict[str, str] = {}
        for names in glossary_terms().values():
            for name in names:
                jieba.add_word(name)


def build():
    languages["zh"] = Search
    with patch_docutils(str(ROOT)), docutils_namespace():
        app = Sphinx(
            ROOT,
            None,
            twins.CHINESE,
            ROOT / "_build" / ".doctrees-zh",
            "html",
            configuration(),
            status=None,
            freshenv=not twins.CHINESE.exists(),
            warningiserror=True,
            keep_going=True,
        )
        app.build()
    return app.statuscode


if __name__ == "__main__":
    if not TRANSLATED:
        sys.exit("set KERNELBOOK_LANGUAGE=zh_CN, as make zh does")
    logging.getLogger("jieba").setLevel(logging.WARNING)
    if failed := build():
        sys.exit(failed)
    twins.link_all()
    take_away.pack_book(twins.ENGLISH)
    for message in (left := not_yet())[:20]:
        print(f"still English: {message:.80}")
    print(
        f"The Chinese edition is at {twins.CHINESE / 'chapters/index.html'}"
        + (f"; {len(left)} messages of it are English" if left else "")
    )
