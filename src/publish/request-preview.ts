// Requests a preview image of a merge result that passed validation and the images check, if an owner or a maintainer
// asks or if all checks passed. A separate job builds it.
import { checkIds, type CheckId } from '@catalog-bot/findings/checks'
import { z } from 'zod'
import { findExecutedCommand, type CommandRecord } from '../policy/command-records.ts'
import type { PullVerdict } from '../policy/verdict.ts'
import type { CheckOutcome } from '../checks/check.ts'
import type { PullSnapshot } from '../pull-request/snapshot.ts'
import type { JobQueue } from '../ports/jobs.ts'
import type { PullHistoryStore } from '../ports/pull-history.ts'
import { type StateStore, defineStateNamespace, writeStateValue } from '../ports/state.ts'
import type { JobContext } from '../jobs/job-context.ts'
import { toCommitSha, isGitObjectId, toTreeSha } from '../pull-request/ids.ts'

export const commitShaSchema = z.string().refine(isGitObjectId).transform(toCommitSha)
export const treeShaSchema = z.string().refine(isGitObjectId).transform(toTreeSha)

const previewRequestSchema = z.object({
  /** The pull request's head, which has the check. */
  head: commitShaSchema,
  /** The validated tree that would be merged. */
  tree: treeShaSchema,
  baseRef: z.string(),
  /** False if all checks passed, which counts only where previews are automatic. */
  isAsked: z.boolean(),
  /** The comment with the last request; 0 if none. A new request after the end gets a new preview. */
  comment: z.number(),
  isClosed: z.boolean(),
})

/** Persistent state of preview images: the requested result, and the images to remove later. */
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

export interface PreviewCandidatePull {
  readonly snapshot: PullSnapshot
  readonly verdict: PullVerdict
  readonly epoch: number
  readonly hasPreviews: boolean
}

/** Returns undefined if a preview is not allowed or not requested. Pure. */
export function decidePreviewRequest(
  { snapshot, verdict, epoch }: Omit<PreviewCandidatePull, 'hasPreviews'>,
  records: readonly CommandRecord[],
): PreviewRequest | undefined {
  const { result, outcomes } = verdict
  if (result === undefined || snapshot.state !== 'open') return undefined
  if (!haveChecksPassed(outcomes, ['validation', 'images'])) return undefined
  const comment = findExecutedCommand(records, 'preview', snapshot, epoch)?.comment
  const decided = outcomes.filter(({ waiting }) => waiting.length === 0)
  const isOptional = (id: CheckId) => outcomes.some((one) => one.check === id && one.isOptional)
  const allPassed = checkIds.every((id) => isOptional(id) || haveChecksPassed(decided, [id]))
  if (comment === undefined && !allPassed) return undefined
  return {
    head: snapshot.head,
    tree: result.tree,
    baseRef: snapshot.baseRef,
    isAsked: comment !== undefined,
    comment: comment ?? 0,
    isClosed: false,
  }
}

/** Whether each of these checks left no question open and reported no error. */
export function haveChecksPassed(outcomes: readonly CheckOutcome[], checks: readonly CheckId[]): boolean {
  return checks.every((id) =>
    outcomes.some(
      ({ check, findings, unanswered }) =>
        check === id && unanswered.length === 0 && !findings.some(({ severity }) => severity === 'error'),
    ),
  )
}

export async function requestPreview(
  candidate: PreviewCandidatePull,
  { app, forge, installation }: JobContext<StateStore & JobQueue & PullHistoryStore>,
): Promise<void> {
  if (!candidate.hasPreviews) return
  const { repository } = forge
  const { pull } = candidate.snapshot
  const request = decidePreviewRequest(candidate, await app.store.commands(repository, pull))
  if (request === undefined) return
  const known = await app.store.readState(previewRequestStateNamespace, repository, String(pull))
  if (JSON.stringify(known) === JSON.stringify(request)) return
  await writeStateValue(app.store, previewRequestStateNamespace, repository, String(pull), request)
  await app.store.enqueue({ kind: 'preview', installation, repository, pull })
}

export async function cancelPreviews(
  pull: PullSnapshot['pull'],
  { app, forge, installation }: JobContext<StateStore & JobQueue>,
): Promise<void> {
  const { repository } = forge
  const key = String(pull)
  const request = await app.store.readState(previewRequestStateNamespace, repository, key)
  const made = await app.store.readState(builtPreviewStateNamespace, repository, key)
  if (request === undefined || request.isClosed || made === undefined) return
  await writeStateValue(app.store, previewRequestStateNamespace, repository, key, {
    ...request,
    isClosed: true,
  })
  await app.store.enqueue({ kind: 'preview', installation, repository, pull })
}
