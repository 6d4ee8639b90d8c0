// GitHub's answers for conditional requests, which cost nothing of the hourly limit. Kept per installation and
// credential, and only used when GitHub confirms them.
import { createHash } from 'node:crypto'

export interface CachedResponse {
  readonly etag: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Buffer
}

export interface ResponseCache {
  get(key: string): CachedResponse | undefined
  /** Undefined removes the entry. */
  put(key: string, answer: CachedResponse | undefined): void
  readonly bytes: number
}

/** Bytes per installation. */
const maxResponseCacheBytes = 4 * 1024 * 1024
/** Bytes per answer. Longer ones are lists that change all the time. */
const maxCachedResponseBytes = 256 * 1024
/** Overhead beside body and key. */
const cacheEntryOverheadBytes = 1024

export function createResponseCache(maxBytes = maxResponseCacheBytes): ResponseCache {
  const entries = new Map<string, CachedResponse>()
  let bytes = 0
  const getWeight = (key: string, { body }: CachedResponse) =>
    body.length + key.length + cacheEntryOverheadBytes
  function drop(key: string): void {
    const answer = entries.get(key)
    if (answer === undefined) return
    bytes -= getWeight(key, answer)
    entries.delete(key)
  }
  return {
    get(key) {
      const answer = entries.get(key)
      if (answer === undefined) return undefined
      entries.delete(key)
      entries.set(key, answer)
      return answer
    },
    put(key, answer) {
      drop(key)
      if (answer === undefined || answer.body.length > maxCachedResponseBytes) return
      entries.set(key, answer)
      bytes += getWeight(key, answer)
      for (const oldest of entries.keys()) {
        if (bytes <= maxBytes) break
        drop(oldest)
      }
    },
    get bytes() {
      return bytes
    },
  }
}

/** Everything an answer depends on. Contains no token. */
export function toResponseCacheKey(url: string, headers: Headers): string {
  const credential = createHash('sha256')
    .update(headers.get('authorization') ?? '')
    .digest('hex')
  return [credential, headers.get('accept'), headers.get('x-github-api-version'), url].join(' ')
}
