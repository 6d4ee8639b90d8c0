// Evaluates the groups in a branch's merge queue. GitHub's result must equal catalog-bot's own merge, each pull request
// must be mergeable, and the resulting catalogs must be valid. Based on the App's checks on the group's commit, GitHub
// then merges or drops the group.
import type { CommitSha, PullNumber } from '../pull-request/ids.ts'
import type { PullSnapshot } from '../pull-request/snapshot.ts'
import type { Finding } from '@catalog-bot/findings/finding'
import { mergeQueueBranchPrefix } from '../policy/merge-strategy.ts'
import { triggerCrashPoint } from '../jobs/crash-point.ts'
import {
  readValidatedMergeGroup,
  recordValidatedMergeGroup,
  recordMergeQueueBranchUse,
} from './merge-queue-state.ts'
import { addCheckRunDigest, publishMissingCheckRuns } from '../jobs/publish-report.ts'
import { renderMergeGroupChecks, type MergeGroupVerdict } from '../report/check-runs.ts'
import { defineCacheNamespace } from '../ports/cache.ts'
import type { MergeQueueEntry } from '../ports/merge-api.ts'
import type { JobOfKind } from '../ports/jobs.ts'
import type { Store } from '../ports/store.ts'
import { evaluateInWorker, requestEvaluation } from '../evaluate/evaluate-in-worker.ts'
import type { JobContext } from '../jobs/job-context.ts'
import { noopPullHistoryStore } from '../catalogs/memory-cache.ts'
import type { WorkerPullHistoryStore } from '../evaluate/pull-evaluation.ts'
import { excludeOverriddenFindings } from '../policy/command-records.ts'

type MergeGroupJob = JobOfKind<'group'>

/** After this, an unanswered question fails the group: a waiting queue blocks everyone. */
const maxMergeGroupWaitMs = 10 * 60_000
const mergeGroupRetrySeconds = 5

/** The combined evaluation must not enter any pull request's history. */
const noopWorkerPullHistoryStore: Required<WorkerPullHistoryStore> = {
  ...noopPullHistoryStore,
  firstSeenApprovals: () => Promise.resolve(new Map()),
  recordChange: () => Promise.resolve(),
  readChanges: () => Promise.resolve(new Map()),
  listPushers: () => Promise.resolve([]),
  hasSeenPushes: () => Promise.resolve(false),
  recentCommands: () => Promise.resolve(new Map()),
}

/** The group's commit on the branch's tip, and its pull requests in order. */
interface MergeQueueGroup {
  readonly head: CommitSha
  readonly base: CommitSha
  readonly branch: string
  readonly entries: readonly MergeQueueEntry[]
}

export async function evaluateMergeGroups(job: MergeGroupJob, ctx: JobContext<Store>): Promise<void> {
  const { merging, repository, app } = ctx
  const queue = await merging.readMergeQueue(job.branch)
  await recordMergeQueueBranchUse(job.repository, job.branch, queue.length > 0, app.store)
  if (!queue.some(({ group }) => group !== undefined)) return
  const branches = await merging.listBranchesWithPrefix(`${mergeQueueBranchPrefix}${job.branch}/`)
  await repository.fetch(job.branch)
  const base = await repository.tip(job.branch)
  if (base === undefined) return
  let isOpen = false
  for (const { group } of queue) {
    const branch = branches.find(({ tip }) => tip === group?.head)?.name
    if (group === undefined || branch === undefined) continue
    const entries = findMergeGroupEntries(queue, group, base)
    // Its tip is outdated: GitHub rebuilds the group.
    if (entries === undefined) continue
    if (!(await evaluateMergeGroup({ head: group.head, base, branch, entries }, job, ctx))) isOpen = true
  }
  if (isOpen) await app.store.enqueue(job, mergeGroupRetrySeconds)
}

/** Returns undefined if the group is not based on the branch's tip. */
function findMergeGroupEntries(
  queue: readonly MergeQueueEntry[],
  { head }: NonNullable<MergeQueueEntry['group']>,
  tip: CommitSha,
): readonly MergeQueueEntry[] | undefined {
  const entries: MergeQueueEntry[] = []
  for (let at: CommitSha | undefined = head; at !== tip;) {
    const entry: MergeQueueEntry | undefined = queue.find(({ group }) => group?.head === at)
    if (entry === undefined || entries.length >= queue.length) return undefined
    entries.unshift(entry)
    at = entry.group?.base
  }
  return entries
}

