// The registry port over HTTP. Registry failures are answers, not exceptions. "missing" requires two matching replies.
import { createHash } from 'node:crypto'
import { parseImageReference, type ImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import { LruMap } from '../lru-map.ts'
import { isAllowedRegistry } from '../../checks/images/named-image.ts'
import type { ImageLookupResult } from '../../checks/lookups.ts'
import type { Clock } from '../../ports/clock.ts'
import type { AbortSignalLike } from '../../ports/registry.ts'
import { RegistryError, toImageLookupResult } from './registry-error.ts'
import { createAuthorizedRequestSender, type RegistryHttpRequest } from './auth/authorized-request.ts'
import {
  defaultRetryPolicy,
  createRetryingRequestSender,
  type RetryPolicy,
  type RegistryRequestKind,
  createCancelableClock,
} from './retrying-request.ts'
import { findCredential, type CredentialSource, computeCredentialFingerprint } from './auth/credentials.ts'
import type { EgressOptions } from './transport/egress-policy.ts'
import { getRegistryEndpoints, type RegistryEndpoint, type RegistriesConfRule } from './registries-conf.ts'
import type { HostnameResolver } from './transport/guarded-connector.ts'
import {
  manifestAcceptHeader,
  stripMediaTypeParameters,
  getImageIndexPlatforms,
  isManifestMediaType,
  isDockerSchema1MediaType,
  isSha256OrSha512Digest,
  parseImageConfig,
  parseManifest,
  formatPlatform,
  type Descriptor,
} from './manifest.ts'
import { readBundle } from './pull-bundle.ts'
import type { FetchedManifest, RegistryClient } from './registry-client.ts'
import { RegistryTokenService } from './auth/token-service.ts'
import { RegistryTransport, type TransportResponse, type TransportLimits } from './transport/transport.ts'

export interface RegistryClientOptions {
  readonly clock: Clock
  /** Queried in order. Anonymous if no source has a credential. */
  readonly credentials?: readonly CredentialSource[]
  /** Default: https to public addresses only. */
  readonly egress?: EgressOptions
  /** Mirrors, replaced locations, and blocked registries. */
  readonly rules?: readonly RegistriesConfRule[]
  /** Hosts with restricted access, whose content is not public. */
  readonly closedHosts?: readonly string[]
  /** Hosts, optionally with a path, whose content may be shown publicly despite restricted access. */
  readonly shown?: readonly string[]
  readonly limits?: Partial<TransportLimits & RetryPolicy>
  /** True also fetches platforms. This requires the manifest (and the config of a single image) instead of a HEAD. */
  readonly platforms?: boolean
  /** For tests: name resolution, and randomness (0 to 1). */
  readonly resolve?: HostnameResolver
  readonly random?: () => number
}

// The limit of distribution and containers/image (CVE-2020-1702).
const maxManifestBytes = 4 * 1024 * 1024
const maxImageConfigBytes = 4 * 1024 * 1024
/** Manifests of bundles have a kilobyte. */
const maxHeldManifestBytes = 256 * 1024

// Docker Hub counts a manifest GET as a pull, and accepts only valid manifests.
const hostsWithManifestRateLimit: ReadonlySet<string> = new Set(['docker.io'])

const manifestRequestHeaders = { accept: manifestAcceptHeader }

export class HttpRegistryClient implements RegistryClient {
  readonly #options: RegistryClientOptions
  readonly #clock
  readonly #transport
  readonly #exchange
  // Those that resolve() fetched, because pulling the image requires them next.
  readonly #manifests = new LruMap<string, FetchedManifest>(maxHeldManifestBytes, ({ bytes }) => bytes.length)
  // Hosts whose HEAD contradicted their GET. This process sends them no further HEAD requests.
  readonly #brokenHead = new Set<string>()

  constructor(options: RegistryClientOptions) {
    this.#options = options
    const { limits = {} } = options
    this.#clock = createCancelableClock(options.clock)
    this.#transport = new RegistryTransport({
      egress: options.egress ?? {},
      limits: omitUndefinedProperties(limits),
      resolve: options.resolve,
    })
    const tokens = new RegistryTokenService(this.#transport, this.#clock)
    const authorized = createAuthorizedRequestSender(this.#transport, tokens, options.credentials ?? [])
    const retryPolicy = { ...defaultRetryPolicy, ...omitUndefinedProperties(limits) }
    this.#exchange = createRetryingRequestSender(
      authorized,
      retryPolicy,
      this.#clock,
      options.random ?? Math.random,
    )
  }

  readonly resolve: RegistryClient['resolve'] = async (text, signal) => {
    const { reference, reason } = parseImageReference(text)
    if (!reference) return { kind: 'malformed', reason }
    try {
      return await this.#tryEndpoints(reference, (endpoint) => this.#resolveAt(endpoint, reference, signal))
    } catch (error) {
      return toImageLookupResult(error)
    }
  }

  readonly fetchManifest: RegistryClient['fetchManifest'] = async (reference, signal) =>
    this.#manifests.get(formatManifestKey(reference, reference.digest)) ??
    this.#tryEndpoints(reference, (endpoint) => this.#fetchManifestFrom(endpoint, reference, signal))

  readonly fetchBlob: RegistryClient['fetchBlob'] = (reference, descriptor, signal) =>
    this.#tryEndpoints({ ...reference, digest: descriptor.digest }, (endpoint) =>
      this.#fetchBlobFrom(endpoint, descriptor, signal),
    )

  readonly identity: RegistryClient['identity'] = async (text) => {
    const { reference } = parseImageReference(text)
    if (!reference) return 'anonymous'
    let endpoints: readonly RegistryEndpoint[]
    try {
      endpoints = getRegistryEndpoints(reference, this.#options.rules ?? [])
    } catch {
      return 'blocked'
    }
    const identities: string[] = []
    for (const { name, repository } of endpoints) {
      const prefix = name === reference.host ? '' : `${name} `
      // resolve() reports a bad credential; a mirror's does not affect the registry's own.
      const identity = await findCredential(this.#options.credentials ?? [], name, repository).then(
        computeCredentialFingerprint,
        () => 'unreadable',
      )
      identities.push(prefix + identity)
    }
    return identities.join(', ')
  }

  readonly isPubliclyReadable: RegistryClient['isPubliclyReadable'] = async (text) => {
    const { reference } = parseImageReference(text)
    if (!reference) return true
    const { shown = [], closedHosts = [], credentials = [], rules = [] } = this.#options
    if (shown.length > 0 && isAllowedRegistry(reference, shown)) return true
    try {
      for (const { name, repository } of getRegistryEndpoints(reference, rules)) {
        if (closedHosts.some((host) => host === name || host === name.replace(/:\d+$/, ''))) return false
        if ((await findCredential(credentials, name, repository)).kind !== 'anonymous') return false
      }
      return true
    } catch {
      // The identity is unknown because the registry is blocked or its credentials are unreadable.
      return false
    }
  }

  readonly readBundle: RegistryClient['readBundle'] = (text, signal) => readBundle(this, text, signal)

  readonly close: RegistryClient['close'] = () => {
    this.#clock.close()
    return this.#transport.close()
  }

  async #fetchManifestFrom(endpoint: RegistryEndpoint, reference: ImageReference, signal?: AbortSignalLike) {
    const expectedDigest = reference.digest
    const fetchOnce = async (): Promise<FetchedManifest | undefined> => {
      const reply = await this.#fetchOkReply(
        toManifestRequest('GET', endpoint, reference, signal),
        'manifest',
      ).catch(rejectLargeManifest)
      const digest = computeContentDigest(reply.body, expectedDigest)
      const contentType = stripMediaTypeParameters(reply.headers.get('content-type')?.[0])
      if (expectedDigest !== undefined && digest !== expectedDigest) {
        // A proxy's error page says nothing about the image.
        if (!isManifestMediaType(contentType))
          throw new RegistryError(
            'bad-reply',
            `${endpoint.name} returned "${contentType}" instead of a manifest`,
          )
        checkResponseIntegrity(reply, endpoint)
        return undefined
      }
      const declaredDigest = getContentDigestHeader(reply)
      const isDigestVerified =
        expectedDigest !== undefined ||
        (declaredDigest !== undefined && declaredDigest === computeContentDigest(reply.body, declaredDigest))
      // A caller with a tag gets this digest and requests it next.
      if (!isDigestVerified && declaredDigest !== undefined)
        throw new RegistryError(
          'bad-reply',
          `${endpoint.name} declares the digest ${declaredDigest}, which does not match the returned content`,
        )
      try {
        const manifest = parseManifest(reply.body, contentType)
        return { manifest, digest, bytes: reply.body, mediaType: manifest.mediaType }
      } catch (error) {
        // Bytes that match their digest will not change on retry.
        if (isDigestVerified && error instanceof RegistryError && error.code === 'bad-reply')
          throw new RegistryError('unsupported', error.message, { cause: error })
        throw error
      }
    }
    // A mismatch is a permanent verdict on the image, so one bad transfer is not enough.
    const fetched = (await fetchOnce()) ?? (await fetchOnce())
    if (!fetched) throw createContentMismatchError(endpoint, expectedDigest ?? '')
    return fetched
  }

  /** Rejects partial content and "accepted". */
  async #fetchOkReply(request: RegistryHttpRequest, kind: RegistryRequestKind): Promise<TransportResponse> {
    const reply = await this.#exchange(request, kind)
    if (reply.status === 200) return reply
    throw new RegistryError(
      'bad-reply',
      `${request.endpoint.name} returned the unexpected status ${reply.status}`,
    )
  }

  async #headManifest(endpoint: RegistryEndpoint, reference: ImageReference, signal?: AbortSignalLike) {
    const reply = await this.#fetchOkReply(toManifestRequest('HEAD', endpoint, reference, signal), 'head')
    const mediaType = stripMediaTypeParameters(reply.headers.get('content-type')?.[0])
    if (isDockerSchema1MediaType(mediaType))
      throw new RegistryError(
        'unsupported',
        'the image uses the old schema 1 format, which clusters no longer support',
      )
    const digest = getContentDigestHeader(reply)
    const length = reply.headers.get('content-length')?.[0] ?? ''
    const agrees = digest !== undefined && (reference.digest === undefined || reference.digest === digest)
    if (!agrees || !isManifestMediaType(mediaType) || !/^\d{1,9}$/.test(length)) return undefined
    return { kind: 'ok', digest } satisfies ImageLookupResult
  }

  async #resolveAt(
    endpoint: RegistryEndpoint,
    reference: ImageReference,
    signal?: AbortSignalLike,
  ): Promise<ImageLookupResult> {
    if (this.#options.platforms) return this.#resolveWithPlatforms(endpoint, reference, signal)
    if (hostsWithManifestRateLimit.has(reference.host))
      return this.#resolveByHead(endpoint, reference, signal)
    try {
      const fetched = await this.#fetchManifestFrom(endpoint, reference, signal)
      this.#manifests.set(formatManifestKey(reference, fetched.digest), fetched)
      return { kind: 'ok', digest: fetched.digest }
    } catch (error) {
      if (!(error instanceof RegistryError) || error.code !== 'missing') throw error
      await this.#confirmMissing(endpoint, reference, signal)
      throw error
    }
  }

  /** Rejects if a HEAD contradicts the GET's 404, or is inconclusive. */
  async #confirmMissing(endpoint: RegistryEndpoint, reference: ImageReference, signal?: AbortSignalLike) {
    try {
      await this.#headManifest(endpoint, reference, signal)
    } catch (error) {
      // Registries without HEAD support have already answered the GET.
      const silent: readonly string[] = ['missing', 'private', 'server', 'bad-reply']
      if (error instanceof RegistryError && silent.includes(error.code)) return
      throw error
    }
    throw new RegistryError(
      'server',
      `${endpoint.name} returned contradictory replies (HEAD finds the image, GET returns 404)`,
    )
  }

  /** Uses HEAD where a GET counts as a pull. Only for registries that reject invalid manifests. */
  async #resolveByHead(
    endpoint: RegistryEndpoint,
    reference: ImageReference,
    signal?: AbortSignalLike,
  ): Promise<ImageLookupResult> {
    let isHeadRejected = false
    if (!this.#brokenHead.has(endpoint.host)) {
      try {
        const answer = await this.#headManifest(endpoint, reference, signal)
        if (answer) return answer
      } catch (error) {
        const secondOpinion: readonly string[] = ['missing', 'private', 'server', 'bad-reply']
        if (!(error instanceof RegistryError) || !secondOpinion.includes(error.code)) throw error
        isHeadRejected = true
      }
    }
    const { digest } = await this.#fetchManifestFrom(endpoint, reference, signal)
    if (isHeadRejected) this.#brokenHead.add(endpoint.host)
    return { kind: 'ok', digest }
  }

  async #resolveWithPlatforms(
    endpoint: RegistryEndpoint,
    reference: ImageReference,
    signal?: AbortSignalLike,
  ): Promise<ImageLookupResult> {
    const { manifest, digest } = await this.#fetchManifestFrom(endpoint, reference, signal)
    const answer = { kind: 'ok', digest } as const
    if (manifest.kind === 'index') return { ...answer, platforms: getImageIndexPlatforms(manifest.manifests) }
    if (manifest.config.size > maxImageConfigBytes) return { ...answer, platforms: [] }
    const { platform } = parseImageConfig(await this.#fetchBlobFrom(endpoint, manifest.config, signal))
    return { ...answer, platforms: platform ? [formatPlatform(platform)] : [] }
  }

  async #fetchBlobFrom(
    endpoint: RegistryEndpoint,
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
      let reply: TransportResponse
      try {
        reply = await this.#fetchOkReply(request, 'blob')
      } catch (error) {
        if (!(error instanceof RegistryError) || error.code !== 'too-large') throw error
        rejectHtmlPage(error.contentType, endpoint)
        return undefined
      }
      const { body } = reply
      if (body.length === size && computeContentDigest(body, digest) === digest) return body
      rejectHtmlPage(reply.headers.get('content-type')?.[0], endpoint)
      checkResponseIntegrity(reply, endpoint)
      return undefined
    }
    // A wrong size or digest is a permanent verdict, so one bad transfer is not enough.
    const fetched = (await fetchOnce()) ?? (await fetchOnce())
    if (!fetched) throw createContentMismatchError(endpoint, `${digest} (${size} bytes)`)
    return fetched
  }

  /** Tries mirrors first; the registry itself decides if they fail. */
  async #tryEndpoints<Result>(
    reference: ImageReference,
    work: (endpoint: RegistryEndpoint) => Promise<Result>,
  ): Promise<Result> {
    if (reference.digest !== undefined && !isSha256OrSha512Digest(reference.digest))
      throw new RegistryError('unsupported', 'the digest is neither sha256 nor sha512')
    const failures: string[] = []
    for (const endpoint of getRegistryEndpoints(reference, this.#options.rules ?? [])) {
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
    throw new RegistryError('network', 'no registry is configured for this image')
  }
}

const formatManifestKey = ({ host, repository }: ImageReference, digest: string | undefined) =>
  `${host}/${repository}@${digest}`

function toManifestRequest(
  method: 'GET' | 'HEAD',
  endpoint: RegistryEndpoint,
  reference: ImageReference,
  signal: AbortSignalLike | undefined,
) {
  // A digest takes precedence over a tag; the default is latest.
  const path = `manifests/${reference.digest ?? reference.tag ?? 'latest'}`
  return {
    endpoint,
    method,
    path,
    headers: manifestRequestHeaders,
    bodyLimit: maxManifestBytes,
    redirects: 3,
    signal,
  }
}

function computeContentDigest(bytes: Uint8Array, like: string | undefined): string {
  const algorithm = like?.split(':')[0] ?? 'sha256'
  return `${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`
}

function getContentDigestHeader(reply: TransportResponse): string | undefined {
  const digest = reply.headers.get('docker-content-digest')?.[0]
  return digest !== undefined && isSha256OrSha512Digest(digest) ? digest : undefined
}

function createContentMismatchError(endpoint: RegistryEndpoint, expectedDigest: string): RegistryError {
  return new RegistryError(
    'digest-mismatch',
    `${endpoint.name} returned content that does not match ${expectedDigest}`,
  )
}

/** Throws if the bytes may have changed in transit, so that the image is not blamed. */
function checkResponseIntegrity({ headers }: TransportResponse, { name }: RegistryEndpoint): void {
  const encoding = headers.get('content-encoding')?.[0] ?? 'identity'
  if (encoding.toLowerCase() !== 'identity')
    throw new RegistryError(
      'bad-reply',
      `${name} returned the encoding "${encoding}", which catalog-bot did not request`,
    )
  // Only the end of the connection marks the end of the body.
  if (!headers.get('content-length') && !headers.get('transfer-encoding'))
    throw new RegistryError(
      'network',
      `${name} closed the connection, possibly before the transfer was complete`,
    )
}

function rejectHtmlPage(contentType: string | undefined, { name }: RegistryEndpoint): void {
  const type = stripMediaTypeParameters(contentType)
  if (type === 'text/html' || type === 'application/xhtml+xml')
    throw new RegistryError('bad-reply', `${name} returned an HTML page`)
}

function rejectLargeManifest(error: unknown): never {
  const isManifest =
    error instanceof RegistryError &&
    error.code === 'too-large' &&
    isManifestMediaType(stripMediaTypeParameters(error.contentType))
  if (!isManifest) throw error
  throw new RegistryError('unsupported', `the manifest is larger than ${maxManifestBytes} bytes`, {
    cause: error,
  })
}

function omitUndefinedProperties<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as T
}
