//! What a page shows and loads.

use super::{
    Element, LinkLimits,
    base::Base,
    charset::decode,
    collector::collect_parts,
    sheets::{SheetPart, of_page},
};
use crate::url::WebUrl;

/// Something that a page shows or loads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PagePart {
    /// Where it is, without a fragment.
    pub url: WebUrl,
    /// Where it was found first.
    pub element: Element,
}

impl From<SheetPart> for PagePart {
    /// Of a style sheet.
    fn from(SheetPart { url, is_sheet }: SheetPart) -> Self {
        Self { url, element: if is_sheet { Element::ImportedSheet } else { Element::Style } }
    }
}

/// What a page shows and loads within these limits, as it is written each once.
pub fn parts(body: &[u8], content_type: Option<&str>, url: &WebUrl, limits: LinkLimits) -> Vec<PagePart> {
    let decoded = decode(body, content_type, url);
    let found = collect_parts(&decoded.html, limits);
    let base = Base::of(found.base.as_deref(), url);
    let part = |(text, element)| Some(PagePart { url: base.join(text)?.without_credentials(), element });
    let styles = of_page(&decoded.html);
    let of_styles = styles
        .iter()
        .map(|part| (part.text.as_bytes(), if part.is_sheet { Element::ImportedSheet } else { Element::Style }));
    let shown = found.requisites.iter().map(|one| (one.text, one.element));
    shown.chain(of_styles).take(limits.links).filter_map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(html: &str) -> Vec<String> {
        let url = WebUrl::parse("http://h/d/").unwrap();
        let parts = parts(html.as_bytes(), Some("text/html"), &url, LinkLimits::NONE);
        parts
            .iter()
            .map(|part| format!("{} {}", part.element.as_str(), &part.url.as_str()["http://h".len()..]))
            .collect()
    }

    #[test]
    fn what_a_page_shows_and_loads_is_found_where_it_is() {
        let html = r##"<base href="/b/"><link rel=stylesheet href=s.css><link rel="shortcut icon" href=i.ico>
            <link rel=canonical href=c><a href=page>x</a><img src=1.png srcset="2.png 2x, 3.png 640w,4.png"><img src="">
            <picture><source srcset="5.webp"></picture><video src=v.mp4 poster=p.jpg><track src=t.vtt></video>
            <script src=x.js></script><script>var a = "<img src=no.png>"</script><object data=o.swf></object>
            <svg><use href="sprite.svg#icon"/><use xlink:href="#own"/><image href=d.png /></svg>
            <style>@import 'i.css'; p { background: url(k.png) }</style><p style='background: url(l.png)'>
            <input type=image src=n.png><embed src=e.swf><img src="data:,x"><iframe src=f></iframe><IMG SRC=1.png>"##;
        let expected = [
            "link /b/s.css",
            "link /b/i.ico",
            "img /b/1.png",
            "img /b/2.png",
            "img /b/3.png",
            "img /b/4.png",
            "source /b/5.webp",
            "video /b/v.mp4",
            "video /b/p.jpg",
            "track /b/t.vtt",
            "script /b/x.js",
            "object /b/o.swf",
            "use /b/sprite.svg",
            "image /b/d.png",
            "input /b/n.png",
            "embed /b/e.swf",
            "style /b/i.css",
            "style /b/k.png",
            "style /b/l.png",
        ];
        assert_eq!(found(html), expected);
    }
}
