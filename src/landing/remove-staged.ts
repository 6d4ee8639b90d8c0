// Removes temporary branches that a dead process left. Checks soon after a landing made one, and rarely otherwise.
import { z } from 'zod'
import { commitSha, type CommitSha } from '../change/ids.ts'
import type { RepositoryName } from '../change/snapshot.ts'
import { repositoryKey } from '../change/repository-key.ts'
import type { Landing } from '../gate/merge-permit.ts'
import { readTemporaryBranch, temporaryBranch, temporaryBranches } from '../gate/temporary-branch.ts'
import { defineCache, type Cache } from '../ports/cache.ts'
import type { Merging } from '../ports/merging.ts'
import type { Leases } from '../ports/leases.ts'
import type { Repository } from '../ports/repository.ts'
import { defineState, type State } from '../ports/state.ts'
import { leaseName } from './lease-name.ts'

/** How often a repository without recent temporary branches is checked. */
const quietSeconds = 3600
const space = defineCache<'used' | 'clean'>('temporary branches', {
  version: 1,
  read: (stored) => (stored === 'used' || stored === 'clean' ? stored : undefined),
})

/** Commits put on temporary branches, newest first, by base branch, whose lease guards them. */
const stagedCommits = defineState<readonly Staged[]>('staged commits', {
  version: 1,
  read: (stored) => z.array(z.object({ branch: z.string(), commit: z.string() })).safeParse(stored).data,
})
/** A branch that catalog-bot made, with a commit it put there. */
type Staged = { readonly branch: string; readonly commit: string }
const maxStaged = 50

type StagedLanding = Pick<Landing, 'repository' | 'pull' | 'baseRef' | 'commit'>

/** Call this before putting a commit on a temporary branch. Only recorded branches are ever removed. */
export async function recordStaged(
  landing: StagedLanding,
  commit: CommitSha,
  store: Pick<Cache, 'putCached'> & State,
): Promise<void> {
  const { repository, baseRef } = landing
  const known = (await store.readState(stagedCommits, repository, baseRef)) ?? []
  const staged = [{ branch: temporaryBranch(landing), commit }, ...known].slice(0, maxStaged)
  await store.writeState(stagedCommits, repository, new Map([[baseRef, staged]]))
  await store.putCached(space, new Map([[repositoryKey(repository), 'used']]), quietSeconds)
}

/** Removes a branch while its tip is a recorded commit. With another tip it is no longer ours. */
export async function removeOwnStaged(
  { repository: name, baseRef }: Pick<Landing, 'repository' | 'baseRef'>,
  branch: string,
  { repository, store }: { readonly repository: Pick<Repository, 'unstage'>; readonly store: State },
): Promise<void> {
  const known = (await store.readState(stagedCommits, name, baseRef)) ?? []
  for (const one of known)
    if (one.branch === branch && (await repository.unstage(branch, commitSha(one.commit)))) break
  const others = known.filter((one) => one.branch !== branch)
  if (others.length < known.length) await store.writeState(stagedCommits, name, new Map([[baseRef, others]]))
}

export interface SweepPlaces {
  readonly merging: Merging
  readonly repository: Pick<Repository, 'unstage'>
  readonly store: Cache & Leases & State
  readonly leaseSeconds: number
}

/** Removes our leftovers. Branches in use are under their base branch's lease and stay. */
export async function removeLeftStaged(name: RepositoryName, places: SweepPlaces): Promise<void> {
  const { merging, store, leaseSeconds } = places
  if ((await store.getCached(space, [repositoryKey(name)])).get(repositoryKey(name)) === 'clean') return
  let isClean = true
  for (const { name: branch, tip } of await merging.branchesBelow(temporaryBranches)) {
    const baseRef = readTemporaryBranch(branch)?.baseRef
    if (baseRef === undefined) continue
    const known = (await store.readState(stagedCommits, name, baseRef)) ?? []
    // The name alone proves nothing, because anyone can use it.
    if (!known.some((one) => one.branch === branch && one.commit === tip)) continue
    isClean = false
    const lease = await store.acquireLease(leaseName(name, baseRef), leaseSeconds)
    if (lease === undefined) continue
    try {
      await removeOwnStaged({ repository: name, baseRef }, branch, places)
    } finally {
      await store.releaseLease(lease)
    }
  }
  if (isClean) await store.putCached(space, new Map([[repositoryKey(name), 'clean']]), quietSeconds)
}
