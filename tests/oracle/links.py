#!/usr/bin/env python3
"""The links of pages as lxml sees them, one line for each page and address: links.py, pages on stdin

A page is a line of JSON: {"path": "/a.html", "html_b64": "...", "charset": "utf-8" or null}. For each comes a line
{"from", "to", "element", "rel", "text"} for every address that it leads to on the same site, in the order of the page.

It shares nothing with the crawler: libxml2 makes the tree, and addresses are joined as walk.py joins them. Of several
links to one address the first counts, with the text of the first that has one.
"""

import base64
import json
import pathlib
import sys

import lxml.html

SOURCE = (pathlib.Path(__file__).parent / "walk.py").read_text().rpartition("main()")[0]
WALK = {"__name__": "walk"}
exec(SOURCE, WALK)

HIDDEN = {"script", "style", "template"}
DIVIDES = set("p br hr div li ul ol dt dd td th tr h1 h2 h3 h4 h5 h6".split())
LONGEST_TEXT, LONGEST_REL = 200, 100


def short(text, longest):
    """With one space for white space, cut between two characters."""
    words = " ".join(text.split())
    return words.encode("utf-8", "replace")[:longest].decode("utf-8", "ignore").strip()


def pieces(element):
    yield element.text or ""
    for child in element:
        tag = child.tag if isinstance(child.tag, str) else None
        if tag in DIVIDES:
            yield " "
        if tag is not None and tag not in HIDDEN:
            yield from pieces(child)
        if tag in DIVIDES:
            yield " "
        yield child.tail or ""


def text_of(link):
    if link.tag == "area":
        return short(link.get("alt") or "", LONGEST_TEXT)
    if link.tag != "a":
        return ""
    text = short("".join(pieces(link)), LONGEST_TEXT)
    return text or short(" ".join(image.get("alt") or "" for image in link.iter("img", "input")), LONGEST_TEXT)


def links(page):
    html = base64.b64decode(page["html_b64"])
    if not html.strip():
        return {}
    tree = lxml.html.document_fromstring(html, parser=lxml.html.HTMLParser(encoding=page["charset"], huge_tree=True))
    base = next((element.get("href") for element in tree.iter("base") if element.get("href") is not None), None)
    base = page["path"] if base is None else WALK["join"](page["path"], base)
    found = {}
    for link in tree.iter("a", "area", "frame", "iframe", "link", "meta"):
        href = WALK["reference"](link.tag, link.attrib)
        if href is None or base is None and not WALK["SCHEME"].match(href):
            continue
        address = WALK["join"](base or page["path"], href)
        if not address:
            continue
        rel = link.get("rel")
        rel = short(rel, LONGEST_REL) if rel is not None else ""
        first = found.setdefault(address, {"element": link.tag, "rel": rel or None, "text": ""})
        first["text"] = first["text"] or text_of(link)
    return found


def main():
    for line in sys.stdin:
        page = json.loads(line)
        for address, said in links(page).items():
            print(json.dumps({"from": page["path"], "to": address, **said}))


main()
