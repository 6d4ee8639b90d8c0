// Ranges that blang parses differently than readers expect.
import { isInRange, parseVersionRange } from '@catalog-bot/fbc/versions/version-range'
import type { VersionComparator } from '@catalog-bot/fbc/versions/version-range'
import { compareVersions } from '@catalog-bot/fbc/versions/version'
import type { Version } from '@catalog-bot/fbc/versions/version'

export type VersionRangeMisreading =
  /** blang drops one-character tokens: the `-` of a hyphen range, a lone `!`, a comma between spaces. */
  | { readonly kind: 'dropped-token'; readonly part: string }
  /** blang drops `^`, `~` and the like before a wildcard, which leaves one exact version. */
  | { readonly kind: 'dropped-operator'; readonly part: string }
  /** `1.x.x` ends below 1.1.0, not below 2.0.0. */
  | { readonly kind: 'double-wildcard'; readonly part: string }
  /** An alternative that no version satisfies: `!=1.5.x`, `=1.0.0 =2.0.0`, `>2.0.0 <1.0.0`. */
  | { readonly kind: 'matches-nothing'; readonly part: string }

/** The first trap; undefined for plain and for unparsable ranges. */
export function findVersionRangeMisreading(text: string): VersionRangeMisreading | undefined {
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
  return isInRange(candidate, { alternatives: [comparators] })
}

/** The next version in semver's order: 1.0.1-0 after 1.0.0, 1.0.0-a.0 after 1.0.0-a. */
function getNextSemverVersion(version: Version): Version {
  const patch = typeof version.patch === 'bigint' ? version.patch + 1n : version.patch + 1
  return version.prerelease.length > 0
    ? { ...version, prerelease: [...version.prerelease, 0] }
    : { ...version, patch, prerelease: [0] }
}
