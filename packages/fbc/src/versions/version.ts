// Parses and compares versions as opm does, with the error messages of the strict Parse in blang/semver v4. Unlike
// npm's semver, it accepts no `v` and no whitespace, and numbers go up to 2^64-1.
import { quoteLikeGo, trimSpaceLikeGo } from '../go/text.ts'

export type ReleaseIdentifiers = readonly (NumericVersionPart | string)[]

const maxReleaseLength = 20

/** A number in a version. It is a bigint only if a number would lose digits, so equal values compare with `===`. */
export type NumericVersionPart = number | bigint

export interface Version {
  readonly major: NumericVersionPart
  readonly minor: NumericVersionPart
  readonly patch: NumericVersionPart
  /** Numeric identifiers as numbers, all others as text. Empty for a release. */
  readonly prerelease: readonly (NumericVersionPart | string)[]
  readonly build: readonly string[]
}

/** opm looks versions up in a Go map, so a missing name has this version. */
export const zeroVersion: Version = { major: 0, minor: 0, patch: 0, prerelease: [], build: [] }

export interface VersionWithRelease {
  readonly version: Version
  readonly release: ReleaseIdentifiers
}

/** Either the value or blang's exact error message. */
export type VersionParseResult<Value> =
  { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly error: string }

const uint64Limit = 1n << 64n

/** Parses a version strictly. Never throws. The error is blang's message. */
export function parseVersion(text: string): VersionParseResult<Version> {
  if (text === '') return createVersionError('Version string empty')
  const firstDot = text.indexOf('.')
  const secondDot = text.indexOf('.', firstDot + 1)
  if (firstDot < 0 || secondDot < 0) return createVersionError('No Major.Minor.Patch elements found')
  const major = parseVersionNumber('Major', text.slice(0, firstDot))
  if (!major.ok) return major
  const minor = parseVersionNumber('Minor', text.slice(firstDot + 1, secondDot))
  if (!minor.ok) return minor
  const [beforeBuild, build] = splitAtFirstSeparator(text.slice(secondDot + 1), '+')
  const [patchText, prerelease] = splitAtFirstSeparator(beforeBuild, '-')
  const patch = parseVersionNumber('Patch', patchText)
  if (!patch.ok) return patch
  const identifiers: (NumericVersionPart | string)[] = []
  for (const part of prerelease?.split('.') ?? []) {
    const identifier = parsePrereleaseIdentifier(part)
    if (!identifier.ok) return identifier
    identifiers.push(identifier.value)
  }
  const builds = build?.split('.') ?? []
  for (const part of builds) {
    if (part === '') return createVersionError('Build meta data is empty')
    if (!/^[0-9A-Za-z-]*$/.test(part)) {
      return createVersionError(`Invalid character(s) found in build meta data ${quoteLikeGo(part)}`)
    }
  }
  return {
    ok: true,
    value: {
      major: major.value,
      minor: minor.value,
      patch: patch.value,
      prerelease: identifiers,
      build: builds,
    },
  }
}

/** Like blang's ParseTolerant, accepts surrounding whitespace, a leading `v`, leading zeros, and missing parts. */
export function parseVersionTolerantly(text: string): VersionParseResult<Version> {
  const [major = '', minor, ...rest] = trimSpaceLikeGo(text).replace(/^v/, '').split('.')
  const parts = [major, ...(minor === undefined ? [] : [minor]), ...(rest.length > 0 ? [rest.join('.')] : [])]
  const trimmed = parts.map((part) =>
    part.length > 1 ? part.replace(/^0+/, '').replace(/^(?!\d)/, '0') : part,
  )
  if (trimmed.length < 3 && /[+-]/.test(trimmed.at(-1) ?? ''))
    return createVersionError('Short version cannot contain PreRelease/Build meta data')
  while (trimmed.length < 3) trimmed.push('0')
  return parseVersion(trimmed.join('.'))
}

/** Parses one dot-separated part of a prerelease. opm's release segments use the same grammar. */
export function parsePrereleaseIdentifier(part: string): VersionParseResult<NumericVersionPart | string> {
  if (part === '') return createVersionError('Prerelease is empty')
  if (/^[0-9]*$/.test(part)) {
    if (hasLeadingZero(part)) {
      return createVersionError(
        `Numeric PreRelease version must not contain leading zeroes ${quoteLikeGo(part)}`,
      )
    }
    return parseUint(part)
  }
  if (/^[0-9A-Za-z-]*$/.test(part)) return { ok: true, value: part }
  return createVersionError(`Invalid character(s) found in prerelease ${quoteLikeGo(part)}`)
}

