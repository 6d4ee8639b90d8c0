// Mermaid source as a block of Markdown that GitHub draws. The source cannot end the block, whatever it holds.

/** A fence longer than every run of backticks in the source. */
export function fencedMermaid(source: string): string {
  const longest = Math.max(2, ...[...source.matchAll(/`+/g)].map((run) => run[0].length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}mermaid\n${source}\n${fence}`
}
