// Pushes missing blobs, manifests by digest, and then tags. Only this module requests push rights.
import { tryParseJson } from '@catalog-bot/fbc/go/json/json'
import pLimit from 'p-limit'
import type { Clock } from '../../ports/clock.ts'
import { createAuthorizedRequestSender } from '../registry/auth/authorized-request.ts'
import {
  defaultRetryPolicy,
  createRetryingRequestSender,
  type RetryPolicy,
  createCancelableClock,
} from '../registry/retrying-request.ts'
import type { CredentialSource } from '../registry/auth/credentials.ts'
import type { EgressOptions } from '../registry/transport/egress-policy.ts'
import { getRegistryEndpoints, type RegistryEndpoint } from '../registry/registries-conf.ts'
import type { HostnameResolver } from '../registry/transport/guarded-connector.ts'
import { computeSha256Digest, manifestAcceptHeader } from '../registry/manifest.ts'
import { RegistryError } from '../registry/registry-error.ts'
import { toRegistryResponseError } from '../registry/transport/response-error.ts'
import { RegistryTokenService } from '../registry/auth/token-service.ts'
import {
  RegistryTransport,
  type TransportResponse,
  type TransportLimits,
} from '../registry/transport/transport.ts'

export interface ImagePusherOptions {
  readonly clock: Clock
  /** Credentials with push rights, not the reader's. */
  readonly credentials: readonly CredentialSource[]
  /** Default: https to public addresses only. */
  readonly egress?: EgressOptions
  readonly limits?: Partial<TransportLimits & RetryPolicy & UploadLimits>
  /** For tests: name resolution, and randomness (0 to 1). */
  readonly resolve?: HostnameResolver
  readonly random?: () => number
}

export interface UploadLimits {
  /** Bytes per chunk in chunked uploads. Larger if the registry requires it. */
  readonly chunkBytes: number
  /** A broken connection counts as a size rejection if the upload has at least this many bytes. */
  readonly chunkedFallbackBytes: number
}

export interface BlobToPush {
  /** `sha256:` and 64 hex digits. */
  readonly digest: string
  readonly size: number
  /** Called only if the registry lacks the blob. */
  readonly read: () => Promise<Uint8Array>
  /** A repository on the same registry that may have the blob. */
  readonly mountFrom?: string
}

export interface ManifestToPush {
  readonly mediaType: string
  readonly bytes: Uint8Array
}

export interface ImagePushRequest {
  readonly host: string
  readonly repository: string
  readonly blobs: readonly BlobToPush[]
  /** Pushed by digest in this order, so an index comes after its images. The last one gets the tags. */
  readonly manifests: readonly [...ManifestToPush[], ManifestToPush]
  readonly tags: readonly string[]
}

export type RegistryRepositoryLocation = Pick<ImagePushRequest, 'host' | 'repository'>

export interface ImagePushResult {
  readonly digest: string
  readonly blobs: Readonly<Record<BlobPushOutcome, number>>
  /** The last manifest's subject, if the registry confirms it (`OCI-Subject`). */
  readonly subject?: string
}

export type BlobPushOutcome = 'present' | 'mounted' | 'uploaded'

export interface ImagePusher {
  /**
   * Pushes one image or index. Sets tags only after everything is uploaded, then verifies each tag's digest. Idempotent.
   * Rejects with a RegistryError: `credentials` if the registry denies the push, `digest-mismatch` if it has other
   * bytes.
   */
  push(order: ImagePushRequest): Promise<ImagePushResult>
  listTags(repository: RegistryRepositoryLocation): Promise<readonly string[]>
  /** The registry's referrers of a digest. Undefined if the registry does not support the API. */
  listReferrers(
    repository: RegistryRepositoryLocation,
    digest: string,
  ): Promise<readonly unknown[] | undefined>
  /** Returns false if the manifest does not exist. Rejects as `unsupported` if the registry does not support deletion. */
  deleteManifest(repository: RegistryRepositoryLocation, digest: string): Promise<boolean>
  close(): Promise<void>
}

