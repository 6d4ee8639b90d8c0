// Compares branches with published images and makes them equal. Runs after every push and sweep, one at a time for each
// repository, so a tag has one builder and the newest commit wins. Idempotent.
import { crashPoint } from '../../../landing/crash-point.ts'
import { pullNumber, type CommitSha } from '../../../change/ids.ts'
import type { Job, Jobs } from '../../../ports/jobs.ts'
import type { Landings } from '../../../ports/landings.ts'
import type { State } from '../../../ports/state.ts'
import type { Verdicts } from '../../../ports/verdicts.ts'
import type { JobContext } from '../job-context.ts'
import { contentKey } from './content-key.ts'
import type { Publication } from './plan-publications.ts'
import { isDue, isOpen, lookAfter, nextLook, publishOne, rollBack, type Step } from './publish-one.ts'
import {
  noPublication,
  publications,
  rollbackWishes,
  toldPulls,
  type PublicationState,
} from './publication-state.ts'
import { readGround, tipOf, type Ground } from './read-ground.ts'
import { removeOldImages } from './remove-old-images.ts'
import { reportPublications, showBegun, type Standing } from './report-publications.ts'

type PublishJob = Extract<Job, { kind: 'publish' }>
type Publishing = JobContext<Jobs & State & Landings & Verdicts>

/** Restarts within one job because of newer commits. */
const mostTurns = 5
/** Minimum seconds between two runs that wait for a time. */
const leastWait = 1
/** Milliseconds until our merge on the branch is surely recorded. */
const recordTime = 3600_000

export async function publishCatalogs(job: PublishJob, place: Publishing): Promise<void> {
  for (let turn = 1; turn <= mostTurns; turn += 1) {
    const ground = await readGround(place)
    if (ground === undefined) return
    const { isSuperseded, standings } = await publishAll(ground, place)
    if (isSuperseded) continue
    await reportPublications(standings, ground.plan.problems, place)
    crashPoint('publish-reported')
    await removeOldImages(standings, place)
    await waitForMore(job, standings, place)
    return
  }
  await place.app.store.enqueue(job, leastWait)
}

async function publishAll(
  { plan, tips }: Ground,
  place: Publishing,
): Promise<{ readonly isSuperseded: boolean; readonly standings: readonly Standing[] }> {
  const { app, repository, forge } = place
  const { store, publishing } = app
  const standings: Standing[] = []
  for (const publication of plan.publications) {
    const tip = tips.get(publication.branch)
    if (tip === undefined) continue
    const key = await contentKey(publication, tip.tree, repository)
    const known = (await store.readState(publications, forge.repository, publication.id)) ?? noPublication
    const wish = await store.readState(rollbackWishes, forge.repository, publication.id)
    const due = isDue(known, key, wish, app.clock.now())
    const state = await withPulls(publication, known, due ? tip.commit : undefined, place)
    const step: Step = {
      publication,
      tip,
      key,
      state,
      publishing,
      place,
      tipNow: () => tipOf(publication.branch, repository),
      onBegin: async (begun) => {
        await showBegun({ publication, state: begun, commit: tip.commit }, place)
        crashPoint('publish-begun')
      },
    }
    if (due && isOpen(wish, state) && wish !== undefined) {
      standings.push({ publication, state: await rollBack(step, wish), commit: tip.commit, wish })
      continue
    }
    if (!due) {
      standings.push({ publication, state: await lookAfter(step), commit: tip.commit, wish })
      continue
    }
    const outcome = await publishOne(step)
    if (outcome.kind === 'superseded') {
      await showBegun({ publication, state: outcome.state, commit: tip.commit, by: outcome.by }, place)
      return { isSuperseded: true, standings }
    }
    standings.push({ publication, state: outcome.state, commit: tip.commit, wish })
  }
  return { isSuperseded: false, standings }
}

/** Adds the merged pull requests of this image. A merge can be published before it is recorded. */
async function withPulls(
  { id, catalog }: Publication,
  state: PublicationState,
  tip: CommitSha | undefined,
  { app, repository, forge }: Publishing,
): Promise<PublicationState> {
  const { current } = state
  const isOld = current === undefined || app.clock.now() - current.at > recordTime
  if (tip === undefined && isOld) return state
  const to = tip ?? current?.commit
  const from = tip === undefined ? state.since : current?.commit
  if (to === undefined) return state
  const isAhead = from !== undefined && (await repository.contains(to, from).catch(() => false))
  const commits = isAhead ? await repository.firstParents(to, from) : [to]
  const landed = await app.store.landedPulls(forge.repository, commits)
  const concerned: number[] = []
  for (const [commit, pull] of landed) {
    const told = await app.store.readState(toldPulls, forge.repository, String(pull))
    const isTold = told?.isShown === true && told.state === 'published'
    if (!isTold && (await touches(commit, catalog.root, repository))) concerned.push(pull)
  }
  const pulls = [...new Set([...state.pulls, ...concerned])].sort((a, b) => a - b).map(pullNumber)
  if (pulls.length === state.pulls.length) return state
  const next = { ...state, pulls }
  await app.store.writeState(publications, forge.repository, new Map([[id, next]]))
  return next
}

/** Compares with the first parent. */
async function touches(
  commit: CommitSha,
  root: string,
  repository: Publishing['repository'],
): Promise<boolean> {
  const [parent] = await repository.parentsOf(commit)
  if (parent === undefined) return true
  const changes = await repository.diff(await repository.treeOf(parent), await repository.treeOf(commit))
  return changes.some(({ path }) => root === '' || path.startsWith(`${root}/`))
}

async function waitForMore(
  job: PublishJob,
  standings: readonly Standing[],
  { app }: Publishing,
): Promise<void> {
  const now = app.clock.now()
  const waits = standings.flatMap(({ publication, state }) => nextLook(publication, state, now) ?? [])
  if (waits.length === 0) return
  await app.store.enqueue(job, Math.max(leastWait, Math.ceil(Math.min(...waits) / 1000)))
}
