// Selects the packages and channels of a change that the install check simulates.
import type { BundleBlob, Catalog } from '@catalog-bot/fbc/facts/catalog'
import { validateCatalog } from '@catalog-bot/fbc/model/validate-catalog'
import type { CatalogChange, PullRequestChange, PackageChange } from '../../pull-request/change.ts'
import { memoizePerObject } from '@catalog-bot/findings/memoize'
import { CatalogUnderTest } from './resolutions.ts'
import { planInstallSimulation, type InstallSimulationPlan } from './simulate-install.ts'

export interface PackageInstallPlan {
  readonly catalog: CatalogChange
  readonly change: PackageChange
  readonly plan: InstallSimulationPlan
  readonly test: CatalogUnderTest
  readonly otherChannels: readonly string[]
}

export interface InstallPlanningResult {
  readonly packages: readonly PackageInstallPlan[]
  readonly skippedCount: number
}

/**
 * Counted once per catalog. An update changes one package in about twelve catalogs. Each takes tens of milliseconds,
 * and the check has one minute.
 */
const maxChangedPackages = 60
const maxChannelsPerPackage = 6
/** Almost all channels of public catalogs have fewer versions. */
const maxVersionsPerChannel = 200

export const getOpmValidationResult = memoizePerObject((catalog: Catalog) =>
  validateCatalog(catalog, { profile: 'opm' }),
)

export const planChangedPackageInstalls = memoizePerObject(
  ({ catalogs }: PullRequestChange): InstallPlanningResult => {
    const wanted = catalogs.flatMap((catalog) =>
      catalog.packages
        .filter(({ name }) => catalog.result?.packages.some((blob) => blob.name === name))
        .map((change) => ({ catalog, change })),
    )
    const tests = new Map<CatalogChange, CatalogUnderTest>()
    const packages = wanted
      .slice(0, maxChangedPackages)
      .flatMap(({ catalog, change }): PackageInstallPlan[] => {
        const { base, result } = catalog
        if (!result) return []
        const test =
          tests.get(catalog) ?? new CatalogUnderTest(result, base, { maxVersions: maxVersionsPerChannel })
        tests.set(catalog, test)
        const { tried, others } = selectChannelsToTest(change, test)
        const request = {
          catalog: result,
          base,
          package: change.name,
          channels: tried,
          verdict: getOpmValidationResult(result),
        }
        return [{ catalog, change, plan: planInstallSimulation(request, test), test, otherChannels: others }]
      })
    return { packages, skippedCount: Math.max(0, wanted.length - maxChangedPackages) }
  },
)

function selectChannelsToTest({ name, bundles, channels }: PackageChange, test: CatalogUnderTest) {
  const all = test.channelsOf(name) ?? []
  const added = new Set([...bundles.added, ...bundles.changed].map((bundle) => bundle.name))
  const heads = new Set(
    channels.changed.filter(({ head }) => head.before !== head.after).map((channel) => channel.name),
  )
  const differing = new Set([...channels.added, ...channels.changed.map((channel) => channel.name)])
  const rank = ({ name: its, isDefault, entries }: (typeof all)[number]) => {
    if (isDefault) return 0
    if (heads.has(its) || channels.added.includes(its)) return 1
    return differing.has(its) || entries.some((entry) => added.has(entry.name)) ? 2 : 3
  }
  const ranked = all
    .filter((channel) => rank(channel) < 3)
    .toSorted((a, b) => rank(a) - rank(b))
    .map((channel) => channel.name)
  return { tried: ranked.slice(0, maxChannelsPerPackage), others: ranked.slice(maxChannelsPerPackage) }
}

export function isBundleAddedOrChanged(
  { change }: PackageInstallPlan,
  { package: its, name }: BundleBlob,
): boolean {
  const { added, changed } = change.bundles
  return its === change.name && [...added, ...changed].some((bundle) => bundle.name === name)
}
