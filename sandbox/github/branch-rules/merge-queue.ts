// GitHub's merge queue: pull requests wait in a row, each as a commit on top of those before it, under a temporary
// branch. The required checks are judged on those commits, and what is green lands as it was tested.
import { deleteRef, setRef } from '../git/git-store.ts'
import type { GitHubState } from '../github-state.ts'
import { emitPull, followRefs, markMerged } from '../git/pushes.ts'
import { readCommit, shortCommitView } from '../views/commit-view.ts'
import { timestampOf } from '../world.ts'
import type { Account, Group, MergeMethod, Pull, QueueEntry, Repo } from '../world.ts'
import { requiredApprovalsOf, protectionOf } from './branch-protection.ts'
import { rulesetsFor } from './layers.ts'
import { mergeCommit } from './merge-commits.ts'
import { unmetChecks } from './required-checks.ts'
import type { MergeQueueParameters, Rule, StatusCheckParameters } from './rule-shapes.ts'

export type DequeueReason =
  'MANUAL' | 'MERGE' | 'MERGE_CONFLICT' | 'CI_FAILURE' | 'CI_TIMEOUT' | 'ALREADY_MERGED' | 'QUEUE_CLEARED'

function rulesOf(repo: Repo, branch: string): Rule[] {
  const protection = protectionOf(repo, branch)
  return [
    ...rulesetsFor(repo, `refs/heads/${branch}`).flatMap(({ rules }) => rules),
    ...(protection === undefined ? [] : requiredApprovalsOf(protection)),
  ]
}

/** How the branch's merge queue is set, or undefined when it has none. */
export function queueParameters(repo: Repo, branch: string): MergeQueueParameters | undefined {
  const rule = rulesOf(repo, branch).find(({ type }) => type === 'merge_queue')
  return rule?.parameters as MergeQueueParameters | undefined
}

export const methodOfQueue = ({ merge_method }: MergeQueueParameters): MergeMethod =>
  merge_method.toLowerCase() as MergeMethod

/** Puts a pull request into its branch's queue. Whether it may be there is judged before. Call it in line. */
export async function enqueue(
  state: GitHubState,
  pull: Pull,
  by: Account,
  jump: boolean,
): Promise<QueueEntry> {
  const { repo, baseRef } = pull
  const entries = repo.queues.get(baseRef) ?? []
  const id = state.world.nextId()
  const enqueuedAt = state.world.now()
  const entry: QueueEntry = { id, pull, headSha: pull.headSha, by, enqueuedAt, jump, group: undefined }
  if (jump) entries.unshift(entry)
  else entries.push(entry)
  repo.queues.set(baseRef, entries)
  await emitPull(state, pull, 'enqueued', by)
  await advanceQueues(state, repo)
  return entry
}

export const entryOf = (pull: Pull): QueueEntry | undefined =>
  pull.repo.queues.get(pull.baseRef)?.find((it) => it.pull === pull)

/** Takes a pull request out. Those behind it are built anew. Call it in line. */
export async function dequeue(
  state: GitHubState,
  entry: QueueEntry,
  reason: DequeueReason,
  by: Account = entry.by,
): Promise<void> {
  const { pull } = entry
  const rest = (pull.repo.queues.get(pull.baseRef) ?? []).filter((it) => it !== entry)
  pull.repo.queues.set(pull.baseRef, rest)
  pull.queueRemoval = {
    id: state.world.nextId(),
    at: timestampOf(state.world.now()),
    reason: reason.toLowerCase(),
    by: reason === 'MANUAL' ? by : null,
  }
  await dissolve(state, entry, reason === 'MERGE' ? 'merged' : 'dequeued')
  await emitPull(state, pull, 'dequeued', by, { reason })
}

/** Tells the apps of a group: that checks are wanted on its commit, or why it is gone. */
export async function emitGroup(
  state: GitHubState,
  repo: Repo,
  { headSha, branch, baseSha, baseRef }: Omit<Group, 'askedAt'>,
  action: 'checks_requested' | 'destroyed',
  reason?: 'merged' | 'invalidated' | 'dequeued',
): Promise<void> {
  const merge_group = {
    head_sha: headSha,
    head_ref: `refs/heads/${branch}`,
    base_sha: baseSha,
    base_ref: `refs/heads/${baseRef}`,
    head_commit: shortCommitView(await readCommit(repo.path, headSha)),
  }
  state.webhooks.emit('merge_group', action, repo, repo.owner, {
    merge_group,
    ...(reason ? { reason } : {}),
  })
}

async function dissolve(
  state: GitHubState,
  entry: QueueEntry,
  reason: 'merged' | 'invalidated' | 'dequeued',
): Promise<void> {
  const { group, pull, by } = entry
  if (group === undefined) return
  entry.group = undefined
  await emitGroup(state, pull.repo, group, 'destroyed', reason)
  await deleteRef(pull.repo.path, `refs/heads/${group.branch}`)
  await followRefs(state, pull.repo, by)
}

/** Does what is due in a repository's queues: builds groups, merges what is green, drops what failed. Call it in line. */
export async function advanceQueues(state: GitHubState, repo: Repo): Promise<void> {
  for (const branch of repo.queues.keys()) {
    // Each step changes one thing; the next looks at everything anew.
    let goesOn = true
    while (goesOn) goesOn = await step(state, repo, branch)
  }
}

