// The style sheet and the script of the status pages. Both have their digest in their address, so browsers cache them.
import { createHash } from 'node:crypto'

/** A file that pages load from their own origin. */
export interface PageAsset {
  readonly text: string
  /** The digest in `url`. */
  readonly version: string
  readonly url: string
}

function createPageAsset(path: string, text: string): PageAsset {
  const version = createHash('sha256').update(text).digest('hex').slice(0, 12)
  return { text, version, url: `${path}?v=${version}` }
}

export const stylesheetAsset = createPageAsset(
  '/pages.css',
  `:root{color-scheme:light dark;--text:#1f2328;--faint:#59636e;--back:#fff;--soft:#f6f8fa;--line:#d1d9e0;--link:#0550ae;--good:#116329;--calm:#59636e;--bad:#a40e26;--unsure:#7d4e00;--button:#1a7f37;--good-back:#e6f6ea;--calm-back:#eef1f4;--bad-back:#ffebe9;--unsure-back:#fff5d6}
@media (prefers-color-scheme:dark){:root{--text:#e6edf3;--faint:#9ea7b3;--back:#0d1117;--soft:#161b22;--line:#3d444d;--link:#6cb6ff;--good:#56d364;--calm:#b3bbc5;--bad:#ff9a91;--unsure:#e3b341;--good-back:#12261a;--calm-back:#21262d;--bad-back:#2e1517;--unsure-back:#2a2112}.graph svg{filter:invert(.93) hue-rotate(180deg)}}
*{box-sizing:border-box}html{-webkit-text-size-adjust:100%;scroll-padding-top:1rem}
body{font:16px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif;margin:0;color:var(--text);background:var(--back);overflow-wrap:break-word}
header,main,footer{padding-inline:max(1rem,calc(50vw - 36rem))}
header{background:var(--soft);border-bottom:1px solid var(--line);padding-top:.75rem}
.top{display:flex;flex-wrap:wrap;gap:.25rem 1rem;align-items:center;justify-content:space-between;padding-bottom:.75rem;min-height:2.9rem}.top form{margin:0}
nav ol,nav ul{list-style:none;display:flex;flex-wrap:wrap;margin:0;padding:0}.crumbs li+li::before{content:"/";color:var(--faint);padding:0 .45rem}.crumbs li:first-child a,.crumbs [aria-current]{font-weight:600}
.crumbs a,.tabs a{color:var(--text);text-decoration:none}.crumbs a:hover,.tabs a:hover{text-decoration:underline}
.tabs ul{gap:0 .25rem}.tabs a{display:block;padding:.35rem .75rem .5rem;border-bottom:3px solid transparent}.tabs [aria-current]{border-color:var(--link);font-weight:600}
main{padding-top:1.25rem;padding-bottom:2.5rem}footer{border-top:1px solid var(--line);padding-top:.75rem;padding-bottom:2rem;color:var(--faint);font-size:.875rem}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 .75rem}h2{font-size:1.2rem;line-height:1.3;margin:2rem 0 .6rem}h3{font-size:1rem;margin:1.25rem 0 .25rem}h1 .number{color:var(--faint);font-weight:400}
a{color:var(--link)}:is(a,button,summary,input,select,[tabindex]):focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:4px}
.scroll{overflow-x:auto;margin:0 0 1rem}table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.45rem .9rem .45rem 0;vertical-align:top;border-bottom:1px solid var(--line)}thead th{font-size:.875rem;color:var(--faint);font-weight:600;white-space:nowrap}tbody th{font-weight:400;min-width:12rem}tbody th>a{font-weight:600;text-decoration:none}tbody th>a:hover{text-decoration:underline}
td.number,th.number{text-align:right;font-variant-numeric:tabular-nums}
.state{white-space:nowrap;font-weight:600}.good{color:var(--good)}.calm{color:var(--calm)}.bad{color:var(--bad)}.unsure{color:var(--unsure)}
.label{display:inline-block;white-space:nowrap;font-size:.8125rem;font-weight:600;line-height:1.4;padding:.05rem .55rem;border-radius:1rem;border:1px solid;background:var(--calm-back)}.label.good{background:var(--good-back)}.label.bad{background:var(--bad-back)}.label.unsure{background:var(--unsure-back)}
.when,.clock{white-space:nowrap}.clock,.faint{color:var(--faint);font-size:.875rem}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.875em;background:var(--soft);border-radius:4px}code{padding:.1rem .3rem}pre{padding:.6rem .75rem;overflow-x:auto;border:1px solid var(--line);margin:.5rem 0;line-height:1.45}pre code{padding:0;background:none}
.card,.note{border:1px solid var(--line);border-left:4px solid var(--calm);border-radius:6px;padding:.75rem 1rem;margin:0 0 1rem}.card>:first-child,.note>:first-child{margin-top:0}.card>:last-child,.note>:last-child{margin-bottom:0}.card p,.note p{margin:.3rem 0}.note{background:var(--soft)}
.tone-good{border-left-color:var(--good)}.tone-bad{border-left-color:var(--bad)}.tone-unsure{border-left-color:var(--unsure)}.note.tone-good{background:var(--good-back)}.note.tone-bad{background:var(--bad-back)}.note.tone-unsure{background:var(--unsure-back)}
.card h3{margin:0 0 .35rem}.card .meta{color:var(--faint);font-size:.875rem;margin:0 0 .35rem}
details{margin:0 0 1rem}summary{cursor:pointer;padding:.25rem 0;font-weight:600}details[open]>summary{margin-bottom:.5rem}details details summary,.card summary{font-weight:400;font-size:.875rem;color:var(--link)}
ul.plain,ol.plain{list-style:none;margin:0;padding:0}.facts{padding-left:1.2rem;margin:.25rem 0 1rem}dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1rem;margin:0 0 1rem}dt{color:var(--faint)}dd{margin:0}
.links,.chips{display:flex;flex-wrap:wrap;gap:.4rem 1rem;padding:0;margin:0 0 1rem;list-style:none}.chips{gap:.4rem}.chips a{display:block;padding:.15rem .7rem;border:1px solid var(--line);border-radius:1rem;text-decoration:none;font-size:.9375rem}.chips a::first-letter{text-transform:uppercase}.chips a:hover{background:var(--soft)}.chips [aria-current]{background:var(--text);color:var(--back);border-color:var(--text)}
form.filter{display:flex;flex-wrap:wrap;gap:.5rem .75rem;align-items:end;margin:0 0 1rem}form.filter label{display:block;font-size:.875rem;color:var(--faint)}form.filter :is(input,select){display:block;width:12rem;max-width:100%}
:is(input,select){font:inherit;padding:.3rem .5rem;border:1px solid var(--faint);border-radius:6px;color:inherit;background:var(--back)}
button{font:inherit;padding:.3rem .8rem;border-radius:6px;border:1px solid var(--button);background:var(--button);color:#fff;cursor:pointer}button.quiet{background:none;border-color:var(--line);color:var(--link)}
.empty{border:1px dashed var(--line);border-radius:6px;padding:1.25rem;text-align:center;color:var(--faint);margin:0 0 1rem}
.diff span{display:block;white-space:pre}.diff .add{background:var(--good-back);color:var(--good)}.diff .del{background:var(--bad-back);color:var(--bad)}.diff .mark{background:var(--unsure-back)}.diff .n{display:inline-block;min-width:3.5ch;padding-right:1ch;text-align:right;color:var(--faint)}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,17rem),1fr));gap:1rem 1.5rem;margin:0 0 1rem}.bars{color:var(--link)}meter{width:10rem;max-width:100%}
figure{margin:0 0 1rem}figure svg{display:block;border:1px solid var(--line);border-radius:6px}figure svg.chart{width:100%;height:auto;border:0}figcaption{font-weight:600;margin-bottom:.25rem}.skip{position:absolute;left:-999rem}.skip:focus{left:1rem;top:.5rem;background:var(--back);padding:.5rem}
.live .reload,:root:not(.live) .updates{display:none}
.columns{display:grid;grid-template-columns:minmax(0,1fr) 16rem;gap:0 2.5rem}aside h2{font-size:1rem;margin:1.25rem 0 .35rem}aside dl{grid-template-columns:1fr;gap:0}aside dd{margin:0 0 .5rem}aside dt{font-size:.875rem}.columns>div>:first-child{margin-top:0}.next h2{margin:.35rem 0;font-size:1.25rem}.sub{list-style:none;margin-left:1rem}.sub::before{content:"– ";color:var(--faint)}figcaption{padding-top:.25rem}
.timeline{list-style:none;margin:0;padding:0 0 0 1rem;border-left:2px solid var(--line)}.timeline li{position:relative;margin:0 0 1rem}.timeline>li::before{content:"";position:absolute;left:calc(-1rem - 6px);top:.5rem;width:10px;height:10px;border-radius:50%;background:var(--faint);border:2px solid var(--back)}.timeline .plain li{margin:0}
@media (max-width:56rem){.columns{grid-template-columns:minmax(0,1fr)}}
@media (max-width:40rem){.stacked thead{position:absolute;left:-999rem}.stacked :is(tbody tr,tbody th,td){display:block;min-width:0;padding-right:0;border:0}.stacked tbody tr{padding:.5rem 0;border-bottom:1px solid var(--line)}.stacked :is(tbody th,td){padding-top:.1rem;padding-bottom:.1rem}dl{grid-template-columns:1fr}dt{margin-top:.4rem}h1{font-size:1.35rem}.clock{white-space:normal}form.filter :is(label,input,select){width:100%}}
@media print{.top form,.tabs,footer,form.filter{display:none}}`,
)

