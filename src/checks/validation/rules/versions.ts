import {
  parseVersionRange,
  isVersionInRange,
  type VersionComparator,
} from '@catalog-bot/fbc/versions/version-range'
import { parseVersion, compareVersions, type Version } from '@catalog-bot/fbc/versions/version'
import type { Json } from '@catalog-bot/fbc/go/json/json'
import type { Location } from '@catalog-bot/findings/finding'
import { defineBundleBlobRule, definePackageRule, toFindingLocation } from '../catalog-rule.ts'
import { listPackageRequirements } from '../requirements.ts'
import { listCsvMetadata, type BundleView, getStringField, type PackageView } from '../view/catalog-view.ts'

export const brokenVersionRangeRule = definePackageRule<{
  bundle: string
  required: string
  range: string
  problem: string
}>({
  id: 'broken-version-range',
  severity: 'error',
  title: 'Required version ranges are valid',
  what: ({ bundle, required, range, problem }) =>
    range === ''
      ? `${bundle} requires package "${required}", but does not specify a versionRange`
      : `${bundle} requires package "${required}" in the version range "${range}", which is not valid: ${problem}`,
  why: 'OLM parses the range when a user installs the Operator. Because the range is not valid, the installation fails.',
  fix: 'Use only >=, <, =, and ||, with three numbers in each version, such as ">=1.2.0 <2.0.0".',
  *find(its) {
    for (const { by, at, packageName, versionRange } of listPackageRequirements(its)) {
      const range = parseVersionRange(versionRange)
      if (range.ok) continue
      yield {
        at,
        about: [its.name, by.blob.name, packageName],
        data: { bundle: by.blob.name, required: packageName, range: versionRange, problem: range.error },
      }
    }
  },
})

export const brokenMinKubeVersionRule = defineBundleBlobRule<{
  bundle: string
  version: string
  problem: string
}>({
  id: 'broken-min-kube-version',
  severity: 'warning',
  title: 'minKubeVersion is a valid version',
  what: ({ bundle, version, problem }) =>
    `minKubeVersion "${version}" of ${bundle} is not a valid version: ${problem}`,
  why: 'OLM compares minKubeVersion with the cluster version before it installs the bundle. OLM ignores a leading "v", but it cannot install a bundle whose minKubeVersion is otherwise not valid.',
  fix: 'Use three numbers without a "v", such as 1.25.0.',
  *find(bundle) {
    for (const { metadata, mark } of listCsvMetadata(bundle)) {
      const text = metadata.minKubeVersion
      const version = parseVersion(text)
      if (text !== '' && !version.ok) yield { mark, data: { version: text, problem: version.error } }
    }
  },
})

/**
 * An olm.maxOpenShiftVersion that OpenShift cannot parse: a number (YAML drops the last digit of `4.10`), or a string
 * that is not a platform version. opm accepts any value.
 */
export const invalidMaxOpenshiftVersionRule = defineBundleBlobRule<{ bundle: string; problem: string }>({
  id: 'max-openshift-version',
  severity: 'warning',
  title: 'olm.maxOpenShiftVersion is a single string such as "4.20"',
  what: ({ bundle, problem }) => `olm.maxOpenShiftVersion of ${bundle} ${problem}`,
  why: 'The olm.maxOpenShiftVersion property stops clusters from upgrading to a platform that the Operator does not support, but an invalid value has no effect.',
  fix: `Write only the major and minor version, in quotes: '4.20'.`,
  *find(bundle) {
    for (const [index, { value, mark }] of bundle.properties('olm.maxOpenShiftVersion').entries()) {
      const problem = index > 0 ? 'is set more than once' : findMaxOpenshiftVersionProblem(value)
      if (problem !== undefined) yield { mark, about: [String(index)], data: { problem } }
    }
  },
})

function findMaxOpenshiftVersionProblem(value: Json): string | undefined {
  if (typeof value === 'number') return `is the number ${value}, not a string`
  if (typeof value !== 'string') return 'is not a string'
  // OpenShift's operator-lifecycle-manager accepts a patch version but ignores it.
  return /^v?\d+\.\d+(?:\.\d+)?$/.test(value.trim())
    ? undefined
    : `is "${value}", which is not an OpenShift version`
}

