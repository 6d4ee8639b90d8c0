// Caches answers per credential. Caches digests for days (they can disappear but not change), tags for minutes, and
// failures for a minute, but never caches unknown answers.
import { z } from 'zod'
import { parseImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import type { ImageLookupResult } from '../../checks/lookups.ts'
import type { AbortSignalLike, ImageRegistry } from '../../ports/registry.ts'
import { defineCacheNamespace, type Cache } from '../../ports/cache.ts'

interface RegistryQueryLimits {
  /** Distinct registries. Each may cost DNS, a handshake and a token service. */
  readonly hosts: number
  /** Distinct references. */
  readonly references: number
}

// The largest packages name about 30 registries' worth of images in a few thousand references.
const defaultRegistryQueryLimits: RegistryQueryLimits = { hosts: 50, references: 10_000 }

// Seconds. Digests expire after a week because registries collect garbage. Tags and missing images change during work on a pull
// request.
export const defaultImageLookupTtls = { digest: 7 * 24 * 3600, tag: 600, negative: 60 }

export interface CachedRegistry extends ImageRegistry {
  /** Queries the registry even if an answer is cached, and caches the new one. */
  refresh(reference: string, signal?: AbortSignalLike): Promise<ImageLookupResult>
  /** Caches an answer from another source, replacing the cached one. */
  cacheAnswer(reference: string, answer: ImageLookupResult): Promise<void>
}

export interface RegistryCacheOptions {
  readonly store: Cache
  /** The identity behind a reference: RegistryClient.identity. */
  readonly identity: (reference: string) => Promise<string>
  /** Anything else that changes answers, such as `platforms`. */
  readonly variant?: string
}

const imageLookupResultSchema = z.union([
  z.object({ kind: z.literal('ok'), digest: z.string(), platforms: z.array(z.string()).exactOptional() }),
  z.object({
    kind: z.enum(['missing', 'missing-or-private', 'digest-mismatch', 'unsupported']),
    reason: z.string(),
  }),
])
// Increment the version when the meaning of an answer changes.
const imageLookupCacheNamespace = defineCacheNamespace<ImageLookupResult>(
  'image-answers',
  2,
  imageLookupResultSchema,
)

export function createCachedRegistry(registry: ImageRegistry, options: RegistryCacheOptions): CachedRegistry {
  // Deduplicates concurrent queries.
  const pendingAnswers = new Map<string, Promise<ImageLookupResult>>()

  async function computeCacheKey(reference: string): Promise<string> {
    return JSON.stringify([options.variant ?? '', await options.identity(reference), reference])
  }

  function queryOnce(key: string, reference: string, signal?: AbortSignalLike): Promise<ImageLookupResult> {
    let answer = pendingAnswers.get(key)
    if (!answer) {
      answer = registry.resolve(reference, signal).finally(() => pendingAnswers.delete(key))
      pendingAnswers.set(key, answer)
    }
    return answer
  }

  async function putAnswer(key: string, reference: string, answer: ImageLookupResult): Promise<void> {
    const ttl = getImageLookupTtl(reference, answer)
    if (ttl !== undefined)
      await options.store.putCached(imageLookupCacheNamespace, new Map([[key, answer]]), ttl)
  }

  const cacheAnswer = async (reference: string, answer: ImageLookupResult) =>
    putAnswer(await computeCacheKey(reference), reference, answer)

  return {
    cacheAnswer,
    async refresh(reference, signal) {
      // Not shared with concurrent callers, because this caller may abort it.
      const answer = await registry.resolve(reference, signal)
      await cacheAnswer(reference, answer)
      return answer
    },
    async resolve(reference, signal) {
      const key = await computeCacheKey(reference)
      const cachedAnswer = (await options.store.getCached(imageLookupCacheNamespace, [key])).get(key)
      if (cachedAnswer !== undefined) return cachedAnswer
      const answer = await queryOnce(key, reference, signal)
      await putAnswer(key, reference, answer)
      return answer
    },
    close: () => registry.close(),
  }
}

/** Seconds to cache an answer; undefined for answers that are not cached. */
export function getImageLookupTtl(reference: string, answer: ImageLookupResult): number | undefined {
  const { digest, tag, negative } = defaultImageLookupTtls
  switch (answer.kind) {
    case 'ok':
      return parseImageReference(reference).reference?.digest === undefined ? tag : digest
    case 'missing':
    case 'missing-or-private':
    case 'digest-mismatch':
    case 'unsupported':
      return negative
    // These cost no request and depend on the configuration.
    case 'malformed':
    case 'blocked':
    case 'unknown':
      return undefined
  }
}

/** Returns `unknown` with a reason when the budget is exceeded. */
export function limitRegistryQueries(
  registry: ImageRegistry,
  budget: RegistryQueryLimits = defaultRegistryQueryLimits,
): ImageRegistry {
  const hosts = new Set<string>()
  const references = new Set<string>()
  const budgetExceeded = (limit: string) =>
    ({ kind: 'unknown', reason: `the change references more than ${limit}`, retryAfter: 3600 }) as const
  return {
    async resolve(text, signal) {
      const host = parseImageReference(text).reference?.host
      if (host !== undefined) {
        if (!references.has(text) && references.size >= budget.references)
          return budgetExceeded(`${budget.references} images`)
        if (!hosts.has(host) && hosts.size >= budget.hosts)
          return budgetExceeded(`${budget.hosts} registries`)
        references.add(text)
        hosts.add(host)
      }
      return registry.resolve(text, signal)
    },
    close: () => registry.close(),
  }
}
