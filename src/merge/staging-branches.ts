// Removes temporary branches that a crashed process left. Checks soon after a merge creates one, and rarely otherwise.
import { z } from 'zod'
import { toCommitSha, type CommitSha } from '../pull-request/ids.ts'
import { type RepositoryName, toRepositoryKey } from '../pull-request/snapshot.ts'
import type { ValidatedMerge } from '../policy/merge-permit.ts'
import {
  parseTemporaryBranch,
  formatTemporaryBranch,
  temporaryBranchPrefix,
} from '../policy/merge-strategy.ts'
import { defineCacheNamespace, type Cache } from '../ports/cache.ts'
import type { MergeApi } from '../ports/merge-api.ts'
import type { LeaseStore } from '../ports/jobs.ts'
import type { GitRepository } from '../ports/repository.ts'
import { defineStateNamespace, type StateStore } from '../ports/state.ts'
import { toMergeLeaseName } from '../jobs/lease-name.ts'

/** How often a repository without recent temporary branches is checked. */
const stagingBranchUseCacheSeconds = 3600
const stagingBranchUseCacheNamespace = defineCacheNamespace<'used' | 'clean'>('temporary branches', {
  version: 1,
  read: (stored) => (stored === 'used' || stored === 'clean' ? stored : undefined),
})

/** Commits on temporary branches, newest first, keyed by base branch. The lease on the base branch guards them. */
const stagedCommitsStateNamespace = defineStateNamespace<readonly StagedCommit[]>('staged commits', {
  version: 1,
  read: (stored) => z.array(z.object({ branch: z.string(), commit: z.string() })).safeParse(stored).data,
})
/** A branch that catalog-bot created, with a commit that it added. */
type StagedCommit = { readonly branch: string; readonly commit: string }
const maxStagedCommits = 50

type StagedMerge = Pick<ValidatedMerge, 'repository' | 'pull' | 'baseRef' | 'commit'>

/** Call this before adding a commit to a temporary branch. Only recorded branches are removed. */
export async function recordStagedCommit(
  merge: StagedMerge,
  commit: CommitSha,
  store: Pick<Cache, 'putCached'> & StateStore,
): Promise<void> {
  const { repository, baseRef } = merge
  const known = (await store.readState(stagedCommitsStateNamespace, repository, baseRef)) ?? []
  const staged = [{ branch: formatTemporaryBranch(merge), commit }, ...known].slice(0, maxStagedCommits)
  await store.writeState(stagedCommitsStateNamespace, repository, new Map([[baseRef, staged]]))
  await store.putCached(
    stagingBranchUseCacheNamespace,
    new Map([[toRepositoryKey(repository), 'used']]),
    stagingBranchUseCacheSeconds,
  )
}

/** Removes a branch only if its tip is a recorded commit. With another tip, the branch belongs to someone else. */
export async function removeStagingBranch(
  { repository: name, baseRef }: Pick<ValidatedMerge, 'repository' | 'baseRef'>,
  branch: string,
  {
    repository,
    store,
  }: { readonly repository: Pick<GitRepository, 'deleteStagingBranch'>; readonly store: StateStore },
): Promise<void> {
  const known = (await store.readState(stagedCommitsStateNamespace, name, baseRef)) ?? []
  for (const one of known)
    if (one.branch === branch && (await repository.deleteStagingBranch(branch, toCommitSha(one.commit))))
      break
  const others = known.filter((one) => one.branch !== branch)
  if (others.length < known.length)
    await store.writeState(stagedCommitsStateNamespace, name, new Map([[baseRef, others]]))
}

export interface StagingSweepContext {
  readonly merging: MergeApi
  readonly repository: Pick<GitRepository, 'deleteStagingBranch'>
  readonly store: Cache & LeaseStore & StateStore
  readonly leaseSeconds: number
}

/** Removes leftover branches. Branches in use remain, because the lease on their base branch is taken. */
export async function removeLeftoverStagingBranches(
  name: RepositoryName,
  ctx: StagingSweepContext,
): Promise<void> {
  const { merging, store, leaseSeconds } = ctx
  if (
    (await store.getCached(stagingBranchUseCacheNamespace, [toRepositoryKey(name)])).get(
      toRepositoryKey(name),
    ) === 'clean'
  )
    return
  let isClean = true
  for (const { name: branch, tip } of await merging.listBranchesWithPrefix(temporaryBranchPrefix)) {
    const baseRef = parseTemporaryBranch(branch)?.baseRef
    if (baseRef === undefined) continue
    const known = (await store.readState(stagedCommitsStateNamespace, name, baseRef)) ?? []
    // The name alone proves nothing, because anyone can use it.
    if (!known.some((one) => one.branch === branch && one.commit === tip)) continue
    isClean = false
    const lease = await store.acquireLease(toMergeLeaseName(name, baseRef), leaseSeconds)
    if (lease === undefined) continue
    try {
      await removeStagingBranch({ repository: name, baseRef }, branch, ctx)
    } finally {
      await store.releaseLease(lease)
    }
  }
  if (isClean)
    await store.putCached(
      stagingBranchUseCacheNamespace,
      new Map([[toRepositoryKey(name), 'clean']]),
      stagingBranchUseCacheSeconds,
    )
}
