// The head of a channel: the entry that no other replaces or skips (opm-validate 2.6). skipRange plays no part.
import type { ChannelEntry } from '../catalog/catalog.ts'

type Edges = Pick<ChannelEntry, 'name' | 'replaces' | 'skips'>

/** All heads, in the order of the entries. Sound channels have exactly one. */
export function headsOf(entries: readonly Edges[]): string[] {
  const targets = new Set(entries.flatMap(({ replaces, skips }) => [replaces, ...skips]))
  return [...new Set(entries.map(({ name }) => name))].filter((name) => !targets.has(name))
}

/** The only head; undefined where there is none, or more than one. */
export function headOf(entries: readonly Edges[]): string | undefined {
  const heads = headsOf(entries)
  return heads.length === 1 ? heads[0] : undefined
}