async function step(state: GitHubState, repo: Repo, branch: string): Promise<boolean> {
  const entries = repo.queues.get(branch) ?? []
  const settings = queueParameters(repo, branch)
  const [first] = entries
  if (first === undefined) return false
  if (settings === undefined) {
    await dequeue(state, first, 'QUEUE_CLEARED')
    return true
  }
  for (const entry of entries) {
    const { pull, headSha } = entry
    if (pull.state === 'open' && pull.headSha === headSha) continue
    await dequeue(state, entry, pull.merged === null ? 'MANUAL' : 'ALREADY_MERGED')
    return true
  }
  return (
    (await build(state, repo, branch, settings)) ||
    (await dropFailed(state, repo, branch, settings)) ||
    (await mergeGreen(state, repo, branch, settings))
  )
}

/** Makes the group of the first entry that has none on its right base; tears down one that stands on a wrong base. */
async function build(
  state: GitHubState,
  repo: Repo,
  branch: string,
  settings: MergeQueueParameters,
): Promise<boolean> {
  let base = repo.known.get(`refs/heads/${branch}`) ?? ''
  for (const entry of (repo.queues.get(branch) ?? []).slice(0, Math.max(1, settings.max_entries_to_build))) {
    if (entry.group !== undefined && entry.group.baseSha !== base) {
      await dissolve(state, entry, 'invalidated')
      return true
    }
    if (entry.group === undefined) {
      await ask(state, entry, base, methodOfQueue(settings))
      return true
    }
    base = entry.group.headSha
  }
  return false
}

async function ask(state: GitHubState, entry: QueueEntry, base: string, method: MergeMethod): Promise<void> {
  const { pull, by } = entry
  const { repo, number, baseRef } = pull
  const made = await mergeCommit({ world: state.world, path: repo.path, by }, pull, base, method)
  if (typeof made === 'string') return await dequeue(state, entry, 'MERGE_CONFLICT')
  const branch = `gh-readonly-queue/${baseRef}/pr-${number}-${base}`
  entry.group = { branch, headSha: made.sha, baseSha: base, baseRef, askedAt: state.world.now() }
  await setRef(repo.path, `refs/heads/${branch}`, made.sha)
  await followRefs(state, repo, by)
  await emitGroup(state, repo, entry.group, 'checks_requested')
}

type Outcome = 'green' | 'waiting' | 'failed' | 'late'

function outcomeOf(
  state: GitHubState,
  repo: Repo,
  branch: string,
  entry: QueueEntry,
  minutes: number,
): Outcome {
  const { group } = entry
  if (group === undefined) return 'waiting'
  const required = rulesOf(repo, branch)
    .filter(({ type }) => type === 'required_status_checks')
    .flatMap(({ parameters }) => (parameters as unknown as StatusCheckParameters).required_status_checks)
  const unmet = unmetChecks(state.world, repo, group.headSha, required, 0)
  if (unmet.length === 0) return 'green'
  if (unmet.some(({ standing }) => standing === 'failing')) return 'failed'
  return state.world.now() - group.askedAt >= minutes * 60_000 ? 'late' : 'waiting'
}

/** With HEADGREEN an entry that failed may still land under a later one that is green. */
async function dropFailed(
  state: GitHubState,
  repo: Repo,
  branch: string,
  settings: MergeQueueParameters,
): Promise<boolean> {
  const entries = repo.queues.get(branch) ?? []
  const outcomes = entries.map((it) =>
    outcomeOf(state, repo, branch, it, settings.check_response_timeout_minutes),
  )
  const carried = (at: number): boolean =>
    settings.grouping_strategy === 'HEADGREEN' &&
    outcomes.slice(at + 1).some((it) => it === 'green' || it === 'waiting')
  const at = outcomes.findIndex((it, index) => (it === 'failed' || it === 'late') && !carried(index))
  const entry = entries[at]
  if (entry === undefined) return false
  await dequeue(state, entry, outcomes[at] === 'failed' ? 'CI_FAILURE' : 'CI_TIMEOUT')
  return true
}

async function mergeGreen(
  state: GitHubState,
  repo: Repo,
  branch: string,
  settings: MergeQueueParameters,
): Promise<boolean> {
  const entries = repo.queues.get(branch) ?? []
  const green = entries.map(
    (it) => outcomeOf(state, repo, branch, it, settings.check_response_timeout_minutes) === 'green',
  )
  const most = Math.max(1, settings.max_entries_to_merge)
  const allGreen = settings.grouping_strategy === 'ALLGREEN'
  const prefix = green.indexOf(false) < 0 ? green.length : green.indexOf(false)
  const count = allGreen ? Math.min(prefix, most) : green.slice(0, most).lastIndexOf(true) + 1
  const waited = state.world.now() - (entries[0]?.enqueuedAt ?? 0)
  const isSmall = count < settings.min_entries_to_merge
  if (count === 0 || (isSmall && waited < settings.min_entries_to_merge_wait_minutes * 60_000)) return false
  const landing = entries.slice(0, count).map((entry) => ({ entry, sha: entry.group?.headSha ?? '' }))
  const ref = `refs/heads/${branch}`
  const last = landing.at(-1)
  if (last === undefined) return false
  await setRef(repo.path, ref, last.sha, repo.known.get(ref))
  await followRefs(state, repo, last.entry.by)
  for (const { entry, sha } of landing) {
    await dequeue(state, entry, 'MERGE')
    if (entry.pull.merged === null) await markMerged(state, entry.pull, sha, entry.by)
  }
  return true
}
