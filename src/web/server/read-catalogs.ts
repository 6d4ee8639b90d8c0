// Reads what the store has recorded about catalogs, for the catalog pages.
import { compareRecordedPackages } from '../../pull-request/compare-recorded-packages.ts'
import type { RecordedPackage } from '../../pull-request/recorded-package.ts'
import type { RepositoryName } from '../../pull-request/snapshot.ts'
import type { StatusPageStore } from '../../ports/status-page-store.ts'
import type { StateStore } from '../../ports/state.ts'
import { readScanState } from '../../image-scan/scan-state.ts'
import type {
  CatalogListView,
  CatalogPageModel,
  CatalogSearchModel,
  CatalogsPageModel,
  PackageSearchResult,
  ComparePageModel,
} from '../pages/catalog-pages.ts'
import type { PackagePageModel } from '../pages/package-page.ts'

type CatalogPageStore = StatusPageStore & StateStore

const foundPackagesPerPage = 15
const differingPackagesPerPage = 15
const maxSearchLength = 100
const maxMatchesPerKind = 6

/** Ignores values that no link or form on the pages contains. */
export function parseCatalogListView(query: URLSearchParams): CatalogListView {
  const page = query.get('page') ?? ''
  const list = query.get('list')
  return {
    search: (query.get('q') ?? '')
      .replaceAll(/\p{Cc}/gu, '')
      .trim()
      .slice(0, maxSearchLength)
      .toWellFormed(),
    page: /^[1-9]\d{0,3}$/.test(page) ? Number(page) : 1,
    ...((list === 'versions' || list === 'images' || list === 'channels') && { list }),
    ...(query.has('channel') && { channel: query.get('channel') ?? '' }),
  }
}

export async function readCatalogsPageModel(
  store: CatalogPageStore,
  repository: RepositoryName,
  view: CatalogListView,
): Promise<CatalogsPageModel> {
  const [catalogs, search] = await Promise.all([
    store.listCatalogTotals(repository),
    readCatalogSearch(store, repository, view),
  ])
  return { repository, catalogs, ...(search && { search }) }
}

export async function readCatalogPageModel(
  store: CatalogPageStore,
  repository: RepositoryName,
  key: string,
  view: CatalogListView,
): Promise<CatalogPageModel | undefined> {
  const catalog = (await store.listCatalogTotals(repository)).find((row) => row.key === key)
  if (catalog === undefined) return undefined
  const search = await readCatalogSearch(store, repository, view, key)
  return {
    repository,
    catalog,
    packages: search === undefined ? await store.packageSummaries(repository, key) : [],
    ...(search && { search }),
  }
}

async function readCatalogSearch(
  store: CatalogPageStore,
  repository: RepositoryName,
  { search: text, page }: CatalogListView,
  catalog?: string,
): Promise<CatalogSearchModel | undefined> {
  if (text === '') return undefined
  const { total, found } = await store.searchPackages(repository, {
    text,
    catalog,
    limit: foundPackagesPerPage,
    offset: (page - 1) * foundPackagesPerPage,
  })
  return {
    text,
    total,
    page,
    pages: Math.ceil(total / foundPackagesPerPage),
    found: found.map((one) => findMatches(one.catalog, one.package, text.toLowerCase())),
  }
}

function findMatches(catalog: string, found: RecordedPackage, lower: string): PackageSearchResult {
  const match = (texts: readonly string[]) => {
    const all = texts.filter((text) => text.toLowerCase().includes(lower))
    return { total: all.length, names: all.slice(0, maxMatchesPerKind) }
  }
  return {
    catalog,
    name: found.name,
    ...(found.displayName !== undefined && { displayName: found.displayName }),
    channels: match(found.channels.map(({ name }) => name)),
    bundles: match(found.bundles.map(({ name }) => name)),
    images: match(found.images.map(({ reference }) => reference)),
  }
}

export async function readPackagePageModel(
  store: CatalogPageStore,
  repository: RepositoryName,
  key: string,
  name: string,
): Promise<PackagePageModel | undefined> {
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

/** Compares the two newest catalogs if the query names none. Undefined if it names a catalog or page that does not exist. */
export async function readComparePageModel(
  store: CatalogPageStore,
  repository: RepositoryName,
  query: URLSearchParams,
): Promise<ComparePageModel | undefined> {
  // By the numbers in the keys: `v4.9` comes before `v4.10`.
  const catalogs = (await store.listCatalogTotals(repository)).toSorted((a, b) =>
    a.key.localeCompare(b.key, 'en', { numeric: true }),
  )
  const keys = catalogs.map(({ key }) => key)
  const [before, after] = [query.get('from') ?? keys.at(-2), query.get('to') ?? keys.at(-1)].map((key) =>
    catalogs.find((row) => row.key === key),
  )
  if (before === undefined || after === undefined)
    return query.has('from') || query.has('to')
      ? undefined
      : { repository, keys, page: 1, pages: 0, total: { added: 0, removed: 0, changed: 0 }, packages: [] }
  const { page } = parseCatalogListView(query)
  const { total, found } = await store.differingPackages(
    repository,
    { before: before.key, after: after.key },
    { limit: differingPackagesPerPage, offset: (page - 1) * differingPackagesPerPage },
  )
  if (found.length === 0 && page > 1) return undefined
  const differing = total.added + total.removed + total.changed
  return {
    repository,
    keys,
    before,
    after,
    page,
    pages: Math.ceil(differing / differingPackagesPerPage),
    total,
    packages: found.map(compareRecordedPackages),
  }
}
