// Remembers pull requests' comments in memory for at most an hour, so that a look reads only changed ones. A landing
// ignores it.
import type { Comment } from '../change/snapshot.ts'
import type { Clock } from '../ports/clock.ts'

export interface KeptComments {
  readonly comments: ReadonlyMap<number, Comment>
  /** Our own report's id. */
  readonly own: number | undefined
  /** When all were read, in milliseconds since the epoch. */
  readonly readAt: number
}

export interface CommentMemory {
  get(key: string): KeptComments | undefined
  set(key: string, kept: Omit<KeptComments, 'readAt'> & { readonly readAt?: number }): void
  forget(key: string): void
}

/** Deleting an account changes a comment's author but not its time, so entries expire after this. */
const longest = 3600_000
/** Characters over all pull requests. */
const room = 32 * 1024 * 1024
/** Overhead beside the text. */
const perComment = 300

export function openCommentMemory(clock: Clock): CommentMemory {
  const kept = new Map<string, KeptComments & { readonly weight: number }>()
  let weight = 0
  const forget = (key: string) => {
    weight -= kept.get(key)?.weight ?? 0
    kept.delete(key)
  }
  return {
    get(key) {
      const found = kept.get(key)
      if (found === undefined) return undefined
      kept.delete(key)
      kept.set(key, found)
      if (clock.now() - found.readAt < longest) return found
      forget(key)
      return undefined
    },
    set(key, { comments, own, readAt = clock.now() }) {
      forget(key)
      let its = perComment
      for (const { body } of comments.values()) its += body.length + perComment
      kept.set(key, { comments, own, readAt, weight: its })
      weight += its
      for (const oldest of kept.keys()) {
        if (weight <= room) break
        forget(oldest)
      }
    },
    forget,
  }
}
