// Records that only pages show. No decision depends on them, so the simulator does not store them and spends no turns
// on them.
import type { PageRecords } from '../../src/ports/page-records.ts'

const resolveNothing = () => Promise.resolve()
const resolveEmptyList = () => Promise.resolve([])
const resolveUndefined = () => Promise.resolve(undefined)

export const noopPageRecords: PageRecords = {
  recordRepositories: resolveNothing,
  listedRepositories: resolveEmptyList,
  recordEvaluation: resolveNothing,
  recordPullEnd: resolveUndefined,
  retainOpenPulls: resolveNothing,
  listOpenPullRecords: resolveEmptyList,
  findPullRecord: resolveUndefined,
  verdictChanges: resolveEmptyList,
  verdictReport: resolveUndefined,
  countOpenPulls: resolveEmptyList,
  mergedPulls: resolveEmptyList,
  mergedPull: resolveUndefined,
  ruleDays: resolveEmptyList,
  recordCatalogs: resolveNothing,
  listCatalogTotals: resolveEmptyList,
  packageSummaries: resolveEmptyList,
  strandedPackages: resolveEmptyList,
  recordedPackage: resolveUndefined,
  recordImageSightings: resolveNothing,
  findImageSightings: () => Promise.resolve(new Map()),
}
