// The App's access to registries: the operator's credentials, cached answers, and a budget for each look.
import type { AnswerTo, BundleAnswer, ImageAnswer, Question, Unknown } from '../checks/questions.ts'
import type { Clock } from '../ports/clock.ts'
import type { AbortSignalLike } from '../ports/registry.ts'
import type { Cache } from '../ports/cache.ts'
import { withBudget } from '../registry/budget.ts'
import { cachedAnswers, defaultTtls, ttlOf } from '../registry/cached-answers.ts'
import { cachedBundles, type BundleBudget } from '../registry/cached-bundles.ts'
import { openRegistry } from '../registry/open-registry.ts'
import { readRegistryAccess } from '../registry/registry-access.ts'

export type ImageQuestion = Extract<Question, { kind: 'image' | 'bundle' | 'install' }>

/** Registry access within one look's budget. Never rejects. */
export type AskRegistries = <Q extends ImageQuestion>(question: Q) => Promise<AnswerTo[Q['kind']]>

export interface Registries {
  forOneLook(): AskRegistries
  /**
   * Asks past the cache to notice images that were deleted, and updates the cache for pull requests. Never rejects
   * because of a registry's answer.
   */
  lookAgain(reference: string, signal: AbortSignalLike): Promise<ImageAnswer>
  close(): Promise<void>
}

export interface RegistriesOptions {
  readonly clock: Clock
  readonly store: Cache
  /** Credentials, mirrors and certificates: see docs/operating.md. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly insecure: readonly string[]
  /** Bundle budget of one look. By default a large change takes several looks. */
  readonly bundles?: BundleBudget
  /** Milliseconds that one look may wait for registries. Default: 90,000. */
  readonly lookTime?: number
  /** True where the readers of the answers own the credentials, as on the command line. */
  readonly showsAll?: boolean
}

// A slow registry must not block looks at other pull requests. Pending requests continue, and the next look uses their
// cached answers.
const defaultLookTime = 90_000
/** Seconds. */
const lateRetry = 30

/** Rejects when a file of credentials or mirrors exists but is unusable, rather than ignoring it silently. */
export async function openRegistries({
  clock,
  store,
  environment,
  insecure,
  bundles,
  lookTime = defaultLookTime,
  showsAll = false,
}: RegistriesOptions): Promise<Registries> {
  const access = await readRegistryAccess(environment, insecure)
  const plain = openRegistry({ clock, ...access })
  // Platforms need the manifest itself, which some registries count as a pull: asked only where the config wants them.
  const detailed = openRegistry({ clock, ...access, platforms: true })
  const remembered = {
    plain: cachedAnswers(plain, { store, identity: (reference) => plain.identity(reference) }),
    detailed: cachedAnswers(detailed, {
      store,
      identity: (reference) => detailed.identity(reference),
      variant: 'platforms',
    }),
  }
  const opened = cachedBundles(plain, { clock, store })
  async function inTime<T>(ask: () => Promise<T>, until: number): Promise<T | Unknown> {
    const late = {
      kind: 'unknown',
      reason: `the registries need more than ${lookTime / 1000} s for this change; the bot continues in the next run`,
      retryAfter: lateRetry,
    } as const
    if (until === Infinity) return ask()
    const left = until - clock.now()
    if (left <= 0) return late
    const answered = new AbortController()
    try {
      return await Promise.race([ask(), clock.sleep(left, answered.signal).then(() => late)])
    } finally {
      answered.abort()
    }
  }
  async function guarded(reference: string, answer: BundleAnswer): Promise<BundleAnswer> {
    if (showsAll || (await plain.isSeenByAll(reference))) return answer
    if (answer.kind === 'bundle') return { ...answer, isRestricted: true }
    // The reason can reveal the contents of a private archive.
    return answer.kind === 'unsupported' ? { ...answer, reason: 'the image is refused' } : answer
  }
  return {
    forOneLook() {
      const limited = { plain: withBudget(remembered.plain), detailed: withBudget(remembered.detailed) }
      const { readBundle, readInstall } = opened.forOneLook(bundles)
      const ask = async (question: ImageQuestion) => {
        const { kind, reference } = question
        if (kind === 'bundle') return guarded(reference, await readBundle(reference))
        if (kind === 'install') return guarded(reference, await readInstall(reference))
        return (question.platforms === true ? limited.detailed : limited.plain).resolve(reference)
      }
      let until: number | undefined
      return async <Q extends ImageQuestion>(question: Q) => {
        until ??= clock.now() + lookTime
        return (await inTime(() => ask(question), until)) as AnswerTo[Q['kind']]
      }
    },
    async lookAgain(reference, signal) {
      const answer = await remembered.plain.refresh(reference, signal)
      // Answers about a digest stay cached for days, so a missing image must also clear the answer with platforms.
      if (ttlOf(reference, answer, defaultTtls) === defaultTtls.negative)
        await remembered.detailed.remember(reference, answer)
      return answer
    },
    close: async () => {
      await Promise.all([plain.close(), detailed.close()])
    },
  }
}
