// Persistent state of preview images: the requested result, and the images to remove later.
import { z } from 'zod'
import { toCommitSha, isObjectId, toTreeSha } from '../pull-request/ids.ts'
import { defineStateNamespace } from '../ports/state.ts'

const previewRequestSchema = z.object({
  /** The pull request's head, which has the check. */
  head: z.string().refine(isObjectId).transform(toCommitSha),
  /** The validated tree that would be merged. */
  tree: z.string().refine(isObjectId).transform(toTreeSha),
  baseRef: z.string(),
  /** False if all checks passed, which counts only where previews are automatic. */
  isAsked: z.boolean(),
  /** The comment with the last request; 0 if none. A new request after the end gets a new preview. */
  comment: z.number(),
  isClosed: z.boolean(),
})
export type PreviewRequest = Readonly<z.infer<typeof previewRequestSchema>>

export const previewRequestStateNamespace = defineStateNamespace<PreviewRequest>('preview wish', {
  version: 1,
  read: (stored) => previewRequestSchema.safeParse(stored).data,
})

const builtPreviewsSchema = z.object({
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
export type BuiltPreviews = Readonly<z.infer<typeof builtPreviewsSchema>>

export const builtPreviewStateNamespace = defineStateNamespace<BuiltPreviews>('preview', {
  version: 1,
  read: (stored) => builtPreviewsSchema.safeParse(stored).data,
})
