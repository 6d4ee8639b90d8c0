// Upgrade graphs as `opm alpha render-graph` prints them. Like opm, it leaves ids and ranges unescaped, except for
// terminal control sequences and line breaks. For drawings in comments, see draw-mermaid.ts.
import { escapeNonPrintableCharacters } from '@catalog-bot/findings/printable'
import { compareBytes, quoteLikeGo, sortByBytes } from '../go/text.ts'
import { maxSkipRangeEdges } from './package-graph.ts'
import type { ChannelGraph, PackageGraph } from './package-graph.ts'

const edgeLabelByKind = { replaces: 'replace', skips: 'skip' } as const

export interface OpmMermaidOptions {
  /** Marks the bundles and edges that OLM v0 ignores, as `--draw-v0-semantics` does. */
  readonly v0Semantics?: boolean
}

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
  const { classes, skippedLinks } = collectMermaidDecorations(packages, v0Semantics)
  for (const name of mermaidNodeClasses) {
    const ids = classes[name]
    if (ids.length > 0) lines.push(`class ${sortByBytes(ids).join()} ${name}`)
  }
  if (skippedLinks.length > 0)
    lines.push(`linkStyle ${skippedLinks.join()} stroke:#FF0000,stroke-width:3px,stroke-dasharray:5;`)
  return `${lines.join('\n')}\n`
}

const mermaidNodeClasses = ['deprecated', 'deprecatedskipped', 'skipped'] as const

interface MermaidDecorations {
  /** Entry ids. */
  readonly classes: Readonly<Record<(typeof mermaidNodeClasses)[number], string[]>>
  /** opm numbers links by channel name first, across packages. */
  readonly skippedLinks: number[]
}

/** Entries are drawn by descending version, so a skip applies only below the skipping entry. */
function collectMermaidDecorations(
  packages: readonly PackageGraph[],
  v0Semantics: boolean,
): MermaidDecorations {
  const classes: MermaidDecorations['classes'] = { deprecated: [], deprecatedskipped: [], skipped: [] }
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

function formatMermaidChannelLines(
  packageName: string,
  { name, nodes, edges, isCut }: ChannelGraph,
): string[] {
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