export const buildMetadataOnlyVersionsRule = definePackageRule<{
  bundle: string
  version: string
  other: string
  otherVersion: string
}>({
  id: 'build-metadata-only-versions',
  severity: 'warning',
  title: 'Versions of a package differ in more than build metadata',
  what: ({ bundle, version, other, otherVersion }) =>
    `${bundle} (${version}) and ${other} (${otherVersion}) differ only in build metadata`,
  why: 'OLM ignores the part after "+" when it compares versions, so neither bundle is newer and ranges cannot distinguish them.',
  fix: 'Give the later bundle a higher patch version, or set its release.',
  *find(its) {
    const seen = new Map<string, BundleView>()
    for (const bundle of its.bundles) {
      const { version, versionText } = bundle
      if (version === undefined || hasReleaseInPackageProperty(bundle)) continue
      const key = versionText.split('+')[0] ?? ''
      const other = seen.get(key)
      if (other === undefined) {
        seen.set(key, bundle)
        continue
      }
      if (other.versionText === versionText || other.version === undefined) continue
      if (compareVersions(other.version, version) !== 0) continue
      yield {
        at: toFindingLocation(bundle.blob.place),
        about: [its.name, bundle.blob.name, other.blob.name],
        data: {
          bundle: bundle.blob.name,
          version: versionText,
          other: other.blob.name,
          otherVersion: other.versionText,
        },
        related: [{ at: toFindingLocation(other.blob.place), note: other.blob.name }],
      }
    }
  },
})

function hasReleaseInPackageProperty(bundle: BundleView): boolean {
  return bundle.properties('olm.package').some(({ value }) => getStringField(value, 'release') !== '')
}

export const bundleNameOfOtherVersionRule = defineBundleBlobRule<{
  bundle: string
  version: string
  stated: string
}>({
  id: 'bundle-name-of-other-version',
  severity: 'info',
  title: 'The version in a bundle name matches the bundle version',
  what: ({ bundle, version, stated }) =>
    `${bundle} is named for version ${stated}, but its version is ${version}`,
  why: 'Users read the version from the name, but OLM reads it from the property, so users and OLM can disagree about which bundle is newer.',
  fix: 'Rename the bundle to match its version, or correct the olm.package property. Do not change a published bundle.',
  *find({ blob, version, versionText }) {
    if (version === undefined) return
    const stated = /(?:^|[^0-9a-z])v?(\d+\.\d+\.\d+)(?![\d])/i.exec(blob.name)?.[1]
    const own = `${version.major}.${version.minor}.${version.patch}`
    if (stated !== undefined && stated !== own) yield { data: { version: versionText, stated } }
  },
})

export const misreadRangeRule = definePackageRule<{
  range: string
  trap: VersionRangePitfall['kind']
  part: string
  from: string
}>({
  id: 'range-trap',
  severity: 'warning',
  title: 'Version ranges match what they appear to match',
  what: ({ range, trap, part, from }) => versionRangePitfallMessages[trap](`the ${from} "${range}"`, part),
  why: 'OLM does not support hyphen ranges, ^, or ~, and silently ignores the parts of a range that it does not understand.',
  fix: 'Use only >=, <, =, and ||, with three numbers in each version, such as ">=1.2.0 <2.0.0".',
  *find(its) {
    for (const { at, about, range, from } of listVersionRanges(its)) {
      const trap = findVersionRangePitfall(range)
      if (trap !== undefined)
        yield { at, about: [...about, range], data: { range, trap: trap.kind, part: trap.part, from } }
    }
  },
})

const versionRangePitfallMessages: Readonly<
  Record<VersionRangePitfall['kind'], (range: string, part: string) => string>
> = {
  'dropped-token': (range, part) => `${range} contains "${part}", which OLM ignores`,
  'dropped-operator': (range, part) =>
    `${range} has an operator in "${part}" that OLM ignores, so this part matches only one exact version`,
  'double-wildcard': (range, part) =>
    `${range} contains "${part}", which OLM interprets as a range that ends before the next minor version`,
  'matches-nothing': (range, part) =>
    part.includes(' ') || part === ''
      ? `${range} matches no version`
      : `${range} matches no version because of "${part}"`,
}

