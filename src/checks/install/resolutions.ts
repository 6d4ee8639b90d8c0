// Resolves a package's channels before any bundle is opened: installations, upgrades, and dependencies.
import type { BundleBlob, Catalog, ChannelBlob } from '@catalog-bot/fbc/facts/catalog'
import {
  compareVersions,
  compareVersionsWithRelease,
  parseReleaseIdentifiers,
  parseVersion,
  type VersionWithRelease,
} from '@catalog-bot/fbc/versions/version'
import { isVersionInRange, parseVersionRange } from '@catalog-bot/fbc/versions/version-range'
import { getJsonStringField } from '@catalog-bot/fbc/go/json/json'
import { memoizePerObject } from '@catalog-bot/findings/memoize'
import { quoteLikeGo } from '@catalog-bot/fbc/go/text'
import { getBundleVersion } from '../../pull-request/compare-blobs.ts'
import { createCatalogOperatorEntries, type CatalogOperatorEntries } from './resolve/catalog-entries.ts'
import type { OperatorEntry } from './resolve/operator-properties.ts'
import type { BundleToInstall, NamespaceResolution } from './resolve/resolve-namespace.ts'
import { UpgradeSimulation, type UpgradePath } from './resolve/simulate-upgrades.ts'

export interface OlmV1ResolutionRequest {
  readonly package: string
  /** Absent for all channels. */
  readonly channels?: readonly string[]
  /** The installed bundle. Only this bundle and its successors are candidates. */
  readonly installed?: { readonly name: string; readonly version: string }
}

type OlmV1Resolution =
  | { readonly kind: 'resolved'; readonly bundle: BundleBlob; readonly isDeprecated: boolean }
  /** `message` is OLM's. `dependency`: the property type that OLM v1 does not support. */
  | {
      readonly kind: 'refused'
      readonly bundle?: BundleBlob
      readonly message: string
      readonly dependency?: string
    }

const dependencyPropertyTypes: ReadonlySet<string> = new Set([
  'olm.package.required',
  'olm.gvk.required',
  'olm.constraint',
])

type FailedNamespaceResolution = Exclude<NamespaceResolution, { readonly kind: 'resolved' }>

interface OperatorDependency {
  readonly entry: OperatorEntry
  /** OLM's wording for each requirement that the dependency meets. */
  readonly because: readonly string[]
}

export interface ChannelInstallResolution {
  readonly package: string
  readonly channel: string
  /** The channel head. Absent if OLM v0 cannot determine it. */
  readonly head: string | undefined
  readonly fresh:
    | {
        readonly kind: 'installs'
        readonly root: OperatorEntry
        readonly companions: readonly OperatorDependency[]
      }
    | FailedNamespaceResolution
  readonly upgrades: readonly UpgradePath[]
  /** Upgrades that do not reach the head in the base either. Empty without a base. */
  readonly stuckBefore: ReadonlySet<string>
  /** Versions that OLM cannot install from the base either, so no upgrade starts from them. */
  readonly unreachable: readonly string[]
  readonly skippedVersions: number
  readonly v1: OlmV1Resolution
  /** The upgrade from the previous head. */
  readonly v1Upgrade?: OlmV1Resolution
  readonly oldHead?: BundleBlob
}

export const testCatalogSourceName = 'catalog'

/** Another CatalogSource of the cluster that can provide dependencies. */
export interface DependencyCatalog {
  readonly name: string
  readonly catalog: Catalog
  readonly priority: number
}

interface CatalogUnderTestOptions {
  readonly others?: readonly DependencyCatalog[]
  /** The number of newest versions from which upgrades start. Default: all. */
  readonly maxVersions?: number
}

/** Cached, because the result of a merge batch's member is the base of the next member. */
const getCatalogEntries = memoizePerObject((catalog: Catalog) =>
  createCatalogOperatorEntries(catalog, testCatalogSourceName),
)

/** Indexes both sides of a change once for all packages. Without `base`, upgrades start from versions of `catalog`. */
export class CatalogUnderTest {
  private readonly catalog: Catalog
  private readonly base: Catalog | undefined
  private readonly others: readonly DependencyCatalog[]
  private readonly maxVersions: number
  private readonly entries: CatalogOperatorEntries
  private readonly baseEntries: CatalogOperatorEntries
  private readonly walk: UpgradeSimulation
  private readonly baseWalk: UpgradeSimulation

  constructor(
    catalog: Catalog,
    base?: Catalog,
    { others = [], maxVersions = Infinity }: CatalogUnderTestOptions = {},
  ) {
    this.catalog = catalog
    this.base = base
    this.others = others
    this.maxVersions = maxVersions
    this.entries = getCatalogEntries(catalog)
    this.baseEntries = base ? getCatalogEntries(base) : this.entries
    const beside = others.map((other) => ({
      entries: createCatalogOperatorEntries(other.catalog, other.name),
      priority: other.priority,
    }))
    this.walk = new UpgradeSimulation([{ entries: this.entries, priority: 0 }, ...beside])
    this.baseWalk = base
      ? new UpgradeSimulation([{ entries: this.baseEntries, priority: 0 }, ...beside])
      : this.walk
  }

