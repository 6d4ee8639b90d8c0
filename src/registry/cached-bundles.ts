// Caches bundle contents and install outcomes by digest and reader version; one pull yields both. Each evaluation has a
// pull budget, and the next one continues where it ended.
import { parseImageReference } from '../go/reference/image-reference.ts'
import type { BundleAnswer, Unknown } from '../checks/questions.ts'
import type { Clock } from '../ports/clock.ts'
import { defineCache, type Cache, type CacheSpace } from '../ports/cache.ts'
import { defaultTtls } from './cached-answers.ts'
import type { RegistryClient } from './registry-client.ts'
import { bundleReaderVersion } from './unpack/read-bundle-files.ts'

export interface BundleBudget {
  /** Bundles to pull; cached ones are free. */
  readonly pulls: number
  /** Milliseconds after the first pull in which new pulls may start. */
  readonly time: number
  /** Total characters of all answers of one kind, because an evaluation holds them in memory. */
  readonly held: number
}

// A hundred pulls, four at a time, take seconds. Honest answers have a few thousand characters, so only tens of
// thousands of bundles reach the limit.
export const defaultBundleBudget: BundleBudget = { pulls: 100, time: 60_000, held: 64 * 1024 * 1024 }

/** Reads bundles for one evaluation. Rejects as RegistryClient.readBundle does: for our own faults only. */
export interface ReadBundles {
  readonly readBundle: (reference: string) => Promise<BundleAnswer>
  readonly readInstall: (reference: string) => Promise<BundleAnswer>
}

export interface CachedBundles {
  forOneLook(budget?: BundleBudget): ReadBundles
}

export interface CachedBundlesOptions {
  readonly clock: Clock
  readonly store: Cache
  /** Concurrent pulls over all evaluations: each holds its layers in memory and has a process. */
  readonly atOnce?: number
  /** Milliseconds for one pull, so that a slow registry does not block others. */
  readonly slowest?: number
}

// The reader's version covers the answer's shape.
const space = defineCache<BundleAnswer>('bundle-answers', {
  version: bundleReaderVersion,
  read: (stored) => (isAnswer(stored, 'findings') ? stored : undefined),
})
const installSpace = defineCache<BundleAnswer>('install-answers', {
  version: bundleReaderVersion,
  read: (stored) => (isAnswer(stored, 'install') ? stored : undefined),
})

function isAnswer(stored: unknown, field: string): stored is BundleAnswer {
  if (typeof stored !== 'object' || stored === null || !('kind' in stored)) return false
  return stored.kind === 'bundle' ? field in stored : 'reason' in stored
}

interface Both {
  readonly bundle: BundleAnswer
  readonly install: BundleAnswer
}

function bothOf(answer: BundleAnswer): Both {
  if (answer.kind !== 'bundle') return { bundle: answer, install: answer }
  const { install, ...bundle } = answer
  if (install) return { bundle, install: { kind: 'bundle', digest: answer.digest, findings: [], install } }
  return {
    bundle,
    install: { kind: 'unknown', reason: 'the bundle was opened, and not read', retryAfter: slowRetry },
  }
}

const defaultAtOnce = 4
const defaultSlowest = 120_000
/** Seconds. */
const nextLook = 2
/** Lets other evaluations run after one that used all its time. */
const slowLook = 30
const slowRetry = 600
/** A rejected archive stays rejected unless our limits or the machine's load change. */
const refusedLife = 3600

