// The registry port over HTTP. Registry failures are answers, not exceptions; "missing" requires two agreeing requests.
import { createHash } from 'node:crypto'
import { parseImageReference, type ImageReference } from '../go/reference/image-reference.ts'
import { isAllowedRegistry } from '../checks/images/named-image.ts'
import type { ImageAnswer } from '../checks/questions.ts'
import type { Clock } from '../ports/clock.ts'
import type { AbortSignalLike } from '../ports/registry.ts'
import { answerOf } from './answer-of.ts'
import { authorizedExchange, type RegistryRequest } from './auth/authorized-exchange.ts'
import { closableClock } from './transport/closable-clock.ts'
import { credentialIdentity } from './auth/credential-identity.ts'
import { findCredential, type CredentialSource } from './auth/credentials.ts'
import type { EgressOptions } from './transport/egress-policy.ts'
import { endpointsOf, type Endpoint, type RegistryRule } from './endpoints.ts'
import type { Resolve } from './transport/guarded-connector.ts'
import {
  acceptManifests,
  bareMediaType,
  indexPlatforms,
  isManifestType,
  isSchema1,
  isStrongDigest,
  parseConfig,
  parseManifest,
  platformText,
  type Descriptor,
} from './manifest.ts'
import {
  defaultRetryPolicy,
  retryingExchange,
  type RetryPolicy,
  type RequestKind,
} from './retrying-exchange.ts'
import { readBundle } from './read-bundle.ts'
import type { FetchedManifest, RegistryClient } from './registry-client.ts'
import { RegistryError } from './registry-error.ts'
import { openTokenService } from './auth/token-service.ts'
import { openTransport, type Reply, type TransportLimits } from './transport/transport.ts'

export interface RegistryOptions {
  readonly clock: Clock
  /** Asked in order; none is anonymous. */
  readonly credentials?: readonly CredentialSource[]
  /** Default: https to public addresses only. */
  readonly egress?: EgressOptions
  /** Mirrors, other locations and blocked registries. */
  readonly rules?: readonly RegistryRule[]
  /** Hosts with restricted access; their content is not public either. */
  readonly closedHosts?: readonly string[]
  /** Hosts, optionally with a path, whose content may be shown publicly nevertheless. */
  readonly shown?: readonly string[]
  readonly limits?: Partial<TransportLimits & RetryPolicy>
  /** True also fetches platforms, which requires the manifest (and a single image's config) instead of a HEAD. */
  readonly platforms?: boolean
  /** For tests: how names are resolved, chance (0 to 1), and undici's own way with HEAD. */
  readonly resolve?: Resolve
  readonly random?: () => number
  readonly keepAliveAfterHead?: boolean
}

// The limit of distribution and containers/image (CVE-2020-1702).
const manifestLimit = 4 * 1024 * 1024
const configLimit = 4 * 1024 * 1024

// Docker Hub counts a manifest GET as a pull, and accepts only valid manifests.
const meteredHosts: ReadonlySet<string> = new Set(['docker.io'])

const manifestHeaders = { accept: acceptManifests }

