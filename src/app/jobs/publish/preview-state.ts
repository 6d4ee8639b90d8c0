// Persistent state of preview images: the requested result, and the images to remove later.
import { z } from 'zod'
import { commitSha, isObjectId, treeSha } from '../../../change/ids.ts'
import { defineState } from '../../../ports/state.ts'

const wish = z.object({
  /** The pull request's head, which has the check. */
  head: z.string().refine(isObjectId).transform(commitSha),
  /** The validated tree that would be merged. */
  tree: z.string().refine(isObjectId).transform(treeSha),
  baseRef: z.string(),
  /** False if all checks passed, which counts only where previews are automatic. */
  isAsked: z.boolean(),
  /** The comment with the last request; 0 if none. A new request after the end gets a new preview. */
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
      key: z.string(),
      /** Milliseconds since the epoch. */
      until: z.number(),
    }),
  ),
  /** Expired previews are not rebuilt for the same result and comment. */
  ended: z.array(z.string()),
  attempts: z.number(),
  /** Digest of the check's content and commit. */
  shown: z.string().exactOptional(),
})
export type MadePreviews = Readonly<z.infer<typeof made>>

export const madePreviews = defineState<MadePreviews>('preview', {
  version: 1,
  read: (stored) => made.safeParse(stored).data,
})
