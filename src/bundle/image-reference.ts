// Image references by the reference grammar that Docker, containers/image and opm share: text to parts.
// Never guesses what an author may have meant, never touches a registry.

export interface ImageReference {
  /** The registry's name as references write it: `quay.io`, `docker.io`, `localhost:5000`. Lower case. */
  readonly host: string
  /** The path below the host, `library/` added for Docker Hub's short names. */
  readonly repository: string
  /** As written; absent when the reference has none. */
  readonly tag?: string
  /** `algorithm:hex`; wins over the tag when both are written. */
  readonly digest?: string
}

export type ParsedImageReference =
  | { readonly reference: ImageReference; readonly reason?: undefined }
  | { readonly reference?: undefined; readonly reason: string }

// The longest name (255), tag (128) and digest (sha512 in hex, 135) with their separators. What is longer
// cannot be valid, and is not worth a regular expression's time.
const longestReference = 255 + 1 + 128 + 1 + 135

const label = /^[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?$/
const component = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/
const tagGrammar = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/
const digestGrammar = /^([A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*):([0-9a-fA-F]{32,})$/
const hexLength: Readonly<Record<string, number>> = { sha256: 64, sha384: 96, sha512: 128 }

/**
 * Takes a reference apart: `[host[:port]/]path[:tag][@digest]`. A name without a host is Docker Hub's;
 * `index.docker.io` is another name for it. Neither tag nor digest is made up where none is written.
 * On bad input returns the reason, as half a sentence: `its path "Foo" has capital letters`.
 * Source: github.com/distribution/reference, as opm 1.73 uses it.
 */
export function parseImageReference(text: string): ParsedImageReference {
  if (text === '') return refuse('it is empty')
  if (text.length > longestReference) return refuse(`it is longer than ${longestReference} characters`)
  if (/^\w+:\/\//.test(text))
    return refuse(`it begins with "${text.slice(0, text.indexOf('://') + 3)}", and references have no scheme`)
  if (/\s/.test(text)) return refuse('it contains white space')

  const [beforeDigest, digest, ...more] = text.split('@')
  if (beforeDigest === undefined || more.length > 0) return refuse('it has more than one "@"')
  if (digest !== undefined) {
    const reason = digestRefusal(digest)
    if (reason !== undefined) return refuse(reason)
  }

  const { host, path: pathAndTag } = splitHost(beforeDigest)
  const colon = pathAndTag.indexOf(':')
  const path = colon < 0 ? pathAndTag : pathAndTag.slice(0, colon)
  const tag = colon < 0 ? undefined : pathAndTag.slice(colon + 1)
  if (tag !== undefined && !tagGrammar.test(tag))
    return refuse(tag === '' ? 'nothing follows the ":"' : `"${tag}" is not a valid tag`)

  const hostReason = hostRefusal(host)
  if (hostReason !== undefined) return refuse(hostReason)
  const pathReason = pathRefusal(path)
  if (pathReason !== undefined) return refuse(pathReason)
  const lowerHost = host.toLowerCase()
  const canonicalHost = lowerHost === 'index.docker.io' ? 'docker.io' : lowerHost
  const repository = canonicalHost === 'docker.io' && !path.includes('/') ? `library/${path}` : path
  if (canonicalHost.length + 1 + repository.length > 255)
    return refuse('its name is longer than 255 characters')
  if (digest === undefined && tag === undefined && /^[0-9a-f]{64}$/.test(beforeDigest))
    return refuse('it is a bare image id, not a name')
  return {
    reference: {
      host: canonicalHost,
      repository,
      ...(tag !== undefined && { tag }),
      ...(digest !== undefined && { digest }),
    },
  }
}

/** The reference as text in its full form: host always written, tag and digest where they are known. */
export function formatImageReference(reference: ImageReference): string {
  const tag = reference.tag === undefined ? '' : `:${reference.tag}`
  const digest = reference.digest === undefined ? '' : `@${reference.digest}`
  return `${reference.host}/${reference.repository}${tag}${digest}`
}

function refuse(reason: string): ParsedImageReference {
  return { reason }
}

// The first component is a host only when it looks like one: everything else is a path on Docker Hub.
function splitHost(name: string): { host: string; path: string } {
  const slash = name.indexOf('/')
  const first = slash < 0 ? '' : name.slice(0, slash)
  const isHost = first.includes('.') || first.includes(':') || first === 'localhost'
  return isHost ? { host: first, path: name.slice(slash + 1) } : { host: 'docker.io', path: name }
}

function hostRefusal(host: string): string | undefined {
  const [name = '', port, ...more] = host.split(':')
  if (more.length > 0) return `"${host}" is not a host name`
  if (port !== undefined && !(/^[0-9]{1,5}$/.test(port) && Number(port) <= 65_535))
    return `"${port}" is not a port`
  if (!name.split('.').every((part) => label.test(part))) return `"${name}" is not a host name`
  return undefined
}

function pathRefusal(path: string): string | undefined {
  if (path === '') return 'it names no repository'
  if (/[A-Z]/.test(path)) return `its path "${path}" has capital letters`
  const bad = path.split('/').find((part) => !component.test(part))
  if (bad === undefined) return undefined
  return bad === '' ? `its path "${path}" has an empty component` : `"${bad}" is not a valid path component`
}

function digestRefusal(digest: string): string | undefined {
  const match = digestGrammar.exec(digest)
  if (!match) return `"${digest}" is not a digest`
  const [, algorithm = '', hex = ''] = match
  const length = Object.hasOwn(hexLength, algorithm) ? hexLength[algorithm] : undefined
  if (length === undefined) return `the digest algorithm "${algorithm}" is not supported`
  if (hex.length !== length)
    return `a ${algorithm} digest has ${length} hexadecimal digits, this one has ${hex.length}`
  if (hex !== hex.toLowerCase()) return `the digest "${digest}" is not in lower case`
  return undefined
}
