// What GitHub answered to reads, to be asked for again with "if it has changed": what has not costs nothing of the hourly limit.
// Of one installation alone, and an answer is looked up by the credential that it was given to. What is here is never an answer
// by itself: GitHub has to say that it still is.
import { createHash } from 'node:crypto'

export interface KeptAnswer {
  readonly etag: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Buffer
}

export interface KeptAnswers {
  get(key: string): KeptAnswer | undefined
  /** Undefined takes away what is there. */
  put(key: string, answer: KeptAnswer | undefined): void
  readonly bytes: number
}

/** Bytes of one installation. */
const room = 4 * 1024 * 1024
/** Bytes of one answer: longer ones are lists that change all the time. */
const longest = 256 * 1024
/** What an entry takes beside its body and its key. */
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

/** All that an answer depends on. No token stands in it. */
export function keyOf(url: string, headers: Headers): string {
  const credential = createHash('sha256')
    .update(headers.get('authorization') ?? '')
    .digest('hex')
  return [credential, headers.get('accept'), headers.get('x-github-api-version'), url].join(' ')
}
