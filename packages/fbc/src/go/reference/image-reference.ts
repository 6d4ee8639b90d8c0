// Parses image references for registry requests and explains invalid ones. opm's grammar (parsePullSpec)
// decides validity. Never guesses and never contacts a registry.
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

interface PullSpec {
  /** As written, in any case; `docker.io` if absent or `index.docker.io`. */
  readonly host: string
  /** With `library/` where Docker adds it. */
  readonly path: string
  readonly tag?: string
  readonly digest?: string
}

type PullSpecResult =
  | { readonly spec: PullSpec; readonly error?: undefined }
  | { readonly spec?: undefined; readonly error: string }

/** Nearly all images of catalogs: a lowercase host with a dot, a path, and a tag or a digest. */
const commonPullSpecPattern = new RegExp(
  '^(?:[a-z0-9]+(?:-+[a-z0-9]+)*\\.)+[a-z0-9]+(?:-+[a-z0-9]+)*' +
    `(?:/${pathComponentPatternSource})+(?::${tagPatternSource})?(?:@sha256:[a-f0-9]{64})?$`,
)

export interface ImageReference {
  /** As in references: `quay.io`, `docker.io`, `localhost:5000`. Lower case. */
  readonly host: string
  /** The path after the host, with `library/` for Docker Hub's short names. */
  readonly repository: string
  readonly tag?: string
  /** `algorithm:hex`; takes precedence over the tag. */
  readonly digest?: string
}

export type ParsedImageReference =
  | { readonly reference: ImageReference; readonly reason?: undefined }
  | { readonly reference?: undefined; readonly reason: string }

