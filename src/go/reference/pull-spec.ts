// Validates image references like opm: Docker's reference grammar after normalization. go/reference/image-reference.ts
// uses it too. Never checks whether the image exists.
import { lowerCase } from '../text.ts'

const label = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?'
const domain = `${label}(?:\\.${label})*(?::[0-9]+)?`
const component = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*'
const name = `(?:${domain}/)?${component}(?:/${component})*`
const tag = '[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}'
const digest = '[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9A-Fa-f]{32,}'
const reference = new RegExp(`^(${name})(?::(${tag}))?(?:@(${digest}))?$`)

const invalidFormat = 'invalid reference format'
const upperCase = 'repository name must be lowercase'
const longestName = 255
/** Valid references are shorter, so longer ones are not even matched. */
const longestReference = 4096

const digestLengths: Readonly<Record<string, number>> = { sha256: 64, sha384: 96, sha512: 128 }

export interface PullSpec {
  /** As written, in any case; `docker.io` if absent or `index.docker.io`. */
  readonly host: string
  /** With `library/` where Docker adds it. */
  readonly path: string
  readonly tag?: string
  readonly digest?: string
}

export type ReadPullSpec =
  | { readonly spec: PullSpec; readonly error?: undefined }
  | { readonly spec?: undefined; readonly error: string }

/** `@sha256:` and 64 digits. */
const digestLength = 72
const plainDigest = /^@sha256:[a-f0-9]{64}$/

/** Caches the verdict on names before a digest, up to `mostNames`. */
const names = new Map<string, string | undefined>()
const mostNames = 2000

/** Returns opm's error for an invalid pull spec, or undefined. */
export function pullSpecError(text: string): string | undefined {
  // Nearly all images are a recurring name with a unique digest.
  const name = text.slice(0, -digestLength)
  if (name.length > longestName || !plainDigest.test(text.slice(-digestLength)))
    return readPullSpec(text).error
  if (names.has(name)) return names.get(name)
  const { error } = readPullSpec(text)
  if (names.size < mostNames) names.set(name, error)
  return error
}

/** Returns the parts, or opm's error. */
export function readPullSpec(text: string): ReadPullSpec {
  if (/^[a-f0-9]{64}$/.test(text))
    return { error: `invalid repository name (${text}), cannot specify 64-byte hexadecimal strings` }
  const [host, rest] = splitHost(text)
  const beforeColon = rest.split(':', 1)[0] ?? ''
  if (lowerCase(beforeColon) !== beforeColon) return { error: `${invalidFormat}: ${upperCase}` }
  const full = `${host}/${rest}`
  const match = full.length > longestReference ? null : reference.exec(full)
  if (match === null) {
    // Only a non-ASCII host gets here (Go folds the Kelvin sign to k): the parser's error has no prefix then.
    const isForeign = full.length <= longestReference && reference.test(lowerCase(full))
    return { error: isForeign ? upperCase : invalidFormat }
  }
  const [, fullName = '', tag, digest] = match
  if (fullName.length > longestName)
    return { error: `repository name must not be more than ${longestName} characters` }
  const error = digest === undefined ? undefined : digestError(digest)
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
function splitHost(text: string): [host: string, rest: string] {
  const slash = text.indexOf('/')
  const first = text.slice(0, Math.max(slash, 0))
  const hasHost = slash >= 0 && (/[.:]/.test(first) || first === 'localhost')
  const host = !hasHost || first === 'index.docker.io' ? 'docker.io' : first
  const rest = hasHost ? text.slice(slash + 1) : text
  return [host, host === 'docker.io' && !rest.includes('/') ? `library/${rest}` : rest]
}

function digestError(text: string): string | undefined {
  const colon = text.indexOf(':')
  const algorithm = text.slice(0, colon)
  const hex = text.slice(colon + 1)
  const length = Object.hasOwn(digestLengths, algorithm) ? digestLengths[algorithm] : undefined
  if (length === undefined) {
    return /^[a-z0-9]+(?:[.+_-][a-z0-9]+)*$/.test(algorithm)
      ? 'unsupported digest algorithm'
      : 'invalid checksum digest format'
  }
  if (hex.length !== length) return 'invalid checksum digest length'
  return /^[a-f0-9]*$/.test(hex) ? undefined : 'invalid checksum digest format'
}
