"""The one style sheet: light and dark by the reader's wish, and on paper."""

import base64
import hashlib

CSS = """
:root { color-scheme: light dark; --ink: #1d1d22; --soft: #5c5c66; --paper: #fbfaf7;
  --card: #fff; --line: #dcdad2; --mark: #ffe27a; --markink: #1d1d22; --accent: #0b57a4;
  --good: #1b6b3a; --some: #8a5a00; --bad: #9a2a2a; --box: #e8590c; --mine: #e3efe2; }
@media (prefers-color-scheme: dark) { :root { --ink: #e9e8e4; --soft: #a5a4a0; --paper: #17181b;
  --card: #202226; --line: #383a40; --mark: #6b5710; --markink: #fff3c4; --accent: #8ebbf0;
  --good: #7fcf9b; --some: #e5b45c; --bad: #f0908f; --box: #ff922b; --mine: #24372a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); line-height: 1.5;
  font-family: system-ui, "Segoe UI", Roboto, "Noto Sans", "PingFang SC", "Noto Sans CJK SC",
  "Microsoft YaHei", sans-serif; overflow-wrap: anywhere; }
header, main, footer, nav { max-width: 64rem; margin: 0 auto; padding: 0 1.25rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 1.25rem 0 .25rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; border-bottom: 1px solid var(--line);
  padding-bottom: .25rem; }
h3 { font-size: 1rem; margin: 0 0 .25rem; }
a { color: var(--accent); }
a:focus-visible, summary:focus-visible, button:focus-visible, input:focus-visible,
select:focus-visible, video:focus-visible, audio:focus-visible, [tabindex]:focus-visible {
  outline: 3px solid var(--accent); outline-offset: 2px; }
.skip { position: absolute; left: -99rem; background: var(--card); padding: .5rem 1rem; }
.skip:focus { left: 1rem; top: .5rem; z-index: 9; }
.coverage { font-weight: 600; margin: .25rem 0; }
.coverage-supported { color: var(--good); } .coverage-partial { color: var(--some); }
.coverage-none { color: var(--bad); }
.soft, .facts, figcaption, time { color: var(--soft); font-size: .9rem; }
.facts { margin: .25rem 0; }
article { background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  padding: 1rem 1.1rem; margin: .75rem 0; }
article > .said { font-size: 1.08rem; margin: .1rem 0 .35rem; white-space: pre-wrap; }
.conflict { border-color: var(--some); }
.chip { display: inline-block; border: 1px solid var(--line); border-radius: 1rem;
  padding: 0 .55rem; font-size: .82rem; text-decoration: none; margin-inline-end: .3rem; }
figure { margin: .9rem 0 .2rem; padding-top: .8rem; border-top: 1px dashed var(--line); }
figure:target { outline: 3px solid var(--accent); outline-offset: 4px; border-radius: .3rem; }
figcaption { margin-bottom: .5rem; }
.picture { position: relative; display: inline-block; max-width: 100%; line-height: 0;
  border: 1px solid var(--line); border-radius: .3rem; overflow: hidden; background: #fff;
  min-width: 4rem; min-height: 3rem; }
.picture img, .picture > svg { max-width: 100%; max-height: 34rem; height: auto; width: auto; }
.picture .over { position: absolute; inset: 0; width: 100%; height: 100%; max-height: none; }
.frame { fill: none; stroke: #fff; stroke-width: 4; vector-effect: non-scaling-stroke; }
.frame + .frame { stroke: var(--box); stroke-width: 2; }
.defs { position: absolute; width: 0; height: 0; }
video, audio { max-width: 100%; width: 34rem; display: block; }
video { background: #000; border-radius: .3rem; max-height: 24rem; }
blockquote { margin: .5rem 0; padding: .35rem .9rem; border-inline-start: 4px solid var(--line);
  white-space: pre-wrap; }
mark { background: var(--mark); color: var(--markink); padding: 0 .1em; border-radius: .15em; }
.talk { list-style: none; margin: .5rem 0; padding: 0; display: grid; gap: .4rem; }
.talk li { background: var(--paper); border: 1px solid var(--line); border-radius: .9rem;
  padding: .4rem .8rem; max-width: 85%; width: fit-content; white-space: pre-wrap; }
.talk li.mine { justify-self: end; background: var(--mine); }
.talk li.cited { border-width: 2px; border-color: var(--box); }
.talk .who { display: block; font-size: .8rem; color: var(--soft); }
.around { color: var(--soft); }
footer { margin: 2rem auto 3rem; font-size: .9rem; color: var(--soft); }
@media print { :root { --paper: #fff; --card: #fff; --ink: #000; --soft: #444; --line: #bbb;
    --mark: #ffef9e; --markink: #000; --mine: #fff; }
  nav, .skip, video, audio, form, details { display: none; } h2, h3 { break-after: avoid; }
  figure, .talk li { break-inside: avoid; } .picture img, .picture > svg { max-height: 13cm; }
  body { font-size: 10.5pt; } }
"""


def digest(css: str = CSS) -> str:
    """Return the source that a content security policy names a style sheet by."""
    hashed = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode("ascii")
    return f"'sha256-{hashed}'"
