// Records that only pages show. No decision depends on them, so the simulator does not store them and spends no turns
// on them.
import type { StatusPageStore } from '../../src/ports/page-records.ts'

const noopAsync = () => Promise.resolve()
const resolveEmptyList = () => Promise.resolve([])
const resolveUndefined = () => Promise.resolve(undefined)

export const noopStatusPageStore: StatusPageStore = {
  recordRepositories: noopAsync,
  listedRepositories: resolveEmptyList,
  recordEvaluation: noopAsync,
  recordPullEnd: resolveUndefined,
  retainOpenPulls: noopAsync,
  listOpenPullRecords: resolveEmptyList,
  findPullRecord: resolveUndefined,
  verdictChanges: resolveEmptyList,
  verdictReport: resolveUndefined,
  countOpenPulls: resolveEmptyList,
  mergedPulls: resolveEmptyList,
  mergedPull: resolveUndefined,
  ruleDays: resolveEmptyList,
  recordCatalogs: noopAsync,
  listCatalogTotals: resolveEmptyList,
  packageSummaries: resolveEmptyList,
  strandedPackages: resolveEmptyList,
  recordedPackage: resolveUndefined,
  recordImageSightings: noopAsync,
  findImageSightings: () => Promise.resolve(new Map()),
}
