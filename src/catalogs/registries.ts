// The App's access to registries: the administrator's credentials, cached answers, and a budget for each evaluation.
import type {
  LookupResultByKind,
  BundleImageLookupResult,
  ImageLookupResult,
  RegistryLookupRequest,
  InconclusiveLookupResult,
} from '../checks/lookups.ts'
import type { Clock } from '../ports/clock.ts'
import type { AbortSignalLike } from '../ports/registry.ts'
import type { Cache } from '../ports/cache.ts'
import {
  createCachedRegistry,
  defaultImageLookupTtls,
  getImageLookupTtl,
  limitRegistryQueries,
} from '../adapters/registry/cached-registry.ts'
import { CachedBundleReaders, type BundlePullBudget } from '../adapters/registry/cached-bundles.ts'
import { HttpRegistryClient } from '../adapters/registry/open-registry.ts'
import { readRegistryAccess } from '../adapters/registry/registry-access.ts'

/** Registry access within one evaluation's budget. Never rejects. */
export type RegistryLookupResolver = <Q extends RegistryLookupRequest>(
  question: Q,
) => Promise<LookupResultByKind[Q['kind']]>

export interface RegistryLookupService {
  forEvaluation(): RegistryLookupResolver
  /**
   * Asks past the cache to notice images that were deleted, and updates the cache for pull requests. Never rejects
   * because of a registry's answer.
   */
  refreshImage(reference: string, signal: AbortSignalLike): Promise<ImageLookupResult>
  close(): Promise<void>
}

export interface RegistryLookupServiceOptions {
  readonly clock: Clock
  readonly store: Cache
  /** Credentials, mirrors and certificates: see docs/how-to/networks.md. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly insecure: readonly string[]
  /** Bundle budget of one evaluation. By default a large change takes several evaluations. */
  readonly bundles?: BundlePullBudget
  /** Milliseconds that one evaluation may wait for registries. Default: 90,000. */
  readonly evaluationTimeoutMs?: number
  /** True where the readers of the answers own the credentials, as on the command line. */
  readonly showsAll?: boolean
}

// Other pull requests must not wait for a slow registry. Requests continue, for the next evaluation.
const defaultEvaluationTimeoutMs = 90_000
const evaluationTimeoutRetrySeconds = 30

/** Rejects when a file of credentials or mirrors exists but is unusable, rather than ignoring it silently. */
export async function createRegistryLookupService({
  clock,
  store,
  environment,
  insecure,
  bundles,
  evaluationTimeoutMs = defaultEvaluationTimeoutMs,
  showsAll = false,
}: RegistryLookupServiceOptions): Promise<RegistryLookupService> {
  const access = await readRegistryAccess(environment, insecure)
  const plain = new HttpRegistryClient({ clock, ...access })
  // Platforms need the manifest itself, which some registries count as a pull: asked only where the config wants them.
  const detailed = new HttpRegistryClient({ clock, ...access, platforms: true })
  const cached = {
    plain: createCachedRegistry(plain, { store, identity: (reference) => plain.identity(reference) }),
    detailed: createCachedRegistry(detailed, {
      store,
      identity: (reference) => detailed.identity(reference),
      variant: 'platforms',
    }),
  }
  const opened = new CachedBundleReaders(plain, { clock, store })
  async function withTimeout<T>(run: () => Promise<T>, until: number): Promise<T | InconclusiveLookupResult> {
    const late = {
      kind: 'unknown',
      reason: `registry lookups for this change are taking longer than ${evaluationTimeoutMs / 1000} s; catalog-bot will continue them in the next run`,
      retryAfter: evaluationTimeoutRetrySeconds,
    } as const
    if (until === Infinity) return run()
    const remainingMs = until - clock.now()
    if (remainingMs <= 0) return late
    const answered = new AbortController()
    try {
      return await Promise.race([run(), clock.sleep(remainingMs, answered.signal).then(() => late)])
    } finally {
      answered.abort()
    }
  }
  async function hideRestricted(
    reference: string,
    answer: BundleImageLookupResult,
  ): Promise<BundleImageLookupResult> {
    if (showsAll || (await plain.isPubliclyReadable(reference))) return answer
    if (answer.kind === 'bundle') return { ...answer, isRestricted: true }
    // The reason can reveal the contents of a private archive.
    return answer.kind === 'unsupported' ? { ...answer, reason: 'the image is rejected' } : answer
  }
  return {
    forEvaluation() {
      const limited = {
        plain: limitRegistryQueries(cached.plain),
        detailed: limitRegistryQueries(cached.detailed),
      }
      const { readBundle, readInstall } = opened.forEvaluation(bundles)
      const ask = async (question: RegistryLookupRequest) => {
        const { kind, reference } = question
        if (kind === 'bundle') return hideRestricted(reference, await readBundle(reference))
        if (kind === 'install') return hideRestricted(reference, await readInstall(reference))
        return (question.platforms === true ? limited.detailed : limited.plain).resolve(reference)
      }
      let until: number | undefined
      return async <Q extends RegistryLookupRequest>(question: Q) => {
        until ??= clock.now() + evaluationTimeoutMs
        return (await withTimeout(() => ask(question), until)) as LookupResultByKind[Q['kind']]
      }
    },
    async refreshImage(reference, signal) {
      const answer = await cached.plain.refresh(reference, signal)
      // Answers about a digest stay cached for days, so a missing image must also clear the answer with platforms.
      if (getImageLookupTtl(reference, answer) === defaultImageLookupTtls.negative)
        await cached.detailed.cacheAnswer(reference, answer)
      return answer
    },
    close: async () => {
      await Promise.all([plain.close(), detailed.close()])
    },
  }
}
