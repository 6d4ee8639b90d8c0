// What must survive of preview images: for which result one is wished, and which were made and have to go again.
import { z } from 'zod'
import { commitSha, isObjectId, treeSha } from '../../../change/ids.ts'
import { defineState } from '../../../ports/state.ts'

const wish = z.object({
  /** The pull request's head, on which the check stands. */
  head: z.string().refine(isObjectId).transform(commitSha),
  /** The tree that would land, as it was validated. */
  tree: z.string().refine(isObjectId).transform(treeSha),
  baseRef: z.string(),
  /** Whether somebody asked, or all checks passed: the latter counts where previews are automatic. */
  isAsked: z.boolean(),
  /** The comment that asked last; 0: none did. Who asks again after the end gets another one. */
  comment: z.number(),
  isClosed: z.boolean(),
})
export type PreviewWish = Readonly<z.infer<typeof wish>>

export const previewWishes = defineState<PreviewWish>('preview wish', {
  version: 1,
  read: (stored) => wish.safeParse(stored).data,
})

const made = z.object({
  images: z.array(
    z.object({
      image: z.string(),
      root: z.string(),
      tag: z.string(),
      digest: z.string(),
      /** What was built, and how. */
      key: z.string(),
      /** Milliseconds since the epoch. */
      until: z.number(),
    }),
  ),
  /** Of those that are over: not made again for the same result and comment. */
  ended: z.array(z.string()),
  attempts: z.number(),
  /** Digest of what the check says, and on which commit it says it. */
  shown: z.string().exactOptional(),
})
export type MadePreviews = Readonly<z.infer<typeof made>>

export const madePreviews = defineState<MadePreviews>('preview', {
  version: 1,
  read: (stored) => made.safeParse(stored).data,
})
