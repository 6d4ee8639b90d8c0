import type { RepositoryName } from '../../pull-request/snapshot.ts'
import { formatIsoTime } from '@catalog-bot/findings/iso-time'
import type { ListedRepository, PageRecords, RuleDayCount } from '../../ports/page-records.ts'
import type { StateStore } from '../../ports/state.ts'
import type { CatalogModel, PackageModel } from '../pages/catalog-pages.ts'
import type { OverviewModel, RepositoryOverviewModel } from '../pages/overview-page.ts'
import { readScanState } from '../../image-scan/scan-state.ts'

type CatalogRecordStore = PageRecords & StateStore

const maxHistoryWeeks = 8
const maxTableRows = 200
const millisecondsPerDay = 24 * 3600_000

export async function readCatalogModel(
  store: CatalogRecordStore,
  repository: RepositoryName,
  key: string,
): Promise<CatalogModel | undefined> {
  const catalog = (await store.listCatalogTotals(repository)).find((row) => row.key === key)
  return catalog && { repository, catalog, packages: await store.packageSummaries(repository, key) }
}

export async function readPackageModel(
  store: CatalogRecordStore,
  repository: RepositoryName,
  key: string,
  name: string,
): Promise<PackageModel | undefined> {
  const [rows, found, scan] = await Promise.all([
    store.listCatalogTotals(repository),
    store.recordedPackage(repository, key, name),
    readScanState(store, repository),
  ])
  const catalog = rows.find((row) => row.key === key)
  if (catalog === undefined || found === undefined) return undefined
  const { images, ...its } = found
  const seenImages = await store.findImageSightings(
    repository,
    images.map(({ reference }) => reference),
  )
  return {
    repository,
    catalog,
    package: its,
    images: images.map(({ reference, bundles }) => {
      const known = seenImages.get(reference)
      const missing = scan.missingImages[reference]
      return {
        reference,
        bundles,
        ...(known !== undefined && { seenAt: known.seenAt }),
        ...(known?.digest !== undefined && { digest: known.digest }),
        ...(missing?.confirmed === true && { missing: missing.reason }),
      }
    }),
    ...(scan.finished && { scannedAt: scan.finished.at }),
  }
}

export async function readOverviewModel(
  store: CatalogRecordStore,
  listed: readonly ListedRepository[],
): Promise<OverviewModel> {
  const repositories: OverviewModel['repositories'][number][] = []
  for (const { repository } of listed) {
    const [scan, catalogs] = await Promise.all([
      readScanState(store, repository),
      store.listCatalogTotals(repository),
    ])
    repositories.push({
      repository,
      missing: Object.values(scan.missingImages).filter(({ confirmed }) => confirmed).length,
      stranded: catalogs.reduce((sum, { stranded }) => sum + stranded, 0),
      ...(scan.finished && { scannedAt: scan.finished.at }),
    })
  }
  return { repositories }
}

export async function readRepositoryOverviewModel(
  store: CatalogRecordStore,
  repository: RepositoryName,
  now: number,
): Promise<RepositoryOverviewModel> {
  const today = Math.floor(now / millisecondsPerDay)
  const [scan, stranded, days] = await Promise.all([
    readScanState(store, repository),
    store.strandedPackages(repository),
    store.ruleDays(repository, today - maxHistoryWeeks * 7 + 1),
  ])
  const { finished } = scan
  return {
    repository,
    scan: finished === undefined ? {} : { at: finished.at, unknown: finished.unknown },
    missing: Object.entries(scan.missingImages)
      .filter(([, { confirmed }]) => confirmed)
      .slice(0, maxTableRows)
      .map(([reference, { kind, reason, since }]) => ({ reference, kind, reason, since })),
    stranded: stranded.map(({ catalog, package: its }) => ({
      catalog,
      package: its.name,
      bundles: its.stranded,
    })),
    weeks: Array.from({ length: maxHistoryWeeks }, (_, week) => ({
      from: formatIsoTime((today - week * 7 - 6) * millisecondsPerDay).slice(0, 10),
    })),
    ...sumWeeksByRuleAndOwner(days, today),
  }
}

/** Sums over the last weeks. */
function sumWeeksByRuleAndOwner(
  days: readonly RuleDayCount[],
  today: number,
): Pick<RepositoryOverviewModel, 'rules' | 'owners'> {
  const weeksAgo = (at: number) => Math.floor((today - at) / 7)
  const sumByWeek = (its: readonly RuleDayCount[]) => {
    const weeks = Array.from({ length: maxHistoryWeeks }, () => 0)
    for (const one of its) {
      const week = weeksAgo(one.day)
      if (week >= 0 && week < maxHistoryWeeks) weeks[week] = (weeks[week] ?? 0) + one.pulls
    }
    return weeks
  }
  const total = (weeks: readonly number[]) => weeks.reduce((sum, number) => sum + number, 0)
  const rules = [...Map.groupBy(days, ({ rule }) => rule)].map(([rule, its]) => ({
    rule,
    severity: its[0]?.severity ?? 'warning',
    pulls: sumByWeek(its),
  }))
  const owners = [...Map.groupBy(days, ({ owner }) => owner)].map(([owner, its]) => ({
    owner,
    pulls: sumByWeek(its),
    rules: [...new Set(its.map(({ rule }) => rule))].sort().slice(0, 10),
  }))
  const byTotalDescending = (a: { pulls: readonly number[] }, b: { pulls: readonly number[] }) =>
    total(b.pulls) - total(a.pulls)
  return {
    rules: rules.sort(byTotalDescending).slice(0, maxTableRows),
    owners: owners.sort(byTotalDescending).slice(0, maxTableRows),
  }
}