  packages(): readonly string[] {
    return [...this.entries.packages.keys()]
  }

  /** Returns the channels with the default channel first, or undefined if the package does not exist. */
  channelsOf(
    packageName: string,
  ):
    | readonly {
        readonly name: string
        readonly isDefault: boolean
        readonly entries: readonly { readonly name: string }[]
      }[]
    | undefined {
    return this.entries.packages.get(packageName)?.channels
  }

  resolveChannel(packageName: string, channel: string): ChannelInstallResolution {
    const head = findChannelHeadEntry(this.entries, packageName, channel)
    const before = findChannelHeadEntry(this.baseEntries, packageName, channel)
    const oldHead = before && this.base && this.bundleNamed(this.base, before)
    return {
      package: packageName,
      channel,
      head: head?.name,
      fresh: this.fresh(packageName, channel),
      ...this.upgradesIn(packageName, channel),
      v1: resolveBundleLikeOlmV1(this.catalog, { package: packageName, channels: [channel] }),
      ...(oldHead && {
        oldHead,
        v1Upgrade: resolveBundleLikeOlmV1(this.catalog, {
          package: packageName,
          channels: [channel],
          installed: { name: oldHead.name, version: getBundleVersion(oldHead) },
        }),
      }),
    }
  }

  /**
   * Returns the bundle names of each InstallPlan that OLM v0 makes after the base's catalog changes to the new one.
   * Undefined if nothing was installed before or the upgrade does not end.
   */
  upgradePlans(packageName: string, channel: string): readonly (readonly string[])[] | undefined {
    if (!this.base) return undefined
    const before = this.baseWalk.install(packageName, channel)
    if (before.kind !== 'installed') return undefined
    const { plans, end } = this.walk.follow(before.state)
    if (end.kind !== 'settled') return undefined
    return [before.bundles.map(({ entry }) => entry.name), ...plans]
  }

  bundleOf(entry: OperatorEntry): BundleBlob | undefined {
    const other = this.others.find(({ name }) => name === entry.catalog)
    return this.bundleNamed(other?.catalog ?? this.catalog, entry)
  }

  /** Whether the entry comes from the catalog under test. */
  isOwn(entry: OperatorEntry): boolean {
    return entry.catalog === testCatalogSourceName
  }

  bundleBefore({ package: packageName, name }: BundleBlob): BundleBlob | undefined {
    return this.base && this.bundleNamed(this.base, { package: packageName, name })
  }

  private fresh(packageName: string, channel: string): ChannelInstallResolution['fresh'] {
    const installed = this.walk.install(packageName, channel)
    if (installed.kind !== 'installed') return installed
    const root = installed.bundles.find(({ entry }) => entry.package === packageName && this.isOwn(entry))
    if (root === undefined)
      throw new Error(`the resolution of ${packageName} contains no bundle of the package`)
    return {
      kind: 'installs',
      root: root.entry,
      companions: findOperatorDependencies(root, installed.bundles),
    }
  }

  private upgradesIn(
    packageName: string,
    channel: string,
  ): Pick<ChannelInstallResolution, 'upgrades' | 'unreachable' | 'stuckBefore' | 'skippedVersions'> {
    const upgrades: UpgradePath[] = []
    const unreachable: string[] = []
    const stuckBefore = new Set<string>()
    const oldHead = findChannelHeadEntry(this.baseEntries, packageName, channel)?.name
    const its = this.baseEntries.packages.get(packageName)?.channels.find(({ name }) => name === channel)
    const entries = its?.entries ?? []
    const selected =
      entries.length > this.maxVersions
        ? sortOperatorEntriesNewestFirst(entries).slice(0, this.maxVersions)
        : entries
    for (const { name } of selected) {
      const installed = this.baseWalk.install(packageName, channel, name)
      if (installed.kind !== 'installed') {
        unreachable.push(name)
        continue
      }
      upgrades.push(this.walk.follow(installed.state))
      if (this.base && !doesUpgradePathEndAtChannelHead(this.baseWalk.follow(installed.state), oldHead))
        stuckBefore.add(name)
    }
    return { upgrades, unreachable, stuckBefore, skippedVersions: entries.length - selected.length }
  }

  private bundleNamed(
    { bundles }: Catalog,
    { package: packageName, name }: { readonly package: string; readonly name: string },
  ): BundleBlob | undefined {
    return bundles.find((bundle) => bundle.package === packageName && bundle.name === name)
  }
}

function sortOperatorEntriesNewestFirst(entries: readonly OperatorEntry[]): readonly OperatorEntry[] {
  return entries.toSorted((a, b) =>
    a.version && b.version ? compareVersions(b.version, a.version) : Number(!a.version) - Number(!b.version),
  )
}

export function doesUpgradePathEndAtChannelHead({ end }: UpgradePath, head: string | undefined): boolean {
  return end.kind === 'settled' && end.at === head
}

function findChannelHeadEntry(entries: CatalogOperatorEntries, packageName: string, channel: string) {
  const order = entries.packages
    .get(packageName)
    ?.channels.find(({ name }) => name === channel)
    ?.order()
  return order?.ok === true ? order.entries[0] : undefined
}

