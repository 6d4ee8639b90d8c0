// Image references as opm accepts them: Docker's reference grammar after its normalisation (opm-validate 2.8).
// Says whether the text is a reference; never asks whether the image exists.
import { lowerCase } from './go-text.ts'

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
/** No valid reference is longer (name, tag and digest all have limits), so longer ones are not even matched. */
const longestReference = 4096

const digestLengths: Readonly<Record<string, number>> = { sha256: 64, sha384: 96, sha512: 128 }

/** Why the text is no pull spec, in the words opm has for it; undefined when it is one. */
export function pullSpecError(text: string): string | undefined {
  if (/^[a-f0-9]{64}$/.test(text)) {
    return `invalid repository name (${text}), cannot specify 64-byte hexadecimal strings`
  }
  const [host, rest] = splitHost(text)
  const beforeColon = rest.split(':', 1)[0] ?? ''
  if (lowerCase(beforeColon) !== beforeColon) return `${invalidFormat}: ${upperCase}`
  const full = `${host}/${rest}`
  const match = full.length > longestReference ? null : reference.exec(full)
  if (match === null) {
    // Only a host outside ASCII gets here (the Kelvin sign is a K to Go): the parser says it without the prefix.
    return full.length <= longestReference && reference.test(lowerCase(full)) ? upperCase : invalidFormat
  }
  if ((match[1]?.length ?? 0) > longestName) {
    return `repository name must not be more than ${longestName} characters`
  }
  return match[3] === undefined ? undefined : digestError(match[3])
}

/** Docker's defaults: no host means docker.io, and there a single name means library/name. */
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
