// What is kept for people who look at pages: nothing decides by it, so the simulator keeps none of it, and loses no turn over it.
import type { PageRecords } from '../../src/ports/page-records.ts'

const kept = () => Promise.resolve()
const none = () => Promise.resolve([])
const unknown = () => Promise.resolve(undefined)

export const noPageRecords: PageRecords = {
  listRepositories: kept,
  listedRepositories: none,
  recordLook: kept,
  recordEnd: unknown,
  retainOpenPulls: kept,
  openPullRows: none,
  pullRow: unknown,
  verdictChanges: none,
  verdictReport: unknown,
  countOpenPulls: none,
  mergedPulls: none,
  mergedPull: unknown,
  ruleDays: none,
  recordCatalogs: kept,
  catalogRows: none,
  packageSummaries: none,
  strandedPackages: none,
  recordedPackage: unknown,
  recordSeenImages: kept,
  seenImages: () => Promise.resolve(new Map()),
}
