"use strict";
// What the theme leaves out for those who use a keyboard or a screen reader.
{
  const complete = () => {
    document.querySelector(".md-search").ariaLabel = "Search";
    for (const part of document.querySelectorAll(".md-typeset pre > code, .md-typeset__scrollwrap"))
      part.tabIndex = part.scrollWidth > part.clientWidth ? 0 : -1;
    for (const nav of document.querySelectorAll("nav.md-code__nav, nav.md-nav .md-nav")) { // landmarks within landmarks
      nav.role = "none";
      for (const name of ["aria-label", "aria-labelledby", "aria-expanded"]) nav.removeAttribute(name);
    }
  };
  new ResizeObserver(complete).observe(document.body);
  new MutationObserver(complete).observe(document.querySelector("main"), { childList: true, subtree: true });
}
