// GitHub's answers for conditional requests, which cost nothing of the hourly limit. Kept per installation and
// credential, and only used when GitHub confirms them.
import { createHash } from 'node:crypto'

export interface KeptAnswer {
  readonly etag: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Buffer
}

export interface KeptAnswers {
  get(key: string): KeptAnswer | undefined
  /** Undefined removes the entry. */
  put(key: string, answer: KeptAnswer | undefined): void
  readonly bytes: number
}

/** Bytes per installation. */
const room = 4 * 1024 * 1024
/** Bytes per answer. Longer ones are lists that change all the time. */
const longest = 256 * 1024
/** Overhead beside body and key. */
const perEntry = 1024

export function openKeptAnswers(most = room): KeptAnswers {
  const kept = new Map<string, KeptAnswer>()
  let bytes = 0
  const weightOf = (key: string, { body }: KeptAnswer) => body.length + key.length + perEntry
  function drop(key: string): void {
    const answer = kept.get(key)
    if (answer === undefined) return
    bytes -= weightOf(key, answer)
    kept.delete(key)
  }
  return {
    get(key) {
      const answer = kept.get(key)
      if (answer === undefined) return undefined
      kept.delete(key)
      kept.set(key, answer)
      return answer
    },
    put(key, answer) {
      drop(key)
      if (answer === undefined || answer.body.length > longest) return
      kept.set(key, answer)
      bytes += weightOf(key, answer)
      for (const oldest of kept.keys()) {
        if (bytes <= most) break
        drop(oldest)
      }
    },
    get bytes() {
      return bytes
    },
  }
}

/** Everything an answer depends on. Contains no token. */
export function keyOf(url: string, headers: Headers): string {
  const credential = createHash('sha256')
    .update(headers.get('authorization') ?? '')
    .digest('hex')
  return [credential, headers.get('accept'), headers.get('x-github-api-version'), url].join(' ')
}
