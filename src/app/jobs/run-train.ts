// Merges the ready pull requests of a branch under its lease. Each is judged on top of the one before with the data of
// its evaluation; then all are read once from GitHub and pushed together. Where each must merge alone, they follow one
// another for a few seconds. A shutdown waits for the push; the next process continues.
import type { CommitSha, PullNumber } from '../../change/ids.ts'
import type { Snapshot } from '../../change/snapshot.ts'
import { repositoryKey } from '../../change/repository-key.ts'
import { longestTrain, mayShareAPush, nextLength, orderTrain } from '../../gate/train.ts'
import { crashPoint } from '../../landing/crash-point.ts'
import { landUnderLease } from '../../landing/land-pull.ts'
import { landTrain, type TrainMember } from '../../landing/land-train.ts'
import type { LandingOutcome } from '../../landing/landing-options.ts'
import { leaseName } from '../../landing/lease-name.ts'
import { defineCache } from '../../ports/cache.ts'
import type { Job } from '../../ports/jobs.ts'
import type { Lease } from '../../ports/leases.ts'
import type { Store } from '../../ports/store.ts'
import { keepLease } from './keep-lease.ts'
import { isServed } from './is-served.ts'
import type { JobContext } from './job-context.ts'
import { lookAgain } from './look-again.ts'
import { lookAtPull, type Seen } from './look-at-pull.ts'
import { planLanding } from './plan-landing.ts'
import { withDigest } from './publish-report.ts'
import { noteQueue } from './queued-branches.ts'
import { recordLook } from './record-look.ts'
import { actOnRefusal, forgetRefusals, haveRulesChanged } from './refused-pull.ts'
import { settleOptions } from './settle-options.ts'
import { composed, recordOf } from './show-look.ts'
import { isTold } from './told-landings.ts'
import { rememberBranch } from './watch-branch.ts'

type TrainJob = Extract<Job, { kind: 'train' }>
type Place = JobContext<Store>

/**
 * Seconds in which GitHub normally notices a pushed merge and sends a delivery, whose evaluation writes the report.
 * Without a delivery, the pull request is evaluated after this time.
 */
const noticedSeconds = 3
/** Seconds until retry while another merge is in progress on the branch. */
const busySeconds = 2
/**
 * Milliseconds in which a batch takes members. Permissions were read up to half a minute earlier
 * (examine/gather-answers.ts); this bounds their additional age at the push.
 */
const boardingTime = 15_000
/** Milliseconds of single merges before the branch is read again and other jobs run. */
const aloneTime = 10_000

/** Maximum size of a branch's next batch. If lost, a long batch is tried and rejected once more. */
const lengths = defineCache<number>('train length', {
  version: 1,
  read: (stored) =>
    typeof stored === 'number' && Number.isInteger(stored) && stored > 0 ? stored : undefined,
})
const lengthSeconds = 600

interface Member extends TrainMember {
  readonly seen: Seen
}

/** Rejects with a ForgeError, GitError or StoreError. */
export async function runTrain(job: TrainJob, place: Place): Promise<void> {
  const { store } = place.app
  if ((await store.readyPulls(job.repository, job.branch)).length === 0) return
  const kept = await keepLease(leaseName(job.repository, job.branch), place.app)
  if (kept === undefined) return store.enqueue(job, busySeconds)
  let isBusy: boolean
  try {
    isBusy = await landNext(job, kept.lease, place)
  } finally {
    await kept.release()
  }
  // Includes pull requests that arrived while the lease was held.
  if ((await store.readyPulls(job.repository, job.branch)).length > 0)
    await store.enqueue(job, isBusy ? busySeconds : 0)
}

async function landNext(job: TrainJob, lease: Lease, place: Place): Promise<boolean> {
  const { app, repository } = place
  if (!(await isServed(job.branch, place))) {
    const ready = await app.store.readyPulls(job.repository, job.branch)
    await lookAnew(
      ready.map(({ pull }) => pull),
      place,
    )
    return false
  }
  await repository.fetch(job.branch)
  const end = app.clock.now() + aloneTime
  for (;;) {
    const tip = await repository.tip(job.branch)
    if (tip === undefined) return true
    await rememberBranch(job.branch, tip, place)
    const { members, unready } = await board(job, tip, place)
    let went: Went
    try {
      went = await go(members, job, lease, place)
    } finally {
      // After the others merged, because one of those merges may be the reason.
      await lookAnew(unready, place)
    }
    if (went !== 'alone' || app.clock.now() > end) return went === 'busy'
  }
}

/** `busy`: nothing can merge at the moment. `alone`: one was merged alone, and the next can follow. */
type Went = 'busy' | 'alone' | 'over'

async function go(members: readonly Member[], job: TrainJob, lease: Lease, place: Place): Promise<Went> {
  const [first] = members
  if (first === undefined) return 'over'
  const outcomes =
    members.length > 1
      ? await landTogether(members, job, lease, place)
      : new Map([[first.permit.landing.pull, await landAlone(first, lease, place)]])
  let went: Went = 'over'
  for (const member of members) {
    const outcome = outcomes.get(member.permit.landing.pull)
    if (outcome === undefined) continue
    place.app.log.info(
      { pull: member.permit.landing.pull, repository: job.repository, outcome: outcome.kind },
      'landing',
    )
    if (outcome.kind === 'busy') went = 'busy'
    else await follow(member, outcome, place)
    if (outcome.kind === 'landed' && members.length === 1) went = 'alone'
  }
  return went
}

