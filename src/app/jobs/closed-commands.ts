// Handles /rollback on merged or closed pull requests. Old comments are ignored because the catalog has changed since.
import { parseComment } from '../../change/command.ts'
import type { Comment, Snapshot } from '../../change/snapshot.ts'
import type { CommandRecord } from '../../gate/commands.ts'
import { ForgeError } from '../../github/forge-error.ts'
import { code, plain } from '../../messages/escape.ts'
import type { Cache } from '../../ports/cache.ts'
import type { Jobs } from '../../ports/jobs.ts'
import type { LandingStops } from '../../ports/landing-stops.ts'
import type { PullMemory } from '../../ports/pull-memory.ts'
import type { State } from '../../ports/state.ts'
import { answerCommands } from './answer-commands.ts'
import { fetchAgreeing } from './fetch-agreeing.ts'
import { isServed } from './is-served.ts'
import type { JobContext } from './job-context.ts'
import { lookAgain } from './look-again.ts'
import { lookAtPull } from './look-at-pull.ts'

/** Milliseconds; covers late deliveries. */
const freshFor = 3600_000
/** Seconds until an undecided command is retried. */
const undecidedWait = 60

type Obeying = JobContext<Required<PullMemory> & LandingStops & Cache & Jobs & State>

/** Rejects with a ForgeError, GitError or StoreError. */
export async function obeyOnClosed(closed: Snapshot, place: Obeying): Promise<void> {
  const { app } = place
  const { store } = app
  const known = await store.commands(closed.repository, closed.pull)
  const onRecord = new Set(known.map(({ comment }) => comment))
  const now = app.clock.now()
  const open = (comments: readonly Comment[]) =>
    freshRollbacks(comments, now).filter(({ id }) => !onRecord.has(id))
  if (open(closed.comments).length === 0 || !(await isServed(closed.baseRef, place, { kept: true }))) return
  const snapshot = await fetchAgreeing(closed, place)
  // Reopened: its own job evaluates the whole pull request.
  if (snapshot !== undefined && snapshot.state !== 'open') {
    const comments = open(snapshot.comments)
    const { commands } = await lookAtPull({ ...snapshot, comments }, place)
    await answerCommands({ snapshot, commands }, place)
    for (const record of await store.commands(snapshot.repository, snapshot.pull))
      if (!onRecord.has(record.comment)) await sayUnclear(record, snapshot, place)
    if (commands.length === comments.length) return
  }
  await lookAgain(closed.pull, place, undecidedWait)
}

/** An open pull request reports this in its own comment; a merged one's comment is about the merge. */
async function sayUnclear(
  { comment, outcome, rollback }: CommandRecord,
  { pull }: Snapshot,
  { app, forge }: Obeying,
): Promise<void> {
  if (outcome !== 'unclear' || rollback?.why === undefined) return
  const asked = code(`/rollback ${rollback.words}`.trim(), 120)
  const marker = `<!-- catalog-bot:rollback ${comment} unclear -->`
  const body = `${asked} was not carried out: ${plain(rollback.why)}.`
  try {
    await forge.perform({ kind: 'say-on-issue', issue: pull, marker, body })
  } catch (error) {
    if (!(error instanceof ForgeError) || error.retryable) throw error
    app.log.warn({ err: error, pull }, 'GitHub refused the answer to /rollback')
  }
}

/** Unedited comments by people, within the time limit. */
export function freshRollbacks(comments: readonly Comment[], now: number): readonly Comment[] {
  return comments.filter(({ author, body, createdAt, updatedAt }) => {
    if (author === null || author.kind === 'bot' || createdAt !== updatedAt) return false
    if (!(now - Date.parse(createdAt) <= freshFor)) return false
    const parsed = parseComment(body)
    return parsed.kind === 'command' && parsed.command.name === 'rollback'
  })
}
