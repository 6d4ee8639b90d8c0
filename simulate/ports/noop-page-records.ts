// Records that only pages show. No decision depends on them, so the simulator does not store them and spends no turns
// on them.
import type { StatusPageStore } from '../../src/ports/status-page-store.ts'

const noopAsync = () => Promise.resolve()
const returnEmptyListAsync = () => Promise.resolve([])
const returnUndefinedAsync = () => Promise.resolve(undefined)

export const noopStatusPageStore: StatusPageStore = {
  recordRepositories: noopAsync,
  listedRepositories: returnEmptyListAsync,
  recordEvaluation: noopAsync,
  recordPullEnd: returnUndefinedAsync,
  retainOpenPulls: noopAsync,
  listOpenPullRecords: returnEmptyListAsync,
  findPullRecord: returnUndefinedAsync,
  verdictChanges: returnEmptyListAsync,
  countOpenPulls: returnEmptyListAsync,
  mergedPulls: returnEmptyListAsync,
  mergedPull: returnUndefinedAsync,
  readRepositoryVersions: () => Promise.resolve(new Map()),
  ruleDays: returnEmptyListAsync,
  dailyPullTimes: returnEmptyListAsync,
  recordCatalogs: noopAsync,
  listCatalogTotals: returnEmptyListAsync,
  packageSummaries: returnEmptyListAsync,
  strandedPackages: returnEmptyListAsync,
  recordedPackage: returnUndefinedAsync,
  searchPackages: () => Promise.resolve({ total: 0, found: [] }),
  differingPackages: () => Promise.resolve({ total: { added: 0, removed: 0, changed: 0 }, found: [] }),
  recordImageSightings: noopAsync,
  findImageSightings: () => Promise.resolve(new Map()),
}
