// Required checks, evaluated on the commit that would be the branch's tip. GitHub documents one exception: the local
// merge of an up-to-date pull request with passing checks does not need checks.
import { isAncestor, readCommitTree } from '../git/git-store.ts'
import type { MockRepository } from '../github-data.ts'
import { findPullMergedByRefUpdate } from './find-merged-pull.ts'
import type { NonDeletingRefUpdate, RuleViolation } from './ref-update.ts'
import type { StatusChecksRuleParameters } from './rule-types.ts'

type RequiredCheck = StatusChecksRuleParameters['required_status_checks'][number]
/** The state of a required check, in GitHub's words. Undefined: it passed. */
type RequiredCheckState = 'expected' | 'in progress' | 'pending' | 'failing' | 'foreign' | undefined

const passingConclusions = new Set(['success', 'neutral', 'skipped'])

interface LatestCheckResult {
  readonly app: number | undefined
  readonly state: RequiredCheckState
}

/**
 * The newest result of each reporter for a check of this name. Check runs and statuses count alike, and both must
 * pass.
 */
function findLatestCheckResults(
  repo: MockRepository,
  sha: string,
  context: string,
  delay: number,
): LatestCheckResult[] {
  const { github } = repo
  const isVisible = ({ changedAt }: { changedAt: number }): boolean => github.now() - changedAt >= delay
  const newest = new Map<string, LatestCheckResult>()
  for (const suite of repo.suites.filter((it) => it.sha === sha))
    for (const run of suite.runs.filter((it) => it.name === context && isVisible(it)))
      newest.set(`run ${suite.app.id}`, {
        app: suite.app.id,
        state:
          run.status !== 'completed'
            ? 'in progress'
            : passingConclusions.has(run.conclusion ?? '')
              ? undefined
              : 'failing',
      })
  for (const status of repo.statuses.filter(
    (it) => it.sha === sha && it.context === context && isVisible(it),
  ))
    newest.set('status', {
      app: [...github.apps.values()].find((it) => it.bot === status.creator)?.id,
      state: status.state === 'success' ? undefined : status.state === 'pending' ? 'pending' : 'failing',
    })
  return [...newest.values()]
}

function computeRequiredCheckState(
  repo: MockRepository,
  sha: string,
  required: RequiredCheck,
  delay: number,
): RequiredCheckState {
  const all = findLatestCheckResults(repo, sha, required.context, delay)
  const pinned = required.integration_id ?? undefined
  const counted = all.filter((it) => pinned === undefined || it.app === pinned)
  if (counted.length === 0) return all.length === 0 ? 'expected' : 'foreign'
  const states = counted.map((it) => it.state)
  return (['failing', 'in progress', 'pending'] as const).find((it) => states.includes(it))
}

interface UnmetRequiredCheck {
  readonly context: string
  readonly state: Exclude<RequiredCheckState, undefined>
}

/** The required checks that have not passed on a commit. */
export function findUnmetRequiredChecks(
  repo: MockRepository,
  sha: string,
  required: readonly RequiredCheck[],
  delay = repo.github.checkDelay,
): UnmetRequiredCheck[] {
  return required.flatMap((it) => {
    const checkState = computeRequiredCheckState(repo, sha, it, delay)
    return checkState === undefined ? [] : [{ context: it.context, state: checkState }]
  })
}

/** GitHub names a single check, counts several checks in the same state, and lists the states if they differ. */
export function formatUnmetRequiredChecks(unmet: readonly UnmetRequiredCheck[], total: number): string {
  const [first] = unmet
  if (first === undefined) return ''
  if (unmet.length === 1)
    return first.state === 'foreign'
      ? `Required status check "${first.context}" was not set by the expected GitHub app.`
      : `Required status check "${first.context}" is ${first.state}.`
  const shownStates = unmet.map(({ state }) => (state === 'foreign' ? 'expected' : state))
  const share = `${unmet.length} of ${total} required status checks`
  if (shownStates.every((it) => it === shownStates[0])) return `${share} are ${shownStates[0] ?? ''}.`
  // GitHub does not count runs in progress here.
  const kinds = (['expected', 'failing', 'pending'] as const)
    .map((kind) => [shownStates.filter((it) => it === kind).length, kind] as const)
    .filter(([count]) => count > 0)
    .map(([count, kind]) => `${count} ${kind}`)
  return `${share} have not succeeded: ${kinds.join(' and ')}.`
}

export async function checkRequiredChecks(
  move: NonDeletingRefUpdate,
  parameters: StatusChecksRuleParameters,
): Promise<RuleViolation[]> {
  const { repo, path, old, now, merge } = move
  const {
    required_status_checks: required,
    do_not_enforce_on_create,
    strict_required_status_checks_policy,
  } = parameters
  if (old === undefined && do_not_enforce_on_create === true) return []
  const toViolations = (unmet: readonly UnmetRequiredCheck[]): RuleViolation[] =>
    unmet.length === 0 ? [] : [{ message: formatUnmetRequiredChecks(unmet, required.length) }]
  if (merge !== undefined) {
    const { headSha } = merge.pull
    // A merge queue puts the pull request on the base's tip itself.
    const behind = old !== undefined && merge.queued !== true && !(await isAncestor(path, old, headSha))
    // If the head is behind, GitHub reports all checks as "expected", even if they passed.
    if (strict_required_status_checks_policy && behind)
      return toViolations(required.map(({ context }) => ({ context, state: 'expected' })))
    return toViolations(findUnmetRequiredChecks(repo, headSha, required))
  }
  const unmet = findUnmetRequiredChecks(repo, now, required)
  if (unmet.length === 0) return []
  const head = await findPullHeadContainingBranch(move)
  return head !== undefined && findUnmetRequiredChecks(repo, head, required).length === 0
    ? []
    : toViolations(unmet)
}

/**
 * The head of the pull request that this local merge contains, if that head contains the branch. Then both trees
 * are identical.
 */
async function findPullHeadContainingBranch(move: NonDeletingRefUpdate): Promise<string | undefined> {
  const { path, old, now } = move
  const head = (await findPullMergedByRefUpdate(move))?.headSha
  if (old === undefined || head === undefined || !(await isAncestor(path, old, head))) return undefined
  return (await readCommitTree(path, head)) === (await readCommitTree(path, now)) ? head : undefined
}
