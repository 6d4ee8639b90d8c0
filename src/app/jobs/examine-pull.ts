// Evaluates a pull request: snapshot, verdict, report, merge. Level-triggered: it reads everything again, so repeated,
// late or crashed runs converge.
import { questionKey, type Question } from '../../checks/questions.ts'
import type { PullNumber } from '../../change/ids.ts'
import type { Snapshot } from '../../change/snapshot.ts'
import { repositoryKey } from '../../change/repository-key.ts'
import type { Answer } from '../../examine/gather-answers.ts'
import type { LookHints } from '../../examine/looks/look-pool.ts'
import type { Job } from '../../ports/jobs.ts'
import type { Store } from '../../ports/store.ts'
import { crashPoint } from '../../landing/crash-point.ts'
import { answerCommands } from './answer-commands.ts'
import { awaitGitHub } from './await-github.ts'
import { bringCommits } from './bring-commits.ts'
import { isLanded } from './is-landed.ts'
import { isServed } from './is-served.ts'
import { keepLook } from './keep-look.ts'
import { lookAgain } from './look-again.ts'
import { lookAtMalformed, lookAtPull, type Seen } from './look-at-pull.ts'
import { wishPreview } from './publish/wish-preview.ts'
import { wishTrial } from './trial/wish-trial.ts'
import { recordEnd, recordLook } from './record-look.ts'
import { reportUnserved } from './report-elsewhere.ts'
import { reportMerged } from './report-merged.ts'
import { requestReviews } from './request-reviews.ts'
import { secondsToSayReady } from './say-later.ts'
import { seeClosed } from './see-closed.ts'
import { seeElsewhere } from './see-elsewhere.ts'
import { settleBegun } from './settle-begun.ts'
import { recordOf, showLook } from './show-look.ts'
import { statusPage } from './status-page.ts'
import type { Forge, Present, PullSize } from '../../ports/forge.ts'
import type { JobContext } from './job-context.ts'
import type { Turn } from './turns.ts'

/** Seconds until inconsistent data is read again. */
const busySeconds = 2
/** Seconds until an unclear merge is checked again; GitHub abandons its own merge within this time. */
const unclearSeconds = 30
/** Restarts within one job after commands took effect, before it returns to the queue. */
const attempts = 5

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
  for (let attempt = 0; attempt < attempts; attempt++) {
    const answers = new Map<string, Answer>()
    const looked = await look(job.pull, place, turn, answers)
    if (looked === undefined) return
    const { examination, present } = looked
    const { snapshot, verdict } = examination
    crashPoint('snapshot-read')
    await store.recordVerdict(recordOf(examination, place.app.clock.now()))
    await recordLook(examination, place)
    place.app.metrics.verdicts.inc({ kind: verdict.kind })
    crashPoint('verdict-recorded')
    if (!(await answerCommands(examination, place))) continue
    await turn.giveWay()
    const isFirst = present !== undefined && present.comment === undefined
    const sayReadyAfter =
      verdict.permit === undefined ? 0 : await secondsToSayReady(snapshot, place, isFirst ? 'first' : 'edit')
    await showLook(examination, place, { present, isRestLater: sayReadyAfter > 0 })
    crashPoint('report-published')
    // Another process may have merged and reported it meanwhile, so our report would be outdated.
    if (await isLanded(snapshot, place)) {
      await reportMerged(job.pull, place)
      return
    }
    await requestReviews(verdict, snapshot, place)
    await wishPreview(examination, place)
    await wishTrial(examination, place)
    if (examination.lookAgainAfter !== undefined) await store.enqueue(job, examination.lookAgainAfter)
    if (verdict.permit === undefined) {
      await store.dropReady(job.repository, [job.pull])
      await keepLook(examination, answers, place)
      if (verdict.kind !== 'unknown') await leaveQueue(job.pull, place)
      if (!(await settleBegun(job.pull, place))) await store.enqueue(job, unclearSeconds)
      return
    }

    // Enqueued before the merge can start, because the merge reschedules this job.
    if (sayReadyAfter > 0) await store.enqueue(job, sayReadyAfter)
    // The batch judges it again on the branch's current tip.
    await store.putReady(snapshot)
    await store.enqueue({
      kind: 'train',
      installation: job.installation,
      repository: job.repository,
      branch: snapshot.baseRef,
    })
    return
  }
  await store.enqueue(job, busySeconds)
}

