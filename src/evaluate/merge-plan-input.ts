import type { Config } from '../config/config.ts'
import { getRequiredBotChecks } from '../policy/required-own-checks.ts'
import type { MergePlanInput, TokenPermissions } from '../policy/merge-requirements.ts'
import { toPrefixedCheckNames, botCheckNames } from '../report/report.ts'
import type { BranchRules } from '../policy/branch-rules.ts'
import { toRepositoryKey } from '../pull-request/repository-key.ts'
import type { Clock } from '../ports/clock.ts'
import type { Forge } from '../ports/forge.ts'
import { defineCacheNamespace, type Cache } from '../ports/cache.ts'

interface CachedBranchRules {
  readonly rules: BranchRules
  /** Absent: unknown. */
  readonly permissions?: TokenPermissions
  /** Milliseconds since the epoch. */
  readonly readAt: number
}

/** Branch settings change seldom. */
const branchRulesCacheSeconds = 3600

interface BranchRulesContext {
  readonly forge: Pick<Forge, 'repository' | 'branchRules' | 'permissions'>
  readonly store: Cache
  readonly clock: Clock
}

const branchRulesCache = defineCacheNamespace<CachedBranchRules>('branch rules', {
  version: 1,
  read: (stored) =>
    typeof stored === 'object' && stored !== null ? (stored as CachedBranchRules) : undefined,
})

export function toMergePlanInput(
  config: Pick<Config, 'install' | 'merge'>,
  branch: Pick<MergePlanInput, 'rules' | 'permissions' | 'app'>,
): MergePlanInput & { readonly checksToRequire: readonly string[] } {
  return {
    ...branch,
    wanted: config.merge.method,
    ownChecks: botCheckNames,
    checksToRequire: toPrefixedCheckNames(getRequiredBotChecks(config)),
  }
}

/** `fresh` ignores the cache, as after a rejection. Rejects with a ForgeError or StoreError. */
export async function fetchBranchRules(
  { forge, store, clock }: BranchRulesContext,
  branch: string,
  { fresh = false }: { readonly fresh?: boolean } = {},
): Promise<CachedBranchRules> {
  const key = `${toRepositoryKey(forge.repository)} ${branch}`
  const known = fresh ? undefined : (await store.getCached(branchRulesCache, [key])).get(key)
  if (known !== undefined) return known
  const permissions = await forge.permissions()
  const read: CachedBranchRules = {
    rules: await forge.branchRules(branch),
    ...(permissions !== undefined && { permissions }),
    readAt: clock.now(),
  }
  await store.putCached(branchRulesCache, new Map([[key, read]]), branchRulesCacheSeconds)
  return read
}
