// What must survive of publishing: which image a tag has, which one was about to get it, what failed, what was rolled
// back. Written before a registry or GitHub is told anything; whoever comes next goes on from there.
import { z } from 'zod'
import { commitSha, isObjectId } from '../../../change/ids.ts'
import { defineState } from '../../../ports/state.ts'

const commit = z.string().refine(isObjectId).transform(commitSha)
const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/)

const publishedImage = z.object({
  digest,
  commit,
  /** What was built, and how: see contentKey(). */
  key: z.string(),
  /** Milliseconds since the epoch. */
  at: z.number(),
  seconds: z.number(),
  /** The tag under which it stays. */
  tag: z.string().exactOptional(),
  size: z.number().exactOptional(),
  packages: z.number().exactOptional(),
  bundles: z.number().exactOptional(),
  base: z.object({ name: z.string(), digest: z.string() }).exactOptional(),
  unchanged: z.boolean(),
  /** Why its provenance is not beside it. */
  unattested: z.string().exactOptional(),
  rebased: z.boolean().exactOptional(),
  moved: z.array(z.object({ tag: z.string(), to: z.string() })).readonly(),
  changeLines: z.array(z.string()).readonly(),
})

const publication = z.object({
  current: publishedImage.exactOptional(),
  /** Those that the tags had before, newest first. */
  history: z.array(publishedImage).readonly(),
  /** What is about to be pushed: a process that is killed then leaves tags that are ours all the same. */
  intent: z.object({ digest, commit, key: z.string() }).exactOptional(),
  /** A maintainer's choice, which holds while the catalog in git is what it was then. */
  pinned: z.object({ key: z.string(), digest, login: z.string(), commit }).exactOptional(),
  /** The comment whose /rollback was last carried out. */
  granted: z.number().exactOptional(),
  failure: z
    .object({
      commit,
      key: z.string(),
      why: z.string(),
      attempts: z.number(),
      /** Milliseconds since the epoch. */
      since: z.number(),
      again: z.number(),
      isLasting: z.boolean(),
      isRefused: z.boolean(),
      /** The comment whose /rollback failed; absent: an image of the branch did. */
      wish: z.number().exactOptional(),
    })
    .exactOptional(),
  /** A tag that is not what we set, found while nothing was to be done. */
  strayed: z.object({ tag: z.string(), to: z.string().nullable(), since: z.number() }).exactOptional(),
  /** When base and tags were last looked at. */
  lookedAt: z.number().exactOptional(),
  /** The commit that was published before: what came since are the merges that `current` brought. */
  since: commit.exactOptional(),
  /** Merged pull requests that wait for it. */
  pulls: z.array(z.number()).readonly(),
  /** Digests that the registry does not delete: it is not asked for them again. */
  undeletable: z.array(z.string()).readonly(),
})

export type PublishedImageState = Readonly<z.infer<typeof publishedImage>>
export type PublicationState = Readonly<z.infer<typeof publication>>

export const publications = defineState<PublicationState>('publication', {
  version: 1,
  read: (stored) => publication.safeParse(stored).data,
})

export const noPublication: PublicationState = { history: [], pulls: [], undeletable: [] }

/** What a maintainer asked for with /rollback, by publication. */
const rollbackWish = z.object({
  comment: z.number(),
  pull: z.number(),
  login: z.string(),
  digest,
})
export type RollbackWish = Readonly<z.infer<typeof rollbackWish>>
export const rollbackWishes = defineState<RollbackWish>('rollback', {
  version: 1,
  read: (stored) => rollbackWish.safeParse(stored).data,
})

/** What was last shown on GitHub of a repository's publications, so that each thing is written once. */
const shown = z.object({
  /** Digest of what a commit's check says, by commit. */
  checks: z.record(z.string(), z.string()),
  /** The same of deployments and of answers to /rollback, by publication. */
  deployments: z.record(z.string(), z.string()),
  answers: z.record(z.string(), z.number()),
  issue: z.object({ number: z.number().exactOptional(), digest: z.string() }).exactOptional(),
  /** Since when the configuration has a problem, by its words. */
  problems: z.record(z.string(), z.number()),
})
export type ShownPublications = Readonly<z.infer<typeof shown>>
export const shownPublications = defineState<ShownPublications>('shown publications', {
  version: 1,
  read: (stored) => shown.safeParse(stored).data,
})

/** What a merged pull request's comment says of publishing, by its number. */
const toldPull = z.object({
  state: z.enum(['published', 'pending', 'failed']),
  lines: z.array(z.string()),
  /** Whether the comment says it: a process may have died before it did. */
  isShown: z.boolean(),
})
export type ToldPull = Readonly<z.infer<typeof toldPull>>
export const toldPulls = defineState<ToldPull>('publication of a pull request', {
  version: 1,
  read: (stored) => toldPull.safeParse(stored).data,
})
