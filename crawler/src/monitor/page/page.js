// Keeps the page up to date: what the server sends is the page as it is now, and the parts that differ take the place of the old ones.
"use strict";

const connection = document.getElementById("connection");
const live = new EventSource("events");

live.addEventListener("open", () => {
  connection.textContent = "This page is kept up to date.";
});

live.addEventListener("error", () => {
  connection.textContent = "Webloom does not answer. What you see may be old.";
});

live.addEventListener("page", (event) => {
  const next = new DOMParser().parseFromString(event.data, "text/html");
  const crawls = (page) => [...page.querySelectorAll("section")].map((section) => section.getAttribute("aria-labelledby") + section.children.length).join();
  if (crawls(document) !== crawls(next)) {
    document.getElementById("crawls").replaceWith(document.importNode(next.getElementById("crawls"), true));
  }
  for (const part of next.querySelectorAll("[data-live]")) {
    const now = document.getElementById(part.id);
    if (now && now.outerHTML !== part.outerHTML) {
      now.replaceWith(document.importNode(part, true));
    }
  }
});
