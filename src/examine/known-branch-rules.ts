// Caches a branch's rules for an hour; they are read again after GitHub refuses something.
import type { BranchRules } from '../gate/branch-rules.ts'
import { repositoryKey } from '../change/repository-key.ts'
import type { TokenPermissions } from '../gate/landing-demands.ts'
import type { Clock } from '../ports/clock.ts'
import type { Forge } from '../ports/forge.ts'
import { defineCache, type Cache } from '../ports/cache.ts'

export interface KnownBranchRules {
  readonly rules: BranchRules
  /** Absent: unknown. */
  readonly permissions?: TokenPermissions
  /** Milliseconds since the epoch. */
  readonly readAt: number
}

/** Branch settings change seldom. */
const keptSeconds = 3600

export interface RuleMemory {
  readonly forge: Pick<Forge, 'repository' | 'branchRules' | 'permissions'>
  readonly store: Cache
  readonly clock: Clock
}

const space = defineCache<KnownBranchRules>('branch rules', {
  version: 1,
  read: (stored) =>
    typeof stored === 'object' && stored !== null ? (stored as KnownBranchRules) : undefined,
})

/** `fresh` ignores the cache, as after a refusal. Rejects with a ForgeError or StoreError. */
export async function knownBranchRules(
  { forge, store, clock }: RuleMemory,
  branch: string,
  { fresh = false }: { readonly fresh?: boolean } = {},
): Promise<KnownBranchRules> {
  const key = `${repositoryKey(forge.repository)} ${branch}`
  const known = fresh ? undefined : (await store.getCached(space, [key])).get(key)
  if (known !== undefined) return known
  const permissions = await forge.permissions()
  const read: KnownBranchRules = {
    rules: await forge.branchRules(branch),
    ...(permissions !== undefined && { permissions }),
    readAt: clock.now(),
  }
  await store.putCached(space, new Map([[key, read]]), keptSeconds)
  return read
}