export function cachedBundles(
  client: Pick<RegistryClient, 'readBundle' | 'identity'>,
  { clock, store, atOnce = defaultAtOnce, slowest = defaultSlowest }: CachedBundlesOptions,
): CachedBundles {
  const enter = gate(atOnce)
  // Deduplicates concurrent pulls of the same bundle.
  const underWay = new Map<string, Promise<Both>>()

  async function pull(key: string, reference: string): Promise<Both> {
    const signal = AbortSignal.timeout(slowest)
    const answer = await client.readBundle(reference, signal)
    if (signal.aborted && answer.kind === 'unknown') {
      const reason = `pulling it takes longer than ${slowest / 1000} s`
      const slow = bothOf({ ...answer, reason, retryAfter: slowRetry })
      // Caches this timeout, or the same slow registry would be first in every evaluation and starve others.
      await remember(key, slow, slowRetry)
      return slow
    }
    const both = bothOf(answer)
    const life = ttlOf(reference, both.bundle)
    if (life !== undefined) await remember(key, both, life)
    return both
  }

  async function remember(key: string, { bundle, install }: Both, seconds: number): Promise<void> {
    await store.putCached(space, new Map([[key, bundle]]), seconds)
    await store.putCached(installSpace, new Map([[key, install]]), seconds)
  }

  function forOneLook(budget: BundleBudget = defaultBundleBudget): ReadBundles {
    let started: number | undefined
    const pulled = new Set<string>()

    /** Why a pull may not start. */
    function refusal(key: string): Unknown | undefined {
      started ??= clock.now()
      if (clock.now() - started >= budget.time)
        return later(`opening bundles takes longer than ${budget.time / 1000} s`, slowLook)
      if (!pulled.has(key) && pulled.size >= budget.pulls)
        return later(`the bot opened ${budget.pulls} other bundles first`)
      pulled.add(key)
      return undefined
    }

    function reading<Answer>(
      answers: CacheSpace<Answer>,
      pick: (both: Both) => Answer,
    ): (reference: string) => Promise<Answer | Unknown> {
      const withinMemory = holdingAtMost<Answer>(budget.held)
      return async (reference) => {
        // The key has the whole reference, because access to one repository does not imply access to another.
        const key = JSON.stringify([await client.identity(reference), reference])
        const remembered = (await store.getCached(answers, [key])).get(key)
        if (remembered !== undefined) return withinMemory(key, remembered)
        const leave = await enter()
        try {
          // Another caller may have pulled it while this one waited.
          const running = underWay.get(key)
          if (running) return withinMemory(key, pick(await running))
          const told = pulled.has(key) ? (await store.getCached(answers, [key])).get(key) : undefined
          if (told !== undefined) return withinMemory(key, told)
          const refused = refusal(key)
          if (refused) return refused
          const both = pull(key, reference).finally(() => underWay.delete(key))
          underWay.set(key, both)
          return withinMemory(key, pick(await both))
        } finally {
          leave()
        }
      }
    }

    return {
      readBundle: reading(space, ({ bundle }) => bundle),
      readInstall: reading(installSpace, ({ install }) => install),
    }
  }
  return { forOneLook }
}

/** Limits the total size of answers, counting each answer once. */
function holdingAtMost<Answer>(most: number): (key: string, answer: Answer) => Answer | Unknown {
  const held = new Set<string>()
  let total = 0
  return (key, answer) => {
    if (held.has(key)) return answer
    const size = JSON.stringify(answer).length
    if (total + size > most)
      return {
        kind: 'unknown',
        reason: `the bundles of this change contain more than ${most} characters; split it into several pull requests`,
        retryAfter: 3600,
      }
    total += size
    held.add(key)
    return answer
  }
}

function later(reason: string, retryAfter = nextLook): Unknown {
  return { kind: 'unknown', reason: `${reason}; this one follows in the next run`, retryAfter }
}

/** Seconds to cache an answer; undefined for unknown answers and for tags, which move. */
function ttlOf(reference: string, answer: BundleAnswer): number | undefined {
  if (parseImageReference(reference).reference?.digest === undefined) return undefined
  switch (answer.kind) {
    case 'bundle':
      return defaultTtls.digest
    case 'unsupported':
      return refusedLife
    case 'missing':
    case 'missing-or-private':
    case 'digest-mismatch':
      return defaultTtls.negative
    case 'malformed':
    case 'blocked':
    case 'unknown':
      return undefined
  }
}

/** A first-in, first-out semaphore. Call the returned function to release. */
function gate(places: number): () => Promise<() => void> {
  let free = places
  const waiting: (() => void)[] = []
  const leave = () => {
    const next = waiting.shift()
    if (next) next()
    else free += 1
  }
  return async () => {
    if (free > 0) free -= 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    return leave
  }
}
