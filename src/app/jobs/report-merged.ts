// Rebuilds a merged pull request's comment from the records: the verdict it was merged with, and its images.
import type { PullNumber } from '../../change/ids.ts'
import type { Verdict } from '../../gate/verdict.ts'
import { composeReport } from '../../messages/report.ts'
import type { Landings } from '../../ports/landings.ts'
import type { State } from '../../ports/state.ts'
import type { Verdicts } from '../../ports/verdicts.ts'
import type { Landing } from '../../gate/merge-permit.ts'
import type { Told } from '../../examine/looks/what-to-tell.ts'
import type { JobContext } from './job-context.ts'
import { publishReport, type Compose, type PublishOptions } from './publish-report.ts'
import { toldPulls } from './publish/publication-state.ts'
import { statusPage } from './status-page.ts'

/** The stored verdict, complete enough to render the report again. */
export interface StoredReport extends Told {
  readonly verdict: Verdict
}

/**
 * Returns undefined if the bot did not merge it or nothing is recorded. `how`: see publishReport(). Rejects with a
 * ForgeError.
 */
export async function reportMerged(
  pull: PullNumber,
  { app, forge }: JobContext<Landings & Verdicts & State>,
  how: Pick<PublishOptions, 'present' | 'onMissing'> = {},
): Promise<Landing | undefined> {
  const landing = await app.store.landingOf(forge.repository, pull)
  if (landing === undefined) return undefined
  const record = (await app.store.verdicts(forge.repository, pull)).find(
    (candidate) =>
      candidate.head === landing.head &&
      candidate.base === landing.base &&
      candidate.config === landing.config,
  )
  const kept = record?.report as StoredReport | undefined
  if (kept === undefined) return undefined
  const published = await app.store.readState(toldPulls, forge.repository, String(pull))
  const { verdict, commandLines: _, ...told } = kept
  const page = { web: app.settings.gitUrl, repository: forge.repository, pull }
  const { rulesUrl } = app.settings
  const compose: Compose = (runs) =>
    composeReport(verdict, {
      ...told,
      page,
      runs,
      rulesUrl,
      statusPage: statusPage(app.settings, forge.repository, pull),
      landed: landing.commit,
      published,
    })
  await publishReport(forge, compose, pull, landing.head, { ...how, isHistory: true })
  return landing
}
