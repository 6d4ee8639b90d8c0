// GitHub's merge queue: each pull request in the queue has a commit on top of the earlier ones, on a temporary
// branch. The required checks run on those commits, and commits with passing checks merge exactly as tested.
import { deleteRef, setRef } from '../git/git-store.ts'
import { emitPullRequestEvent, processRefChanges, markPullMerged } from '../git/ref-changes.ts'
import { readCommit, toSimpleCommitView } from '../views/commit-view.ts'
import { formatGitHubTimestamp } from '../github-data.ts'
import type {
  MockAccount,
  QueuedMergeGroup,
  MergeMethod,
  MockPull,
  MockMergeQueueEntry,
  MockRepository,
} from '../github-data.ts'
import { findRequiredChecks, findRuleParameters } from './rule-layers.ts'
import { createMergeCommit } from './merge-commits.ts'
import { findUnmetRequiredChecks } from './required-checks.ts'
import { checkPullRequestRule } from './required-pull.ts'
import type { MergeQueueRuleParameters } from './rule-types.ts'

/** https://docs.github.com/webhooks/webhook-events-and-payloads#pull_request (dequeued: reason) */
export const dequeueReasons = [
  'UNKNOWN_REMOVAL_REASON',
  'MANUAL',
  'MERGE',
  'MERGE_CONFLICT',
  'CI_FAILURE',
  'CI_TIMEOUT',
  'ALREADY_MERGED',
  'QUEUE_CLEARED',
  'ROLL_BACK',
  'BRANCH_PROTECTIONS',
  'GIT_TREE_INVALID',
  'INVALID_MERGE_COMMIT',
] as const
export type DequeueReason = (typeof dequeueReasons)[number]

/** The settings of the branch's merge queue, or undefined if it has none. */
export function findMergeQueueParameters(
  repo: MockRepository,
  branch: string,
): MergeQueueRuleParameters | undefined {
  return findRuleParameters(repo, branch, 'merge_queue')[0]
}

export const parseQueueMergeMethod = ({
  merge_method,
}: Pick<MergeQueueRuleParameters, 'merge_method'>): MergeMethod => merge_method.toLowerCase() as MergeMethod

/** Adds a pull request to its branch's queue. The caller checks whether that is allowed. Call it in line. */
export async function addMergeQueueEntry(
  pull: MockPull,
  by: MockAccount,
  { jump, isBypass }: Pick<MockMergeQueueEntry, 'jump' | 'isBypass'>,
): Promise<MockMergeQueueEntry> {
  const { github } = pull.repo
  const { repo, baseRef } = pull
  const entries = repo.queues.get(baseRef) ?? []
  const id = github.nextId()
  const enqueuedAt = github.now()
  const entry: MockMergeQueueEntry = {
    id,
    pull,
    headSha: pull.headSha,
    by,
    enqueuedAt,
    jump,
    isBypass,
    group: undefined,
  }
  if (jump) entries.unshift(entry)
  else entries.push(entry)
  repo.queues.set(baseRef, entries)
  await emitPullRequestEvent(pull, 'enqueued', by)
  await advanceMergeQueues(repo)
  return entry
}

export const findMergeQueueEntry = (pull: MockPull): MockMergeQueueEntry | undefined =>
  pull.repo.queues.get(pull.baseRef)?.find((it) => it.pull === pull)

/** Removes a pull request. The groups of later pull requests are rebuilt. Call it in line. */
export async function removeMergeQueueEntry(
  entry: MockMergeQueueEntry,
  reason: DequeueReason,
  by: MockAccount = entry.by,
): Promise<void> {
  const { github } = entry.pull.repo
  const { pull } = entry
  const rest = (pull.repo.queues.get(pull.baseRef) ?? []).filter((it) => it !== entry)
  pull.repo.queues.set(pull.baseRef, rest)
  pull.queueRemoval = {
    id: github.nextId(),
    at: formatGitHubTimestamp(github.now()),
    reason: reason.toLowerCase(),
    by: reason === 'MANUAL' ? by : null,
  }
  await destroyMergeGroup(entry, reason === 'MERGE' ? 'merged' : 'dequeued')
  await emitPullRequestEvent(pull, 'dequeued', by, { reason })
}

