// How one pull request is to get onto its branch: the branch's rules, read hourly and after a refusal, and the choice that
// follows from them. A branch without rules costs no request but that reading.
import type { BranchRules } from '../../gate/branch-rules.ts'
import { chooseLandingMethod } from '../../gate/choose-landing-method.ts'
import type { LandingInput } from '../../gate/landing-demands.ts'
import type { Landing } from '../../gate/merge-permit.ts'
import { checkIds } from '../../findings/checks.ts'
import { defineCache, type Cache } from '../../ports/cache.ts'
import type { Planned } from '../../landing/landing-options.ts'
import { checkPrefix } from '../../messages/report.ts'
import { noteQueue } from './queued-branches.ts'
import type { JobContext } from './job-context.ts'

/** Administrators change rules seldom, and a refusal tells of it at once. */
const rememberedSeconds = 3600
const space = defineCache<BranchRules>('branch rules', {
  version: 1,
  read: (stored) => (typeof stored === 'object' && stored !== null ? (stored as BranchRules) : undefined),
})
const keyOf = ({ forge: { repository } }: JobContext, branch: string) =>
  `${repository.owner}/${repository.name} ${branch}`.toLowerCase()

/** Rejects with a ForgeError or GitError when the rules, or what the pull request changes, cannot be read. */
export async function planLanding(
  landing: Landing,
  wanted: LandingInput['wanted'],
  place: JobContext<Cache>,
): Promise<Planned> {
  const { repository, app, forge } = place
  const rules = await branchRules(landing.baseRef, place)
  if (rules.mergeQueue) await noteQueue(forge.repository, landing.baseRef, true, app.store)
  const branch: LandingInput = {
    rules,
    wanted,
    permissions: undefined,
    app: app.settings.credentials?.appId ?? 0,
    ownChecks: checkIds.map((id) => `${checkPrefix}${id}`),
  }
  const changes = await repository.diff(await repository.treeOf(landing.base), landing.tree)
  const plan = chooseLandingMethod({
    ...branch,
    pull: {
      containsBase: await repository.contains(landing.head, landing.base),
      editsWorkflows: changes.some(({ path }) => path.startsWith('.github/workflows/')),
    },
  })
  if (plan.method !== undefined) return { plan, rules }
  // Another pull request may have a way where this one has none.
  const isOwn = chooseLandingMethod(branch).method !== undefined
  return { plan, rules, shutFor: isOwn ? 'pull' : 'branch' }
}

/** A branch's rules, as they were read within the hour. */
export async function branchRules(branch: string, place: JobContext<Cache>): Promise<BranchRules> {
  const key = keyOf(place, branch)
  const known = (await place.app.store.getCached(space, [key])).get(key)
  return known ?? readRulesAnew(branch, place)
}

/** After a refusal: the settings may be others than those that were read. */
export async function readRulesAnew(branch: string, place: JobContext<Cache>): Promise<BranchRules> {
  const rules = await place.forge.branchRules(branch)
  await place.app.store.putCached(space, new Map([[keyOf(place, branch), rules]]), rememberedSeconds)
  return rules
}
