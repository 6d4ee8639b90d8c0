// Formats a drawing as Mermaid text, either as opm prints it or with escaped names for a GitHub comment. GitHub rejects
// more than 50,000 characters or 500 edges. Channels that are too large to read are omitted well below that limit.
import { escapeNonPrintableCharacters } from '@catalog-bot/findings/printable'
import type { DrawnChannel, DrawnChannelRow, PackageDrawing } from './drawing.ts'
import { compareBytes, quoteLikeGo, sortByBytes } from '../go/text.ts'
import { maxSkipRangeEdges, type ChannelGraph, type PackageGraph } from './package-graph.ts'

const edgeLabelByKind = { replaces: 'replace', skips: 'skip' } as const

interface OpmMermaidOptions {
  /** Marks the bundles and edges that OLM v0 ignores, as `--draw-v0-semantics` does. */
  readonly v0Semantics?: boolean
}

const mermaidNodeClasses = ['deprecated', 'deprecatedskipped', 'skipped'] as const

interface MermaidStyleAssignments {
  /** Entry ids. */
  readonly classes: Readonly<Record<(typeof mermaidNodeClasses)[number], string[]>>
  /** opm numbers links by channel name first, across packages. */
  readonly skippedLinks: number[]
}

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
          (from.length <= maxDrawnSkipEdges && !(drawing.compares && status === 'same')),
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
          if (status !== 'same') linkStyles.set(status, [...(linkStyles.get(status) ?? []), edges])
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

function formatNodeLabel({ names, label, badges, status, notes }: DrawnChannelRow, compares: boolean) {
  const labelWords = [
    `${status === 'added' ? '+ ' : status === 'removed' ? '− ' : ''}${label}`,
    ...badges.filter((badge) => badge === 'not in channel' || /^(?:now|was) /.test(badge)),
    ...notes
      .filter((note) => !compares || note.status !== 'same')
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
  const text = labelWords.map((word) => quoteMermaidLabel(word)).join('<br/>')
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

// Upgrade graphs as `opm alpha render-graph` prints them. Like opm, it leaves ids and ranges unescaped, except for
// terminal control sequences and line breaks.

/** opm's text for these packages, ending in a newline. */
export function renderOpmMermaid(
  packages: readonly PackageGraph[],
  { v0Semantics = false }: OpmMermaidOptions = {},
): string {
  const lines = [
    'graph LR',
    '  classDef deprecated fill:#E8960F',
    '  classDef skipped stroke:#FF0000,stroke-width:4px',
    '  classDef deprecatedskipped fill:#E8960F,stroke:#FF0000,stroke-width:4px',
  ]
  for (const { name, channels } of packages) {
    lines.push(`  %% package ${quoteLikeGo(name)}`, `  subgraph ${quoteLikeGo(name)}`)
    for (const channel of channels)
      for (const line of formatMermaidChannelLines(name, channel)) lines.push(line)
    lines.push('  end')
  }
  for (const { name, deprecated } of packages)
    if (deprecated) lines.push(`style ${escapeNonPrintableCharacters(name)} fill:#989695`)
  for (const { name, channels } of packages)
    for (const channel of channels)
      if (channel.deprecated)
        lines.push(`style ${escapeNonPrintableCharacters(`${name}-${channel.name}`)} fill:#DCD0FF`)
  const { classes, skippedLinks } = collectMermaidStyleAssignments(packages, v0Semantics)
  for (const name of mermaidNodeClasses) {
    const ids = classes[name]
    if (ids.length > 0) lines.push(`class ${sortByBytes(ids).join()} ${name}`)
  }
  if (skippedLinks.length > 0)
    lines.push(`linkStyle ${skippedLinks.join()} stroke:#FF0000,stroke-width:3px,stroke-dasharray:5;`)
  return `${lines.join('\n')}\n`
}

/** Entries are drawn by descending version, so a skip applies only below the skipping entry. */
function collectMermaidStyleAssignments(packages: readonly PackageGraph[], v0Semantics: boolean) {
  const classes: MermaidStyleAssignments['classes'] = { deprecated: [], deprecatedskipped: [], skipped: [] }
  const skippedLinks: number[] = []
  let link = 0
  const channels = packages
    .flatMap(({ name, channels: its }) => its.map((channel) => ({ of: name, channel })))
    .sort((a, b) => compareBytes(a.channel.name, b.channel.name))
  for (const { of, channel } of channels) {
    const skipped = new Set<string>()
    const edgesInto = Map.groupBy(channel.edges, ({ to }) => to)
    for (const { name, isEntry, deprecated } of channel.nodes) {
      if (!isEntry) continue
      const kind = `${deprecated ? 'deprecated' : ''}${skipped.has(name) ? 'skipped' : ''}`
      if (kind !== '')
        classes[kind as keyof typeof classes].push(
          escapeNonPrintableCharacters(`${of}-${channel.name}-${name}`),
        )
      for (const edge of edgesInto.get(name) ?? []) {
        const passedOver = skipped.has(edge.kind === 'skips' ? edge.from : name)
        if (v0Semantics && passedOver) skippedLinks.push(link)
        if (v0Semantics && edge.kind === 'skips') skipped.add(edge.from)
        link++
      }
    }
  }
  return { classes, skippedLinks }
}

function formatMermaidChannelLines(packageName: string, { name, nodes, edges, isCut }: ChannelGraph) {
  const id = escapeNonPrintableCharacters(`${packageName}-${name}`)
  const node = (bundle: string) => `${id}-${escapeNonPrintableCharacters(bundle)}[${quoteLikeGo(bundle)}]`
  const lines = [`    %% channel ${quoteLikeGo(name)}`, `    subgraph ${id}[${quoteLikeGo(name)}]`]
  const edgesInto = Map.groupBy(edges, ({ to }) => to)
  for (const { name: to, isEntry } of nodes) {
    if (!isEntry) continue
    lines.push(`      ${node(to)}`)
    for (const edge of edgesInto.get(to) ?? []) {
      const label =
        edge.kind === 'skipRange'
          ? `"skipRange(${escapeNonPrintableCharacters(edge.range ?? '')})"`
          : edgeLabelByKind[edge.kind]
      lines.push(`      ${node(edge.from)}-- ${label} --> ${node(to)}`)
    }
  }
  if (isCut) lines.push(`      %% more than ${maxSkipRangeEdges} skipRange edges; the rest are omitted`)
  return [...lines, '    end']
}