/** Notifies the apps about a group: its commit needs checks, or the reason for its removal. */
async function emitMergeGroupEvent(
  repo: MockRepository,
  { headSha, branch, baseSha, baseRef }: Omit<QueuedMergeGroup, 'requestedAt'>,
  action: 'checks_requested' | 'destroyed',
  reason?: 'merged' | 'invalidated' | 'dequeued',
): Promise<void> {
  const merge_group = {
    head_sha: headSha,
    head_ref: `refs/heads/${branch}`,
    base_sha: baseSha,
    base_ref: `refs/heads/${baseRef}`,
    head_commit: toSimpleCommitView(await readCommit(repo.path, headSha)),
  }
  repo.github.webhooks.emit('merge_group', action, repo, repo.owner, {
    merge_group,
    ...(reason ? { reason } : {}),
  })
}

async function destroyMergeGroup(
  entry: MockMergeQueueEntry,
  reason: 'merged' | 'invalidated' | 'dequeued',
): Promise<void> {
  const { group, pull, by } = entry
  if (group === undefined) return
  entry.group = undefined
  await emitMergeGroupEvent(pull.repo, group, 'destroyed', reason)
  await deleteRef(pull.repo.path, `refs/heads/${group.branch}`)
  await processRefChanges(pull.repo, by)
}

/**
 * Processes a repository's queues: builds groups, merges groups that passed, and removes those that failed. Call it
 * in line.
 */
export async function advanceMergeQueues(repo: MockRepository): Promise<void> {
  for (const branch of repo.queues.keys()) {
    // Each step makes one change, and the next step reads the new state.
    let goesOn = true
    while (goesOn) goesOn = await advanceMergeQueue(repo, branch)
  }
}

async function advanceMergeQueue(repo: MockRepository, branch: string): Promise<boolean> {
  const entries = repo.queues.get(branch) ?? []
  const settings = findMergeQueueParameters(repo, branch)
  const [first] = entries
  if (first === undefined) return false
  if (settings === undefined) {
    await removeMergeQueueEntry(first, 'QUEUE_CLEARED')
    return true
  }
  for (const entry of entries) {
    const { pull, headSha } = entry
    if (pull.state === 'open' && pull.headSha === headSha) continue
    await removeMergeQueueEntry(entry, pull.merged === null ? 'MANUAL' : 'ALREADY_MERGED')
    return true
  }
  return (
    (await removeIneligibleQueueEntry(repo, branch)) ||
    (await buildMergeGroup(repo, branch, settings)) ||
    (await removeFailedQueueEntry(repo, branch, settings)) ||
    (await mergePassingQueueEntries(repo, branch, settings))
  )
}

/**
 * Builds the group of the first entry that has none on its correct base. Destroys a group that has an outdated
 * base.
 */
async function buildMergeGroup(
  repo: MockRepository,
  branch: string,
  settings: MergeQueueRuleParameters,
): Promise<boolean> {
  let base = repo.knownRefs.get(`refs/heads/${branch}`) ?? ''
  for (const entry of (repo.queues.get(branch) ?? []).slice(0, Math.max(1, settings.max_entries_to_build))) {
    if (entry.group !== undefined && entry.group.baseSha !== base) {
      await destroyMergeGroup(entry, 'invalidated')
      return true
    }
    if (entry.group === undefined) {
      await requestMergeGroupChecks(entry, base, parseQueueMergeMethod(settings))
      return true
    }
    base = entry.group.headSha
  }
  return false
}

async function requestMergeGroupChecks(
  entry: MockMergeQueueEntry,
  base: string,
  method: MergeMethod,
): Promise<void> {
  const { github } = entry.pull.repo
  const { pull, by } = entry
  const { repo, number, baseRef } = pull
  const made = await createMergeCommit(by, pull, base, method)
  if (typeof made === 'string') return await removeMergeQueueEntry(entry, 'MERGE_CONFLICT')
  const branch = `gh-readonly-queue/${baseRef}/pr-${number}-${base}`
  entry.group = { branch, headSha: made.sha, baseSha: base, baseRef, requestedAt: github.now() }
  await setRef(repo.path, `refs/heads/${branch}`, made.sha)
  await processRefChanges(repo, by)
  await emitMergeGroupEvent(repo, entry.group, 'checks_requested')
}

/**
 * An approval was dismissed, or changes were requested, after the pull request entered: the branch no longer
 * accepts it.
 */
