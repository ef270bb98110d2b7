"""The Chinese edition: ``make zh`` runs this module.

The same pages with their sentences from the catalogues (translation.py), in
_build/html/zh; then every page has a link to its twin.
"""

import logging
import sys

import yaml
from jupyter_book.config import get_final_config
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

from press import twins
from press.reader import ROOT
from press.translation import TRANSLATED, say

TOC = ROOT / "_build" / "toc.zh.yml"


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


def build():
    with patch_docutils(str(ROOT)), docutils_namespace():
        app = Sphinx(
            ROOT,
            None,
            twins.CHINESE,
            ROOT / "_build" / ".doctrees-zh",
            "html",
            configuration(),
            status=None,
            warningiserror=True,
            keep_going=True,
        )
        app.build()
    return app.statuscode


if __name__ == "__main__":
    if not TRANSLATED:
        sys.exit("set KERNELBOOK_LANGUAGE=zh_CN, as make zh does")
    logging.getLogger("jieba").setLevel(logging.WARNING)
    failed = build()
    twins.link_all()
    sys.exit(failed)
