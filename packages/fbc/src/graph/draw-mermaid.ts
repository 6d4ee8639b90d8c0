// A drawing as Mermaid text for a GitHub comment, with names escaped. GitHub rejects more than 50,000 characters or 500
// edges. Drawings that are too large to read are omitted well below that limit.
import { escapeNonPrintableCharacters } from '@catalog-bot/findings/printable'
import type { DrawnChannel, DrawnChannelRow, PackageDrawing } from './drawing.ts'

const maxMermaidNodes = 90
const maxMermaidEdges = 160
const maxDrawnSkipEdges = 4
/** Entities make names up to ten times longer. This limit leaves room for the closing text below GitHub's limit. */
const maxMermaidCharacters = 40_000

/** Returns Mermaid source without a fence, or undefined if the drawing is empty or too large. */
export function drawMermaid(drawings: readonly PackageDrawing[]): string | undefined {
  const lines = ['flowchart BT', ...mermaidStyles]
  const linkStyles = new Map<string, number[]>()
  let nodes = 0
  let edges = 0
  let left = 0
  let channels = 0
  let characters = 0
  for (const drawing of drawings)
    for (const channel of drawing.channels) {
      // Long lists of skips become text next to their entry, because arrows would hide everything else.
      const drawn = channel.links.filter(
        ({ kind, status, from }) =>
          kind === 'replaces' ||
          (from.length <= maxDrawnSkipEdges && !(drawing.compares && status === 'kept')),
      )
      const links = drawn.reduce((sum, link) => sum + link.from.length, 0)
      if (nodes + channel.rows.length > maxMermaidNodes || edges + links > maxMermaidEdges) {
        left++
        continue
      }
      const id = `c${channels}`
      const named = [
        `subgraph ${id}["${quoteMermaidLabel(`${drawing.package} · ${channel.name}${formatChannelStatusNote(channel)}`)}"]`,
        // Without its own direction, a subgraph shows old versions on top.
        'direction BT',
        ...channel.rows.map((row, at) => `${id}n${at}${formatNodeLabel(row, drawing.compares)}`),
      ]
      const length = named.reduce((sum, line) => sum + line.length + 1, 0)
      if (characters + length > maxMermaidCharacters) {
        left++
        continue
      }
      characters += length
      channels++
      lines.push(...named)
      for (const { from, to, kind, status } of drawn)
        for (const source of from) {
          const arrow =
            status === 'removed' ? `-. ${kind} .->` : kind === 'replaces' ? '-->' : `-- ${kind} -->`
          lines.push(`${id}n${source} ${arrow} ${id}n${to}`)
          if (status !== 'kept') linkStyles.set(status, [...(linkStyles.get(status) ?? []), edges])
          edges++
        }
      lines.push('end')
      nodes += channel.rows.length
    }
  if (channels === 0) return undefined
  if (left > 0) lines.push(`more["${left} more ${left === 1 ? 'channel' : 'channels'}"]`)
  for (const [status, indexes] of linkStyles)
    lines.push(
      `linkStyle ${indexes.join()} stroke:${status === 'added' ? '#1a7f37' : '#cf222e'},stroke-width:2px`,
    )
  return lines.join('\n')
}

const mermaidStyles = [
  'classDef head fill:#1a7f37,stroke:#1a7f37,color:#ffffff',
  'classDef deprecated fill:#e8960f,stroke:#9a6700,color:#000000',
  'classDef added stroke:#1a7f37,stroke-width:3px',
  'classDef removed stroke:#cf222e,stroke-width:2px,stroke-dasharray:4',
  'classDef folded fill:none,stroke:#8c959f,stroke-dasharray:2',
]

function formatChannelStatusNote({ status, badges }: DrawnChannel): string {
  const notes = [...(status === 'added' ? ['new'] : status === 'removed' ? ['removed'] : []), ...badges]
  return notes.length === 0 ? '' : ` (${notes.join(', ')})`
}

function formatNodeLabel(
  { names, label, badges, status, notes }: DrawnChannelRow,
  compares: boolean,
): string {
  const words = [
    `${status === 'added' ? '+ ' : status === 'removed' ? '− ' : ''}${label}`,
    ...badges.filter((badge) => badge === 'not in channel' || /^(?:now|was) /.test(badge)),
    ...notes
      .filter((note) => !compares || note.status !== 'kept')
      .map(({ text, status: its }) => `${its === 'added' ? '+' : its === 'removed' ? '−' : ''}${text}`),
  ]
  const style =
    status === 'removed'
      ? 'removed'
      : badges.includes('head')
        ? 'head'
        : badges.includes('deprecated') || badges.includes('now deprecated')
          ? 'deprecated'
          : status === 'added'
            ? 'added'
            : names.length > 1
              ? 'folded'
              : undefined
  const text = words.map((word) => quoteMermaidLabel(word)).join('<br/>')
  return `["${text}"]${style === undefined ? '' : `:::${style}`}`
}

/** Mermaid interprets markup and entities inside quotes, so special characters become entities. */
function quoteMermaidLabel(label: string): string {
  const characters = [...escapeNonPrintableCharacters(label.toWellFormed())]
  const shown = characters.length <= 60 ? characters : [...characters.slice(0, 59), '…']
  return shown
    .map((character) =>
      /[A-Za-z0-9 .,:·…+−()=/_-]/.test(character) ? character : `#${character.codePointAt(0)};`,
    )
    .join('')
}
