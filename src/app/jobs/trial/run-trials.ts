// Runs cluster trials, one at a time on each cluster over all instances. Repositories with a recent trial yield to
// others. A crashed process leaves names, from which the next one cleans up.
import { ForgeError } from '../../../github/forge-error.ts'
import { trialCheck, type ToldTrial } from '../../../messages/trial-check.ts'
import type { Job, Jobs } from '../../../ports/jobs.ts'
import type { Lease, Leases } from '../../../ports/leases.ts'
import type { State } from '../../../ports/state.ts'
import type { TrialAnswer, TrialNews } from '../../trials/trial-order.ts'
import type { JobContext } from '../job-context.ts'
import { withDigest } from '../publish-report.ts'
import { catalogImages, type FoundImages } from './catalog-images.ts'
import { madeTrials, trialTurns, trialWishes, type MadeTrials, type TrialWish } from './trial-state.ts'

type TrialJob = Extract<Job, { kind: 'trial' }>
type Trying = JobContext<State & Jobs & Leases>
type Wished = TrialWish['trials'][number]

const leaseSeconds = 180
/** Seconds until retry while the cluster is in use. */
const busySeconds = 15
/** Milliseconds in which a repository yields after its trial; all who wait retry within this time. */
const politeFor = 3 * busySeconds * 1000
/** Seconds for which a repository keeps its place in line without asking again. */
const lineSeconds = 2 * busySeconds
const own = 'last'
/** Milliseconds between check updates while it runs. */
const shownEvery = 15_000

const nothingMade: MadeTrials = { key: '', running: [], attempts: 0 }
/** Retries after a process failure, which also clean up. */
const mostAttempts = 3
const againSeconds = 60
/** Seconds between checks for a preview image in progress, and their number: after ten minutes OLM v1 is skipped. */
const imageSeconds = 20
const mostWaits = 30

export async function runTrials(
  job: TrialJob,
  place: Trying,
  findImages: typeof catalogImages = catalogImages,
): Promise<void> {
  const { app, forge, installation } = place
  const key = String(job.pull)
  const wish = await app.store.readState(trialWishes, forge.repository, key)
  const made = (await app.store.readState(madeTrials, forge.repository, key)) ?? nothingMade
  if (wish === undefined || wish.isOver || made.key === wish.key) return
  const prepared = await app.trials.order({ kind: 'prepare', github: forge.repository, installation })
  if (prepared.kind !== 'prepared') {
    const why = 'why' in prepared ? prepared.why : 'the cluster was not prepared'
    await show(wish, [{ kind: 'not-tried', what: 'this change', why }], place)
    await app.store.writeState(madeTrials, forge.repository, new Map([[key, { ...made, key: wish.key }]]))
    return
  }
  const images = await findImages(job.pull, wish, place)
  const waited = made.waited?.key === wish.key ? made.waited.times : 0
  if ([...images.values()].includes('coming') && waited < mostWaits) {
    await show(wish, [{ kind: 'waiting', isForImage: true }], place)
    const now = { ...made, waited: { key: wish.key, times: waited + 1 } }
    await app.store.writeState(madeTrials, forge.repository, new Map([[key, now]]))
    await app.store.enqueue(job, imageSeconds)
    return
  }
  const lease = await takeSlot(prepared.slot, place)
  if (lease === undefined) {
    await show(wish, [{ kind: 'waiting' }], place)
    await app.store.enqueue(job, busySeconds)
    return
  }
  try {
    await tryAll(job, wish, made, { prepared, lease, images }, place)
  } finally {
    const turn = new Map([[own, { ended: app.clock.now() }]])
    await app.store.writeState(trialTurns, forge.repository, turn)
    await app.store.releaseLease(lease)
  }
}

/**
 * Returns the cluster's lease if it is free and no other repository waits first. A place in line is a lease that
 * expires unreleased.
 */
async function takeSlot(slot: string, { app, forge }: Trying): Promise<Lease | undefined> {
  const line = `trial line ${slot}`
  const turn = await app.store.readState(trialTurns, forge.repository, own)
  const wasLast = turn !== undefined && app.clock.now() - turn.ended < politeFor
  if (wasLast) {
    const free = await app.store.acquireLease(line, 1)
    if (free === undefined) return undefined
    await app.store.releaseLease(free)
  }
  const lease = await app.store.acquireLease(`trial ${slot}`, leaseSeconds)
  if (lease === undefined && !wasLast) await app.store.acquireLease(line, lineSeconds)
  return lease
}

interface Ground {
  readonly prepared: Extract<TrialAnswer, { kind: 'prepared' }>
  readonly lease: Lease
  readonly images: FoundImages
}

