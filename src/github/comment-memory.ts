// What was read of the comments of pull requests: they are asked for by the time of their last change, and thousands of old
// ones are not read again at every look. Kept in memory alone and for an hour at most; a landing reads everything anew.
import type { Comment } from '../change/snapshot.ts'
import type { Clock } from '../ports/clock.ts'

export interface KeptComments {
  readonly comments: ReadonlyMap<number, Comment>
  /** Our own report among them. */
  readonly own: number | undefined
  /** Milliseconds since the epoch: when all of them were read. */
  readonly readAt: number
}

export interface CommentMemory {
  get(key: string): KeptComments | undefined
  set(key: string, kept: Omit<KeptComments, 'readAt'> & { readonly readAt?: number }): void
  forget(key: string): void
}

/** An account that is deleted changes its comments' author without changing their time: that is seen after this long. */
const longest = 3600_000
/** Characters, of all pull requests together. */
const room = 32 * 1024 * 1024
/** What a comment takes beside its text. */
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
