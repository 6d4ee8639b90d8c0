// Plans how a pull request can merge, from the branch's rules. Rules are read hourly and after a rejection.
import { fetchBranchRules } from '../evaluate/branch-rules-cache.ts'
import { toMergePlanInput } from '../evaluate/merge-plan-input.ts'
import { readConfig } from '../catalogs/read-config.ts'
import { chooseMergeStrategy } from '../policy/choose-merge-strategy.ts'
import type { ValidatedMerge } from '../policy/merge-permit.ts'
import type { Cache } from '../ports/cache.ts'
import type { PlannedMerge } from './merge-options.ts'
import { recordMergeQueueUse } from './merge-queue-branches.ts'
import type { JobContext } from '../jobs/job-context.ts'

/** Rejects with a ForgeError or GitError when the rules, or what the pull request changes, cannot be read. */
export async function planMerge(intent: ValidatedMerge, ctx: JobContext<Cache>): Promise<PlannedMerge> {
  const { repository, app, forge } = ctx
  const known = await fetchBranchRules({ forge, store: app.store, clock: app.clock }, intent.baseRef)
  const { rules, permissions } = known
  const { config } = await readConfig(repository, await repository.treeOf(intent.base))
  if (rules.mergeQueue) await recordMergeQueueUse(forge.repository, intent.baseRef, true, app.store)
  const { credentials, actsAs = credentials?.appId ?? 0 } = app.settings
  const branch = toMergePlanInput(config, { rules, permissions, app: actsAs })
  const changes = await repository.diff(await repository.treeOf(intent.base), intent.tree)
  const plan = chooseMergeStrategy({
    ...branch,
    pull: {
      containsBase: await repository.contains(intent.head, intent.base),
      editsWorkflows: changes.some(({ path }) => path.startsWith('.github/workflows/')),
    },
  })
  if (plan.method !== undefined) return { plan, rules }
  const isOwn = chooseMergeStrategy(branch).method !== undefined
  return { plan, rules, shutFor: isOwn ? 'pull' : 'branch' }
}