async function tryAll(
  job: TrialJob,
  wish: TrialWish,
  before: MadeTrials,
  ground: Ground,
  place: Trying,
): Promise<void> {
  const { app, forge } = place
  const key = String(job.pull)
  const told: ToldTrial[] = []
  let made = before
  const note = async (change: Partial<MadeTrials>): Promise<void> => {
    made = { ...made, ...change }
    await app.store.writeState(madeTrials, forge.repository, new Map([[key, made]]))
  }
  for (const [index, wished] of wish.trials.entries()) {
    const rest = wish.trials.slice(index + 1).map(({ trial }): ToldTrial => ({ kind: 'planned', trial }))
    let shownAt = -Infinity
    const onNews = async ({ id, says }: TrialNews): Promise<'go' | 'stop'> => {
      if (id !== undefined) await note({ running: [...made.running, id] })
      if (!(await app.store.renewLease(ground.lease, leaseSeconds))) return 'stop'
      const now = await app.store.readState(trialWishes, forge.repository, key)
      if (now?.key !== wish.key || now.isOver) return 'stop'
      if (app.clock.now() - shownAt >= shownEvery) {
        shownAt = app.clock.now()
        await show(wish, [...told, { kind: 'running', trial: wished.trial, says }, ...rest], place)
      }
      return 'go'
    }
    const answer = await tryOne(wished, wish, made.running, ground, onNews, place)
    // The janitor removes the remaining objects by label.
    if (answer.kind === 'tried' || answer.kind === 'not-tried') await note({ running: [] })
    if (answer.kind === 'failed' && made.attempts < mostAttempts) {
      await note({ attempts: made.attempts + 1 })
      await show(wish, [{ kind: 'waiting' }], place)
      await app.store.enqueue(job, againSeconds)
      return
    }
    told.push(toldOf(wished, answer))
    const now = await app.store.readState(trialWishes, forge.repository, key)
    // A newer commit has its own check and job.
    if (now?.key !== wish.key || now.isOver) {
      await show(
        wish,
        [
          {
            kind: 'not-tried',
            what: 'this commit',
            why: 'there is a newer one, or the pull request was closed',
          },
        ],
        place,
      )
      if (now !== undefined && !now.isOver) await app.store.enqueue(job)
      return
    }
  }
  await show(wish, told, place)
  await note({ key: wish.key, attempts: 0 })
  // The required check may have been the last obstacle to the merge.
  if (wish.isRequired) await app.store.enqueue({ ...job, kind: 'pull' })
}

async function tryOne(
  { root, trial }: Wished,
  { tree, baseTree }: TrialWish,
  abandoned: readonly string[],
  { prepared, images }: Ground,
  onNews: (news: TrialNews) => Promise<'go' | 'stop'>,
  { app, forge, installation, mirror }: Trying,
): Promise<TrialAnswer> {
  const found = trial.target === 'OLM v1' ? images.get(root) : undefined
  const order = (catalogs?: { readonly head: number; readonly base?: number }) =>
    app.trials.order(
      {
        kind: 'try',
        github: forge.repository,
        installation,
        trial,
        abandoned,
        ...(catalogs && { catalogs }),
        ...(found && { images: found === 'coming' ? noImageYet : found }),
      },
      onNews,
    )
  if (trial.target !== 'OLM v0' || !prepared.servesCatalogs) return order()
  const [headPort, basePort] = prepared.ports ?? [0, 0]
  const answer = await app.trials.serving({ mirror, tree, root, port: headPort }, async (head) => {
    if (!trial.isUpgrade) return order({ head })
    return app.trials.serving({ mirror, tree: baseTree, root, port: basePort }, (base) =>
      order({ head, base }),
    )
  })
  return 'unserved' in answer ? { kind: 'failed', why: answer.unserved } : answer
}

const noImageYet = {
  why: 'OLM v1 takes catalogs from images, and the preview of this commit was not there in time',
}

function toldOf({ trial }: Wished, answer: TrialAnswer): ToldTrial {
  if (answer.kind === 'tried') return { kind: 'tried', report: answer.report }
  const what = `${trial.package}, channel ${trial.channel}, ${trial.target}`
  return { kind: 'not-tried', what, why: 'why' in answer ? answer.why : 'it was not tried' }
}

async function show(
  { head, isRequired }: TrialWish,
  told: readonly ToldTrial[],
  { app, forge }: Trying,
): Promise<void> {
  try {
    await forge.perform({ kind: 'put-check', head, run: withDigest(trialCheck(told, isRequired)) })
  } catch (error) {
    if (!(error instanceof ForgeError) || error.retryable) throw error
    app.log.warn({ err: error, head }, 'GitHub refused the check that tells of trials on a cluster')
  }
}
