// Caches bundle contents and install outcomes by digest and reader version; one pull yields both. Each evaluation has a
// pull budget, and the next evaluation continues from there.
import pLimit from 'p-limit'
import { parseImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import type { BundleImageLookupResult, InconclusiveLookupResult } from '../../checks/lookups.ts'
import type { Clock } from '../../ports/clock.ts'
import { defineCacheNamespace, type Cache, type CacheNamespace } from '../../ports/cache.ts'
import { defaultImageLookupTtls, getImageLookupTtl } from './cached-registry.ts'
import type { RegistryClient } from './registry-client.ts'
import { bundleReaderVersion } from './unpack/read-bundle-files.ts'

export interface BundlePullBudget {
  /** The number of bundles to pull. Cached bundles don't count. */
  readonly pulls: number
  /** Milliseconds after the first pull in which new pulls may start. */
  readonly time: number
  /** Total characters of all answers of one kind. Limited because an evaluation holds them in memory. */
  readonly held: number
}

// A hundred pulls, four at a time, take seconds. Typical answers have a few thousand characters, so only tens of
// thousands of bundles reach the limit.
export const defaultBundlePullLimits: BundlePullBudget = { pulls: 100, time: 60_000, held: 64 * 1024 * 1024 }

/** Reads bundles for one evaluation. Rejects like RegistryClient.readBundle, only for internal errors. */
export interface BudgetedBundleReader {
  readonly readBundle: (reference: string) => Promise<BundleImageLookupResult>
  readonly readInstall: (reference: string) => Promise<BundleImageLookupResult>
}

export interface CachedBundleReadersOptions {
  readonly clock: Clock
  readonly store: Cache
  /** Concurrent pulls over all evaluations. Each pull holds its layers in memory and has a process. */
  readonly atOnce?: number
  /** Milliseconds for one pull, so that a slow registry does not block others. */
  readonly slowest?: number
}

// The reader's version covers the answer's shape.
const bundleImageLookupCacheNamespace = defineCacheNamespace<BundleImageLookupResult>(
  'bundle-answers',
  bundleReaderVersion,
  (stored) => (isCachedBundleLookup(stored, 'findings') ? stored : undefined),
)
const bundleInstallLookupCacheNamespace = defineCacheNamespace<BundleImageLookupResult>(
  'install-answers',
  bundleReaderVersion,
  (stored) => (isCachedBundleLookup(stored, 'install') ? stored : undefined),
)

function isCachedBundleLookup(stored: unknown, field: string): stored is BundleImageLookupResult {
  if (typeof stored !== 'object' || stored === null || !('kind' in stored)) return false
  return stored.kind === 'bundle' ? field in stored : 'reason' in stored
}

interface BundleAndInstallLookups {
  readonly bundle: BundleImageLookupResult
  readonly install: BundleImageLookupResult
}

function splitBundleAndInstallLookups(answer: BundleImageLookupResult): BundleAndInstallLookups {
  if (answer.kind !== 'bundle') return { bundle: answer, install: answer }
  const { install, ...bundle } = answer
  if (install) return { bundle, install: { kind: 'bundle', digest: answer.digest, findings: [], install } }
  return {
    bundle,
    install: {
      kind: 'unknown',
      reason: 'the bundle was pulled, but its content was not read',
      retryAfter: slowBundlePullRetrySeconds,
    },
  }
}

const defaultMaxConcurrentBundlePulls = 4
const defaultMaxBundlePullMs = 120_000
const deferredBundlePullRetrySeconds = 2
/** Lets other evaluations run after one that used all its time. */
const exhaustedPullBudgetRetrySeconds = 30
const slowBundlePullRetrySeconds = 600
/** A rejected archive remains rejected unless the limits or the machine's load change. */
const rejectedBundleArchiveTtlSeconds = 3600

export class CachedBundleReaders {
  readonly #client: Pick<RegistryClient, 'readBundle' | 'identity'>
  readonly #clock
  readonly #store
  readonly #slowest
  readonly #limit
  // Deduplicates concurrent pulls of the same bundle.
  readonly #pendingPulls = new Map<string, Promise<BundleAndInstallLookups>>()

  constructor(client: Pick<RegistryClient, 'readBundle' | 'identity'>, options: CachedBundleReadersOptions) {
    const {
      clock,
      store,
      atOnce = defaultMaxConcurrentBundlePulls,
      slowest = defaultMaxBundlePullMs,
    } = options
    this.#client = client
    this.#clock = clock
    this.#store = store
    this.#slowest = slowest
    this.#limit = pLimit(atOnce)
  }

  readonly forEvaluation = (budget: BundlePullBudget = defaultBundlePullLimits): BudgetedBundleReader => {
    let started: number | undefined
    const pulled = new Set<string>()

    /** The reason why a pull must not start. */
    const findBudgetProblem = (key: string): InconclusiveLookupResult | undefined => {
      started ??= this.#clock.now()
      if (this.#clock.now() - started >= budget.time)
        return createDeferredLookupResult(
          `pulling bundles took longer than ${budget.time / 1000} s`,
          exhaustedPullBudgetRetrySeconds,
        )
      if (!pulled.has(key) && pulled.size >= budget.pulls)
        return createDeferredLookupResult(`catalog-bot pulls at most ${budget.pulls} bundles per run`)
      pulled.add(key)
      return undefined
    }

    const createReader = <Answer>(
      answers: CacheNamespace<Answer>,
      pick: (both: BundleAndInstallLookups) => Answer,
    ): ((reference: string) => Promise<Answer | InconclusiveLookupResult>) => {
      const withinMemory = createLookupResultSizeLimiter<Answer>(budget.held)
      return async (reference) => {
        // The key has the whole reference, because access to one repository does not imply access to another.
        const key = JSON.stringify([await this.#client.identity(reference), reference])
        const cachedAnswer = (await this.#store.getCached(answers, [key])).get(key)
        if (cachedAnswer !== undefined) return withinMemory(key, cachedAnswer)
        return this.#limit(async () => {
          // Another caller may have pulled it while this one waited.
          const running = this.#pendingPulls.get(key)
          if (running) return withinMemory(key, pick(await running))
          const pulledAnswer = pulled.has(key)
            ? (await this.#store.getCached(answers, [key])).get(key)
            : undefined
          if (pulledAnswer !== undefined) return withinMemory(key, pulledAnswer)
          const budgetProblem = findBudgetProblem(key)
          if (budgetProblem) return budgetProblem
          const both = this.#pull(key, reference).finally(() => this.#pendingPulls.delete(key))
          this.#pendingPulls.set(key, both)
          return withinMemory(key, pick(await both))
        })
      }
    }

    return {
      readBundle: createReader(bundleImageLookupCacheNamespace, ({ bundle }) => bundle),
      readInstall: createReader(bundleInstallLookupCacheNamespace, ({ install }) => install),
    }
  }

  async #pull(key: string, reference: string): Promise<BundleAndInstallLookups> {
    const signal = AbortSignal.timeout(this.#slowest)
    const answer = await this.#client.readBundle(reference, signal)
    if (signal.aborted && answer.kind === 'unknown') {
      const reason = `pulling the image took longer than ${this.#slowest / 1000} s`
      const slow = splitBundleAndInstallLookups({ ...answer, reason, retryAfter: slowBundlePullRetrySeconds })
      // Caches this timeout, or the same slow registry would be first in every evaluation and starve others.
      await this.#cacheAnswers(key, slow, slowBundlePullRetrySeconds)
      return slow
    }
    const both = splitBundleAndInstallLookups(answer)
    const life = getBundleLookupTtl(reference, both.bundle)
    if (life !== undefined) await this.#cacheAnswers(key, both, life)
    return both
  }

  async #cacheAnswers(
    key: string,
    { bundle, install }: BundleAndInstallLookups,
    seconds: number,
  ): Promise<void> {
    // Together, because the store then writes both with one statement.
    await Promise.all([
      this.#store.putCached(bundleImageLookupCacheNamespace, new Map([[key, bundle]]), seconds),
      this.#store.putCached(bundleInstallLookupCacheNamespace, new Map([[key, install]]), seconds),
    ])
  }
}

/** Limits the total size of answers, counting each answer once. */
function createLookupResultSizeLimiter<Answer>(
  maxCharacters: number,
): (key: string, answer: Answer) => Answer | InconclusiveLookupResult {
  const held = new Set<string>()
  let total = 0
  return (key, answer) => {
    if (held.has(key)) return answer
    const size = JSON.stringify(answer).length
    if (total + size > maxCharacters)
      return {
        kind: 'unknown',
        reason: `the bundles in this change contain more than ${maxCharacters} characters; split the change into several pull requests`,
        retryAfter: 3600,
      }
    total += size
    held.add(key)
    return answer
  }
}

function createDeferredLookupResult(
  reason: string,
  retryAfter = deferredBundlePullRetrySeconds,
): InconclusiveLookupResult {
  return { kind: 'unknown', reason: `${reason}; the next run will pull this bundle`, retryAfter }
}

/** Seconds to cache an answer; undefined for unknown answers and for tags, which move. */
function getBundleLookupTtl(reference: string, answer: BundleImageLookupResult): number | undefined {
  if (parseImageReference(reference).reference?.digest === undefined) return undefined
  if (answer.kind === 'bundle') return defaultImageLookupTtls.digest
  if (answer.kind === 'unsupported') return rejectedBundleArchiveTtlSeconds
  return getImageLookupTtl(reference, answer)
}
