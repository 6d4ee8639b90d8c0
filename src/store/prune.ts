// Removes what nobody will ask for again: expired cache rows, old deliveries, old verdicts, places in line of
// repositories that we left. Never an intent.
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

export async function prune(database: Database): Promise<void> {
  await database.query(`DELETE FROM ${schema}.cache WHERE expires_at <= clock_timestamp()`)
  await database.query(
    `DELETE FROM ${schema}.delivery WHERE received_at < clock_timestamp() - $1::float8 * interval '1 day'`,
    [keepDeliveriesDays],
  )
  await database.query(
    `DELETE FROM ${schema}.verdict WHERE decided_at < 1000 * extract(epoch FROM clock_timestamp() - $1::float8 * interval '1 day')`,
    [keepVerdictsDays],
  )
  await database.query(
    `DELETE FROM ${schema}.parked_pull WHERE parked_at < clock_timestamp() - $1::float8 * interval '1 day'`,
    [keepParkedDays],
  )
  await database.query(
    `DELETE FROM ${schema}.ready_pull WHERE ready_at < clock_timestamp() - $1::float8 * interval '1 day'`,
    [keepReadyDays],
  )
}
