// OLM v1's resolution: the highest version wins, and bundles with dependencies are rejected. (operator-controller:
// resolve/catalog.go, resolve/validation.go, catalogmetadata/filter and compare.)
import type { BundleBlob, Catalog, ChannelBlob } from '@catalog-bot/fbc/facts/catalog'
import {
  comparePrereleaseIdentifiers,
  compareVersions,
  parseVersion,
  type Version,
  parseRelease,
  type ReleaseVersion,
} from '@catalog-bot/fbc/versions/version'
import { isInRange, parseVersionRange } from '@catalog-bot/fbc/versions/version-range'
import { getJsonStringField } from '@catalog-bot/fbc/go/json/json'
import { quoteLikeGo } from '@catalog-bot/fbc/go/text'

export interface OlmV1ResolutionRequest {
  readonly package: string
  /** Absent for all channels. */
  readonly channels?: readonly string[]
  /** The installed bundle. Only this bundle and its successors are candidates. */
  readonly installed?: { readonly name: string; readonly version: string }
}

export type OlmV1Resolution =
  | { readonly kind: 'resolved'; readonly bundle: BundleBlob; readonly isDeprecated: boolean }
  /** `message` is OLM's. `dependency`: the property type that OLM v1 does not support. */
  | {
      readonly kind: 'refused'
      readonly bundle?: BundleBlob
      readonly message: string
      readonly dependency?: string
    }

interface VersionWithRelease {
  readonly version: Version
  readonly release: ReleaseVersion
}

const dependencyPropertyTypes: ReadonlySet<string> = new Set([
  'olm.package.required',
  'olm.gvk.required',
  'olm.constraint',
])

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
        (range?.ok === true && isInRange(version.value, range.value))
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
  const release = parseRelease(version.value.build.join('.'))
  return { version: version.value, release: release.ok ? release.value : [] }
}

function compareVersionsWithRelease(a: VersionWithRelease, b: VersionWithRelease): number {
  return compareVersions(a.version, b.version) || comparePrereleaseIdentifiers(a.release, b.release)
}

/** Bundles without a version sort last. */
function compareVersionsNewestFirst(
  a: VersionWithRelease | undefined,
  b: VersionWithRelease | undefined,
): number {
  if (a && b) return compareVersionsWithRelease(b, a)
  return Number(a === undefined) - Number(b === undefined)
}
