// Rules that compare the base with the result, and how a hit becomes a finding. Only what the change causes.
import {
  type BundleBlob,
  type Catalog,
  type ChannelBlob,
  getPackageBlobs,
  type PackageBlob,
  type PackageBlobs,
} from '@catalog-bot/fbc/facts/catalog'
import type { CatalogChange, PackageChange } from '../../../pull-request/change.ts'
import { getBundleVersion } from '../../../pull-request/compare-blobs.ts'
import { parseVersion } from '@catalog-bot/fbc/versions/version'
import { createFinding, formatFindingSubject, type FindingRuleWithFinder } from '@catalog-bot/findings/rule'
import type { Finding, Location } from '@catalog-bot/findings/finding'
import { toFindingLocation } from '../catalog-rule.ts'
import { memoizePerObject } from '@catalog-bot/findings/memoize'
import type { ValidationRuleFields } from '../catalog-rule.ts'

/** Called for each package that differs. */
export interface UpgradeRuleInputAndHit {
  readonly judges: 'pull request'
  readonly given: readonly [change: PackageChange, catalogs: BaseAndResultPackage]
  readonly hit: {
    readonly at?: Location | undefined
    /** Names below the package, such as `['stable', 'foo.v1']`. No lines, no counts. */
    readonly about: readonly string[]
    readonly related?: Finding['related']
  }
}

export type UpgradeRule = FindingRuleWithFinder<object, UpgradeRuleInputAndHit>

/** Defines a rule that compares base and result. */
export function defineRule<Data extends object>({
  overridable,
  ...rule
}: ValidationRuleFields<Data, UpgradeRuleInputAndHit>): FindingRuleWithFinder<Data, UpgradeRuleInputAndHit> {
  return {
    check: 'validation',
    judges: 'pull request',
    since: '0.1.0',
    ...rule,
    ...(overridable !== false && { overridable: true }),
  }
}

/** Either side may be absent. */
export interface BaseAndResultPackage {
  readonly base?: CatalogPackage
  readonly result?: CatalogPackage
}

/** Adds the rule's words, the subject, and catalog and package in the data. */
export function* runUpgradeRule(rule: UpgradeRule, change: CatalogChange): Generator<Finding> {
  const sides = getSidesOfPackages(change)
  for (const [index, its] of change.packages.entries()) {
    for (const hit of rule.find(its, sides[index] ?? {})) {
      const found = createFinding(rule, hit.at, hit.data, hit.related)
      yield {
        ...found,
        subject: formatFindingSubject([change.root, its.name, ...hit.about]),
        data: { catalog: change.root, package: its.name, ...found.data },
      }
    }
  }
}

/** The package's blob in the result, or else any of its blobs. */
export function findPackageLocation({ result }: BaseAndResultPackage): Location | undefined {
  const position = result?.blob?.place ?? result?.channels[0]?.place
  return position && toFindingLocation(position)
}

export function findBundleVersionByName(name: string, { base, result }: BaseAndResultPackage) {
  const parsed = parseVersion(result?.versions.get(name) ?? base?.versions.get(name) ?? '')
  return parsed.ok ? parsed.value : undefined
}

export function formatTruncatedNameList(names: readonly string[], limit = 8): string {
  if (names.length <= limit) return names.join(', ')
  return `${names.slice(0, limit - 1).join(', ')} and ${names.length - limit + 1} more`
}

/** By index among the change's packages. Cached, because every rule needs the same sides. */
const getSidesOfPackages = memoizePerObject(({ base, result, packages }: CatalogChange) =>
  packages.map(({ name }): BaseAndResultPackage => ({
    ...(base && { base: new CatalogPackage(base, getPackageBlobs(base).get(name)) }),
    ...(result && { result: new CatalogPackage(result, getPackageBlobs(result).get(name)) }),
  })),
)

/** Builds lookups lazily, because most rules need little of most packages. */
class CatalogPackage {
  readonly catalog: Catalog
  private readonly blobs: PackageBlobs | undefined
  private channelsByName: ReadonlyMap<string, ChannelBlob> | undefined
  private bundlesByName: ReadonlyMap<string, BundleBlob> | undefined
  private versionsByName: ReadonlyMap<string, string> | undefined
  private deprecated: ReadonlySet<string> | undefined

  constructor(catalog: Catalog, blobs: PackageBlobs | undefined) {
    this.catalog = catalog
    this.blobs = blobs
  }

  get blob(): PackageBlob | undefined {
    return this.blobs?.packages[0]
  }

  get channels(): readonly ChannelBlob[] {
    return this.blobs?.channels ?? []
  }

  /** Version texts by bundle name, '' if none. */
  get versions(): ReadonlyMap<string, string> {
    return (this.versionsByName ??= new Map(
      this.blobs?.bundles.map((bundle) => [bundle.name, getBundleVersion(bundle)]),
    ))
  }

  channel(name: string): ChannelBlob | undefined {
    return (this.channelsByName ??= indexBlobsByName(this.channels)).get(name)
  }

  bundle(name: string): BundleBlob | undefined {
    return (this.bundlesByName ??= indexBlobsByName(this.blobs?.bundles ?? [])).get(name)
  }

  isDeprecated(schema: 'olm.package' | 'olm.channel' | 'olm.bundle', name: string): boolean {
    this.deprecated ??= new Set(
      this.blobs?.deprecations.flatMap(({ entries }) =>
        entries.map((entry) => `${entry.schema} ${entry.name}`),
      ),
    )
    return this.deprecated.has(`${schema} ${schema === 'olm.package' ? '' : name}`)
  }
}

function indexBlobsByName<Blob extends { readonly name: string }>(blobs: readonly Blob[]): Map<string, Blob> {
  // The first of several wins.
  return new Map(blobs.toReversed().map((blob) => [blob.name, blob]))
}
