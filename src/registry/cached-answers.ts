// Caches answers per credential: digests for days (they cannot change, only vanish), tags for minutes, failures for a
// minute, unknown never.
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

// Digests last a week because registries collect garbage. Tags and missing images change while people work on a pull
// request.
export const defaultTtls: AnswerTtls = { digest: 7 * 24 * 3600, tag: 600, negative: 60 }

export interface CachedRegistry extends Registry {
  /** Queries the registry even if an answer is cached, and caches the new one. */
  refresh(reference: string, signal?: AbortSignalLike): Promise<ImageAnswer>
  /** Caches an answer known from elsewhere, replacing the cached one. */
  remember(reference: string, answer: ImageAnswer): Promise<void>
  /** One cache read, one batch of queries, one cache write. Results are in the given order. */
  resolveAll(references: readonly string[], signal?: AbortSignalLike): Promise<readonly ImageAnswer[]>
}

export interface CacheOptions {
  readonly store: Cache
  /** The identity behind a reference: RegistryClient.identity. */
  readonly identity: (reference: string) => Promise<string>
  /** Anything else that changes answers, such as `platforms`. */
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
// Raise the version when the meaning of an answer changes.
const space = defineCache<ImageAnswer>('image-answers', {
  version: 2,
  read: (stored) => imageAnswer.safeParse(stored).data,
})

export function cachedAnswers(registry: Registry, options: CacheOptions): CachedRegistry {
  const lives = options.lives ?? defaultTtls
  // Deduplicates concurrent queries.
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
      // Not shared with concurrent callers, because this caller may abort it.
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

/** Seconds to cache an answer; undefined for answers that are not cached. */
export function ttlOf(reference: string, answer: ImageAnswer, lives: AnswerTtls): number | undefined {
  switch (answer.kind) {
    case 'ok':
      return parseImageReference(reference).reference?.digest === undefined ? lives.tag : lives.digest
    case 'missing':
    case 'missing-or-private':
    case 'digest-mismatch':
    case 'unsupported':
      return lives.negative
    // These cost no request and depend on our configuration.
    case 'malformed':
    case 'blocked':
    case 'unknown':
      return undefined
  }
}