/** Returns true once the verdict is recorded and on GitHub. */
async function evaluateMergeGroup(
  group: MergeQueueGroup,
  job: MergeGroupJob,
  ctx: JobContext<Store>,
): Promise<boolean> {
  const { app, forge } = ctx
  const known = await readValidatedMergeGroup(job.repository, job.branch, group.head, app)
  const verdict = known
    ? createPassingMergeGroupVerdict(group)
    : await computeMergeGroupVerdict(group, job, ctx)
  const reported = verdict.kind === 'waiting' ? await failOverdueMergeGroup(group, verdict, ctx) : verdict
  if (reported.kind === 'good' && known === undefined) {
    const tree = await ctx.repository.treeOf(group.head)
    const pulls = group.entries.map(({ pull, head }) => ({ pull, head }))
    await recordValidatedMergeGroup(
      job.repository,
      { head: group.head, tree, base: group.base, baseRef: job.branch, pulls },
      app,
    )
    triggerCrashPoint('group-judged')
  }
  await publishMissingCheckRuns(forge, group.head, renderMergeGroupChecks(reported).map(addCheckRunDigest))
  return reported.kind !== 'waiting'
}

const getPullNumbers = ({ entries }: MergeQueueGroup) => entries.map(({ pull }) => pull)
const createPassingMergeGroupVerdict = (group: MergeQueueGroup): MergeGroupVerdict => ({
  kind: 'good',
  pulls: getPullNumbers(group),
})
const createUnmergeableGroupVerdict =
  (kind: 'bad' | 'waiting') =>
  (group: MergeQueueGroup, ...reasons: readonly string[]): MergeGroupVerdict => ({
    kind,
    pulls: getPullNumbers(group),
    reasons,
  })
const createFailingMergeGroupVerdict = createUnmergeableGroupVerdict('bad')
const createWaitingMergeGroupVerdict = createUnmergeableGroupVerdict('waiting')

async function computeMergeGroupVerdict(
  group: MergeQueueGroup,
  job: MergeGroupJob,
  ctx: JobContext<Store>,
): Promise<MergeGroupVerdict> {
  const { repository } = ctx
  const chain = await mergePullsInGroupLocally(group, job, ctx)
  if ('kind' in chain) return chain
  const { merged, bases } = chain
  await repository.fetch(group.branch)
  if ((await repository.treeOf(merged)) !== (await repository.treeOf(group.head)))
    return createFailingMergeGroupVerdict(
      group,
      'the files in the merge group differ from the result of merging its pull requests',
    )
  const overridden: Finding[] = []
  for (const [at, entry] of group.entries.entries()) {
    const evaluated = await evaluateMergeGroupEntry(entry, bases[at] ?? group.base, group, ctx)
    if ('kind' in evaluated) return evaluated
    overridden.push(...evaluated.overridden)
  }
  const last = group.entries.at(-1)
  // A single pull request was evaluated with this tree.
  if (group.entries.length < 2 || last === undefined) return createPassingMergeGroupVerdict(group)
  return evaluateMergeGroupTree(
    group,
    { pull: last.pull, head: merged, baseRef: job.branch, overridden },
    ctx,
  )
}

interface MergeGroupTree {
  /** Its budget pays for the evaluation. */
  readonly pull: PullNumber
  /** A local commit that contains all of them, on no branch. */
  readonly head: CommitSha
  readonly baseRef: string
  /** Findings that maintainers overrode on each; the same findings are overridden here. */
  readonly overridden: readonly Finding[]
}

/**
 * Evaluates the combined tree of several pull requests as one change, which must be valid. Ownership was checked for
 * each. Rejects with a GitError.
 */