/** Replaces the main part of a page when its repository changed. Keeps what is open, focused, or being typed. */
export const scriptAsset = createPageAsset(
  '/pages.js',
  `(() => {
const main = document.querySelector('main[data-events]')
if (!main || !window.EventSource) return
let source, version, timer
const isTyping = () => document.activeElement?.matches('main input, main select') ||
  [...main.querySelectorAll('input')].some((input) => input.value !== input.defaultValue)
const refreshAfter = (ms) => { clearTimeout(timer); timer = setTimeout(refresh, ms) }
async function refresh() {
  if (document.hidden || isTyping()) return refreshAfter(5000)
  const reply = await fetch(location.href, { headers: { accept: 'text/html' }, cache: 'no-cache' }).catch(() => undefined)
  if (!reply || reply.status === 429 || reply.status >= 500) return refreshAfter(30000)
  const page = new DOMParser().parseFromString(await reply.text(), 'text/html')
  if (!page.querySelector('main') || isTyping()) return
  const opened = new Map([...main.querySelectorAll('details[id]')].map((fold) => [fold.id, fold.open]))
  const focused = main.contains(document.activeElement) && document.activeElement
  for (const part of ['main', 'footer'])
    document.querySelector(part).replaceChildren(...page.querySelector(part).childNodes)
  document.title = page.title
  for (const fold of main.querySelectorAll('details[id]')) if (opened.has(fold.id)) fold.open = opened.get(fold.id)
  if (focused) [...main.querySelectorAll(focused.localName)].find((one) => one.href === focused.href &&
    one.parentElement.id === focused.parentElement?.id && one.textContent === focused.textContent)?.focus({ preventScroll: true })
}
function connect() {
  if (document.hidden) { source?.close(); source = undefined; return }
  if (source) return
  source = new EventSource(main.dataset.events)
  source.onopen = () => document.documentElement.classList.add('live')
  source.onerror = () => source?.readyState === 2 && document.documentElement.classList.remove('live')
  source.onmessage = ({ data }) => {
    // The page may be a few seconds older than the first event.
    if (version !== data) refreshAfter(version === undefined ? 6000 : Math.random() * 500)
    version = data
  }
}
document.addEventListener('visibilitychange', connect)
connect()
})()
`,
)
