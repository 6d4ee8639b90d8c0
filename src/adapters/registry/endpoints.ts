// Maps a reference to the mirrors in the operator's rules, in order, followed by its own registry.
import type { ImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import { RegistryError } from './registry-error.ts'

export interface RegistryMirror {
  /** The mirror's host and path, which replace the prefix: `mirror.example`, `mirror.example/quay`. */
  readonly location: string
  /** Default: all. A digest-only mirror cannot serve an outdated tag. */
  readonly for?: 'all' | 'digests' | 'tags'
  /** Adds `?ns=<origin host>`, as containerd does, instead of replacing the path. */
  readonly namespaceQuery?: boolean
}

/** One `[[registry]]` of registries.conf. */
export interface RegistryConfRule {
  /** A host, optionally with a path (`quay.io`, `quay.io/operatorhubio`), or `*.example.com` for subdomains. */
  readonly prefix: string
  /** Replaces the prefix if no mirror has the image. Default: the prefix. */
  readonly location?: string
  /** True blocks all requests for the prefix. */
  readonly blocked?: boolean
  readonly mirrors?: readonly RegistryMirror[]
}

export interface RegistryEndpoint {
  /** The name in credentials and messages: `docker.io`. */
  readonly name: string
  /** Where connections go: `registry-1.docker.io`. */
  readonly host: string
  readonly repository: string
  /** `?ns=quay.io`, or empty. */
  readonly query: string
  readonly isMirror: boolean
}

/**
 * The registry itself is last. Only the rule with the longest match counts. Throws a RegistryError `blocked` if that
 * rule says so.
 */
export function getRegistryEndpoints(
  reference: ImageReference,
  rules: readonly RegistryConfRule[],
): readonly [...RegistryEndpoint[], RegistryEndpoint] {
  const full = `${reference.host}/${reference.repository}`
  let rule: RegistryConfRule | undefined
  let matched = 0
  for (const candidate of rules) {
    const length = getRulePrefixMatchLength(full, candidate.prefix)
    if (length > matched) [rule, matched] = [candidate, length]
  }
  if (rule?.blocked)
    throw new RegistryError('blocked', `registries.conf on the catalog-bot host blocks ${rule.prefix}`)
  const wanted = reference.digest === undefined ? 'tags' : 'digests'
  const below = full.slice(matched).replace(/^\//, '')
  const mirrors = (rule?.mirrors ?? []).filter((mirror) => ['all', wanted].includes(mirror.for ?? 'all'))
  return [
    ...mirrors.map((mirror) => ({
      ...splitEndpointLocation(mirror.location, mirror.namespaceQuery ? reference.repository : below),
      query: mirror.namespaceQuery ? `?ns=${encodeURIComponent(reference.host)}` : '',
      isMirror: true,
    })),
    {
      ...(rule?.location === undefined
        ? splitEndpointLocation(reference.host, reference.repository)
        : splitEndpointLocation(rule.location, below)),
      query: '',
      isMirror: false,
    },
  ]
}

function getRulePrefixMatchLength(name: string, prefix: string): number {
  if (!prefix.startsWith('*.')) return name === prefix || name.startsWith(`${prefix}/`) ? prefix.length : 0
  const suffix = prefix.slice(1)
  const [suffixHost = '', ...path] = suffix.split('/')
  const host = name.slice(0, name.indexOf('/'))
  if (!host.endsWith(suffixHost) || host.length === suffixHost.length) return 0
  const whole = [host, ...path].join('/')
  return name === whole || name.startsWith(`${whole}/`) ? whole.length : 0
}

function splitEndpointLocation(
  location: string,
  below: string,
): Pick<RegistryEndpoint, 'name' | 'host' | 'repository'> {
  const [host = '', ...path] = location.split('/')
  return {
    name: host,
    host: getRegistryConnectHost(host),
    repository: [...path, below].filter((part) => part !== '').join('/'),
  }
}

// docker.io itself is a website, not a registry.
function getRegistryConnectHost(host: string): string {
  return host === 'docker.io' ? 'registry-1.docker.io' : host
}
