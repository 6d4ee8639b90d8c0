// Judges the groups of a branch's merge queue. GitHub's result must equal our own merge, each pull request must be
// mergeable, and the whole must be valid. Our checks on the group's commit then let GitHub merge or drop it.
import type { CommitSha } from '../../change/ids.ts'
import type { Finding } from '../../findings/finding.ts'
import { queueBranches } from '../../gate/temporary-branch.ts'
import { crashPoint } from '../../landing/crash-point.ts'
import { judgedGroup, recordJudgedGroup } from '../../landing/judged-groups.ts'
import { putChecks } from '../../landing/put-checks.ts'
import { groupChecks, type GroupVerdict } from '../../messages/group-checks.ts'
import { defineCache } from '../../ports/cache.ts'
import type { QueuedPull } from '../../ports/merging.ts'
import type { Job } from '../../ports/jobs.ts'
import type { Store } from '../../ports/store.ts'
import { judgeWhole } from './judge-whole.ts'
import { lookAtPull } from './look-at-pull.ts'
import { withDigest } from './publish-report.ts'
import { noteQueue } from './queued-branches.ts'
import type { JobContext } from './job-context.ts'

type GroupJob = Extract<Job, { kind: 'group' }>

/** After this, an unanswered question fails the group: a waiting queue blocks everyone. */
const patienceMilliseconds = 10 * 60_000
const askAgainSeconds = 5

/** The group's commit on the branch's tip, and its pull requests in order. */
interface Group {
  readonly head: CommitSha
  readonly base: CommitSha
  readonly branch: string
  readonly entries: readonly QueuedPull[]
}

export async function judgeGroups(job: GroupJob, place: JobContext<Store>): Promise<void> {
  const { merging, repository, app } = place
  const queue = await merging.queueOf(job.branch)
  await noteQueue(job.repository, job.branch, queue.length > 0, app.store)
  if (!queue.some(({ group }) => group !== undefined)) return
  const branches = await merging.branchesBelow(`${queueBranches}${job.branch}/`)
  await repository.fetch(job.branch)
  const base = await repository.tip(job.branch)
  if (base === undefined) return
  let isOpen = false
  for (const { group } of queue) {
    const branch = branches.find(({ tip }) => tip === group?.head)?.name
    if (group === undefined || branch === undefined) continue
    const entries = entriesOf(queue, group, base)
    // Its tip is outdated: GitHub rebuilds the group.
    if (entries === undefined) continue
    if (!(await judge({ head: group.head, base, branch, entries }, job, place))) isOpen = true
  }
  if (isOpen) await app.store.enqueue(job, askAgainSeconds)
}

/** Returns undefined if the group is not based on the branch's tip. */
function entriesOf(
  queue: readonly QueuedPull[],
  { head }: NonNullable<QueuedPull['group']>,
  tip: CommitSha,
): readonly QueuedPull[] | undefined {
  const entries: QueuedPull[] = []
  for (let at: CommitSha | undefined = head; at !== tip;) {
    const entry: QueuedPull | undefined = queue.find(({ group }) => group?.head === at)
    if (entry === undefined || entries.length >= queue.length) return undefined
    entries.unshift(entry)
    at = entry.group?.base
  }
  return entries
}

/** Returns true once the verdict is recorded and on GitHub. */
async function judge(group: Group, job: GroupJob, place: JobContext<Store>): Promise<boolean> {
  const { app, forge } = place
  const known = await judgedGroup(job.repository, group.head, app)
  const verdict = known ? good(group) : await verdictOn(group, job, place)
  const told = verdict.kind === 'waiting' ? await impatient(group, verdict, place) : verdict
  if (told.kind === 'good' && known === undefined) {
    const tree = await place.repository.treeOf(group.head)
    const pulls = group.entries.map(({ pull, head }) => ({ pull, head }))
    await recordJudgedGroup(
      job.repository,
      { head: group.head, tree, base: group.base, baseRef: job.branch, pulls },
      app,
    )
    crashPoint('group-judged')
  }
  await putChecks(forge, group.head, groupChecks(told).map(withDigest))
  return told.kind !== 'waiting'
}