/** Ranges that blang parses differently than readers expect. */
type VersionRangePitfall =
  /** blang drops one-character tokens: the `-` of a hyphen range, a lone `!`, a comma between spaces. */
  | { readonly kind: 'dropped-token'; readonly part: string }
  /** blang drops `^`, `~` and the like before a wildcard, which leaves one exact version. */
  | { readonly kind: 'dropped-operator'; readonly part: string }
  /** `1.x.x` ends below 1.1.0, not below 2.0.0. */
  | { readonly kind: 'double-wildcard'; readonly part: string }
  /** An alternative that no version satisfies: `!=1.5.x`, `=1.0.0 =2.0.0`, `>2.0.0 <1.0.0`. */
  | { readonly kind: 'matches-nothing'; readonly part: string }

/** The first trap; undefined for plain and for unparsable ranges. */
export function findVersionRangePitfall(text: string): VersionRangePitfall | undefined {
  const range = parseVersionRange(text)
  if (!range.ok) return undefined
  const terms = text.replaceAll(/([<>=]) +/g, '$1').split(' ')
  for (const part of terms) {
    if (/^[\x21-\x7e]$/.test(part)) return { kind: 'dropped-token', part }
    if (!part.includes('x')) continue
    if (/\.x\.x$/.test(part)) return { kind: 'double-wildcard', part }
    if (!/^(?:[<>]=?|={0,2}|!=?)[0-9]/.test(part)) return { kind: 'dropped-operator', part }
  }
  const alternatives = text.split(' || ')
  for (const [index, comparators] of range.value.alternatives.entries()) {
    // `a || || b` has an empty alternative, which matches nothing and is harmless.
    if (comparators.length === 0 || isVersionRangeSatisfiable(comparators)) continue
    return { kind: 'matches-nothing', part: alternatives[index]?.trim() ?? text }
  }
  return undefined
}

/**
 * Whether a version satisfies all comparators. Only the lowest candidate above the lower bounds needs testing. Linear,
 * because a range can be as long as a file.
 */
function isVersionRangeSatisfiable(comparators: readonly VersionComparator[]): boolean {
  let candidate: Version = { major: 0, minor: 0, patch: 0, prerelease: [0], build: [] }
  for (const { operator, version } of comparators) {
    if (operator !== '=' && operator !== '>' && operator !== '>=') continue
    const minVersion = operator === '>' ? getNextSemverVersion(version) : version
    if (compareVersions(minVersion, candidate) > 0) candidate = minVersion
  }
  const excluded = comparators
    .filter(({ operator }) => operator === '!=')
    .map(({ version }) => version)
    .sort(compareVersions)
  for (const version of excluded)
    if (compareVersions(version, candidate) === 0) candidate = getNextSemverVersion(candidate)
  return isVersionInRange(candidate, { alternatives: [comparators] })
}

/** The next version in semver's order: 1.0.1-0 after 1.0.0, 1.0.0-a.0 after 1.0.0-a. */
function getNextSemverVersion(version: Version): Version {
  const patch = typeof version.patch === 'bigint' ? version.patch + 1n : version.patch + 1
  return version.prerelease.length > 0
    ? { ...version, prerelease: [...version.prerelease, 0] }
    : { ...version, patch, prerelease: [0] }
}

interface LocatedVersionRange {
  readonly at: Location
  readonly about: readonly string[]
  readonly range: string
  readonly from: 'skipRange' | 'versionRange'
}

/** Ranges of channel entries and of required packages; skips empty ones. */
function* listVersionRanges(its: PackageView): Generator<LocatedVersionRange> {
  for (const { blob } of its.channels) {
    for (const { name, mark, skipRange } of blob.entries)
      if (skipRange !== '')
        yield {
          at: toFindingLocation(blob.place, mark),
          about: [its.name, blob.name, name],
          range: skipRange,
          from: 'skipRange',
        }
  }
  for (const { by, at, packageName, versionRange } of listPackageRequirements(its))
    if (versionRange !== '')
      yield { at, about: [its.name, by.blob.name, packageName], range: versionRange, from: 'versionRange' }
}