export function openRegistry(options: RegistryOptions): RegistryClient {
  const { limits = {} } = options
  const clock = closableClock(options.clock)
  const transport = openTransport({
    egress: options.egress ?? {},
    limits: definedOnly(limits),
    resolve: options.resolve,
    keepAliveAfterHead: options.keepAliveAfterHead,
  })
  const tokens = openTokenService(transport, clock)
  const authorized = authorizedExchange(transport, tokens, options.credentials ?? [])
  const patience = { ...defaultRetryPolicy, ...definedOnly(limits) }
  const exchange = retryingExchange(authorized, patience, clock, options.random ?? Math.random)
  // Hosts whose HEAD contradicted their GET. They get no more HEADs in this process.
  const brokenHead = new Set<string>()

  async function get(endpoint: Endpoint, reference: ImageReference, signal?: AbortSignalLike) {
    const wanted = reference.digest
    const fetchOnce = async (): Promise<FetchedManifest | undefined> => {
      const reply = await plainReply(manifestRequest('GET', endpoint, reference, signal), 'manifest').catch(
        refuseLargeManifest,
      )
      const digest = digestOf(reply.body, wanted)
      const contentType = bareMediaType(reply.headers.get('content-type')?.[0])
      if (wanted !== undefined && digest !== wanted) {
        // A proxy's error page says nothing about the image.
        if (!isManifestType(contentType))
          throw new RegistryError(
            'bad-reply',
            `${endpoint.name} answered with "${contentType}", not a manifest`,
          )
        checkTransfer(reply, endpoint)
        return undefined
      }
      const said = strongDigestIn(reply)
      const isVouchedFor = wanted !== undefined || (said !== undefined && said === digestOf(reply.body, said))
      // A caller with a tag gets this digest and asks for it next.
      if (!isVouchedFor && said !== undefined)
        throw new RegistryError('bad-reply', `${endpoint.name} calls the bytes that it serves ${said}`)
      try {
        const manifest = parseManifest(reply.body, contentType)
        return { manifest, digest, bytes: reply.body, mediaType: manifest.mediaType }
      } catch (error) {
        // Bytes that match their digest will not change on retry.
        if (isVouchedFor && error instanceof RegistryError && error.code === 'bad-reply')
          throw new RegistryError('unsupported', error.message, { cause: error })
        throw error
      }
    }
    // A mismatch is a permanent verdict on the image, so one bad transfer is not enough.
    const fetched = (await fetchOnce()) ?? (await fetchOnce())
    if (!fetched) throw otherBytes(endpoint, wanted ?? '')
    return fetched
  }

  /** Rejects partial content and "accepted". */
  async function plainReply(request: RegistryRequest, kind: RequestKind): Promise<Reply> {
    const reply = await exchange(request, kind)
    if (reply.status === 200) return reply
    throw new RegistryError(
      'bad-reply',
      `${request.endpoint.name} answered ${reply.status} to a plain question`,
    )
  }

  async function head(endpoint: Endpoint, reference: ImageReference, signal?: AbortSignalLike) {
    const reply = await plainReply(manifestRequest('HEAD', endpoint, reference, signal), 'head')
    const mediaType = bareMediaType(reply.headers.get('content-type')?.[0])
    if (isSchema1(mediaType))
      throw new RegistryError(
        'unsupported',
        'it is in the old schema 1 format, which no cluster pulls any more',
      )
    const digest = strongDigestIn(reply)
    const length = reply.headers.get('content-length')?.[0] ?? ''
    const agrees = digest !== undefined && (reference.digest === undefined || reference.digest === digest)
    if (!agrees || !isManifestType(mediaType) || !/^\d{1,9}$/.test(length)) return undefined
    return { kind: 'ok', digest, mediaType, size: Number(length) } satisfies ImageAnswer
  }

  async function ask(
    endpoint: Endpoint,
    reference: ImageReference,
    signal?: AbortSignalLike,
  ): Promise<ImageAnswer> {
    if (options.platforms) return withPlatforms(endpoint, reference, signal)
    if (meteredHosts.has(reference.host)) return askSparingly(endpoint, reference, signal)
    try {
      const { digest, mediaType, bytes } = await get(endpoint, reference, signal)
      return { kind: 'ok', digest, mediaType, size: bytes.length }
    } catch (error) {
      if (!(error instanceof RegistryError) || error.code !== 'missing') throw error
      await confirmMissing(endpoint, reference, signal)
      throw error
    }
  }

  /** Rejects if a HEAD contradicts the GET's 404, or is inconclusive. */
  async function confirmMissing(endpoint: Endpoint, reference: ImageReference, signal?: AbortSignalLike) {
    try {
      await head(endpoint, reference, signal)
    } catch (error) {
      // Registries that do not support HEAD have answered GET.
      const silent: readonly string[] = ['missing', 'private', 'server', 'bad-reply']
      if (error instanceof RegistryError && silent.includes(error.code)) return
      throw error
    }
    throw new RegistryError('server', `${endpoint.name} answers HEAD as if it had it, and GET with 404`)
  }

  /** Uses HEAD where a GET counts as a pull. Only for registries that accept valid manifests only. */
  async function askSparingly(
    endpoint: Endpoint,
    reference: ImageReference,
    signal?: AbortSignalLike,
  ): Promise<ImageAnswer> {
    let refusedByHead = false
    if (!brokenHead.has(endpoint.host)) {
      try {
        const answer = await head(endpoint, reference, signal)
        if (answer) return answer
      } catch (error) {
        const secondOpinion: readonly string[] = ['missing', 'private', 'server', 'bad-reply']
        if (!(error instanceof RegistryError) || !secondOpinion.includes(error.code)) throw error
        refusedByHead = true
      }
    }
    const { digest, mediaType, bytes } = await get(endpoint, reference, signal)
    if (refusedByHead) brokenHead.add(endpoint.host)
    return { kind: 'ok', digest, mediaType, size: bytes.length }
  }

  async function withPlatforms(
    endpoint: Endpoint,
    reference: ImageReference,
    signal?: AbortSignalLike,
  ): Promise<ImageAnswer> {
    const { manifest, digest, mediaType, bytes } = await get(endpoint, reference, signal)
    const answer = { kind: 'ok', digest, mediaType, size: bytes.length } as const
    if (manifest.kind === 'index') return { ...answer, platforms: indexPlatforms(manifest.manifests) }
    if (manifest.config.size > configLimit) return { ...answer, platforms: [] }
    const { platform } = parseConfig(await blob(endpoint, manifest.config, signal))
    return { ...answer, platforms: platform ? [platformText(platform)] : [] }
  }

  async function blob(
    endpoint: Endpoint,
    descriptor: Descriptor,
    signal?: AbortSignalLike,
  ): Promise<Uint8Array> {
    const { digest, size } = descriptor
    const request = {
      endpoint,
      method: 'GET' as const,
      path: `blobs/${digest}`,
      headers: { accept: '*/*' },
      bodyLimit: size,
      redirects: 5,
      signal,
    }
    const fetchOnce = async (): Promise<Uint8Array | undefined> => {
      let reply: Reply
      try {
        reply = await plainReply(request, 'blob')
      } catch (error) {
        if (!(error instanceof RegistryError) || error.code !== 'too-large') throw error
        checkIsNoPage(error.contentType, endpoint)
        return undefined
      }
      const { body } = reply
      if (body.length === size && digestOf(body, digest) === digest) return body
      checkIsNoPage(reply.headers.get('content-type')?.[0], endpoint)
      checkTransfer(reply, endpoint)
      return undefined
    }
    // A wrong size or digest is a permanent verdict, so one bad transfer is not enough.
    const found = (await fetchOnce()) ?? (await fetchOnce())
    if (!found) throw otherBytes(endpoint, `${digest} of ${size} bytes`)
    return found
  }

  /** Tries mirrors first; the registry itself decides if they fail. */
  async function everywhere<Result>(
    reference: ImageReference,
    work: (endpoint: Endpoint) => Promise<Result>,
  ): Promise<Result> {
    if (reference.digest !== undefined && !isStrongDigest(reference.digest))
      throw new RegistryError('unsupported', 'its digest is none of sha256 or sha512')
    const failures: string[] = []
    for (const endpoint of endpointsOf(reference, options.rules ?? [])) {
      try {
        return await work(endpoint)
      } catch (error) {
        if (!(error instanceof RegistryError) || error.code === 'aborted') throw error
        failures.push(error.message)
        if (!endpoint.isMirror) {
          if (failures.length === 1) throw error
          throw new RegistryError(error.code, failures.reverse().join('; mirror: '), {
            cause: error,
            retryAfter: error.retryAfter,
          })
        }
      }
    }
    throw new RegistryError('network', 'there is no registry to ask')
  }

  const client: RegistryClient = {
    async resolve(text, signal) {
      const { reference, reason } = parseImageReference(text)
      if (!reference) return { kind: 'malformed', reason }
      try {
        return await everywhere(reference, (endpoint) => ask(endpoint, reference, signal))
      } catch (error) {
        return answerOf(error)
      }
    },
    fetchManifest: (reference, signal) =>
      everywhere(reference, (endpoint) => get(endpoint, reference, signal)),
    fetchBlob: (reference, descriptor, signal) =>
      everywhere({ ...reference, digest: descriptor.digest }, (endpoint) =>
        blob(endpoint, descriptor, signal),
      ),
    async identity(text) {
      const { reference } = parseImageReference(text)
      if (!reference) return 'anonymous'
      let endpoints: readonly Endpoint[]
      try {
        endpoints = endpointsOf(reference, options.rules ?? [])
      } catch {
        return 'blocked'
      }
      const identities: string[] = []
      for (const { name, repository } of endpoints) {
        const place = name === reference.host ? '' : `${name} `
        // resolve() reports a bad credential; a mirror's does not affect the registry's own.
        const identity = await findCredential(options.credentials ?? [], name, repository).then(
          credentialIdentity,
          () => 'unreadable',
        )
        identities.push(place + identity)
      }
      return identities.join(', ')
    },
    async isSeenByAll(text) {
      const { reference } = parseImageReference(text)
      if (!reference) return true
      const { shown = [], closedHosts = [], credentials = [], rules = [] } = options
      if (shown.length > 0 && isAllowedRegistry(reference, shown)) return true
      try {
        for (const { name, repository } of endpointsOf(reference, rules)) {
          if (closedHosts.some((host) => host === name || host === name.replace(/:\d+$/, ''))) return false
          if ((await findCredential(credentials, name, repository)).kind !== 'anonymous') return false
        }
        return true
      } catch {
        // Blocked, or unreadable credentials: the identity is unknown.
        return false
      }
    },
    readBundle: (text, signal) => readBundle(client, text, signal && { signal }),
    close() {
      clock.close()
      return transport.close()
    },
  }
  return client
}

