// Remembers what registries said, in the store: digests for days (they cannot change, only vanish), tags for
// minutes, bad news for a minute, unknown never. What one credential may see is not told to another.
import { z } from 'zod'
import { parseImageReference } from '../go/reference/image-reference.ts'
import type { ImageAnswer } from '../checks/questions.ts'
import type { AbortSignalLike, Registry } from '../ports/registry.ts'
import { defineCache, type Cache } from '../ports/cache.ts'

/** Seconds. */
export interface AnswerTtls {
  readonly digest: number
  readonly tag: number
  readonly negative: number
}

// A week: a digest stays what it is, but registries collect garbage. Tags and absences are what people are
// changing while they look at their pull request.
export const defaultTtls: AnswerTtls = { digest: 7 * 24 * 3600, tag: 600, negative: 60 }

export interface CachedRegistry extends Registry {
  /** Asks the registry whatever is remembered, and remembers what it says now. */
  refresh(reference: string, signal?: AbortSignalLike): Promise<ImageAnswer>
  /** Remembers what is known of a reference from elsewhere, in place of what was remembered. */
  remember(reference: string, answer: ImageAnswer): Promise<void>
  /** Many at once: one read of the cache, the rest asked of the registry, one write. In the order given. */
  resolveAll(references: readonly string[], signal?: AbortSignalLike): Promise<readonly ImageAnswer[]>
}

export interface CacheOptions {
  readonly store: Cache
  /** Who asks, for a reference's host: RegistryClient.identity. */
  readonly identity: (reference: string) => Promise<string>
  /** Anything else that answers depend on: `platforms` when they are asked for. */
  readonly variant?: string
  readonly lives?: AnswerTtls
}

const imageAnswer = z.union([
  z.object({
    kind: z.literal('ok'),
    digest: z.string(),
    mediaType: z.string(),
    size: z.number(),
    platforms: z.array(z.string()).exactOptional(),
  }),
  z.object({
    kind: z.enum(['missing', 'missing-or-private', 'digest-mismatch', 'unsupported']),
    reason: z.string(),
  }),
])
// The number is raised when what counts as an answer changes: old ones are never looked at again.
const space = defineCache<ImageAnswer>('image-answers', {
  version: 2,
  read: (stored) => imageAnswer.safeParse(stored).data,
})

export function cachedAnswers(registry: Registry, options: CacheOptions): CachedRegistry {
  const lives = options.lives ?? defaultTtls
  // The same question asked again while it is under way.
  const underWay = new Map<string, Promise<ImageAnswer>>()

  async function keyOf(reference: string): Promise<string> {
    return JSON.stringify([options.variant ?? '', await options.identity(reference), reference])
  }

  function ask(key: string, reference: string, signal?: AbortSignalLike): Promise<ImageAnswer> {
    let answer = underWay.get(key)
    if (!answer) {
      answer = registry.resolve(reference, signal).finally(() => underWay.delete(key))
      underWay.set(key, answer)
    }
    return answer
  }

  async function resolveAll(references: readonly string[], signal?: AbortSignalLike) {
    const keys = new Map<string, string>()
    for (const reference of new Set(references)) keys.set(reference, await keyOf(reference))
    const known = await options.store.getCached(space, [...keys.values()])
    const answers = new Map<string, ImageAnswer>()
    const fresh = new Map<number, Map<string, ImageAnswer>>()
    await Promise.all(
      [...keys].map(async ([reference, key]) => {
        const remembered = known.get(key)
        const answer = remembered ?? (await ask(key, reference, signal))
        answers.set(reference, answer)
        const life = remembered === answer ? undefined : ttlOf(reference, answer, lives)
        if (life === undefined) return
        const group = fresh.get(life) ?? new Map<string, ImageAnswer>()
        fresh.set(life, group.set(key, answer))
      }),
    )
    for (const [life, values] of fresh) await options.store.putCached(space, values, life)
    return references.map((reference) => answers.get(reference) as ImageAnswer)
  }

  async function remember(reference: string, answer: ImageAnswer): Promise<void> {
    const life = ttlOf(reference, answer, lives)
    if (life !== undefined)
      await options.store.putCached(space, new Map([[await keyOf(reference), answer]]), life)
  }

  return {
    resolveAll,
    remember,
    async refresh(reference, signal) {
      // Not shared with others who ask the same now: this one may be called off.
      const answer = await registry.resolve(reference, signal)
      await remember(reference, answer)
      return answer
    },
    async resolve(reference, signal) {
      const [answer] = await resolveAll([reference], signal)
      return answer as ImageAnswer
    },
    close: () => registry.close(),
  }
}

/** Seconds to remember an answer; undefined for answers that are none. */
export function ttlOf(reference: string, answer: ImageAnswer, lives: AnswerTtls): number | undefined {
  switch (answer.kind) {
    case 'ok':
      return parseImageReference(reference).reference?.digest === undefined ? lives.tag : lives.digest
    case 'missing':
    case 'missing-or-private':
    case 'digest-mismatch':
    case 'unsupported':
      return lives.negative
    // These cost no request, and depend on how we are set up.
    case 'malformed':
    case 'blocked':
    case 'unknown':
      return undefined
  }
}