// Proxies may cut off bodies above the usual limit of 20 MB (Azure). 16 MiB chunks work everywhere.
const defaultUploadLimits: UploadLimits = { chunkBytes: 16 * 1024 * 1024, chunkedFallbackBytes: 20_000_000 }
// Milliseconds. Enough for a base layer over a slow connection.
const uploadTimeoutMs = 900_000
const maxRegistryResponseBytes = 65_536
const maxManifestBytes = 4 * 1024 * 1024
/** Enough for a thousand tags of the maximum length. */
const maxTagListBytes = 1024 * 1024
const maxTagListPages = 1000

export class RegistryImagePusher implements ImagePusher {
  readonly #clock
  readonly #limits
  readonly #retryPolicy
  readonly #transport
  readonly #exchange
  readonly #deleting

  constructor(options: ImagePusherOptions) {
    this.#clock = createCancelableClock(options.clock)
    this.#limits = { ...defaultUploadLimits, ...options.limits }
    this.#retryPolicy = { ...defaultRetryPolicy, ...options.limits }
    this.#transport = new RegistryTransport({
      egress: options.egress ?? {},
      limits: { exchangeTimeout: uploadTimeoutMs, ...options.limits },
      resolve: options.resolve,
    })
    const openSender = (actions: 'pull,push' | 'delete') =>
      createRetryingRequestSender(
        createAuthorizedRequestSender(
          this.#transport,
          new RegistryTokenService(this.#transport, this.#clock),
          options.credentials,
          actions,
        ),
        this.#retryPolicy,
        this.#clock,
        options.random ?? Math.random,
      )
    this.#exchange = openSender('pull,push')
    this.#deleting = openSender('delete')
  }

  readonly push = async (order: ImagePushRequest): Promise<ImagePushResult> => {
    const { host, repository, blobs, manifests, tags } = order
    const [endpoint] = getRegistryEndpoints({ host, repository }, [])
    const outcomes = { present: 0, mounted: 0, uploaded: 0 }
    try {
      const distinct = new Map(blobs.map((blob) => [blob.digest, blob]))
      await forEachConcurrently(distinct.values(), 4, async (blob) => {
        outcomes[await this.#pushBlob(endpoint, blob)] += 1
      })
      let digest = ''
      let subject: string | undefined
      for (const manifest of manifests)
        ({ digest, subject } = await this.#putManifest(
          endpoint,
          computeSha256Digest(manifest.bytes),
          manifest,
        ))
      const top = manifests.at(-1) as ManifestToPush
      for (const tag of tags) {
        await this.#putManifest(endpoint, tag, top)
        const tagDigest = await this.#fetchTagDigest(endpoint, tag)
        if (tagDigest !== digest)
          throw new RegistryError(
            'digest-mismatch',
            `the tag ${tag} on ${host} points to ${tagDigest}, although catalog-bot just set the tag to ${digest}`,
          )
      }
      return { digest, blobs: outcomes, ...(subject !== undefined && { subject }) }
    } catch (error) {
      throw toPushError(error, `${host}/${repository}`)
    }
  }

  readonly listTags: ImagePusher['listTags'] = async ({ host, repository }) => {
    const [endpoint] = getRegistryEndpoints({ host, repository }, [])
    const found = new Set<string>()
    try {
      // Amazon's registries reject more than a thousand tags per request.
      for await (const body of this.#fetchPages(endpoint, 'tag', 'tags/list?n=1000', maxTagListBytes))
        for (const tag of parseTagList(body)) found.add(tag)
      return [...found].sort()
    } catch (error) {
      if (error instanceof RegistryError && error.code === 'missing') return []
      throw error
    }
  }

  readonly listReferrers: ImagePusher['listReferrers'] = async ({ host, repository }, digest) => {
    const [endpoint] = getRegistryEndpoints({ host, repository }, [])
    const found: unknown[] = []
    try {
      const path = `referrers/${digest}`
      for await (const body of this.#fetchPages(endpoint, 'referrers', path, maxManifestBytes)) {
        const listed = parseReferrers(body)
        if (listed === undefined) return undefined
        found.push(...listed)
      }
      return found
    } catch (error) {
      // Registries before OCI 1.1 don't recognize the path.
      const isOld = error instanceof RegistryError && !error.retryable && (error.status ?? 0) >= 400
      if (isOld && ![401, 403].includes(error.status ?? 0)) return undefined
      throw error
    }
  }

  readonly deleteManifest: ImagePusher['deleteManifest'] = async ({ host, repository }, digest) => {
    const [endpoint] = getRegistryEndpoints({ host, repository }, [])
    const path = `manifests/${digest}`
    const request = { endpoint, path, headers: {}, bodyLimit: maxRegistryResponseBytes, redirects: 0 }
    try {
      await this.#deleting({ ...request, method: 'DELETE' }, 'write')
      return true
    } catch (error) {
      if (!(error instanceof RegistryError)) throw error
      if (error.code === 'missing') return false
      if (error.status === 405 || error.status === 501 || /\bUNSUPPORTED\b/.test(error.message))
        throw new RegistryError('unsupported', `${endpoint.name} does not support deleting images`, {
          cause: error,
        })
      throw toPushError(error, `${host}/${repository}`)
    }
  }

  readonly close: ImagePusher['close'] = () => {
    this.#clock.close()
    return this.#transport.close()
  }

  /** The bodies of a list's pages. `list` names it in messages. */
  async *#fetchPages(
    endpoint: RegistryEndpoint,
    list: string,
    path: string | URL,
    bodyLimit: number,
  ): AsyncGenerator<Uint8Array> {
    let next: string | URL | undefined = path
    for (let page = 0; page < maxTagListPages; page += 1) {
      const reply: TransportResponse = await this.#exchange(
        { endpoint, method: 'GET', path: next, headers: {}, bodyLimit, redirects: 3 },
        'manifest',
      )
      yield reply.body
      next = parseNextPageUrl(reply)
      if (next === undefined) return
    }
    const { name, repository } = endpoint
    throw new RegistryError('too-large', `the ${list} list of ${name}/${repository} has too many pages`)
  }

  #sendRequest(
    endpoint: RegistryEndpoint,
    method: 'HEAD' | 'GET' | 'POST' | 'PUT' | 'PATCH',
    path: string | URL,
    kind: 'head' | 'manifest' | 'write' | 'upload',
    more: {
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: Uint8Array
      readonly alsoPulls?: string
    } = {},
  ): Promise<TransportResponse> {
    const bodyLimit = kind === 'manifest' ? maxManifestBytes : maxRegistryResponseBytes
    return this.#exchange({ endpoint, method, path, headers: {}, bodyLimit, redirects: 3, ...more }, kind)
  }

  async #hasBlob(endpoint: RegistryEndpoint, { digest }: BlobToPush): Promise<boolean> {
    try {
      await this.#sendRequest(endpoint, 'HEAD', `blobs/${digest}`, 'head')
      return true
    } catch (error) {
      // Some registries deny the check (ECR Public returns 401). Uploading is always safe.
      if (error instanceof RegistryError && ['missing', 'private', 'bad-reply'].includes(error.code))
        return false
      throw error
    }
  }

  /** The upload URL; undefined if the blob was mounted. */
  async #startUpload(endpoint: RegistryEndpoint, blob: BlobToPush, mount: boolean): Promise<URL | undefined> {
    // Never sends `mount` without `from`, because quay.io rejects it and other registries guess.
    const from = mount ? blob.mountFrom : undefined
    const path =
      from === undefined
        ? 'blobs/uploads/'
        : `blobs/uploads/?mount=${encodeURIComponent(blob.digest)}&from=${encodeURIComponent(from)}`
    let reply: TransportResponse
    try {
      reply = await this.#sendRequest(endpoint, 'POST', path, 'upload', {
        body: new Uint8Array(0),
        ...(from !== undefined && { alsoPulls: from }),
      })
    } catch (error) {
      // A registry that rejects the mount may still accept the blob.
      if (from === undefined || !(error instanceof RegistryError) || error.retryable) throw error
      if (error.code === 'blocked' || error.code === 'aborted') throw error
      return this.#startUpload(endpoint, blob, false)
    }
    if (reply.status === 201 && from !== undefined) {
      checkResponseDigest(reply, blob.digest, endpoint)
      return undefined
    }
    return parseUploadLocation(reply, endpoint)
  }

  /** One upload step at the URL that the registry returned. Credentials go only to the registry's host. */
  async #sendUploadStep(
    endpoint: RegistryEndpoint,
    method: 'PUT' | 'PATCH',
    url: URL,
    body: Uint8Array,
    headers: Readonly<Record<string, string>>,
  ): Promise<TransportResponse> {
    const sent = { 'content-type': 'application/octet-stream', ...headers }
    const scheme = this.#transport.policy.schemeOf(endpoint.host)
    if (url.origin === new URL(`${scheme}//${endpoint.host}`).origin)
      return this.#sendRequest(endpoint, method, url, 'upload', { body, headers: sent })
    if (scheme === 'https:' && url.protocol !== 'https:')
      throw new RegistryError(
        'blocked',
        `${endpoint.name} requests an upload to ${url.host} without TLS; if the registry is behind a proxy, configure its external URL`,
      )
    const reply = await this.#transport.exchange({
      method,
      url,
      headers: sent,
      body,
      bodyLimit: maxRegistryResponseBytes,
      redirects: 0,
    })
    if (reply.status >= 200 && reply.status < 300) return reply
    throw toRegistryResponseError(reply, this.#clock.now(), `${endpoint.name}'s upload host ${url.host}`)
  }

  async #uploadInChunks(endpoint: RegistryEndpoint, blob: BlobToPush, bytes: Uint8Array): Promise<void> {
    const startReply = await this.#sendRequest(endpoint, 'POST', 'blobs/uploads/', 'upload', {
      body: new Uint8Array(0),
    })
    let location = parseUploadLocation(startReply, endpoint)
    const minChunkBytes = Number(startReply.headers.get('oci-chunk-min-length')?.[0] ?? 0)
    // ghcr.io keeps only the last chunk, so send a single one.
    const piece = matchesRegistryHost(endpoint, /^ghcr\.io$/)
      ? bytes.length
      : Math.max(this.#limits.chunkBytes, minChunkBytes || 0)
    // Sequential, because docker-registry appends chunks in order of arrival.
    for (let at = 0; at < bytes.length; at += piece) {
      const end = Math.min(at + piece, bytes.length)
      const range = { 'content-range': `${at}-${end - 1}` }
      location = parseUploadLocation(
        await this.#sendUploadStep(endpoint, 'PATCH', location, bytes.subarray(at, end), range),
        endpoint,
      )
    }
    const done = await this.#sendUploadStep(
      endpoint,
      'PUT',
      addDigestQueryParameter(location, blob.digest),
      new Uint8Array(0),
      {},
    )
    checkResponseDigest(done, blob.digest, endpoint)
  }

  async #upload(endpoint: RegistryEndpoint, blob: BlobToPush): Promise<BlobPushOutcome> {
    if (await this.#hasBlob(endpoint, blob)) return 'present'
    const location = await this.#startUpload(endpoint, blob, blob.mountFrom !== undefined)
    if (location === undefined) return 'mounted'
    const bytes = await blob.read()
    if (bytes.length !== blob.size || computeSha256Digest(bytes) !== blob.digest)
      throw new RegistryError('digest-mismatch', `the blob to push does not have the digest ${blob.digest}`)
    try {
      const reply = await this.#sendUploadStep(
        endpoint,
        'PUT',
        addDigestQueryParameter(location, blob.digest),
        bytes,
        {},
      )
      checkResponseDigest(reply, blob.digest, endpoint)
    } catch (error) {
      if (!this.#isSizeRejection(error, blob.size) || matchesRegistryHost(endpoint, googleRegistryPattern))
        throw error
      await this.#uploadInChunks(endpoint, blob, bytes)
    }
    return 'uploaded'
  }

  /** Restarts a failed upload from the beginning, which is safe because the digest identifies the blob. */
  async #pushBlob(endpoint: RegistryEndpoint, blob: BlobToPush): Promise<BlobPushOutcome> {
    for (let attempt = 1; ; attempt += 1)
      try {
        return await this.#upload(endpoint, blob)
      } catch (error) {
        if (!(error instanceof RegistryError) || !error.retryable || attempt >= this.#retryPolicy.attempts)
          throw error
        const wait = error.retryAfter ?? (this.#retryPolicy.backOffMs * 2 ** (attempt - 1)) / 1000
        if (wait > this.#retryPolicy.maxWaitSeconds) throw error
        await this.#clock.sleep(wait * 1000)
      }
  }

  async #putManifest(endpoint: RegistryEndpoint, name: string, { mediaType, bytes }: ManifestToPush) {
    const digest = computeSha256Digest(bytes)
    const reply = await this.#sendRequest(endpoint, 'PUT', `manifests/${name}`, 'write', {
      headers: { 'content-type': mediaType },
      body: bytes,
    })
    checkResponseDigest(reply, digest, endpoint)
    return { digest, subject: reply.headers.get('oci-subject')?.[0] }
  }

  async #fetchTagDigest(endpoint: RegistryEndpoint, tag: string): Promise<string> {
    const { body } = await this.#sendRequest(endpoint, 'GET', `manifests/${tag}`, 'manifest', {
      headers: { accept: manifestAcceptHeader },
    })
    return computeSha256Digest(body)
  }

  #isSizeRejection(error: unknown, size: number): boolean {
    if (!(error instanceof RegistryError)) return false
    if (error.status !== undefined) return [405, 413, 501].includes(error.status)
    return size >= this.#limits.chunkedFallbackBytes && ['network', 'timeout'].includes(error.code)
  }
}