/** Returns the members, each with a permit based on the one before it, and the pull requests that are not ready. */
async function board(
  job: TrainJob,
  tip: CommitSha,
  place: Place,
): Promise<{ readonly members: readonly Member[]; readonly unready: readonly PullNumber[] }> {
  const { store, clock } = place.app
  const end = clock.now() + boardingTime
  const key = `${repositoryKey(job.repository)} ${job.branch}`
  const most = (await store.getCached(lengths, [key])).get(key) ?? longestTrain
  const members: Member[] = []
  const unready: PullNumber[] = []
  let base = tip
  for (const { snapshot } of orderTrain(await store.readyPulls(job.repository, job.branch))) {
    if (members.length >= most || (members.length > 0 && clock.now() > end)) break
    const member = await judge({ ...snapshot, base }, place)
    if (member === undefined) {
      unready.push(snapshot.pull)
      continue
    }
    const sharing =
      place.repository.landTogether !== undefined && mayShareAPush(member.planned.plan, member.planned.rules)
    // A pull request that must merge alone waits for those before it.
    if (members.length > 0 && !sharing) break
    members.push(member)
    if (!sharing) break
    base = member.permit.landing.commit
  }
  return { members, unready }
}

/** Judges a pull request on top of the earlier members. Undefined: it needs a full evaluation. */
async function judge(snapshot: Snapshot, place: Place): Promise<Member | undefined> {
  const { app, repository } = place
  if ((await repository.pullHead(snapshot.pull)) !== snapshot.head) {
    await repository.fetch(snapshot.baseRef, snapshot.pull)
    if ((await repository.pullHead(snapshot.pull)) !== snapshot.head) return undefined
  }
  const seen = await lookAtPull(snapshot, place)
  const { permit } = seen.verdict
  if (permit === undefined || seen.commands.length > 0) return undefined
  // The merge report is built from this record, even after a crash.
  await app.store.recordVerdict(recordOf(seen, app.clock.now()))
  await recordLook(seen, place)
  const planned = await planLanding(permit.landing, place)
  const checks = composed(seen, place).checks.map(withDigest)
  return { examined: seen, permit, seen, planned, checks }
}

async function landAlone({ examined, permit, planned, checks }: Member, lease: Lease, place: Place) {
  return landUnderLease(examined, permit, lease, {
    ...settleOptions(place),
    forge: place.forge,
    plan: () => Promise.resolve(planned),
    checks,
  })
}

async function landTogether(
  members: readonly Member[],
  job: TrainJob,
  lease: Lease,
  place: Place,
): Promise<ReadonlyMap<PullNumber, LandingOutcome>> {
  crashPoint('lease-taken')
  const { store, log } = place.app
  const { outcomes, refused } = await landTrain(members, lease, {
    ...settleOptions(place),
    forge: place.forge,
  })
  const { length } = members
  const key = `${repositoryKey(job.repository)} ${job.branch}`
  const hasLanded = [...outcomes.values()].filter(({ kind }) => kind === 'landed').length
  log.info({ repository: job.repository, branch: job.branch, length, landed: hasLanded, refused }, 'train')
  if (refused !== undefined || hasLanded === length)
    await store.putCached(
      lengths,
      new Map([[key, nextLength(length, refused === undefined ? 'landed' : 'refused')]]),
      lengthSeconds,
    )
  return outcomes
}

/** Handles a merge outcome. The pull request's own job reports it. */
async function follow({ seen }: Member, outcome: LandingOutcome, place: Place): Promise<void> {
  const { app, installation } = place
  const { repository, pull, baseRef } = seen.snapshot
  switch (outcome.kind) {
    case 'landed':
      await forgetRefusals(seen.snapshot, place)
      // GitHub's delivery may already have been handled.
      if (await isTold(pull, outcome.commit, place)) await app.store.dropReady(repository, [pull])
      else await lookAnew([pull], place, noticedSeconds)
      await app.store.enqueue({ kind: 'branch', installation, repository, branch: baseRef })
      return
    case 'queued':
      await noteQueue(repository, baseRef, true, app.store)
      await app.store.dropReady(repository, [pull])
      return
    case 'refused':
      // The plan may use rules that are an hour old; if they changed, try the new ones.
      if (!(await haveRulesChanged(baseRef, place))) await actOnRefusal(seen.snapshot, outcome.refusal, place)
      return lookAnew([pull], place)
    case 'again':
    case 'mismatch':
      return lookAnew([pull], place)
    case 'busy':
      return
  }
}

/** Removes them from the queue before the evaluation, which adds those that are ready. */
async function lookAnew(pulls: readonly PullNumber[], place: Place, afterSeconds = 0): Promise<void> {
  await place.app.store.dropReady(place.forge.repository, pulls)
  for (const pull of pulls) await lookAgain(pull, place, afterSeconds)
}
