// Validates image references like opm: Docker's reference grammar after normalization. packages/fbc/src/go/reference/image-reference.ts
// uses it too. Never checks whether the image exists.
import { toLowerLikeGo } from '../text.ts'

const hostLabelPatternSource = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?'
const domainPatternSource = `${hostLabelPatternSource}(?:\\.${hostLabelPatternSource})*(?::[0-9]+)?`
const pathComponentPatternSource = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*'
const repositoryNamePatternSource = `(?:${domainPatternSource}/)?${pathComponentPatternSource}(?:/${pathComponentPatternSource})*`
const tagPatternSource = '[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}'
const digestPatternSource = '[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9A-Fa-f]{32,}'
const pullSpecPattern = new RegExp(
  `^(${repositoryNamePatternSource})(?::(${tagPatternSource}))?(?:@(${digestPatternSource}))?$`,
)

const invalidReferenceFormatMessage = 'invalid reference format'
const uppercaseRepositoryMessage = 'repository name must be lowercase'
const maxRepositoryNameLength = 255
/** Valid references are shorter, so longer ones are not even matched. */
const maxPullSpecLength = 4096

const hexLengthByDigestAlgorithm: Readonly<Record<string, number>> = { sha256: 64, sha384: 96, sha512: 128 }

export interface PullSpec {
  /** As written, in any case; `docker.io` if absent or `index.docker.io`. */
  readonly host: string
  /** With `library/` where Docker adds it. */
  readonly path: string
  readonly tag?: string
  readonly digest?: string
}

export type PullSpecResult =
  | { readonly spec: PullSpec; readonly error?: undefined }
  | { readonly spec?: undefined; readonly error: string }

/** `@sha256:` and 64 digits. */
const sha256DigestSuffixLength = 72
const sha256DigestSuffixPattern = /^@sha256:[a-f0-9]{64}$/

/** Caches the verdict on names before a digest, up to `maxCachedRepositoryNames`. */
const errorByRepositoryNameCache = new Map<string, string | undefined>()
const maxCachedRepositoryNames = 2000

/** Returns opm's error for an invalid pull spec, or undefined. */
export function findPullSpecError(text: string): string | undefined {
  // Nearly all images are a recurring name with a unique digest.
  const name = text.slice(0, -sha256DigestSuffixLength)
  if (
    name.length > maxRepositoryNameLength ||
    !sha256DigestSuffixPattern.test(text.slice(-sha256DigestSuffixLength))
  )
    return parsePullSpec(text).error
  if (errorByRepositoryNameCache.has(name)) return errorByRepositoryNameCache.get(name)
  const { error } = parsePullSpec(text)
  if (errorByRepositoryNameCache.size < maxCachedRepositoryNames) errorByRepositoryNameCache.set(name, error)
  return error
}

/** Returns the parts, or opm's error. */
export function parsePullSpec(text: string): PullSpecResult {
  if (/^[a-f0-9]{64}$/.test(text))
    return { error: `invalid repository name (${text}), cannot specify 64-byte hexadecimal strings` }
  const [host, rest] = splitRegistryHost(text)
  const beforeColon = rest.split(':', 1)[0] ?? ''
  if (toLowerLikeGo(beforeColon) !== beforeColon)
    return { error: `${invalidReferenceFormatMessage}: ${uppercaseRepositoryMessage}` }
  const full = `${host}/${rest}`
  const match = full.length > maxPullSpecLength ? null : pullSpecPattern.exec(full)
  if (match === null) {
    // Only a non-ASCII host gets here (Go folds the Kelvin sign to k): the parser's error has no prefix then.
    const isForeign = full.length <= maxPullSpecLength && pullSpecPattern.test(toLowerLikeGo(full))
    return { error: isForeign ? uppercaseRepositoryMessage : invalidReferenceFormatMessage }
  }
  const [, fullName = '', tag, digest] = match
  if (fullName.length > maxRepositoryNameLength)
    return { error: `repository name must not be more than ${maxRepositoryNameLength} characters` }
  const error = digest === undefined ? undefined : findDigestError(digest)
  if (error !== undefined) return { error }
  return {
    spec: {
      host,
      path: fullName.slice(host.length + 1),
      ...(tag !== undefined && { tag }),
      ...(digest !== undefined && { digest }),
    },
  }
}

/** Docker's defaults: without a host docker.io, and there a single name means library/name. */
function splitRegistryHost(text: string): [host: string, rest: string] {
  const slash = text.indexOf('/')
  const first = text.slice(0, Math.max(slash, 0))
  const hasHost = slash >= 0 && (/[.:]/.test(first) || first === 'localhost')
  const host = !hasHost || first === 'index.docker.io' ? 'docker.io' : first
  const rest = hasHost ? text.slice(slash + 1) : text
  return [host, host === 'docker.io' && !rest.includes('/') ? `library/${rest}` : rest]
}

function findDigestError(text: string): string | undefined {
  const colon = text.indexOf(':')
  const algorithm = text.slice(0, colon)
  const hex = text.slice(colon + 1)
  const length = Object.hasOwn(hexLengthByDigestAlgorithm, algorithm)
    ? hexLengthByDigestAlgorithm[algorithm]
    : undefined
  if (length === undefined) {
    return /^[a-z0-9]+(?:[.+_-][a-z0-9]+)*$/.test(algorithm)
      ? 'unsupported digest algorithm'
      : 'invalid checksum digest format'
  }
  if (hex.length !== length) return 'invalid checksum digest length'
  return /^[a-f0-9]*$/.test(hex) ? undefined : 'invalid checksum digest format'
}