// The longest name (255, plus 6 for index.docker.io), tag (128) and digest (sha512 in hex, 135) with separators.
// Rejects longer texts before running a regular expression.
const maxImageReferenceLength = 255 + 6 + 1 + 128 + 1 + 135
const hostLabelPattern = /^[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?$/
const pathComponentPattern = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/
const tagPattern = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/
const digestPattern = /^([A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*):([0-9a-fA-F]{32,})$/

/**
 * Parses `[host[:port]/]path[:tag][@digest]`, without defaults. Names without a host are on Docker Hub. An invalid
 * reference has a reason, as a clause. Rejects what opm rejects, and impossible ports, which opm accepts.
 */
export function parseImageReference(text: string): ParsedImageReference {
  if (text.length > maxImageReferenceLength)
    return createInvalidImageReferenceResult(
      `the reference is longer than ${maxImageReferenceLength} characters`,
    )
  const { spec, error } = parsePullSpec(text)
  if (!spec) return createInvalidImageReferenceResult(explainInvalidImageReference(text) ?? error)
  const [, port] = spec.host.split(':')
  if (port !== undefined && !(port.length <= 5 && Number(port) <= 65_535))
    return createInvalidImageReferenceResult(`"${port}" is not a port`)
  const lowerHost = spec.host.toLowerCase()
  const host = lowerHost === 'index.docker.io' ? 'docker.io' : lowerHost
  const repository = host === 'docker.io' && !spec.path.includes('/') ? `library/${spec.path}` : spec.path
  return {
    reference: {
      host,
      repository,
      ...(spec.tag !== undefined && { tag: spec.tag }),
      ...(spec.digest !== undefined && { digest: spec.digest }),
    },
  }
}

/** The full form: always with a host, with tag and digest if known. */
export function formatImageReference(reference: ImageReference): string {
  const tag = reference.tag === undefined ? '' : `:${reference.tag}`
  const digest = reference.digest === undefined ? '' : `@${reference.digest}`
  return `${reference.host}/${reference.repository}${tag}${digest}`
}

function createInvalidImageReferenceResult(reason: string): ParsedImageReference {
  return { reason }
}

/** Explains an invalid reference. Undefined if opm's message is the best explanation. */
function explainInvalidImageReference(text: string): string | undefined {
  if (text === '') return 'the reference is empty'
  if (/^\w+:\/\//.test(text))
    return `image references have no scheme such as "${text.slice(0, text.indexOf('://') + 3)}"`
  if (/\s/.test(text)) return 'the reference contains whitespace'
  if (/^[0-9a-f]{64}$/.test(text)) return 'the reference is an image ID without a name'
  const [beforeDigest = '', digest, ...more] = text.split('@')
  if (more.length > 0) return 'the reference has more than one "@"'
  const digestReason = digest === undefined ? undefined : findDigestProblem(digest)
  if (digestReason !== undefined) return digestReason
  const { host, path: pathAndTag } = splitRegistryHost(beforeDigest)
  const colon = pathAndTag.indexOf(':')
  const path = colon < 0 ? pathAndTag : pathAndTag.slice(0, colon)
  const tag = colon < 0 ? undefined : pathAndTag.slice(colon + 1)
  if (tag !== undefined && !tagPattern.test(tag))
    return tag === '' ? 'nothing follows the ":"' : `"${tag}" is not a valid tag`
  const nameReason = findRegistryHostProblem(host) ?? findRepositoryPathProblem(path)
  if (nameReason !== undefined) return nameReason
  return host.length + 1 + path.length > 230 ? 'the image name is longer than 255 characters' : undefined
}

// The first component is a host only if it looks like one; otherwise it is a path on Docker Hub.
function splitRegistryHost(name: string): { host: string; path: string } {
  const slash = name.indexOf('/')
  const first = slash < 0 ? '' : name.slice(0, slash)
  const isHost = first.includes('.') || first.includes(':') || first === 'localhost'
  return isHost ? { host: first, path: name.slice(slash + 1) } : { host: 'docker.io', path: name }
}

function findRegistryHostProblem(host: string): string | undefined {
  const [name = '', port, ...more] = host.split(':')
  if (more.length > 0) return `"${host}" is not a host name`
  if (port !== undefined && !/^[0-9]+$/.test(port)) return `"${port}" is not a port`
  if (!name.split('.').every((part) => hostLabelPattern.test(part))) return `"${name}" is not a host name`
  return undefined
}

function findRepositoryPathProblem(path: string): string | undefined {
  if (path === '') return 'the reference does not name a repository'
  if (/[A-Z]/.test(path)) return `the path "${path}" has uppercase letters`
  const bad = path.split('/').find((part) => !pathComponentPattern.test(part))
  if (bad === undefined) return undefined
  return bad === '' ? `the path "${path}" has an empty component` : `"${bad}" is not a valid path component`
}

function findDigestProblem(digest: string): string | undefined {
  const match = digestPattern.exec(digest)
  if (!match) return `"${digest}" is not a digest`
  const [, algorithm = '', hex = ''] = match
  const length = Object.hasOwn(hexLengthByDigestAlgorithm, algorithm)
    ? hexLengthByDigestAlgorithm[algorithm]
    : undefined
  if (length === undefined) return `the digest algorithm "${algorithm}" is not supported`
  if (hex.length !== length)
    return `a ${algorithm} digest has ${length} hexadecimal digits, but this one has ${hex.length}`
  if (hex !== hex.toLowerCase()) return `the digest "${digest}" is not lowercase`
  return undefined
}

// Validates image references like opm: Docker's reference grammar after normalization.

/** Returns opm's error for an invalid pull spec, or undefined. */
export function findPullSpecError(text: string): string | undefined {
  const maxLength = maxRepositoryNameLength - 'library/'.length
  const isCommon = text.length <= maxLength && commonPullSpecPattern.test(text)
  return isCommon ? undefined : parsePullSpec(text).error
}

/** Returns the parts, or opm's error. */
export function parsePullSpec(text: string): PullSpecResult {
  if (/^[a-f0-9]{64}$/.test(text))
    return { error: `invalid repository name (${text}), cannot specify 64-byte hexadecimal strings` }
  const [host, rest] = splitDockerDomain(text)
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
  const error = digest === undefined ? undefined : findPullSpecDigestError(digest)
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
function splitDockerDomain(text: string): [host: string, rest: string] {
  const slash = text.indexOf('/')
  const first = text.slice(0, Math.max(slash, 0))
  const hasHost = slash >= 0 && (/[.:]/.test(first) || first === 'localhost')
  const host = !hasHost || first === 'index.docker.io' ? 'docker.io' : first
  const rest = hasHost ? text.slice(slash + 1) : text
  return [host, host === 'docker.io' && !rest.includes('/') ? `library/${rest}` : rest]
}

function findPullSpecDigestError(text: string): string | undefined {
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