function parseTagList(body: Uint8Array): readonly string[] {
  try {
    const { tags } = JSON.parse(Buffer.from(body).toString('utf8')) as { tags?: unknown }
    // Null if there are no tags. Some registries have nulls in the list.
    return Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : []
  } catch (cause) {
    throw new RegistryError('bad-reply', 'the tag list is not valid JSON', { cause })
  }
}

function parseReferrers(body: Uint8Array): readonly unknown[] | undefined {
  const list = tryParseJson(Buffer.from(body).toString('utf8')) as { manifests?: unknown } | null | undefined
  return Array.isArray(list?.manifests) ? list.manifests : undefined
}

/** Parses a Link header (RFC 8288). The credentials code checks the host. */
function parseNextPageUrl(reply: TransportResponse): URL | undefined {
  const link = reply.headers.get('link')?.find((value) => /;\s*rel="?next"?/.test(value))
  const target = link && /<([^>]*)>/.exec(link)?.[1]
  return target === undefined ? undefined : new URL(target, reply.url)
}

/** After a failure, starts nothing more, and rejects when the rest has ended. */
export async function forEachConcurrently<Item>(
  items: Iterable<Item>,
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const limit = pLimit({ concurrency: atOnce, rejectOnClear: true })
  const tasks = Array.from(items, (item) => limit(work, item))
  for (const task of tasks) task.catch(limit.clearQueue)
  const ended = await Promise.allSettled(tasks)
  const failure = ended.find((result) => result.status === 'rejected')
  if (failure) throw failure.reason
}

