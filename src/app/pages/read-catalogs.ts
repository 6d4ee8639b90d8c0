import type { RepositoryName } from '../../change/snapshot.ts'
import { isoTime } from '../../findings/iso-time.ts'
import type { ListedRepository, PageRecords, RuleDay } from '../../ports/page-records.ts'
import type { State } from '../../ports/state.ts'
import type { CatalogModel, PackageModel } from '../../web/pages/catalog-pages.ts'
import type { OverviewModel, RepositoryOverviewModel } from '../../web/pages/overview-page.ts'
import { readScan } from '../jobs/scan-state.ts'

type CatalogRecords = PageRecords & State

const weeksShown = 8
const mostRows = 200
const day = 24 * 3600_000

export async function readCatalog(
  store: CatalogRecords,
  repository: RepositoryName,
  key: string,
): Promise<CatalogModel | undefined> {
  const catalog = (await store.catalogRows(repository)).find((row) => row.key === key)
  return catalog && { repository, catalog, packages: await store.packageSummaries(repository, key) }
}

export async function readPackage(
  store: CatalogRecords,
  repository: RepositoryName,
  key: string,
  name: string,
): Promise<PackageModel | undefined> {
  const [rows, found, scan] = await Promise.all([
    store.catalogRows(repository),
    store.recordedPackage(repository, key, name),
    readScan(store, repository),
  ])
  const catalog = rows.find((row) => row.key === key)
  if (catalog === undefined || found === undefined) return undefined
  const { images, ...its } = found
  const seen = await store.seenImages(
    repository,
    images.map(({ reference }) => reference),
  )
  return {
    repository,
    catalog,
    package: its,
    images: images.map(({ reference, bundles }) => {
      const known = seen.get(reference)
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

export async function readOverview(
  store: CatalogRecords,
  listed: readonly ListedRepository[],
): Promise<OverviewModel> {
  const repositories: OverviewModel['repositories'][number][] = []
  for (const { repository } of listed) {
    const [scan, catalogs] = await Promise.all([readScan(store, repository), store.catalogRows(repository)])
    repositories.push({
      repository,
      missing: Object.values(scan.missingImages).filter(({ confirmed }) => confirmed).length,
      stranded: catalogs.reduce((sum, { stranded }) => sum + stranded, 0),
      ...(scan.finished && { scannedAt: scan.finished.at }),
    })
  }
  return { repositories }
}

export async function readRepositoryOverview(
  store: CatalogRecords,
  repository: RepositoryName,
  now: number,
): Promise<RepositoryOverviewModel> {
  const today = Math.floor(now / day)
  const [scan, stranded, days] = await Promise.all([
    readScan(store, repository),
    store.strandedPackages(repository),
    store.ruleDays(repository, today - weeksShown * 7 + 1),
  ])
  const { finished } = scan
  return {
    repository,
    scan: finished === undefined ? {} : { at: finished.at, unknown: finished.unknown },
    missing: Object.entries(scan.missingImages)
      .filter(([, { confirmed }]) => confirmed)
      .slice(0, mostRows)
      .map(([reference, { kind, reason, since }]) => ({ reference, kind, reason, since })),
    stranded: stranded.map(({ catalog, package: its }) => ({
      catalog,
      package: its.name,
      bundles: its.stranded,
    })),
    weeks: Array.from({ length: weeksShown }, (_, week) => ({
      from: isoTime((today - week * 7 - 6) * day).slice(0, 10),
    })),
    ...byRuleAndOwner(days, today),
  }
}

/** Sums over the last weeks. */
function byRuleAndOwner(
  days: readonly RuleDay[],
  today: number,
): Pick<RepositoryOverviewModel, 'rules' | 'owners'> {
  const weekOf = (at: number) => Math.floor((today - at) / 7)
  const sums = (its: readonly RuleDay[]) => {
    const weeks = Array.from({ length: weeksShown }, () => 0)
    for (const one of its) {
      const week = weekOf(one.day)
      if (week >= 0 && week < weeksShown) weeks[week] = (weeks[week] ?? 0) + one.pulls
    }
    return weeks
  }
  const total = (weeks: readonly number[]) => weeks.reduce((sum, number) => sum + number, 0)
  const rules = [...Map.groupBy(days, ({ rule }) => rule)].map(([rule, its]) => ({
    rule,
    severity: its[0]?.severity ?? 'warning',
    pulls: sums(its),
  }))
  const owners = [...Map.groupBy(days, ({ owner }) => owner)].map(([owner, its]) => ({
    owner,
    pulls: sums(its),
    rules: [...new Set(its.map(({ rule }) => rule))].sort().slice(0, 10),
  }))
  const most = (a: { pulls: readonly number[] }, b: { pulls: readonly number[] }) =>
    total(b.pulls) - total(a.pulls)
  return { rules: rules.sort(most).slice(0, mostRows), owners: owners.sort(most).slice(0, mostRows) }
}
