// Persistent state of publishing, written before each call, so that the next process can continue.
import { z } from 'zod'
import { toCommitSha, isGitObjectId, type CommitSha } from '../pull-request/ids.ts'
import { defineStateNamespace } from '../ports/state.ts'
import type { PublishedImageView, PublicationView } from '../report/publish-check.ts'
import type { PublishFailureView } from '../report/base-branch-issues.ts'
import type { CatalogPublication, PublicationPlanProblem } from './plan-publications.ts'

export interface PublicationStatus {
  readonly publication: CatalogPublication
  readonly state: PublicationState
  readonly commit: CommitSha
}

const formatUtcMinute = (milliseconds: number): string =>
  `${new Date(milliseconds).toISOString().slice(0, 16)}Z`

const commitShaSchema = z.string().refine(isGitObjectId).transform(toCommitSha)
const imageDigestSchema = z.string().regex(/^sha256:[0-9a-f]{64}$/)

const publishedImageSchema = z.object({
  digest: imageDigestSchema,
  commit: commitShaSchema,
  /** See computeDirectoryContentKey(). */
  key: z.string(),
  /** Milliseconds since the epoch. */
  at: z.number(),
  seconds: z.number(),
  /** The permanent tag. */
  tag: z.string().exactOptional(),
  size: z.number().exactOptional(),
  packages: z.number().exactOptional(),
  bundles: z.number().exactOptional(),
  base: z.object({ name: z.string(), digest: z.string() }).exactOptional(),
  unchanged: z.boolean(),
  /** Why the provenance is missing. */
  unattested: z.string().exactOptional(),
  rebased: z.boolean().exactOptional(),
  moved: z.array(z.object({ tag: z.string(), to: z.string() })).readonly(),
  changeLines: z.array(z.string()).readonly(),
})

const publicationStateSchema = z.object({
  current: publishedImageSchema.exactOptional(),
  /** Previous images, newest first. */
  history: z.array(publishedImageSchema).readonly(),
  /** The image about to be pushed. After a crash, catalog-bot recognizes tags that point to it as its own. */
  intent: z.object({ digest: imageDigestSchema, commit: commitShaSchema, key: z.string() }).exactOptional(),
  /** A maintainer's rollback; it holds until the catalog in git changes. */
  pinned: z
    .object({ key: z.string(), digest: imageDigestSchema, login: z.string(), commit: commitShaSchema })
    .exactOptional(),
  /** The comment of the last /rollback that was carried out. */
  granted: z.number().exactOptional(),
  failure: z
    .object({
      commit: commitShaSchema,
      key: z.string(),
      why: z.string(),
      attempts: z.number(),
      /** Milliseconds since the epoch. */
      since: z.number(),
      again: z.number(),
      isLasting: z.boolean(),
      isRefused: z.boolean(),
      /** The comment whose /rollback failed; absent if an image of the branch failed. */
      wish: z.number().exactOptional(),
    })
    .exactOptional(),
  /** A tag that was moved outside catalog-bot. */
  strayed: z.object({ tag: z.string(), to: z.string().nullable(), since: z.number() }).exactOptional(),
  /** When base and tags were last checked. */
  lookedAt: z.number().exactOptional(),
  /** The commit published before: the merges since then are in `current`. */
  since: commitShaSchema.exactOptional(),
  /** Merged pull requests that wait for this publication. */
  pulls: z.array(z.number()).readonly(),
  /** Digests that the registry does not delete; not tried again. */
  undeletable: z.array(z.string()).readonly(),
})

export type PublishedImageState = Readonly<z.infer<typeof publishedImageSchema>>
export type PublicationState = Readonly<z.infer<typeof publicationStateSchema>>

export const publicationStateNamespace = defineStateNamespace('publication', 1, publicationStateSchema)

/** The parts of CatalogPublication.id. `image` has a tag. Only a directory can contain spaces. */
export function parsePublicationId(id: string): Readonly<Record<'branch' | 'root' | 'image', string>> {
  const [first, last] = [id.indexOf(' '), id.lastIndexOf(' ')]
  return {
    branch: id.slice(0, first),
    root: id.slice(first + 1, Math.max(last, first + 1)),
    image: id.slice(last + 1),
  }
}

export const emptyPublicationState: PublicationState = { history: [], pulls: [], undeletable: [] }

const rollbackRequestSchema = z.object({
  comment: z.number(),
  pull: z.number(),
  login: z.string(),
  digest: imageDigestSchema,
  /** The content of the branch's catalog that the rollback replaces. Absent in requests of earlier versions. */
  key: z.string().exactOptional(),
})
export type RollbackRequest = Readonly<z.infer<typeof rollbackRequestSchema>>
export const rollbackRequestStateNamespace = defineStateNamespace('rollback', 1, rollbackRequestSchema)

/** The report that GitHub last showed, so that each report is written only once. */
const reportedPublicationsSchema = z.object({
  checks: z.record(z.string(), z.string()),
  deployments: z.record(z.string(), z.string()),
  answers: z.record(z.string(), z.number()),
  issue: z.object({ number: z.number().exactOptional(), digest: z.string() }).exactOptional(),
  /** When each configuration problem was first seen. */
  problems: z.record(z.string(), z.number()),
})
export type ReportedPublications = Readonly<z.infer<typeof reportedPublicationsSchema>>
export const reportedPublicationsStateNamespace = defineStateNamespace(
  'shown publications',
  1,
  reportedPublicationsSchema,
)

/** The commit tried last; its check reports the publication. */
export function getLastPublishAttemptCommit({
  state: { failure, pinned, current },
  commit,
}: PublicationStatus): CommitSha {
  return failure?.commit ?? pinned?.commit ?? current?.commit ?? commit
}

export function toPublishedImageView(status: PublicationStatus): PublishedImageView {
  const { catalog, image, tags } = status.publication
  return { root: catalog.root, image, tags, state: toPublicationStateView(status.state) }
}

export function toPublicationStateView({ current, failure, pinned }: PublicationState): PublicationView {
  if (failure !== undefined) {
    const { why, attempts, isLasting, isRefused } = failure
    return isRefused
      ? { kind: 'refused', why }
      : { kind: 'failed', why, attempts: isLasting ? 0 : attempts, isLasting }
  }
  if (pinned !== undefined) return { kind: 'rolled-back', digest: pinned.digest, login: pinned.login }
  return current === undefined ? { kind: 'building' } : { kind: 'published', ...current }
}

/** Failures that maintainers should fix. `since`: when a configuration problem was first seen. */
export function toPublicationFailureViews(
  statuses: readonly PublicationStatus[],
  problems: readonly PublicationPlanProblem[],
  since: (problem: PublicationPlanProblem) => number,
): readonly PublishFailureView[] {
  return [
    ...problems.map((problem): PublishFailureView => ({
      ...problem,
      since: formatUtcMinute(since(problem)),
      kind: 'not-published',
    })),
    ...statuses.flatMap(({ publication, state: { failure, strayed } }): readonly PublishFailureView[] => {
      const { catalog, image, tags } = publication
      const about = { root: catalog.root, image }
      const failed: readonly PublishFailureView[] =
        failure?.isLasting === true
          ? [
              {
                ...about,
                tags,
                commit: failure.commit,
                since: formatUtcMinute(failure.since),
                why: failure.why,
                kind: 'not-published',
              },
            ]
          : []
      if (strayed === undefined) return failed
      const { tag, to } = strayed
      const why = to === null ? 'the tag was removed' : `the tag now points to ${to}`
      return [...failed, { ...about, tags: [tag], since: formatUtcMinute(strayed.since), why, kind: 'moved' }]
    }),
  ]
}
