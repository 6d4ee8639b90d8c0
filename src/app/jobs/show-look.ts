// Records an evaluation's verdict and publishes its report.
import { createHash } from 'node:crypto'
import type { ReportOptions } from '../../messages/report-options.ts'
import { composeReport, type Report } from '../../messages/report.ts'
import { describeMeanwhile } from '../../messages/describe-meanwhile.ts'
import type { Landings } from '../../ports/landings.ts'
import type { PullMemory } from '../../ports/pull-memory.ts'
import type { State } from '../../ports/state.ts'
import type { VerdictRecord } from '../../ports/verdicts.ts'
import type { Seen } from './look-at-pull.ts'
import { publishReport, type Compose, type PublishOptions } from './publish-report.ts'
import type { StoredReport } from './report-merged.ts'
import { statusPage } from './status-page.ts'
import type { JobContext } from './job-context.ts'

export function recordOf({ snapshot, verdict, configDigest, told }: Seen, decidedAt: number): VerdictRecord {
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

export function composed(
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

/** Describes what others merged meanwhile, from the records. */
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

/** A digest of everything the evaluation shows to people. */
export async function digestOfShown(seen: Seen, place: JobContext<Landings>): Promise<string> {
  const shown = composed(seen, place, { meanwhile: await sayMeanwhile(seen, place) })
  return createHash('sha256').update(JSON.stringify(shown)).digest('hex')
}

/**
 * Publishes the report and records which head was shown and when, because commands bind to it. `how`: see
 * publishReport().
 */
export async function showLook(
  seen: Seen,
  place: JobContext<Required<PullMemory> & State & Landings>,
  how: Pick<PublishOptions, 'present' | 'isRestLater'> = {},
): Promise<void> {
  const { snapshot, epoch, described } = seen
  const meanwhile = await sayMeanwhile(seen, place)
  const compose: Compose = (runs) => composed(seen, place, { runs, meanwhile })
  const at = await publishReport(place.forge, compose, snapshot.pull, snapshot.head, how)
  if (at === undefined) return
  const { repository, pull, head } = snapshot
  // Stored before it is shown, because approvals refer to it by name.
  if (described) await place.app.store.keepChange(repository, pull, described)
  await place.app.store.recordShown(repository, pull, {
    head,
    epoch,
    at,
    ...(described && { change: described.id }),
  })
}