async function removeIneligibleQueueEntry(repo: MockRepository, branch: string): Promise<boolean> {
  const requirements = findRuleParameters(repo, branch, 'pull_request')
  const ref = `refs/heads/${branch}`
  const old = repo.knownRefs.get(ref)
  for (const entry of repo.queues.get(branch) ?? []) {
    if (entry.isBypass) continue
    const { pull, by: account, headSha: now } = entry
    const by = { kind: 'user', account } as const
    const merge = {
      pull,
      method: parseQueueMergeMethod(findMergeQueueParameters(repo, branch) ?? defaultMergeQueueParameters),
      queued: true,
    }
    const move = { repo, path: repo.path, ref, old, now, by, merge }
    for (const parameters of requirements) {
      if ((await checkPullRequestRule(move, parameters)).length === 0) continue
      await removeMergeQueueEntry(entry, 'BRANCH_PROTECTIONS')
      return true
    }
  }
  return false
}

const defaultMergeQueueParameters = { merge_method: 'MERGE' } as const

type MergeGroupCheckOutcome = 'green' | 'waiting' | 'failed' | 'late'

function evaluateMergeGroupChecks(
  repo: MockRepository,
  branch: string,
  entry: MockMergeQueueEntry,
  minutes: number,
): MergeGroupCheckOutcome {
  const { group } = entry
  if (group === undefined) return 'waiting'
  const unmet = findUnmetRequiredChecks(repo, group.headSha, findRequiredChecks(repo, branch), 0)
  if (unmet.length === 0) return 'green'
  if (unmet.some(({ state }) => state === 'failing')) return 'failed'
  return repo.github.now() - group.requestedAt >= minutes * 60_000 ? 'late' : 'waiting'
}

/** With HEADGREEN, an entry that failed can still merge with a later one that passed. */
async function removeFailedQueueEntry(
  repo: MockRepository,
  branch: string,
  settings: MergeQueueRuleParameters,
): Promise<boolean> {
  const entries = repo.queues.get(branch) ?? []
  const outcomes = entries.map((it) =>
    evaluateMergeGroupChecks(repo, branch, it, settings.check_response_timeout_minutes),
  )
  const hasLaterGreenEntry = (at: number): boolean =>
    settings.grouping_strategy === 'HEADGREEN' &&
    outcomes.slice(at + 1).some((it) => it === 'green' || it === 'waiting')
  const at = outcomes.findIndex(
    (it, index) => (it === 'failed' || it === 'late') && !hasLaterGreenEntry(index),
  )
  const entry = entries[at]
  if (entry === undefined) return false
  await removeMergeQueueEntry(entry, outcomes[at] === 'failed' ? 'CI_FAILURE' : 'CI_TIMEOUT')
  return true
}

async function mergePassingQueueEntries(
  repo: MockRepository,
  branch: string,
  settings: MergeQueueRuleParameters,
): Promise<boolean> {
  const entries = repo.queues.get(branch) ?? []
  const green = entries.map(
    (it) => evaluateMergeGroupChecks(repo, branch, it, settings.check_response_timeout_minutes) === 'green',
  )
  const maxEntries = Math.max(1, settings.max_entries_to_merge)
  const allGreen = settings.grouping_strategy === 'ALLGREEN'
  const prefix = green.indexOf(false) < 0 ? green.length : green.indexOf(false)
  const count = allGreen ? Math.min(prefix, maxEntries) : green.slice(0, maxEntries).lastIndexOf(true) + 1
  const waited = repo.github.now() - (entries[0]?.enqueuedAt ?? 0)
  const isSmall = count < settings.min_entries_to_merge
  if (count === 0 || (isSmall && waited < settings.min_entries_to_merge_wait_minutes * 60_000)) return false
  const entriesToMerge = entries.slice(0, count).map((entry) => ({ entry, sha: entry.group?.headSha ?? '' }))
  const ref = `refs/heads/${branch}`
  const last = entriesToMerge.at(-1)
  if (last === undefined) return false
  await setRef(repo.path, ref, last.sha, repo.knownRefs.get(ref))
  await processRefChanges(repo, last.entry.by)
  for (const { entry, sha } of entriesToMerge) {
    await removeMergeQueueEntry(entry, 'MERGE')
    if (entry.pull.merged === null) await markPullMerged(entry.pull, sha, entry.by)
  }
  return true
}