function findOperatorDependencies(
  root: BundleToInstall,
  bundles: readonly BundleToInstall[],
): readonly OperatorDependency[] {
  return bundles
    .filter((bundle) => bundle !== root)
    .map(({ entry }) => ({
      entry,
      because: bundles.flatMap(({ entry: dependent }) =>
        dependent.facts
          .requirements()
          .filter((requirement) => requirement.isMetBy(entry))
          .map(({ text }) => `bundle ${dependent.name} requires an operator ${text}`),
      ),
    }))
}

/**
 * OLM v1's resolution: the highest version wins, and bundles with dependencies are rejected. (operator-controller:
 * resolve/catalog.go, resolve/validation.go, catalogmetadata/filter and compare.)
 */
export function resolveBundleLikeOlmV1(catalog: Catalog, request: OlmV1ResolutionRequest): OlmV1Resolution {
  const { package: packageName, channels: named = [], installed } = request
  const own = <Blob extends { readonly package: string }>(blobs: readonly Blob[]) =>
    blobs.filter((blob) => blob.package === packageName)
  const channels = own(catalog.channels)
  let candidates = own(catalog.bundles)
  if (named.length > 0) {
    const chosen = channels.filter(({ name }) => named.includes(name))
    const listed = new Set(chosen.flatMap(({ entries }) => entries.map(({ name }) => name)))
    candidates = candidates.filter(({ name }) => listed.has(name))
  }
  if (installed) {
    const successors = findSuccessorBundleNames(installed, channels)
    if ('error' in successors)
      return { kind: 'refused', message: `error finding upgrade edges: ${successors.error}` }
    const same = parseRegistryV1Version(installed.version)
    candidates = candidates.filter((bundle) => {
      const version = parseBundleVersion(bundle)
      return (
        successors.names.has(bundle.name) ||
        (version && same && compareVersionsWithRelease(version, same) === 0)
      )
    })
  }
  // OLM v1 reads only the first `olm.deprecations` blob.
  const [deprecation] = own(catalog.deprecations)
  const deprecated = new Set(
    (deprecation?.entries ?? []).filter(({ schema }) => schema === 'olm.bundle').map(({ name }) => name),
  )
  const [best] = candidates.toSorted(
    (a, b) =>
      Number(deprecated.has(a.name)) - Number(deprecated.has(b.name)) ||
      compareVersionsNewestFirst(parseBundleVersion(a), parseBundleVersion(b)),
  )
  if (best === undefined) return { kind: 'refused', message: formatNoBundlesFoundError(request) }
  const dependency = best.properties.find(({ type }) => dependencyPropertyTypes.has(type))
  if (dependency)
    return {
      kind: 'refused',
      bundle: best,
      dependency: dependency.type,
      message:
        `validating bundle ${quoteLikeGo(best.name)}: bundle ${quoteLikeGo(best.name)} has a dependency declared via property ` +
        `${quoteLikeGo(dependency.type)} which is currently not supported`,
    }
  return { kind: 'resolved', bundle: best, isDeprecated: deprecated.has(best.name) }
}

function formatNoBundlesFoundError({
  package: packageName,
  channels = [],
  installed,
}: OlmV1ResolutionRequest): string {
  const upgrading = installed
    ? `error upgrading from currently installed version ${quoteLikeGo(installed.version)}: `
    : ''
  const where = channels.length > 0 ? ` in channels [${channels.join(' ')}]` : ''
  return `${upgrading}no bundles found for package ${quoteLikeGo(packageName)}${where}`
}

function findSuccessorBundleNames(
  installed: { readonly name: string; readonly version: string },
  channels: readonly ChannelBlob[],
): { readonly names: ReadonlySet<string> } | { readonly error: string } {
  const version = parseVersion(installed.version)
  if (!version.ok) return { error: `failed to get version and release of installed bundle: ${version.error}` }
  const names = new Set<string>()
  for (const { entries } of channels)
    for (const { name, replaces, skips, skipRange } of entries) {
      const range = skipRange === '' ? undefined : parseVersionRange(skipRange)
      if (
        replaces === installed.name ||
        skips.includes(installed.name) ||
        (range?.ok === true && isVersionInRange(version.value, range.value))
      )
        names.add(name)
    }
  return { names }
}

function parseBundleVersion(bundle: BundleBlob): VersionWithRelease | undefined {
  const property = bundle.properties.find(({ type }) => type === 'olm.package')
  return property && parseRegistryV1Version(getJsonStringField(property.value, 'version'))
}

/** registry+v1 stores a release as build metadata. */
function parseRegistryV1Version(text: string): VersionWithRelease | undefined {
  const version = parseVersion(text)
  if (!version.ok) return undefined
  const release = parseReleaseIdentifiers(version.value.build.join('.'))
  return { version: version.value, release: release.ok ? release.value : [] }
}

/** Bundles without a version sort last. */
function compareVersionsNewestFirst(a: VersionWithRelease | undefined, b: VersionWithRelease | undefined) {
  if (a && b) return compareVersionsWithRelease(b, a)
  return Number(a === undefined) - Number(b === undefined)
}
