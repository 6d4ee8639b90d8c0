// Upgrade graphs as Mermaid text, as `opm alpha render-graph` prints them: for scripts that read opm's output.
// Labels are quoted as opm quotes them. Ids and ranges opm writes as they are, and so do we, save for what commands a
// terminal or breaks a line: no Mermaid can read that. For pictures in comments see draw-mermaid.ts.
import { printable } from '../../findings/printable.ts'
import { quote } from '../../go/text.ts'
import { mostRangeEdges } from './package-graph.ts'
import type { ChannelGraph, PackageGraph } from './package-graph.ts'

const arrow = { replaces: 'replace', skips: 'skip' } as const

/** opm's text for these packages (without `--minimum-edge` and v0 semantics), ending in a newline. */
export function opmMermaid(packages: readonly PackageGraph[]): string {
  const lines = [
    'graph LR',
    '  classDef deprecated fill:#E8960F',
    '  classDef skipped stroke:#FF0000,stroke-width:4px',
    '  classDef deprecatedskipped fill:#E8960F,stroke:#FF0000,stroke-width:4px',
  ]
  for (const { name, channels } of packages) {
    lines.push(`  %% package ${quote(name)}`, `  subgraph ${quote(name)}`)
    for (const channel of channels) for (const line of channelLines(name, channel)) lines.push(line)
    lines.push('  end')
  }
  for (const { name, deprecated } of packages)
    if (deprecated) lines.push(`style ${printable(name)} fill:#989695`)
  for (const { name, channels } of packages)
    for (const channel of channels)
      if (channel.deprecated) lines.push(`style ${printable(`${name}-${channel.name}`)} fill:#DCD0FF`)
  const deprecated = packages.flatMap(({ name, channels }) =>
    channels.flatMap((channel) =>
      channel.nodes
        .filter((node) => node.isEntry && node.deprecated)
        .map((node) => printable(`${name}-${channel.name}-${node.name}`)),
    ),
  )
  if (deprecated.length > 0) lines.push(`class ${deprecated.sort().join()} deprecated`)
  return `${lines.join('\n')}\n`
}

function channelLines(packageName: string, { name, nodes, edges, isCut }: ChannelGraph): string[] {
  const id = printable(`${packageName}-${name}`)
  const node = (bundle: string) => `${id}-${printable(bundle)}[${quote(bundle)}]`
  const lines = [`    %% channel ${quote(name)}`, `    subgraph ${id}[${quote(name)}]`]
  const edgesInto = Map.groupBy(edges, ({ to }) => to)
  for (const { name: to, isEntry } of nodes) {
    if (!isEntry) continue
    lines.push(`      ${node(to)}`)
    for (const edge of edgesInto.get(to) ?? []) {
      const label =
        edge.kind === 'skipRange' ? `"skipRange(${printable(edge.range ?? '')})"` : arrow[edge.kind]
      lines.push(`      ${node(edge.from)}-- ${label} --> ${node(to)}`)
    }
  }
  if (isCut) lines.push(`      %% more than ${mostRangeEdges} skipRange edges: the others are left out`)
  return [...lines, '    end']
}