const numbersOf = ({ entries }: Group) => entries.map(({ pull }) => pull)
const good = (group: Group): GroupVerdict => ({ kind: 'good', pulls: numbersOf(group) })
const bad = (group: Group, ...reasons: string[]): GroupVerdict => ({
  kind: 'bad',
  pulls: numbersOf(group),
  reasons,
})
const waiting = (group: Group, ...reasons: string[]): GroupVerdict => ({
  kind: 'waiting',
  pulls: numbersOf(group),
  reasons,
})

async function verdictOn(group: Group, job: GroupJob, place: JobContext<Store>): Promise<GroupVerdict> {
  const { repository } = place
  const merged = await mergeEach(group, job, place)
  if (typeof merged !== 'string') return merged.verdict
  await repository.fetch(group.branch)
  if ((await repository.treeOf(merged)) !== (await repository.treeOf(group.head)))
    return bad(group, 'GitHub made other files of it than merging its pull requests makes')
  const overridden: Finding[] = []
  for (const entry of group.entries) {
    const alone = await judgeAlone(entry, group, place)
    if ('kind' in alone) return alone
    overridden.push(...alone.overridden)
  }
  const last = group.entries.at(-1)
  // A single pull request was already judged with this tree.
  if (group.entries.length < 2 || last === undefined) return good(group)
  const whole = await judgeWhole(
    { pull: last.pull, base: group.base, head: merged, baseRef: job.branch, overridden },
    place,
  )
  switch (whole.kind) {
    case 'valid':
      return good(group)
    case 'invalid':
      return bad(group, ...whole.reasons)
    case 'unknown':
      return waiting(group, ...whole.reasons)
  }
}

/** Merges the pull requests in order by our own rule; returns the commit or why there is none. */
async function mergeEach(
  group: Group,
  job: GroupJob,
  { repository }: JobContext<Store>,
): Promise<CommitSha | { readonly verdict: GroupVerdict }> {
  let at = group.base
  for (const { pull, head } of group.entries) {
    await repository.fetch(job.branch, pull)
    if ((await repository.pullHead(pull)) !== head || (await repository.tip(job.branch)) !== group.base)
      return { verdict: waiting(group, `pull request ${pull} or its base branch has just changed`) }
    const merged = await repository.merge(at, head, `Merge pull request ${pull}\n`)
    if (merged.kind === 'conflict')
      return { verdict: bad(group, `pull request ${pull} conflicts with those before it`) }
    if (merged.kind === 'clean') at = merged.commit
  }
  return at
}

/** Judges one pull request at the group's head. Returns what maintainers overrode, or why it may not merge. */
async function judgeAlone(
  { pull, head }: QueuedPull,
  group: Group,
  place: JobContext<Store>,
): Promise<GroupVerdict | { readonly overridden: readonly Finding[] }> {
  const snapshot = await place.forge.readSnapshot(pull, { anew: true })
  if (snapshot === null) return bad(group, `pull request ${pull} does not exist`)
  if (snapshot.head !== head || snapshot.base !== group.base)
    return waiting(group, `pull request ${pull} or its base branch has just changed`)
  const { verdict } = await lookAtPull(snapshot, place, undefined, { isQueued: true })
  const reasons = verdict.reasons.map(({ text }) => `pull request ${pull}: ${text}`)
  switch (verdict.kind) {
    case 'merge':
      return {
        overridden: verdict.outcomes.flatMap(({ findings }) =>
          findings.filter((found) => found.overridden !== undefined),
        ),
      }
    case 'unknown':
      return waiting(group, ...reasons)
    case 'wait':
    case 'blocked':
      return bad(group, ...reasons)
  }
}

const space = defineCache<number>('groups that wait', {
  version: 1,
  read: (stored) => (typeof stored === 'number' ? stored : undefined),
})

async function impatient(
  { head }: Group,
  verdict: Extract<GroupVerdict, { kind: 'waiting' }>,
  { app }: JobContext<Store>,
): Promise<GroupVerdict> {
  const since = (await app.store.getCached(space, [head])).get(head)
  const now = app.clock.now()
  if (typeof since !== 'number') {
    await app.store.putCached(space, new Map([[head, now]]), 24 * 3600)
    return verdict
  }
  if (now - since < patienceMilliseconds) return verdict
  return { ...verdict, kind: 'bad', reasons: ['it could not be judged in time', ...verdict.reasons] }
}
