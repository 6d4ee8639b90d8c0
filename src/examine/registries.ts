// The registries as the App asks them: with the operator's credentials, through the store's memory of answers, within
// a budget for each look at a pull request.
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

/** One look's way of asking registries: what it may ask is limited. Never rejects. */
export type AskRegistries = <Q extends ImageQuestion>(question: Q) => Promise<AnswerTo[Q['kind']]>

export interface Registries {
  /** A fresh budget: what one look at a pull request may cost. */
  forOneLook(): AskRegistries
  /**
   * Asks for one reference past what is remembered, so that what has gone is seen; pull requests are told of it, too.
   * Never rejects for what a registry says.
   */
  lookAgain(reference: string, signal: AbortSignalLike): Promise<ImageAnswer>
  close(): Promise<void>
}

export interface RegistriesOptions {
  readonly clock: Clock
  readonly store: Cache
  /** Says where credentials, mirrors and certificates are: see docs/operating.md. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly insecure: readonly string[]
  /** Of bundles for one look. Default: so many that a large change takes several looks. */
  readonly bundles?: BundleBudget
  /** Milliseconds that one look may wait for registries. Default: a minute and a half. */
  readonly lookTime?: number
  /** True where those who read the answers are those whose credentials are used: on the command line. */
  readonly showsAll?: boolean
}

// A registry that answers every question late, or asks for patience each time, must not keep a place in which other
// pull requests could be looked at. What was asked goes on, and is remembered for the next look.
const defaultLookTime = 90_000
/** Seconds. */
const lateRetry = 30

/** Rejects when a file of credentials or mirrors exists and cannot be used: to go on without it would hide that. */
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
    // What an archive is refused for names what is in it.
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
      // A digest is remembered for days: what is gone must be forgotten by those who asked for platforms, too.
      if (ttlOf(reference, answer, defaultTtls) === defaultTtls.negative)
        await remembered.detailed.remember(reference, answer)
      return answer
    },
    close: async () => {
      await Promise.all([plain.close(), detailed.close()])
    },
  }
}
