// An in-memory store for merges only. Tests simulate a crash by expiring the leases of the previous process.
import type { PendingMerge, MergeIntent } from '../../src/ports/merge-records.ts'
import type { Store } from '../../src/ports/store.ts'
import type { Lease } from '../../src/ports/jobs.ts'

export type MergeIntentOutcome = 'landed' | 'abandoned' | 'mismatch'

export interface InMemoryMergeStore {
  readonly store: Store
  readonly intents: readonly (MergeIntent & { readonly outcome?: MergeIntentOutcome })[]
  /** Expires all leases. */
  expireLeases(): void
}

export function createInMemoryMergeStore(): InMemoryMergeStore {
  const intents: (MergeIntent & { outcome?: MergeIntentOutcome })[] = []
  const leases = new Map<string, { fence: number; held: boolean }>()
  const cache = new Map<string, unknown>()
  const state = new Map<string, unknown>()
  const parts = {
    acquireLease: async (name: string): Promise<Lease | undefined> => {
      const before = leases.get(name)
      if (before?.held) return undefined
      const fence = (before?.fence ?? 0) + 1
      leases.set(name, { fence, held: true })
      return { name, fence }
    },
    releaseLease: async ({ name, fence }: Lease) => {
      if (leases.get(name)?.fence === fence) leases.set(name, { fence, held: false })
    },
    startMerge: async ({ name, fence }: Lease, landing: PendingMerge) => {
      const lease = leases.get(name)
      if (!lease?.held || lease.fence !== fence) return undefined
      // Stores a JSON copy, as a database does.
      const intent = {
        ...(JSON.parse(JSON.stringify(landing)) as PendingMerge),
        id: intents.length + 1,
        fence,
      }
      intents.push(intent)
      return { ...intent }
    },
    finishMerge: async ({ id, commit }: MergeIntent, outcome: MergeIntentOutcome, landed = commit) => {
      const intent = intents[id - 1]
      if (intent === undefined || (intent.outcome !== undefined && intent.outcome !== outcome))
        throw new Error(`intent ${id} is ${intent?.outcome ?? 'unknown'}`)
      const before =
        outcome === 'landed' &&
        intents.find((it) => it.pull === intent.pull && it !== intent && it.outcome === 'landed')
      if (before && before.commit !== landed)
        throw new Error(`pull request ${intent.pull} was already merged`)
      intents[id - 1] = { ...intent, outcome: before ? 'abandoned' : outcome, commit: landed }
      return intent.outcome === undefined && !before
    },
    listPendingMerges: async () => intents.filter(({ outcome }) => outcome === undefined),
    findMerge: async (_: unknown, pull: number) =>
      intents.find((it) => it.pull === pull && it.outcome === 'landed'),
    listFreezes: async () => [],
    commands: async () => [],
    parkedPull: async () => undefined,
    getCached: async ({ name: space }: { name: string }, keys: readonly string[]) =>
      new Map(
        keys.flatMap((key) => {
          const id = `${space}\n${key}`
          return cache.has(id) ? [[key, cache.get(id)] as const] : []
        }),
      ),
    readState: async ({ name }: { name: string }, _: unknown, key: string) => state.get(`${name}\n${key}`),
    writeState: async ({ name }: { name: string }, _: unknown, values: ReadonlyMap<string, unknown>) => {
      for (const [key, value] of values) state.set(`${name}\n${key}`, value)
    },
    putCached: async ({ name: space }: { name: string }, values: ReadonlyMap<string, unknown>) => {
      for (const [key, value] of values) cache.set(`${space}\n${key}`, value)
    },
  }
  return {
    store: parts as never,
    intents,
    expireLeases: () => {
      for (const [name, { fence }] of leases) leases.set(name, { fence, held: false })
    },
  }
}