/** The version as blang prints it. For a parsed version, this is the original string. */
export function formatVersion(version: Version): string {
  const prerelease = version.prerelease.length > 0 ? `-${version.prerelease.join('.')}` : ''
  const build = version.build.length > 0 ? `+${version.build.join('.')}` : ''
  return `${version.major}.${version.minor}.${version.patch}${prerelease}${build}`
}

/** Compares by semver precedence. Negative if `a` is older. Ignores build metadata. */
export function compareVersions(a: Version, b: Version): number {
  return (
    compareVersionNumbers(a.major, b.major) ||
    compareVersionNumbers(a.minor, b.minor) ||
    compareVersionNumbers(a.patch, b.patch) ||
    comparePrereleases(a.prerelease, b.prerelease)
  )
}

/** A version without a release sorts before any release. */
export function compareVersionsWithRelease(a: VersionWithRelease, b: VersionWithRelease): number {
  return compareVersions(a.version, b.version) || comparePrereleaseIdentifiers(a.release, b.release)
}

function comparePrereleases(a: Version['prerelease'], b: Version['prerelease']): number {
  if (a.length === 0 || b.length === 0) return b.length - a.length
  return comparePrereleaseIdentifiers(a, b)
}

/** Compares dot-separated identifiers. Numbers sort before strings, and a list sorts before its extensions. */
function comparePrereleaseIdentifiers(
  a: readonly (NumericVersionPart | string)[],
  b: readonly (NumericVersionPart | string)[],
): number {
  for (const [index, left] of a.entries()) {
    const right = b[index]
    if (right === undefined) return 1
    if (left === right) continue
    if (typeof left === 'string') return typeof right !== 'string' || left > right ? 1 : -1
    return typeof right === 'string' ? -1 : compareVersionNumbers(left, right)
  }
  return a.length - b.length
}

function compareVersionNumbers(a: NumericVersionPart, b: NumericVersionPart): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function parseVersionNumber(part: 'Major' | 'Minor' | 'Patch', digits: string) {
  if (!/^[0-9]*$/.test(digits)) {
    return createVersionError(
      `Invalid character(s) found in ${part.toLowerCase()} number ${quoteLikeGo(digits)}`,
    )
  }
  if (hasLeadingZero(digits)) {
    return createVersionError(`${part} number must not contain leading zeroes ${quoteLikeGo(digits)}`)
  }
  return parseUint(digits)
}

function parseUint(digits: string): VersionParseResult<NumericVersionPart> {
  if (digits === '') return createVersionError(`strconv.ParseUint: parsing "": invalid syntax`)
  if (digits.length <= 15) return { ok: true, value: Number(digits) }
  // 2^64-1 has 20 digits. Without the limit, a malicious megabyte of digits would be converted.
  const value = digits.length <= 20 ? BigInt(digits) : uint64Limit
  if (value >= uint64Limit) {
    return createVersionError(`strconv.ParseUint: parsing ${quoteLikeGo(digits)}: value out of range`)
  }
  return { ok: true, value: value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value }
}

function hasLeadingZero(digits: string): boolean {
  return digits.length > 1 && digits.startsWith('0')
}

function splitAtFirstSeparator(text: string, separator: string): [before: string, after: string | undefined] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

function createVersionError(error: string): { readonly ok: false; readonly error: string } {
  return { ok: false, error }
}

/** Parses a non-empty release: dot-separated prerelease identifiers. The error is opm's message. */
export function parseReleaseIdentifiers(text: string): VersionParseResult<ReleaseIdentifiers> {
  if (new TextEncoder().encode(text).length > maxReleaseLength) {
    return {
      ok: false,
      error: `invalid release ${quoteLikeGo(text)}: exceeds maximum length of ${maxReleaseLength} characters`,
    }
  }
  const segments: (NumericVersionPart | string)[] = []
  const errors: string[] = []
  for (const [index, part] of text.split('.').entries()) {
    const segment = parsePrereleaseIdentifier(part)
    if (segment.ok) segments.push(segment.value)
    else errors.push(`segment ${index}: ${segment.error}`)
  }
  if (errors.length > 0)
    return { ok: false, error: `invalid release ${quoteLikeGo(text)}: ${errors.join('\n')}` }
  return { ok: true, value: segments }
}
