// Temporary branches that an ended process left on GitHub are removed by the sweep. Looked for at once where a landing
// has made one since the last time that none was found, and now and then everywhere.
import type { RepositoryName } from '../change/snapshot.ts'
import { repositoryKey } from '../change/repository-key.ts'
import { readTemporaryBranch, temporaryBranches } from '../gate/temporary-branch.ts'
import { defineCache, type Cache } from '../ports/cache.ts'
import type { Merging } from '../ports/merging.ts'
import type { Leases } from '../ports/leases.ts'
import { leaseName } from './lease-name.ts'

/** A repository in which no landing needs such branches is asked for them that seldom. */
const quietSeconds = 3600
const space = defineCache<'used' | 'clean'>('temporary branches', {
  version: 1,
  read: (stored) => (stored === 'used' || stored === 'clean' ? stored : undefined),
})

/** Written before a temporary branch is made: the next sweep looks for it. */
export async function noteStaging(name: RepositoryName, store: Pick<Cache, 'putCached'>): Promise<void> {
  await store.putCached(space, new Map([[repositoryKey(name), 'used']]), quietSeconds)
}

export interface SweepPlaces {
  readonly merging: Merging
  readonly store: Cache & Leases
  readonly leaseSeconds: number
}

/** Removes what is left over. What a landing uses now is under its branch's lease, and stays. */
export async function removeLeftStaged(
  name: RepositoryName,
  { merging, store, leaseSeconds }: SweepPlaces,
): Promise<void> {
  if ((await store.getCached(space, [repositoryKey(name)])).get(repositoryKey(name)) === 'clean') return
  const left = await merging.branchesBelow(temporaryBranches)
  for (const { name: branch } of left) {
    const landing = readTemporaryBranch(branch)
    if (landing === undefined) continue
    const lease = await store.acquireLease(leaseName(name, landing.baseRef), leaseSeconds)
    if (lease === undefined) continue
    try {
      await merging.removeStaged(branch)
    } finally {
      await store.releaseLease(lease)
    }
  }
  if (left.length === 0) await store.putCached(space, new Map([[repositoryKey(name), 'clean']]), quietSeconds)
}
