// Reports publications on GitHub: commit checks, deployments, comments, /rollback answers and one issue. Publishes
// desired minus what the state says was shown. If GitHub rejects one of them, the others continue.
import { createHash } from 'node:crypto'
import { pullNumber, type CommitSha, type PullNumber } from '../../../change/ids.ts'
import { ForgeError } from '../../../github/forge-error.ts'
import {
  deploymentDescription,
  publicationOf,
  publishCheck,
  publishedLines,
} from '../../../messages/publish-check.ts'
import { rollbackDone } from '../../../messages/rollback.ts'
import type { Jobs } from '../../../ports/jobs.ts'
import type { Landings } from '../../../ports/landings.ts'
import type { State } from '../../../ports/state.ts'
import type { Verdicts } from '../../../ports/verdicts.ts'
import type { JobContext } from '../job-context.ts'
import { lookAgain } from '../look-again.ts'
import { withDigest } from '../publish-report.ts'
import { reportMerged } from '../report-merged.ts'
import type { PlanProblem } from './plan-publications.ts'
import { showPublishIssue } from './show-publish-issue.ts'
import {
  publications,
  shownPublications,
  toldPulls,
  type RollbackWish,
  type ShownPublications,
} from './publication-state.ts'
import { commitOf, failuresOf, toldImage, toldState, type Standing as Told } from './told-publication.ts'

export interface Standing extends Told {
  /** The last /rollback, carried out or not. */
  readonly wish?: RollbackWish | undefined
}

type Reporting = JobContext<Jobs & State & Landings & Verdicts>

const nothingShown: ShownPublications = { checks: {}, deployments: {}, answers: {}, problems: {} }
const noDeployments =
  'GitHub refused the record of the deployment: the App lacks the permission "deployments: write", or the environment is protected. The image is published all the same.'

/** Reports on a commit that its image build started or was superseded. */
export async function showBegun(
  { publication, commit, by }: Told & { readonly by?: CommitSha },
  place: Reporting,
): Promise<void> {
  const { catalog, image, tags } = publication
  const state = by === undefined ? { kind: 'building' as const } : { kind: 'superseded' as const, by }
  await putCheck(commit, [{ root: catalog.root, image, tags, state }], [], place)
}

export async function reportPublications(
  standings: readonly Standing[],
  problems: readonly PlanProblem[],
  place: Reporting,
): Promise<void> {
  const { app, forge } = place
  const before = (await app.store.readState(shownPublications, forge.repository, 'all')) ?? nothingShown
  let shown = before
  const remember = async (next: ShownPublications) => {
    if (JSON.stringify(next) === JSON.stringify(shown)) return
    shown = next
    await app.store.writeState(shownPublications, forge.repository, new Map([['all', shown]]))
  }
  const refused = await showDeployments(standings, shown, place)
  await remember({ ...shown, deployments: refused.deployments })
  await remember({ ...shown, checks: await showChecks(standings, shown, refused.ids, place) })
  await tellPulls(standings, place)
  await remember({ ...shown, answers: await answerRollbacks(standings, shown, place) })
  const now = app.clock.now()
  const seen = Object.fromEntries(problems.map((one) => [idOf(one), before.problems[idOf(one)] ?? now]))
  const failures = failuresOf(standings, problems, (one) => seen[idOf(one)] ?? now)
  app.metrics.unpublished.set(
    { repository: `${forge.repository.owner}/${forge.repository.name}` },
    failures.length,
  )
  await remember({ ...shown, problems: seen })
  await showPublishIssue(failures, shown.issue, place, (issue) =>
    remember({ ...shown, ...(issue !== undefined && { issue }) }),
  )
}

const idOf = ({ root, image, why }: PlanProblem) => `${root} ${image}: ${why}`

async function showDeployments(
  standings: readonly Standing[],
  shown: ShownPublications,
  { app, forge }: Reporting,
): Promise<{ readonly deployments: Record<string, string>; readonly ids: ReadonlySet<string> }> {
  const deployments: Record<string, string> = {}
  const refused = new Set<string>()
  for (const { publication, state } of standings) {
    const told = toldState(state)
    const { id, environment } = publication
    const known = shown.deployments[id]
    const isEnd = told.kind !== 'building' && (told.kind !== 'failed' || told.isLasting)
    const commit = state.failure?.commit ?? state.current?.commit
    if (!isEnd || commit === undefined) {
      if (known !== undefined) deployments[id] = known
      continue
    }
    const isGood = told.kind === 'published' || told.kind === 'rolled-back'
    const description = deploymentDescription(told)
    const digest = digestOf([commit, environment, description])
    if (known === digest || known === `${digest} refused`) {
      deployments[id] = known
      if (known !== digest) refused.add(id)
      continue
    }
    try {
      await forge.perform({
        kind: 'put-deployment',
        commit,
        environment,
        state: isGood ? 'success' : 'failure',
        description,
        isTransient: false,
      })
      deployments[id] = digest
    } catch (error) {
      if (!(error instanceof ForgeError) || error.retryable) throw error
      app.log.warn({ err: error, environment }, 'GitHub refused the record of a deployment')
      deployments[id] = `${digest} refused`
      refused.add(id)
    }
  }
  return { deployments, ids: refused }
}

