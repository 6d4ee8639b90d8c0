// How far the pushes to a branch were processed.
import { z } from 'zod'
import { isGitObjectId, toCommitSha, type CommitSha } from '../pull-request/ids.ts'
import type { JobOfKind } from '../ports/jobs.ts'
import { defineStateNamespace, type StateStore } from '../ports/state.ts'
import type { JobContext } from './job-context.ts'

const commitShaSchema = z.string().refine(isGitObjectId).transform(toCommitSha)

const pendingRebuildSchema = z.object({
  commit: commitShaSchema,
  catalogs: z.array(z.string()),
  /** Milliseconds since the epoch; absent until dispatched. */
  dispatchedAt: z.number().exactOptional(),
  /** For webhooks: see publish/rebuild.ts. */
  attempts: z.number().exactOptional(),
  again: z.number().exactOptional(),
  status: z.string().exactOptional(),
})

const brokenCatalogSchema = z.object({
  root: z.string(),
  since: commitShaSchema,
  complaints: z.array(z.string()).readonly(),
  more: z.number(),
})

const branchStateSchema = z.object({
  /** The last tip that was processed. */
  seen: commitShaSchema,
  /** Running rebuilds, and at most one that is not dispatched yet. */
  rebuilds: z.array(pendingRebuildSchema).readonly(),
  /** Catalogs that others' pushes broke and that are still broken. */
  broken: z.array(brokenCatalogSchema).readonly().exactOptional(),
})

export type BranchState = Readonly<z.infer<typeof branchStateSchema>>
export type PendingRebuild = Readonly<z.infer<typeof pendingRebuildSchema>>

const branchStateNamespace = defineStateNamespace('branch', 1, branchStateSchema)

type BranchStateContext = JobContext<StateStore>

/** Called before the first merge on a branch, so that the merge counts as a push. */
export async function initializeBranchState(
  branch: string,
  tip: CommitSha,
  ctx: BranchStateContext,
): Promise<void> {
  const job = { repository: ctx.forge.repository, branch }
  if ((await readBranchState(job, ctx)) === undefined)
    await writeBranchState(job, ctx, { seen: tip, rebuilds: [] })
}

type RepositoryBranch = Pick<JobOfKind<'branch'>, 'repository' | 'branch'>

export async function readBranchState(
  { repository, branch }: RepositoryBranch,
  { app }: BranchStateContext,
): Promise<BranchState | undefined> {
  return app.store.readState(branchStateNamespace, repository, branch)
}

export async function writeBranchState(
  { repository, branch }: RepositoryBranch,
  { app }: BranchStateContext,
  state: BranchState,
): Promise<void> {
  await app.store.writeState(branchStateNamespace, repository, new Map([[branch, state]]))
}
