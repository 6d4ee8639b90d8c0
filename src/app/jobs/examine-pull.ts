// The job "check this pull request": snapshot, verdict, report, landing. Level-triggered: it reads everything
// anew, so running it twice, late or after a crash comes to the same end.
import type { PullNumber } from '../../change/ids.ts'
import type { Snapshot } from '../../change/snapshot.ts'
import type { ReportOptions } from '../../messages/report-options.ts'
import { composeReport, type Report } from '../../messages/report.ts'
import { describeMeanwhile } from '../../messages/describe-meanwhile.ts'
import type { Job } from '../../ports/jobs.ts'
import type { Landings } from '../../ports/landings.ts'
import type { PageRecords } from '../../ports/page-records.ts'
import type { PullMemory } from '../../ports/pull-memory.ts'
import type { State } from '../../ports/state.ts'
import type { Store } from '../../ports/store.ts'
import type { VerdictRecord } from '../../ports/verdicts.ts'
import { crashPoint } from '../../landing/crash-point.ts'
import { landPull } from '../../landing/land-pull.ts'
import type { SettleOptions } from '../../landing/landing-options.ts'
import { settle } from '../../landing/settle-landings.ts'
import { actOnRefusal, forgetRefusals, haveRulesChanged } from './refused-pull.ts'
import { answerCommands } from './answer-commands.ts'
import { obeyOnClosed } from './closed-commands.ts'
import { fetchAgreeing } from './fetch-agreeing.ts'
import { isServed } from './is-served.ts'
import { lookAtPull, type Seen } from './look-at-pull.ts'
import { planLanding } from './plan-landing.ts'
import { dropPreviews, wishPreview } from './publish/wish-preview.ts'
import { toldPulls } from './publish/publication-state.ts'
import { publishReport, withDigest, type Compose } from './publish-report.ts'
import { recordLook } from './record-look.ts'
import { reportMerged, type StoredReport } from './report-merged.ts'
import { reportMismatch } from './report-mismatch.ts'
import { requestReviews } from './request-reviews.ts'
import { statusPage } from './status-page.ts'
import { noteQueue } from './queued-branches.ts'
import { rememberBranch } from './watch-branch.ts'
import type { Forge, PullSize } from '../../ports/forge.ts'
import type { JobContext } from './job-context.ts'
import type { Turn } from './turns.ts'

/** Seconds after which a landing that met another one is tried again. */
const busySeconds = 2
/** How often a landing starts again from a moved base within one job before it goes back to the queue. */
const landingAttempts = 5

export async function examinePull(
  job: Extract<Job, { kind: 'pull' }>,
  place: JobContext<Store>,
): Promise<void> {
  const turn = place.app.turns.begin()
  try {
    await examineInTurn(job, place, turn)
  } finally {
    turn.end()
  }
}