async function showChecks(
  standings: readonly Standing[],
  shown: ShownPublications,
  refused: ReadonlySet<string>,
  place: Reporting,
): Promise<Record<string, string>> {
  const byCommit = Map.groupBy(standings, commitOf)
  const checks: Record<string, string> = {}
  for (const [commit, group] of byCommit) {
    const told = group.map(toldImage)
    const notes = group.some(({ publication }) => refused.has(publication.id)) ? [noDeployments] : []
    const digest = digestOf([told, notes])
    if (shown.checks[commit] !== digest) await putCheck(commit, told, notes, place)
    checks[commit] = digest
  }
  return checks
}

async function putCheck(
  commit: CommitSha,
  told: Parameters<typeof publishCheck>[0],
  notes: readonly string[],
  { app, forge }: Reporting,
): Promise<void> {
  const run = withDigest(publishCheck(told, notes))
  try {
    const isShown = (await forge.checksOn(commit)).some(
      ({ name, digest }) => name === run.name && digest === run.digest,
    )
    if (!isShown) await forge.perform({ kind: 'put-check', head: commit, run })
  } catch (error) {
    if (!(error instanceof ForgeError) || error.retryable) throw error
    app.log.warn({ err: error, commit }, 'GitHub refused the check that tells of an image')
  }
}

/** Includes pull requests whose commits a newer commit superseded. */
async function tellPulls(standings: readonly Standing[], place: Reporting): Promise<void> {
  const { app, forge } = place
  const pulls = new Set(standings.flatMap(({ state }) => state.pulls))
  const ended = new Set<number>()
  for (const number of pulls) {
    const pull = pullNumber(number)
    const told = standings.filter(({ state }) => state.pulls.includes(number)).map(toldImage)
    const wanted = { state: publicationOf(told), lines: [...publishedLines(told)], isShown: true }
    const known = await app.store.readState(toldPulls, forge.repository, String(pull))
    if (JSON.stringify(known) !== JSON.stringify(wanted)) {
      const write = (isShown: boolean) =>
        app.store.writeState(toldPulls, forge.repository, new Map([[String(pull), { ...wanted, isShown }]]))
      await write(false)
      await tellPull(pull, standings, place)
      await write(true)
    }
    if (wanted.state === 'published') ended.add(number)
  }
  if (ended.size === 0) return
  await app.store.writeState(
    publications,
    forge.repository,
    new Map(
      standings
        .filter(({ state }) => state.pulls.some((pull) => ended.has(pull)))
        .map(({ publication, state }) => [
          publication.id,
          { ...state, pulls: state.pulls.filter((pull) => !ended.has(pull)) },
        ]),
    ),
  )
}

async function tellPull(pull: PullNumber, standings: readonly Standing[], place: Reporting): Promise<void> {
  try {
    const landing = await reportMerged(pull, place, {
      // The evaluation job may be about to create the comment.
      onMissing: () => lookAgain(pull, place),
    })
    if (landing === undefined) return
    const mine = standings.filter(({ state }) => state.pulls.includes(pull))
    const later = mine.find((standing) => commitOf(standing) !== landing.commit)
    const isTold = mine.some((standing) => commitOf(standing) === landing.commit)
    if (later === undefined || isTold) return
    const by = commitOf(later)
    const told = mine.map((standing) => ({
      ...toldImage(standing),
      state: { kind: 'superseded' as const, by },
    }))
    await putCheck(landing.commit, told, [], place)
  } catch (error) {
    if (!(error instanceof ForgeError) || error.retryable) throw error
    place.app.log.warn({ err: error, pull }, 'GitHub refused the words about a merged pull request')
  }
}

/** Answers each comment once, on the pull request where it was made. */
async function answerRollbacks(
  standings: readonly Standing[],
  shown: ShownPublications,
  { app, forge }: Reporting,
): Promise<Record<string, number>> {
  const answers: Record<string, number> = {}
  for (const { publication, state, wish } of standings) {
    const { id } = publication
    const known = shown.answers[id]
    const isAnswerable = wish !== undefined && state.granted === wish.comment && known !== wish.comment
    if (!isAnswerable) {
      if (known !== undefined) answers[id] = known
      continue
    }
    const done = state.current?.digest === wish.digest
    const body = rollbackDone({ ...publication, digest: wish.digest, isDone: done })
    const marker = `<!-- catalog-bot:rollback ${wish.comment} ${createHash('sha256').update(id).digest('hex').slice(0, 12)} -->`
    try {
      await forge.perform({ kind: 'say-on-issue', issue: wish.pull, marker, body })
    } catch (error) {
      if (!(error instanceof ForgeError) || error.retryable) throw error
      app.log.warn({ err: error, pull: wish.pull }, 'GitHub refused the answer to /rollback')
    }
    answers[id] = wish.comment
  }
  return answers
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 20)
}