interface Looked {
  readonly examination: Seen
  /** Our comment and check runs when the pull request was read; absent if not read. */
  readonly present: Present | undefined
}

/** Returns undefined if the pull request is gone or closed. */
async function look(
  pull: PullNumber,
  place: JobContext<Store>,
  turn: Turn,
  answers: Map<string, Answer>,
): Promise<Looked | undefined> {
  const { forge, app } = place
  let size: PullSize | undefined
  let present: Present | undefined
  const snapshot = await forge.readSnapshot(pull, {
    onCounted: async ({ author, size: counted }) => {
      size = counted
      const isSmall = app.looks.isSmall({ repository: forge.repository, pull, author }, size)
      turn.weigh(isSmall ? 'light' : 'heavy', whoseOf(author, forge))
      await turn.giveWay()
    },
    onPresent: (read) => void (present = read),
  })
  if (snapshot === null) {
    await recordEnd({ repository: forge.repository, pull }, 'closed', place)
    return undefined
  }
  if (snapshot.state !== 'open') {
    await seeClosed(snapshot, place, present)
    return undefined
  }
  if (!(await isServed(snapshot.baseRef, place, { kept: true }))) {
    await seeElsewhere(snapshot, app.store)
    // The base may have changed since the merge began; the outcome is reported on the pull request wherever it is now.
    if (!(await settleBegun(pull, place))) await lookAgain(pull, place, unclearSeconds)
    if (await isLanded(snapshot, place)) await reportMerged(pull, place, { present })
    else await reportUnserved(snapshot, place, present)
    return undefined
  }
  // GitHub notices a pushed merge a moment later. By then the pull request must not be judged against itself.
  if (await isLanded(snapshot, place)) {
    await reportMerged(pull, place, { present })
    crashPoint('landing-reported')
    return undefined
  }
  await turn.giveWay()
  const brought = await bringCommits(snapshot, place)
  if (brought.kind === 'malformed')
    return { examination: await lookAtMalformed(snapshot, brought.why, place), present }
  if (brought.kind === 'stale') {
    await lookAgain(pull, place, busySeconds)
    return undefined
  }
  const fetched = brought.snapshot
  // It was read again because git was newer, and may have been merged or closed meanwhile.
  if (fetched.state !== 'open') {
    await seeClosed(fetched, place)
    return undefined
  }
  await turn.giveWay()
  const started = performance.now()
  const hints: LookHints = {
    size,
    onLong: () => turn.weigh('heavy', whoseOf(fetched.author, forge)),
  }
  const onAnswer = (question: Question, answer: Answer) => void answers.set(questionKey(question), answer)
  const examination = await lookAtPull(fetched, place, hints, { onAnswer })
  if (examination.verdict.reasons.some(({ code }) => code === 'nothing-to-merge')) {
    const becomes = await awaitGitHub(fetched, place)
    if (becomes === 'merged') await reportMerged(pull, place, { present })
    if (becomes === 'wait') await lookAgain(pull, place, busySeconds)
    if (becomes !== 'open') return undefined
  }
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
  return { examination, present }
}

/** Pull requests of one author in one repository wait for one another. */
function whoseOf(author: Snapshot['author'], { repository }: Forge): string {
  return `${repositoryKey(repository)} ${author?.id ?? 'nobody'}`
}

/** GitHub's merge queue would merge it without asking us again. */
async function leaveQueue(pull: PullNumber, { app, forge, merging }: JobContext<Store>): Promise<void> {
  const open = await app.store.openLandings(forge.repository)
  if (open.some((intent) => intent.pull === pull && intent.method?.kind === 'queue'))
    await merging.dequeue(pull)
}
