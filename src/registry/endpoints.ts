// Where a reference is asked for: its mirrors in order, then its own registry. Names to hosts; asks nobody.
import type { ImageReference } from '../bundle/image-reference.ts'

export interface Mirror {
  /** What is mirrored: a host, or host and path up to a slash: `quay.io`, `quay.io/operatorhubio`. */
  readonly of: string
  /** The mirror's host, and what replaces `of` in the path: `mirror.example`, `mirror.example/quay`. */
  readonly at: string
  /** Default all. A mirror for digests only cannot move a tag. */
  readonly for?: 'all' | 'digests' | 'tags'
  /** Adds `?ns=<origin host>`, as containerd does, instead of replacing the path. */
  readonly namespaceQuery?: boolean
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

/** The places to ask, in order; the last is always the registry that the reference names. */
export function endpointsOf(reference: ImageReference, mirrors: readonly Mirror[]): readonly Endpoint[] {
  const full = `${reference.host}/${reference.repository}`
  const wanted = reference.digest === undefined ? 'tags' : 'digests'
  const matching = mirrors.filter(
    (mirror) => isWithin(full, mirror.of) && ['all', wanted].includes(mirror.for ?? 'all'),
  )
  return [
    ...matching.map((mirror) => {
      const [host = '', ...path] = mirror.at.split('/')
      const below = mirror.namespaceQuery
        ? reference.repository
        : full.slice(mirror.of.length).replace(/^\//, '')
      return {
        name: host,
        host: connectHost(host),
        repository: [...path, below].filter((part) => part !== '').join('/'),
        query: mirror.namespaceQuery ? `?ns=${encodeURIComponent(reference.host)}` : '',
        isMirror: true,
      }
    }),
    {
      name: reference.host,
      host: connectHost(reference.host),
      repository: reference.repository,
      query: '',
      isMirror: false,
    },
  ]
}

/** True when `name` is `scope` or lies below it: paths are compared on slashes, hosts whole. */
export function isWithin(name: string, scope: string): boolean {
  return name === scope || name.startsWith(`${scope}/`)
}

// docker.io itself is a web site.
function connectHost(host: string): string {
  return host === 'docker.io' ? 'registry-1.docker.io' : host
}
