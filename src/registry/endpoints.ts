// Where a reference is asked for: by the operator's rules its mirrors in order, then its own registry. Names to
// hosts; asks nobody.
import type { ImageReference } from '../go/reference/image-reference.ts'
import { RegistryError } from './registry-error.ts'

export interface Mirror {
  /** The mirror's host, and what takes the prefix's place in the path: `mirror.example`, `mirror.example/quay`. */
  readonly location: string
  /** Default all. A mirror for digests only cannot move a tag. */
  readonly for?: 'all' | 'digests' | 'tags'
  /** Adds `?ns=<origin host>`, as containerd does, instead of replacing the path. */
  readonly namespaceQuery?: boolean
}

/** What the operator says of some references: a `[[registry]]` of registries.conf. */
export interface RegistryRule {
  /** A host, or host and path up to a slash: `quay.io`, `quay.io/operatorhubio`; `*.example.com` for hosts below one. */
  readonly prefix: string
  /** What takes the prefix's place when no mirror has it; absent: the prefix itself. */
  readonly location?: string
  /** True: nothing of it is asked for anywhere. */
  readonly blocked?: boolean
  readonly mirrors?: readonly Mirror[]
}

export interface Endpoint {
  /** The name for credentials and for people: `docker.io`. */
  readonly name: string
  /** Where connections go: `registry-1.docker.io`. */
  readonly host: string
  readonly repository: string
  /** `?ns=quay.io`, or empty. */
  readonly query: string
  readonly isMirror: boolean
}

/**
 * The places to ask, in order; the last is always the registry itself. Of several rules the one with the longest match
 * counts, alone. Throws a RegistryError `blocked` when that rule says so.
 */
export function endpointsOf(
  reference: ImageReference,
  rules: readonly RegistryRule[],
): readonly [...Endpoint[], Endpoint] {
  const full = `${reference.host}/${reference.repository}`
  let rule: RegistryRule | undefined
  let matched = 0
  for (const candidate of rules) {
    const length = matchOf(full, candidate.prefix)
    if (length > matched) [rule, matched] = [candidate, length]
  }
  if (rule?.blocked)
    throw new RegistryError('blocked', `the operator's registries.conf blocks ${rule.prefix}`)
  const wanted = reference.digest === undefined ? 'tags' : 'digests'
  const below = full.slice(matched).replace(/^\//, '')
  const mirrors = (rule?.mirrors ?? []).filter((mirror) => ['all', wanted].includes(mirror.for ?? 'all'))
  return [
    ...mirrors.map((mirror) => ({
      ...place(mirror.location, mirror.namespaceQuery ? reference.repository : below),
      query: mirror.namespaceQuery ? `?ns=${encodeURIComponent(reference.host)}` : '',
      isMirror: true,
    })),
    {
      ...(rule?.location === undefined
        ? place(reference.host, reference.repository)
        : place(rule.location, below)),
      query: '',
      isMirror: false,
    },
  ]
}

/** How many characters of the name a prefix covers, at whole hosts and path components; 0 when it does not match. */
function matchOf(name: string, prefix: string): number {
  if (!prefix.startsWith('*.')) return name === prefix || name.startsWith(`${prefix}/`) ? prefix.length : 0
  const suffix = prefix.slice(1)
  const [suffixHost = '', ...path] = suffix.split('/')
  const host = name.slice(0, name.indexOf('/'))
  if (!host.endsWith(suffixHost) || host.length === suffixHost.length) return 0
  const whole = [host, ...path].join('/')
  return name === whole || name.startsWith(`${whole}/`) ? whole.length : 0
}

function place(location: string, below: string): Pick<Endpoint, 'name' | 'host' | 'repository'> {
  const [host = '', ...path] = location.split('/')
  return {
    name: host,
    host: connectHost(host),
    repository: [...path, below].filter((part) => part !== '').join('/'),
  }
}

// docker.io itself is a web site.
function connectHost(host: string): string {
  return host === 'docker.io' ? 'registry-1.docker.io' : host
}
