// Plans how a pull request can merge, from the branch's rules. Rules are read hourly and after a rejection.
import { knownBranchRules } from '../../examine/known-branch-rules.ts'
import { landingInputOf } from '../../examine/landing-input.ts'
import { readConfig } from '../../examine/read-config.ts'
import { chooseLandingMethod } from '../../gate/choose-landing-method.ts'
import type { Landing } from '../../gate/merge-permit.ts'
import type { Cache } from '../../ports/cache.ts'
import type { Planned } from '../../landing/landing-options.ts'
import { noteQueue } from './queued-branches.ts'
import type { JobContext } from './job-context.ts'

/** Rejects with a ForgeError or GitError when the rules, or what the pull request changes, cannot be read. */
export async function planLanding(landing: Landing, place: JobContext<Cache>): Promise<Planned> {
  const { repository, app, forge } = place
  const known = await knownBranchRules({ forge, store: app.store, clock: app.clock }, landing.baseRef)
  const { rules, permissions } = known
  const { config } = await readConfig(repository, await repository.treeOf(landing.base))
  if (rules.mergeQueue) await noteQueue(forge.repository, landing.baseRef, true, app.store)
  const { credentials, actsAs = credentials?.appId ?? 0 } = app.settings
  const branch = landingInputOf(config, { rules, permissions, app: actsAs })
  const changes = await repository.diff(await repository.treeOf(landing.base), landing.tree)
  const plan = chooseLandingMethod({
    ...branch,
    pull: {
      containsBase: await repository.contains(landing.head, landing.base),
      editsWorkflows: changes.some(({ path }) => path.startsWith('.github/workflows/')),
    },
  })
  if (plan.method !== undefined) return { plan, rules }
  const isOwn = chooseLandingMethod(branch).method !== undefined
  return { plan, rules, shutFor: isOwn ? 'pull' : 'branch' }
}
