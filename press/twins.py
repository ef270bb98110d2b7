"""English and Chinese pages lead to each other, keeping the place.

Ids are the same in both editions, so the place is the id of what is at the top
of the screen.  What a reader has chosen is remembered, and decides where the
book's address leads.
"""

import re

from press.reader import ROOT

ENGLISH = ROOT / "_build" / "html"
CHINESE = ENGLISH / "zh"
WORDS = {"zh-CN": "中文", "en": "English"}
SCRIPT = """<script>{
    const twin = document.currentScript.previousElementSibling;
    twin.addEventListener("click", () => {
      localStorage.language = twin.hreflang;
      const all = "main section[id], main div.math[id]";
      const places = [...document.querySelectorAll(all)];
      const isPast = (place) => place.getBoundingClientRect().top < 90;
      const here = places.findLast(isPast);
      if (here && here !== places[0]) twin.hash = here.id;
    });
  }</script>"""
TO_FRONT = """<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><title>Kernelbook</title>
<script>{
  const wanted = localStorage.language || navigator.language;
  const folder = wanted.startsWith("zh") ? "zh/" : "";
  location.replace(`${folder}chapters/index.html`);
}</script>
<p><a href="chapters/index.html">English</a> ·
<a href="zh/chapters/index.html" lang="zh-CN">中文</a>
"""
LOST = """<p lang="zh-CN">这个地址没有页面。可以<a
href="zh/search.html">搜索本书</a>，或者从<a
href="zh/chapters/index.html">首页</a>开始。</p>
</main>"""
PLACE = '<div class="article-header-buttons">'
ADDED = re.compile(
    r'<a class="twin".*?</script>|<link class="twin"[^>]*>\n', re.S
)


def with_twin(html, address, language):
    """The page with a link to the same one in another language."""
    html = ADDED.sub("", html)
    link = (
        f'<a class="twin" href="{address}" hreflang="{language}" '
        f'lang="{language}">{WORDS[language]}</a>{SCRIPT}'
    )
    head = (
        f'<link class="twin" rel="alternate" hreflang="{language}" '
        f'href="{address}">\n'
    )
    html = html.replace("<title>", f"{head}<title>", 1)
    return html.replace(PLACE, PLACE + link, 1)


def link_all():
    """Join what lies in _build/html and in _build/html/zh."""
    for page in CHINESE.rglob("*.html"):
        name = page.relative_to(CHINESE)
        twin, up = ENGLISH / name, "../" * len(name.parts[:-1])
        if twin.exists() and PLACE in twin.read_text("utf-8"):
            for path, address, language in [
                (page, f"{up}../{name.as_posix()}", "en"),
                (twin, f"{up}zh/{name.as_posix()}", "zh-CN"),
            ]:
                html = with_twin(path.read_text("utf-8"), address, language)
                path.write_text(html, "utf-8")
    (ENGLISH / "index.html").write_text(TO_FRONT, "utf-8")
    lost = (ENGLISH / "404.html").read_text("utf-8")
    if LOST not in lost:
        lost = lost.replace("</main>", LOST)
        (ENGLISH / "404.html").write_text(lost, "utf-8")