async function evaluateMergeGroupTree(
  group: MergeQueueGroup,
  { pull, head, baseRef, overridden }: MergeGroupTree,
  ctx: JobContext<Store>,
): Promise<MergeGroupVerdict> {
  const snapshot: PullSnapshot = {
    repository: ctx.forge.repository,
    pull,
    state: 'open',
    draft: false,
    title: '',
    author: null,
    head,
    baseRef,
    base: group.base,
    headRepository: null,
    labels: [],
    reviews: [],
    comments: [],
    stacked: false,
  }
  const answer = await requestEvaluation(snapshot, ctx, {
    memory: noopWorkerPullHistoryStore,
    openPulls: () => Promise.resolve([]),
  })
  if (answer.kind === 'too-large')
    return createFailingMergeGroupVerdict(
      group,
      `the pull requests are too large to check together: ${answer.why}`,
    )
  const outcomes = answer.verdictInput.outcomes.filter(({ check }) => check !== 'ownership')
  if (outcomes.length === 0)
    return createFailingMergeGroupVerdict(group, 'the pull requests cannot be checked together')
  const errors = outcomes.flatMap(({ check, findings }) =>
    excludeOverriddenFindings(findings, overridden)
      .filter(({ severity }) => severity === 'error')
      .map(
        ({ rule, at }) =>
          `checked together, the pull requests violate ${rule}${at === undefined ? '' : ` in ${at.file}`} (check: ${check})`,
      ),
  )
  if (errors.length > 0) return createFailingMergeGroupVerdict(group, ...errors)
  const open = outcomes.flatMap(({ unanswered }) =>
    unanswered.map(({ question, reason }) => `${question}: ${reason}`),
  )
  return open.length > 0
    ? createWaitingMergeGroupVerdict(group, ...open)
    : createPassingMergeGroupVerdict(group)
}

/** Merges the pull requests in order as catalog-bot does. Returns the last commit, and the commit below each of them. */
async function mergePullsInGroupLocally(
  group: MergeQueueGroup,
  job: MergeGroupJob,
  { repository }: JobContext<Store>,
): Promise<MergeGroupVerdict | { readonly merged: CommitSha; readonly bases: readonly CommitSha[] }> {
  let at = group.base
  const bases: CommitSha[] = []
  for (const { pull, head } of group.entries) {
    await repository.fetch(job.branch, pull)
    if ((await repository.pullHead(pull)) !== head || (await repository.tip(job.branch)) !== group.base)
      return createWaitingMergeGroupVerdict(group, `pull request ${pull} or its base branch just changed`)
    bases.push(at)
    const merged = await repository.merge(at, head, `Merge pull request ${pull}\n`)
    if (merged.kind === 'conflict')
      return createFailingMergeGroupVerdict(
        group,
        `pull request ${pull} conflicts with earlier pull requests in the merge group`,
      )
    if (merged.kind === 'clean') at = merged.commit
  }
  return { merged: at, bases }
}

/**
 * Evaluates one pull request on top of the earlier ones, which can change its owners. Returns what maintainers overrode,
 * or why it must not be merged.
 */
async function evaluateMergeGroupEntry(
  { pull, head }: MergeQueueEntry,
  base: CommitSha,
  group: MergeQueueGroup,
  ctx: JobContext<Store>,
): Promise<MergeGroupVerdict | { readonly overridden: readonly Finding[] }> {
  const snapshot = await ctx.forge.readSnapshot(pull, { skipCache: true })
  if (snapshot === null) return createWaitingMergeGroupVerdict(group, `pull request ${pull} does not exist`)
  if (snapshot.head !== head || snapshot.base !== group.base)
    return createWaitingMergeGroupVerdict(group, `pull request ${pull} or its base branch just changed`)
  const { verdict } = await evaluateInWorker({ ...snapshot, base }, ctx, undefined, { isQueued: true })
  const reasons = verdict.reasons.map(({ text }) => `pull request ${pull}: ${text}`)
  switch (verdict.kind) {
    case 'merge':
      return {
        overridden: verdict.outcomes.flatMap(({ findings }) =>
          findings.filter((finding) => finding.overridden !== undefined),
        ),
      }
    case 'unknown':
      return createWaitingMergeGroupVerdict(group, ...reasons)
    case 'wait':
    case 'blocked':
      return createFailingMergeGroupVerdict(group, ...reasons)
  }
}

const mergeGroupWaitStartTimeCache = defineCacheNamespace<number>('groups that wait', 1, (stored) =>
  typeof stored === 'number' ? stored : undefined,
)

async function failOverdueMergeGroup(
  { head }: MergeQueueGroup,
  verdict: Extract<MergeGroupVerdict, { kind: 'waiting' }>,
  { app }: JobContext<Store>,
): Promise<MergeGroupVerdict> {
  const since = (await app.store.getCached(mergeGroupWaitStartTimeCache, [head])).get(head)
  const now = app.clock.now()
  if (typeof since !== 'number') {
    await app.store.putCached(mergeGroupWaitStartTimeCache, new Map([[head, now]]), 24 * 3600)
    return verdict
  }
  if (now - since < maxMergeGroupWaitMs) return verdict
  return {
    ...verdict,
    kind: 'bad',
    reasons: ['the merge group could not be checked in time', ...verdict.reasons],
  }
}
