// Lands by compare-and-swap push of the validated merge or GitHub's signed twin. Required checks are put on that commit
// first, on a temporary branch.
import type { CommitSha } from '../change/ids.ts'
import type { SignedCommit } from '../ports/merging.ts'
import { comparesTrees } from '../gate/landing-demands.ts'
import type { LandingMethod } from '../gate/landing-method.ts'
import type { MergePermit } from '../gate/merge-permit.ts'
import type { LandResult, Repository } from '../ports/repository.ts'
import { temporaryBranch } from '../gate/temporary-branch.ts'
import { checks as allChecks } from '../findings/checks.ts'
import { namesOfChecks } from '../messages/reported-check.ts'
import { compareTestMerge } from './compare-test-merge.ts'
import { crashPoint } from './crash-point.ts'
import { putChecks } from './put-checks.ts'
import { recordStaged, removeOwnStaged } from './remove-staged.ts'
import type { Acted, Prepared, Step } from './ready.ts'
import type { RefusedLanding } from './landing-options.ts'

type Push = Extract<LandingMethod, { kind: 'push' }>

/** GitHub can take a second to see new checks. bors-ng and others wait, too. */
const patience = 10_000
const firstPause = 250

export async function preparePush(step: Step, method: Push): Promise<Prepared> {
  const { permit, options, rules } = step
  const { landing } = permit
  const isCompared = step.plan.needsGitHubsTree ?? (rules !== undefined && comparesTrees(rules))
  const other = isCompared ? await compareTestMerge(landing, options.repository) : undefined
  if (other !== undefined) return other
  let { commit } = landing
  if (isStaged(method)) {
    await recordStaged(landing, commit, options.store)
    let staged = await options.repository.stage(permit)
    if (staged.kind === 'taken') {
      // An earlier attempt at this merge may have left the branch.
      await removeOwnStaged(landing, temporaryBranch(landing), options)
      await recordStaged(landing, commit, options.store)
      staged = await options.repository.stage(permit)
    }
    if (staged.kind === 'taken')
      return {
        kind: 'refused',
        reason: `catalog-bot did not create the branch ${temporaryBranch(landing)}; delete or rename it`,
        scope: 'pull',
      }
    if (staged.kind === 'refused')
      return {
        ...refusal(staged, commit, false),
        reason: `a temporary branch was refused: ${staged.reason}`,
        scope: brings.test(staged.text) ? 'pull' : 'branch',
      }
    crashPoint('staged')
    if (method.signed) {
      const twin = await signedTwin(step)
      if (twin.unverified !== undefined)
        return {
          kind: 'refused',
          reason: `GitHub does not verify the commit that it made: ${twin.unverified}`,
          scope: 'branch',
        }
      commit = twin.commit
    }
    if (method.checksFirst) {
      const lacking = await putOurChecks(step, commit)
      if (lacking !== undefined) return lacking
    }
  }
  return { kind: 'ready', method, commit, act: () => push(step, method, commit) }
}

/** Refusals of the pull request's content, which hold for any branch. */
const brings = /refusing to allow|GH00[179]|PUSH PROTECTION|exceeds GitHub's file size/

const isStaged = (method: Push): boolean => method.checksFirst || method.signed

/** GitHub's signed commit with the same parents and tree. git/land.ts verifies those. */
async function signedTwin({ permit, options }: Step): Promise<SignedCommit> {
  const { repository, merging } = options
  const { landing } = permit
  const twin = await merging.sign(permit, await repository.messageOf(landing.commit))
  if (twin.unverified !== undefined) return twin
  await recordStaged(landing, twin.commit, options.store)
  await merging.moveStaged(permit, twin.commit)
  await repository.fetch(temporaryBranch(landing))
  crashPoint('signed')
  return twin
}

/** Checks that the gate doesn't require by default. */
const optional = new Set(
  namesOfChecks(allChecks.filter(({ demand }) => demand !== 'required').map(({ id }) => id)),
)

/**
 * Puts our passed check runs on the commit to be pushed. An optional failed one is left out, and nothing is pushed if
 * the branch requires it.
 */
async function putOurChecks(
  { options, rules }: Step,
  commit: CommitSha,
): Promise<RefusedLanding | undefined> {
  const { forge, checks } = options
  const passed = checks.filter(({ conclusion }) => conclusion === 'success')
  const others = checks.filter((check) => !passed.includes(check))
  if (passed.length === 0 || others.some(({ name }) => !optional.has(name)))
    throw new Error('a permit was given though not all of our checks have passed')
  const wanted = new Set(rules?.checks.required.map(({ name }) => name))
  const [lacking] = others.filter(({ name }) => wanted.has(name))
  if (lacking !== undefined)
    return {
      kind: 'refused',
      reason: `the branch requires the check "${lacking.name}", which has not passed`,
      scope: 'pull',
    }
  await putChecks(forge, commit, passed)
  crashPoint('checks-put')
  return undefined
}

async function push(
  { permit, options, train }: Step,
  { signed, checksFirst }: Push,
  commit: CommitSha,
): Promise<Acted> {
  const { repository, clock } = options
  const until = clock.now() + patience
  for (let pause = firstPause; ; pause *= 2) {
    const result =
      train === undefined ? await repository.land(permit, commit) : await together(train, repository)
    if (result.kind === 'landed') return { kind: 'done' }
    if (result.kind === 'base-moved') return { kind: 'race', why: 'the base branch has changed' }
    const isLate = checksFirst && isExpected(result.text)
    if (!isLate || clock.now() + pause > until) return refusal(result, commit, signed)
    await clock.sleep(pause)
  }
}

function together(train: readonly MergePermit[], repository: Repository): Promise<LandResult> {
  if (repository.landTogether === undefined) throw new TypeError('this repository lands one by one')
  return repository.landTogether(train)
}

/** Whether every complaint is about a check that GitHub hasn't seen yet. */
function isExpected(text: string): boolean {
  const complaints = text
    .split('\n')
    .filter((line) => line.startsWith('- ') || /^error: (?!GH0)/.test(line))
    .map((line) => line.replace(/^(?:- |error: )/, ''))
  return complaints.length > 0 && complaints.every((complaint) => awaited.test(complaint))
}
const awaited =
  /^(?:Required status check ".*" is (?:expected|in progress|pending)\.?|\d+ of \d+ required status checks are (?:expected|pending|in progress)\.?|\d+ of \d+ required status checks have not succeeded: (?:\d+ (?:expected|pending)(?: and )?)+\.?)$/

function refusal(
  { reason, text }: { readonly reason: string; readonly text: string },
  commit: CommitSha,
  isSigned: boolean,
): RefusedLanding {
  return { kind: 'refused', reason, words: { by: 'push', text }, commit, isSigned }
}

/** Removes the temporary branch after any outcome. If that fails, the sweep does it. */
export async function tidyUp({ plan: { method }, permit, options }: Step): Promise<void> {
  if (method?.kind !== 'push' || !isStaged(method)) return
  crashPoint('before-tidying')
  await removeOwnStaged(permit.landing, temporaryBranch(permit.landing), options).catch(() => undefined)
}
