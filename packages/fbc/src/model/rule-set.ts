// Selects the rules of an opm release, because OpenShift ships older releases. Loading always follows the newest opm.
import compare from 'semver/functions/compare.js'
import valid from 'semver/functions/valid.js'

export interface OpmRuleSet {
  /** For display and cache keys: `opm-v1.73`. */
  readonly id: string
  /** opm decodes `olm.deprecations` blobs (since v1.32.0). Before that, they were custom blobs. */
  readonly deprecations: boolean
  /** Package names are DNS-1123 labels (since v1.41.0). */
  readonly packageNameSyntax: boolean
  /** Versions are unique in a package (since v1.47.0). */
  readonly uniqueVersions: boolean
  /** The chain of `replaces` ends before a skipped entry (since v1.58.0). */
  readonly chainStopsAtSkipped: boolean
  /** Bundles have a release (since v1.62.0). Before that, the field was unknown. */
  readonly releases: boolean
  /** Image references must parse (since v1.64.0). */
  readonly pullSpecs: boolean
  /** `skipRange` must parse (since v1.69.0). */
  readonly skipRangeSyntax: boolean
  /** A bundle's `olm.channel` property has an integer `priority` (until v1.73.0). */
  readonly integerPriority: boolean
}

type OpmRuleName = Exclude<keyof OpmRuleSet, 'id' | 'integerPriority'>

const firstOpmReleaseByRule: Readonly<Record<OpmRuleName, string>> = {
  deprecations: '1.32.0',
  packageNameSyntax: '1.41.0',
  uniqueVersions: '1.47.0',
  chainStopsAtSkipped: '1.58.0',
  releases: '1.62.0',
  pullSpecs: '1.64.0',
  skipRangeSyntax: '1.69.0',
}

/** Older releases don't check case-variant keys when loading, which the facts can't show. */
const oldestSupportedOpmRelease = '1.28.0'
const lastOpmReleaseWithChannelPriority = '1.73.0'

/** The rules of `--profile opm`. */
export const defaultOpmRuleSet: OpmRuleSet = createOpmRuleSet('opm-v1.73', '1.73.0')

/** `release` is `1.60.0` or `v1.60.0`. Returns undefined for invalid strings and releases before v1.28.0. */
export function findOpmRuleSet(release: string): OpmRuleSet | undefined {
  const plain = release.replace(/^v/, '')
  // Accepts only final releases, because the table doesn't distinguish prereleases.
  if (!/^[\d.]+$/.test(plain) || valid(plain) === null || compare(plain, oldestSupportedOpmRelease) < 0)
    return undefined
  return createOpmRuleSet(`opm-v${plain}`, plain)
}

function createOpmRuleSet(id: string, release: string): OpmRuleSet {
  const isEnabled = (name: OpmRuleName): boolean => compare(release, firstOpmReleaseByRule[name]) >= 0
  return {
    id,
    deprecations: isEnabled('deprecations'),
    packageNameSyntax: isEnabled('packageNameSyntax'),
    uniqueVersions: isEnabled('uniqueVersions'),
    chainStopsAtSkipped: isEnabled('chainStopsAtSkipped'),
    releases: isEnabled('releases'),
    pullSpecs: isEnabled('pullSpecs'),
    skipRangeSyntax: isEnabled('skipRangeSyntax'),
    integerPriority: compare(release, lastOpmReleaseWithChannelPriority) <= 0,
  }
}
