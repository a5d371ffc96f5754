"""The style sheet of the served pages; each holds it, so that none waits for a second answer."""

from muniment.pipeline.view.style import CSS

SHEET = (
    CSS
    + """
nav { display: flex; flex-wrap: wrap; gap: .3rem 1rem; align-items: center; padding-top: .9rem;
  padding-bottom: .7rem; }
nav a { text-decoration: none; } nav a[aria-current] { font-weight: 700; color: var(--ink); }
.bar { background: var(--card); border-bottom: 1px solid var(--line); }
form { display: inline; margin-inline-end: .5rem; }
.find { display: flex; gap: .4rem; margin: 1rem 0 .5rem; }
input, select, button { font: inherit; color: inherit; background: var(--card);
  border: 1px solid var(--line); border-radius: .4rem; padding: .35rem .7rem; }
.find input { flex: 1; min-width: 8rem; } button { cursor: pointer; }
button.yes { border-color: var(--good); color: var(--good); }
button.no { border-color: var(--bad); color: var(--bad); }
.grid { list-style: none; margin: .6rem 0; padding: 0; display: grid; gap: .7rem;
  grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); }
.grid li { background: var(--card); border: 1px solid var(--line); border-radius: .5rem;
  overflow: hidden; }
.grid a { text-decoration: none; color: inherit; display: block; }
.grid img, .grid .sign { display: flex; width: 100%; height: 7.2rem; object-fit: cover;
  background: var(--paper); align-items: center; justify-content: center; color: var(--soft); }
.grid .sign { font-size: 1.15rem; letter-spacing: .04em; }
.grid .name { display: block; padding: .35rem .5rem .45rem; font-size: .85rem; line-height: 1.3;
  max-height: 3.2rem; overflow: hidden; }
.rows { list-style: none; margin: .5rem 0; padding: 0; }
.rows > li { border-bottom: 1px solid var(--line); padding: .5rem 0; }
.rows time, .rows .place { margin-inline-end: .6rem; white-space: nowrap; }
.versions { display: grid; gap: .8rem;
  grid-template-columns: repeat(auto-fit, minmax(16rem, 1fr)); }
.versions article { margin: 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: .5rem 0; }
dt { color: var(--soft); } dd { margin: 0; }
.wave { display: block; width: 100%; max-width: 50rem; height: 6rem; }
.more { display: inline-block; margin: 1rem 0; }
.status { border: 1px solid var(--line); border-radius: .8rem; padding: 0 .5rem; font-size: .8rem; }
.status-active { color: var(--good); } .status-conflicted, .status-pending { color: var(--some); }
.status-revoked, .status-invalidated, .status-rejected { color: var(--bad); }
table { border-collapse: collapse; margin: .5rem 0; width: 100%; font-size: .92rem; }
th, td { text-align: start; vertical-align: top; padding: .25rem .7rem .25rem 0;
  border-bottom: 1px solid var(--line); }
th { overflow-wrap: normal; } .chip[aria-current] { border-color: var(--accent); font-weight: 700; }
th[scope="row"] { width: 40%; font-weight: 400; }
td.number { white-space: nowrap; }
"""
)
