// A comment of catalog-bot as an HTML page that looks like a comment on GitHub: for the picture in README. It renders the
// Markdown that GitHub gets, including alerts and the Mermaid diagrams that catalog-bot draws.
import { Marked } from 'marked'

const alertColor = '#cf222e'

export function renderCommentPage(comment: string): string {
  const body = new Marked({ gfm: true, breaks: true })
    .parse(
      comment.replace(/```mermaid\n([^]*?)```/g, (_all, source: string) => drawFlowchart(source)),
      { async: false },
    )
    .replaceAll(
      '<blockquote>\n<p>[!CAUTION]<br>',
      '<blockquote class="alert"><p class="title">Caution</p>\n<p>',
    )
    .replaceAll(/<pre><code class="language-diff">([^]*?)<\/code><\/pre>/g, (_all, lines: string) => {
      const colored = lines
        .trimEnd()
        .split('\n')
        .map((line) => `<span class="${diffLineClassBySign[line[0] ?? ''] ?? ''}">${line}</span>`)
      return `<pre class="diff">${colored.join('')}</pre>`
    })
    .replaceAll(
      /[❌✅]/gu,
      (emoji) => `<svg class="emoji" viewBox="0 0 16 16">${emojiDrawings[emoji] ?? ''}</svg>`,
    )
  return `<!doctype html><meta charset="utf-8"><style>${commentStylesheet}</style>
<article><header><strong>catalog-bot</strong> <small>bot</small> commented</header><div>${body}</div></article>`
}

/** The machine may have no font with emoji. */
const emojiDrawings: Readonly<Record<string, string>> = {
  '❌': '<path d="M3 3l10 10M13 3L3 13" stroke="#dd2e44" stroke-width="3" stroke-linecap="round"/>',
  '✅': '<rect x="1" y="1" width="14" height="14" rx="3" fill="#77b255"/><path d="M4 8l3 4 5-8" fill="none" stroke="#fff" stroke-width="2"/>',
}

const diffLineClassBySign: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed' }

const commentStylesheet = `
body { margin: 0; padding: 16px; width: 868px; background: #fff; color: #1f2328;
  font: 14px/1.5 -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif }
article { border: 1px solid #d1d9e0; border-radius: 6px }
header { padding: 8px 16px; background: #f6f8fa; border-bottom: 1px solid #d1d9e0; border-radius: 6px 6px 0 0; color: #59636e }
header strong { color: #1f2328 }
header small { border: 1px solid #d1d9e0; border-radius: 2em; padding: 0 6px; font-size: 11px }
div { padding: 4px 16px 8px }
h3 { font-size: 1.25em; margin: 12px 0 }
a { color: #0969da }
blockquote { margin: 0 0 16px; padding: 0 1em; border-left: 4px solid ${alertColor} }
.title { margin: 0 0 8px; color: ${alertColor}; font-weight: 500 }
code, pre { font: 12px/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace }
code { background: #818b981f; border-radius: 6px; padding: .2em .4em }
pre { background: #f6f8fa; border-radius: 6px; padding: 12px 16px }
.diff span { display: block; white-space: pre }
.added { background: #dafbe1; color: #116329 }
.removed { background: #ffebe9; color: #82071e }
details { margin: 12px 0 }
sub { font-size: 11px; color: #59636e }
.emoji { width: 1em; height: 1em; vertical-align: -.1em }
figure { margin: 0 0 16px; padding: 12px; border: 1px solid #d1d9e0; border-radius: 6px; text-align: center }`

const flowchartNodeHeight = 44
const flowchartNodeWidth = 130
const flowchartRowHeight = 78
const flowchartColumnWidth = 160

interface FlowchartNode {
  readonly id: string
  readonly lines: readonly string[]
  readonly className: string
}

/** Draws the small part of Mermaid that catalog-bot's comments use: boxes in rows, with arrows to the row above. */
function drawFlowchart(source: string): string {
  const nodes = [...source.matchAll(/^(\w+)\["(.*)"\](?::::(\w+))?$/gm)].map(
    ([, id = '', label = '', className = '']): FlowchartNode => ({
      id,
      lines: label.split('<br/>'),
      className,
    }),
  )
  const edges = [...source.matchAll(/^(\w+) -->(?:\|.*\|)? (\w+)$/gm)].map(([, from = '', to = '']) => ({
    from,
    to,
  }))
  const title = /subgraph \w+\["(.*)"\]/.exec(source)?.[1] ?? ''
  const added = new Set(/^linkStyle ([\d,]+) stroke:#1a7f37/m.exec(source)?.[1]?.split(',').map(Number) ?? [])
  const rowOf = (id: string): number => {
    const above = edges.filter(({ from }) => from === id).map(({ to }) => rowOf(to) + 1)
    return Math.max(0, ...above)
  }
  const rows = Map.groupBy(nodes, ({ id }) => rowOf(id))
  const width = Math.max(...[...rows.values()].map((row) => row.length), 2) * flowchartColumnWidth
  const height = rows.size * flowchartRowHeight + 12
  const positions = new Map(
    [...rows].flatMap(([row, inRow]) =>
      inRow.map(({ id }, at): [string, readonly [number, number]] => [
        id,
        [
          width / 2 + (at - (inRow.length - 1) / 2) * flowchartColumnWidth,
          34 + row * flowchartRowHeight + flowchartNodeHeight / 2,
        ],
      ]),
    ),
  )
  const arrows = edges.map(({ from, to }, at) => {
    const [[x1, y1], [x2, y2]] = [positions.get(from) ?? [0, 0], positions.get(to) ?? [0, 0]]
    const stroke = added.has(at) ? '#1a7f37' : '#333'
    return `<path d="M${x1},${y1 - flowchartNodeHeight / 2}C${x1},${y1 - 38} ${x2},${y2 + 38} ${x2},${y2 + flowchartNodeHeight / 2 + 6}" fill="none" stroke="${stroke}" stroke-width="2"/><path d="M${x2 - 5},${y2 + flowchartNodeHeight / 2 + 9}h10l-5,-8z" fill="${stroke}"/>`
  })
  const boxes = nodes.map(({ id, lines, className }) => {
    const [x, y] = positions.get(id) ?? [0, 0]
    const isHead = className === 'head'
    const text = lines.map(
      (line, at) => `<tspan x="${x}" y="${y + 5 + (at - (lines.length - 1) / 2) * 17}">${line}</tspan>`,
    )
    return `<rect x="${x - flowchartNodeWidth / 2}" y="${y - flowchartNodeHeight / 2}" width="${flowchartNodeWidth}" height="${flowchartNodeHeight}" fill="${isHead ? '#1a7f37' : '#ececff'}" stroke="${isHead ? '#1a7f37' : '#9370db'}"/><text text-anchor="middle" fill="${isHead ? '#fff' : '#333'}">${text.join('')}</text>`
  })
  return `<figure><svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-size="14"><rect width="100%" height="100%" fill="#ffffde" stroke="#aaaa33"/><text x="${width / 2}" y="20" text-anchor="middle">${title}</text>${arrows.join('')}${boxes.join('')}</svg></figure>\n`
}