function manifestRequest(
  method: 'GET' | 'HEAD',
  endpoint: Endpoint,
  reference: ImageReference,
  signal: AbortSignalLike | undefined,
) {
  // A digest takes precedence over a tag; the default is latest.
  const path = `manifests/${reference.digest ?? reference.tag ?? 'latest'}`
  return { endpoint, method, path, headers: manifestHeaders, bodyLimit: manifestLimit, redirects: 3, signal }
}

function digestOf(bytes: Uint8Array, like: string | undefined): string {
  const algorithm = like?.split(':')[0] ?? 'sha256'
  return `${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`
}

function strongDigestIn(reply: Reply): string | undefined {
  const digest = reply.headers.get('docker-content-digest')?.[0]
  return digest !== undefined && isStrongDigest(digest) ? digest : undefined
}

function otherBytes(endpoint: Endpoint, wanted: string): RegistryError {
  return new RegistryError(
    'digest-mismatch',
    `${endpoint.name} serves other bytes than ${wanted} under that name`,
  )
}

/** Throws if the bytes may have changed in transit, so that the image is not blamed. */
function checkTransfer({ headers }: Reply, { name }: Endpoint): void {
  const encoding = headers.get('content-encoding')?.[0] ?? 'identity'
  if (encoding.toLowerCase() !== 'identity')
    throw new RegistryError(
      'bad-reply',
      `${name} answered in the encoding "${encoding}", which nobody asked for`,
    )
  // Only the end of the connection marks the end of the body.
  if (!headers.get('content-length') && !headers.get('transfer-encoding'))
    throw new RegistryError('network', `${name} closed the connection, perhaps before all bytes had come`)
}

function checkIsNoPage(contentType: string | undefined, { name }: Endpoint): void {
  const type = bareMediaType(contentType)
  if (type === 'text/html' || type === 'application/xhtml+xml')
    throw new RegistryError('bad-reply', `${name} answered with a page`)
}

function refuseLargeManifest(error: unknown): never {
  const isManifest =
    error instanceof RegistryError &&
    error.code === 'too-large' &&
    isManifestType(bareMediaType(error.contentType))
  if (!isManifest) throw error
  throw new RegistryError('unsupported', `its manifest is larger than ${manifestLimit} bytes`, {
    cause: error,
  })
}

function definedOnly<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as T
}