// Google's registries accept only single-piece uploads.
const googleRegistryPattern = /(?:^|[.-])docker\.pkg\.dev$|(?:^|\.)gcr\.io$/

function matchesRegistryHost({ host }: RegistryEndpoint, pattern: RegExp): boolean {
  return pattern.test(host.replace(/:\d+$/, ''))
}

function parseUploadLocation(reply: TransportResponse, endpoint: RegistryEndpoint): URL {
  const location = reply.headers.get('location')?.[0]
  try {
    if (location !== undefined) return new URL(location, reply.url)
  } catch {
    // An invalid URL is reported like a missing one.
  }
  throw new RegistryError('bad-reply', `${endpoint.name} did not return an upload URL`)
}

/** Preserves the existing query byte for byte, because it may be signed. */
function addDigestQueryParameter(location: URL, digest: string): URL {
  const url = new URL(location)
  url.search = `${url.search === '' ? '?' : `${url.search}&`}digest=${encodeURIComponent(digest)}`
  return url
}

function checkResponseDigest(reply: TransportResponse, digest: string, endpoint: RegistryEndpoint): void {
  const reportedDigest = reply.headers.get('docker-content-digest')?.[0]
  if (reportedDigest !== undefined && reportedDigest !== digest)
    throw new RegistryError('digest-mismatch', `${endpoint.name} stored ${digest} as ${reportedDigest}`)
}

function toPushError(error: unknown, where: string): unknown {
  if (!(error instanceof RegistryError)) return error
  const [code, reason] =
    error.code === 'private'
      ? (['credentials', `the configured credentials do not allow pushing: ${error.message}`] as const)
      : ([error.code, error.message] as const)
  return new RegistryError(code, `push to ${where} failed: ${reason}`, {
    cause: error,
    retryAfter: error.retryAfter,
    status: error.status,
  })
}
