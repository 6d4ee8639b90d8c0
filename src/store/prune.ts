// Removes what nobody will ask for again: expired cache rows, old deliveries, old verdicts, what was remembered for deciding
// on pull requests that are merged, places in line of repositories that we left. Never an intent, nor a command: what was
// obeyed once is not obeyed again. docs/operating.md names every table, and a test compares.
import type { Database } from './database.ts'
import { schema } from './migrations.ts'

/** GitHub can redeliver for three days, and people ask "what came in?" for longer. */
const keepDeliveriesDays = 14
/** A parked pull request is looked at within an hour: one that was not for so long is closed. */
const keepParkedDays = 30
/** Whoever is ready lands within minutes, or is looked at anew: one that waits for so long is in a repository that we left. */
const keepReadyDays = 30
/** Verdicts are for people who ask why; after a quarter nobody does. */
const keepVerdictsDays = 90
/** Except of what was merged: "why did this get in?" is asked for as long as users have it. */
const keepMergedDays = 730
/** Images that no scan has seen for so long are named by nobody any more. */
const keepImagesDays = 180

/**
 * What decisions on a pull request stand on. Nobody can reopen a merged one; a closed one can be, and what was agreed to
 * there must then still be bound to what was shown at the time, so it stays.
 */
const decidedBy = [
  'epoch',
  'shown_head',
  'review_seen',
  'approval_seen',
  'push_seen',
  'described_change',
] as const

/** State of one pull request, by its number: see the files of src/app/jobs that declare it. */
const stateOfPulls = {
  whileDecided: 'requested reviews',
  whileQueued: 'merge queue removal',
  whileShown: 'publication of a pull request',
} as const

/** Milliseconds since the epoch, so many days ago. */
const before = (days: string) =>
  `1000 * extract(epoch FROM clock_timestamp() - ${days}::float8 * interval '1 day')`

/** Whether the row `old` is of a pull request that was merged so many days ago; `is` compares its number with another. */
const mergedBefore = (days: string, is: (pull: string) => string) =>
  `(EXISTS (SELECT 1 FROM ${schema}.pull_seen AS seen WHERE seen.repository = old.repository AND ${is('seen.pull')}
      AND seen.state = 'merged' AND seen.ended_at < ${before(days)})
    OR EXISTS (SELECT 1 FROM ${schema}.intent AS done WHERE done.repository = old.repository AND ${is('done.pull')}
      AND done.outcome = 'landed' AND done.ended_at < clock_timestamp() - ${days}::float8 * interval '1 day'))`

export async function prune(database: Database): Promise<void> {
  await database.query(`DELETE FROM ${schema}.cache WHERE expires_at <= clock_timestamp()`)
  await database.query(
    `DELETE FROM ${schema}.delivery WHERE received_at < clock_timestamp() - $1::float8 * interval '1 day'`,
    [keepDeliveriesDays],
  )
  for (const [table, at] of [
    ['verdict', 'decided_at'],
    ['verdict_change', 'at'],
  ] as const)
    await database.query(
      `DELETE FROM ${schema}.${table} AS old WHERE ${at} < ${before('$1')} AND (${at} < ${before('$2')} OR NOT EXISTS (
         SELECT 1 FROM ${schema}.intent WHERE intent.repository = old.repository AND intent.pull = old.pull
           AND outcome = 'landed' AND landing->>'head' = old.head))`,
      [keepVerdictsDays, keepMergedDays],
    )
  for (const table of decidedBy)
    await database.query(
      `DELETE FROM ${schema}.${table} AS old
       WHERE ${mergedBefore('$1', (pull) => `old.pull = ${pull}`)}`,
      [keepVerdictsDays],
    )
  // Keys are JSON texts, as state.ts writes them.
  for (const [space, days] of [
    [stateOfPulls.whileDecided, keepVerdictsDays],
    [stateOfPulls.whileQueued, keepVerdictsDays],
    [stateOfPulls.whileShown, keepMergedDays],
  ] as const)
    await database.query(
      `DELETE FROM ${schema}.state AS old WHERE space = $2
         AND ${mergedBefore('$1', (pull) => `old.key = '"' || ${pull} || '"'`)}`,
      [days, space],
    )
  await database.query(
    `DELETE FROM ${schema}.pull_seen WHERE ended_at < ${before('$1')}
       AND (state <> 'merged' OR ended_at < ${before('$2')})`,
    [keepVerdictsDays, keepMergedDays],
  )
  await database.query(
    `DELETE FROM ${schema}.rule_met WHERE day < floor(extract(epoch FROM clock_timestamp()) / 86400) - $1::float8`,
    [keepVerdictsDays],
  )
  await database.query(`DELETE FROM ${schema}.seen_image WHERE seen_at < ${before('$1')}`, [keepImagesDays])
  await database.query(
    `DELETE FROM ${schema}.parked_pull WHERE parked_at < clock_timestamp() - $1::float8 * interval '1 day'`,
    [keepParkedDays],
  )
  await database.query(
    `DELETE FROM ${schema}.ready_pull WHERE ready_at < clock_timestamp() - $1::float8 * interval '1 day'`,
    [keepReadyDays],
  )
}
