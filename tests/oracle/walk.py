#!/usr/bin/env python3
"""What a full crawl of a folder of files must find, by a walk over the files: walk.py ROOT START [--as-lists]

Prints depth<TAB>page|other|broken<TAB>bytes<TAB>path, ordered by path: the form of the lists made by others. It is
the oracle where the installed version of a site is another than the listed one, and it is judged first by reproducing
the lists of the versions that are the same.

It shares nothing with the crawler: Python's html.parser finds the links, and addresses are joined here as the WHATWG
URL standard says for http. A file ending in .html or .htm is a page, a folder with a trailing slash stands for its
index.html, a folder without one redirects to itself with one, and a query is part of the address but names no file.

With --as-lists an address is a file's path, as in the lists: doubled slashes are one, and a % that starts no escape is
a character. A server knows better: "//a" is another address than "/a", the stray % is a bad request, and a file named
".html" has no extension. And the lists were made of a and area alone; without the flag, frames, refreshes and link with
rel=alternate, next or prev lead to pages too.
"""

import html.parser
import os
import re
import sys
import urllib.parse

AS_LISTS = "--as-lists" in sys.argv
HOST = "site.invalid"
SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
PATH_KEEPS = "".join(map(chr, range(0x21, 0x7F))).translate({ord(c): None for c in '"#<>?`{}^'})
QUERY_KEEPS = "".join(map(chr, range(0x21, 0x7F))).translate({ord(c): None for c in "\"#<>'"})


REFRESH = re.compile(r"""\s*(?:\d+|(?=\.))[\d.]*\s*[\s;,]\s*(?:url\s*=\s*)?(?:'([^']*)|"([^"]*)|(.*))""", re.I | re.S)


def reference(tag, attributes):
    """What a start tag names another page by, or None."""
    if tag in ("a", "area"):
        return attributes.get("href")
    value = None
    if AS_LISTS:
        return None
    if tag in ("frame", "iframe") and "srcdoc" not in attributes:
        value = attributes.get("src")
    elif tag == "link":
        rel = set((attributes.get("rel") or "").lower().split())
        if rel & {"alternate", "next", "prev"} and not rel & {"stylesheet", "icon"}:
            value = attributes.get("href")
    elif tag == "meta" and (attributes.get("http-equiv") or "").lower() == "refresh":
        refresh = REFRESH.match(attributes.get("content") or "")
        value = refresh and next((part for part in refresh.groups() if part is not None), None)
    return value if value and value.strip() else None


class Links(html.parser.HTMLParser):
    """What leads to pages, and the href of the first base that has one."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.hrefs, self.base = [], None

    def handle_starttag(self, tag, attributes):
        first = {name: value or "" for name, value in reversed(attributes)}
        href = reference(tag, first)
        if href is not None:
            self.hrefs.append(href)
        if tag == "base" and self.base is None:
            self.base = first.get("href")


def segments(path):
    """Path segments with dots resolved; the last is empty where the path ends in a slash."""
    kept, parts = [], path.split("/")
    for index, part in enumerate(parts):
        dots, last = part.lower().replace("%2e", "."), index == len(parts) - 1
        if dots == "..":
            kept = kept[:-1]
        elif dots != ".":
            kept.append(part)
        if last and dots in (".", ".."):
            kept.append("")
    return kept


def join(base, href):
    address = resolve(base, href)
    return re.sub("//+", "/", address) if address and AS_LISTS else address


def resolve(base, href):
    """The address on this site that href means on the page at base, or None when it is elsewhere."""
    href = href.strip("".join(map(chr, range(0x21)))).translate({9: None, 10: None, 13: None})
    href = href.partition("#")[0]
    scheme = SCHEME.match(href)
    if scheme:
        if scheme.group().lower() != "http:":
            return None
        rest = href[scheme.end():]
        if rest[:1] in ("/", "\\") and rest[1:2] in ("/", "\\"):
            return absolute(rest.lstrip("/\\"))
        href = rest
    elif href[:1] in ("/", "\\") and href[1:2] in ("/", "\\"):
        return absolute(href.lstrip("/\\"))
    path, mark, query = href.partition("?")
    path = path.replace("\\", "/")
    base_path, base_mark, base_query = base.partition("?")
    if not path:
        return base_path + (mark + urllib.parse.quote(query, QUERY_KEEPS) if mark else base_mark + base_query)
    if not path.startswith("/"):
        path = base_path.rpartition("/")[0] + "/" + path
    path = "/" + "/".join(segments(path[1:]))
    return urllib.parse.quote(path, PATH_KEEPS) + mark + urllib.parse.quote(query, QUERY_KEEPS)


def absolute(rest):
    host = re.match(r"[^/\\?]*", rest).group()
    return resolve("/", rest[len(host):] or "/") if host.lower() == HOST else None


def look(root, address):
    """Kind and file of an address, as a static server with index.html answers it."""
    path = address.partition("?")[0]
    if not AS_LISTS and re.search(r"%(?![0-9a-fA-F]{2})", path):
        return "broken", None
    file = os.path.join(os.fsencode(root), urllib.parse.unquote_to_bytes(path.lstrip("/")))
    if path.endswith("/"):
        file = os.path.join(file, b"index.html")
    elif os.path.isdir(file):
        return "folder", None
    if not os.path.isfile(file):
        return "broken", None
    hidden = not AS_LISTS and os.path.basename(file).startswith(b".")
    return ("page" if file.endswith((b".html", b".htm")) and not hidden else "other"), file


def links(file, address):
    with open(file, "rb") as opened:
        text = opened.read().decode("utf-8", "replace")
    reader = Links()
    reader.feed(text)
    reader.close()
    base = address if reader.base is None else join(address, reader.base)
    if base is None:
        return [link for href in reader.hrefs if SCHEME.match(href) and (link := join(address, href))]
    return [link for href in reader.hrefs if (link := join(base, href))]


def walk(root, start):
    found, level, depth = {}, [start], 0
    seen = {start}
    while level:
        following = []
        for address in level:
            kind, file = look(root, address)
            while kind == "folder":
                address += "/"
                if address in seen:
                    break
                seen.add(address)
                kind, file = look(root, address)
            if kind == "folder":
                continue
            found[address] = (depth, kind, os.path.getsize(file) if file else 0)
            for link in links(file, address) if kind == "page" else ():
                if link not in seen:
                    seen.add(link)
                    following.append(link)
        level, depth = following, depth + 1
    return found


def main():
    root, start = sys.argv[1:3]
    for address, (depth, kind, size) in sorted(walk(root, start).items()):
        print(depth, kind, size, address, sep="\t")


main()