async function examineInTurn(
  job: Extract<Job, { kind: 'pull' }>,
  place: JobContext<Store>,
  turn: Turn,
): Promise<void> {
  const { store } = place.app
  crashPoint('job-taken')
  for (let attempt = 0; attempt < landingAttempts; attempt++) {
    const examination = await look(job.pull, place, turn)
    if (examination === undefined) return
    const { snapshot, verdict } = examination
    crashPoint('snapshot-read')
    await store.recordVerdict(recordOf(examination, place.app.clock.now()))
    await recordLook(examination, place)
    place.app.metrics.verdicts.inc({ kind: verdict.kind })
    crashPoint('verdict-recorded')
    if (!(await answerCommands(examination, place))) continue
    await turn.giveWay()
    await report(examination, place)
    crashPoint('report-published')
    await requestReviews(verdict, snapshot, place)
    await wishPreview(examination, place)
    if (examination.lookAgainAfter !== undefined) await store.enqueue(job, examination.lookAgainAfter)
    if (verdict.permit === undefined) {
      // A question that is open for the moment is the group's to wait for.
      if (verdict.kind !== 'unknown') await leaveQueue(job.pull, place)
      return
    }

    await rememberBranch(snapshot.baseRef, snapshot.base, place)
    const { permit } = verdict
    const outcome = await landPull(examination, permit, {
      ...settleOptions(place),
      forge: place.forge,
      leaseSeconds: place.app.settings.leaseSeconds,
      plan: () => planLanding(permit.landing, place),
      checks: composed(examination, place).checks.map(withDigest),
    })
    place.app.log.info({ pull: job.pull, repository: job.repository, outcome: outcome.kind }, 'landing')
    switch (outcome.kind) {
      case 'landed':
        await forgetRefusals(snapshot, place)
        await noteEnd(snapshot, 'merged', place)
        await report(examination, place, outcome.commit)
        crashPoint('landing-reported')
        await store.enqueue({
          kind: 'branch',
          installation: job.installation,
          repository: job.repository,
          branch: snapshot.baseRef,
        })
        return
      case 'busy':
        await store.enqueue(job, busySeconds)
        return
      case 'refused':
        // What the landing was planned by may be an hour old: where the branch demands something else now, that is tried.
        if (!(await haveRulesChanged(snapshot.baseRef, place)))
          await actOnRefusal(snapshot, outcome.refusal, place)
        break
      case 'queued':
        await noteQueue(job.repository, snapshot.baseRef, true, store)
        return
      case 'again':
      case 'mismatch':
        break
    }
  }
  await store.enqueue(job, busySeconds)
}

/** Reads and decides. Undefined when there is nothing to decide: the pull request is gone or closed. */
async function look(pull: PullNumber, place: JobContext<Store>, turn: Turn): Promise<Seen | undefined> {
  const { forge, app } = place
  let size: PullSize | undefined
  const snapshot = await forge.readSnapshot(pull, {
    onCounted: async ({ author, size: counted }) => {
      size = counted
      const isSmall = app.looks.isSmall({ repository: forge.repository, pull, author }, size)
      turn.weigh(isSmall ? 'light' : 'heavy', whoseOf(author, forge))
      await turn.giveWay()
    },
  })
  if (snapshot === null) {
    await noteEnd({ repository: forge.repository, pull }, 'closed', place)
    return undefined
  }
  if (snapshot.state !== 'open') {
    await finishClosed(snapshot, place)
    await obeyOnClosed(snapshot, place)
    return undefined
  }
  if (!(await isServed(snapshot.baseRef, place))) return undefined
  await turn.giveWay()
  const fetched = await fetchAgreeing(snapshot, place)
  if (fetched === undefined) {
    await app.store.enqueue(
      { kind: 'pull', installation: place.installation, repository: forge.repository, pull },
      busySeconds,
    )
    return undefined
  }
  await turn.giveWay()
  const started = performance.now()
  const examination = await lookAtPull(fetched, place, {
    size,
    onLong: () => turn.weigh('heavy', whoseOf(fetched.author, forge)),
  })
  const examined = Math.round(performance.now() - started)
  app.log.info(
    {
      pull,
      repository: forge.repository,
      examined,
      verdict: examination.verdict.kind,
      page: statusPage(app.settings, forge.repository, pull),
    },
    'examined',
  )
  return examination
}

/** Of one repository's pull requests, those of one account wait for one another. */
function whoseOf(author: Snapshot['author'], { repository }: Forge): string {
  return `${repository.owner}/${repository.name} ${author?.id ?? 'nobody'}`.toLowerCase()
}

/** What may not be merged any more does not wait for it: the merge queue would merge it without asking again. */
async function leaveQueue(pull: PullNumber, { app, forge, merging }: JobContext<Store>): Promise<void> {
  const open = await app.store.openLandings(forge.repository)
  if (open.some((intent) => intent.pull === pull && intent.method?.kind === 'queue'))
    await merging.dequeue(pull)
}

/** For pages, and for how long pull requests take. */
async function noteEnd(
  { repository, pull }: Pick<Snapshot, 'repository' | 'pull'>,
  state: 'closed' | 'merged',
  { app }: JobContext<PageRecords>,
): Promise<void> {
  const now = app.clock.now()
  const opened = await app.store.recordEnd(repository, pull, state, now)
  if (state === 'merged' && opened !== undefined)
    app.metrics.openedToMerged.observe(Math.max(0, now - opened) / 1000)
}

