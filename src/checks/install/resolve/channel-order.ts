// OLM v0's order of preference in a channel: from the head along `replaces`, without skipped entries. Errors use OLM's
// text (OLM: resolver.go, sortChannel).
import { quoteLikeGo } from '@catalog-bot/fbc/go/text'
import { type OperatorEntry } from './operator-entry.ts'

export type ChannelOrder =
  | { readonly ok: true; readonly entries: readonly OperatorEntry[] }
  | { readonly ok: false; readonly error: string }

/** All entries must be of one package and channel. */
export function computeChannelOrder(entries: readonly OperatorEntry[]): ChannelOrder {
  const [any] = entries
  if (any === undefined) return { ok: true, entries: [] }
  const where = `in channel ${quoteLikeGo(any.channel)} of package ${quoteLikeGo(any.package)}`
  const byName = new Map(entries.map((entry) => [entry.name, entry]))
  const superseded = new Set<OperatorEntry>()
  const replaced = new Map<OperatorEntry, OperatorEntry>()
  const skipped = new Set<string>()
  for (const entry of entries) {
    const older = entry.replaces === '' ? undefined : byName.get(entry.replaces)
    if (older) {
      superseded.add(older)
      replaced.set(entry, older)
    }
    for (const skip of entry.skips) {
      const passed = byName.get(skip)
      if (!passed) continue
      superseded.add(passed)
      skipped.add(skip)
    }
  }
  const heads = entries.filter((entry) => !superseded.has(entry))
  if (heads.length === 0)
    return { ok: false, error: `no channel heads (entries not replaced by another entry) found ${where}` }
  const chains: OperatorEntry[][] = []
  for (const head of heads) {
    const chain: OperatorEntry[] = []
    const visited = new Set<OperatorEntry>()
    for (let entry: OperatorEntry | undefined = head; entry !== undefined; entry = replaced.get(entry)) {
      if (visited.has(entry))
        return {
          ok: false,
          error: `a cycle exists in the chain of replacement beginning with ${quoteLikeGo(head.name)} ${where}`,
        }
      visited.add(entry)
      if (!skipped.has(entry.name)) chain.push(entry)
    }
    chains.push(chain)
  }
  const [only, ...others] = chains
  if (only !== undefined && others.length === 0) return { ok: true, entries: only }
  return {
    ok: false,
    error:
      `a unique replacement chain within a channel is required to determine the relative order between channel entries, ` +
      `but ${chains.length} replacement chains were found ${where}: ${chains.map(formatReplacesChain).join(', ')}`,
  }
}

function formatReplacesChain(chain: readonly OperatorEntry[]): string {
  const [first] = chain
  if (first === undefined) return '[]'
  return chain.length === 1 ? first.name : `${first.name}...${chain.at(-1)?.name}`
}