/** A pull request that was closed meanwhile: if an earlier process landed it, that is settled and said. */
async function finishClosed(snapshot: Snapshot, place: JobContext<Store>): Promise<void> {
  const { app, forge } = place
  await dropPreviews(snapshot.pull, place)
  const open = (await app.store.openLandings(forge.repository)).filter(
    (intent) => intent.pull === snapshot.pull,
  )
  for (const intent of open) await settle(intent, settleOptions(place))
  const landing = await reportMerged(snapshot.pull, place)
  await noteEnd(snapshot, snapshot.state === 'merged' || landing !== undefined ? 'merged' : 'closed', place)
  if (landing === undefined) return
  await app.store.enqueue({
    kind: 'branch',
    installation: place.installation,
    repository: forge.repository,
    branch: landing.baseRef,
  })
}

function recordOf({ snapshot, verdict, configDigest, told }: Seen, decidedAt: number): VerdictRecord {
  const { permit: _permit, ...plain } = verdict
  const kept: StoredReport = { verdict: plain, ...told }
  return {
    repository: snapshot.repository,
    pull: snapshot.pull,
    head: snapshot.head,
    base: snapshot.base,
    config: configDigest,
    verdict: verdict.kind,
    report: kept,
    decidedAt,
  }
}

function composed(
  { snapshot, verdict, told }: Seen,
  { app, forge }: JobContext,
  more: Pick<ReportOptions, 'runs' | 'landed' | 'published' | 'meanwhile'> = {},
): Report {
  const page = { web: app.settings.gitUrl, repository: forge.repository, pull: snapshot.pull }
  return composeReport(verdict, {
    ...told,
    page,
    rulesUrl: app.settings.rulesUrl,
    statusPage: statusPage(app.settings, forge.repository, snapshot.pull),
    ...more,
  })
}

function settleOptions(place: JobContext<Store>): SettleOptions {
  const { repository, merging, app } = place
  const { store, clock } = app
  return {
    repository,
    merging,
    store,
    clock,
    onMismatch: (mismatch) => reportMismatch(mismatch, place),
    onEnded: (outcome) => app.metrics.landings.inc({ outcome }),
  }
}

/** What others merged since, in words; the pull requests among it are those on record. */
async function sayMeanwhile(
  { snapshot, told }: Seen,
  { app, forge }: JobContext<Landings>,
): Promise<readonly string[]> {
  const { moved = [] } = told
  if (moved.length === 0) return []
  const pulls = await app.store.landedPulls(
    forge.repository,
    moved.map(({ commit }) => commit),
  )
  const page = { web: app.settings.gitUrl, repository: forge.repository, pull: snapshot.pull }
  return describeMeanwhile(moved, pulls, page, snapshot.baseRef)
}

/** Shows the report, and remembers which head people were shown and when: commands bind to that (T20). */
async function report(
  seen: Seen,
  place: JobContext<Required<PullMemory> & State & Landings>,
  landed?: string,
): Promise<void> {
  const { snapshot, epoch, described } = seen
  const meanwhile = landed === undefined ? await sayMeanwhile(seen, place) : []
  // The push's own delivery may have had it published meanwhile.
  const published =
    landed === undefined
      ? undefined
      : await place.app.store.readState(toldPulls, snapshot.repository, String(snapshot.pull))
  const compose: Compose = (runs) => composed(seen, place, { runs, landed, published, meanwhile })
  const at = await publishReport(place.forge, compose, snapshot.pull, snapshot.head)
  if (at === undefined) return
  const { repository, pull, head } = snapshot
  // Kept before it is shown to anybody by name: whoever agrees to it does so by that.
  if (described) await place.app.store.keepChange(repository, pull, described)
  await place.app.store.recordShown(repository, pull, {
    head,
    epoch,
    at,
    ...(described && { change: described.id }),
  })
}
