// The contents of the sandbox's registry, in memory: manifests, tags, blobs, and uploads, and the answers about them.
// Authentication and injected faults are handled elsewhere.
import type { IncomingHttpHeaders } from 'node:http'
import { buildImage, computeBytesDigest, manifestMediaTypes } from './registry-image.ts'
import type { MockImageSpec, StoredManifest } from './registry-image.ts'

/** Persistent quirks, each known from a real registry. */
export interface RegistryQuirks {
  /** HEAD always gets this status (Nexus, some proxies). */
  headStatus?: number
  /** Docker-Content-Digest has another digest, or is missing (ECR, proxies). */
  digestHeader?: 'wrong' | 'missing'
  /** Blobs redirect to another URL with a 307, as with object storage. */
  redirectBlobs?: boolean
  /** False: deletion is disabled, which is the default of docker-registry. */
  deletes?: boolean
}

interface RegistryRepositoryContent {
  readonly manifests: Map<string, StoredManifest>
  readonly tags: Map<string, string>
  readonly blobs: Map<string, Buffer>
}

export interface RegistryResponse {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body?: Uint8Array | string
}

/** One parsed request for content. */
export interface RegistryContentRequest {
  readonly method: string
  readonly path: string
  readonly repository: string
  readonly reference: string
  readonly headers: IncomingHttpHeaders
  readonly url: URL
  readonly body: Buffer
}

const acceptedMediaTypes = new Set<string>(Object.values(manifestMediaTypes))

/** An answer with the error document of the distribution specification. */
export const createErrorResponse = (
  status: number,
  code: string,
  message = code,
  headers: Record<string, string> = {},
): RegistryResponse => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify({ errors: [{ code, message, detail: null }] }),
})

const createStoredResponse = (location: string, digest: string): RegistryResponse => ({
  status: 201,
  headers: { location, 'docker-content-digest': digest },
})

export class MockRegistryStorage {
  readonly quirks: RegistryQuirks = {}
  readonly #shelves = new Map<string, RegistryRepositoryContent>()
  readonly #uploads = new Map<string, Buffer[]>()
  #uploadCount = 0

  #shelf(repository: string): RegistryRepositoryContent {
    const known = this.#shelves.get(repository)
    if (known !== undefined) return known
    const shelf: RegistryRepositoryContent = { manifests: new Map(), tags: new Map(), blobs: new Map() }
    this.#shelves.set(repository, shelf)
    return shelf
  }

  /** Adds an image, with an optional tag, and returns its digest and a reference without a host. */
  putImage(
    repository: string,
    tag: string | undefined,
    content: MockImageSpec = {},
  ): { readonly digest: string; readonly reference: string } {
    const { top, manifests, blobs } = buildImage(content)
    const shelf = this.#shelf(repository)
    for (const { digest, bytes } of blobs) shelf.blobs.set(digest, bytes)
    for (const manifest of [...manifests, top]) shelf.manifests.set(manifest.digest, manifest)
    if (tag !== undefined) shelf.tags.set(tag, top.digest)
    return { digest: top.digest, reference: `${repository}@${top.digest}` }
  }

  /** Points a tag to an existing manifest. */
  setTag(repository: string, tag: string, digest: string): void {
    if (this.manifest(repository, digest) === undefined) throw new Error(`${repository} has no ${digest}`)
    this.#shelf(repository).tags.set(tag, digest)
  }

  removeTag(repository: string, tag: string): void {
    this.#shelf(repository).tags.delete(tag)
  }

  /** The current manifest of a tag or digest, for assertions. */
  manifest(repository: string, reference: string): StoredManifest | undefined {
    const shelf = this.#shelves.get(repository)
    return shelf?.manifests.get(shelf.tags.get(reference) ?? reference)
  }

  blob(repository: string, digest: string): Buffer | undefined {
    return this.#shelves.get(repository)?.blobs.get(digest)
  }

  getManifest({ method, headers, repository, reference }: RegistryContentRequest): RegistryResponse {
    if (method === 'HEAD' && this.quirks.headStatus !== undefined) return { status: this.quirks.headStatus }
    const stored = this.manifest(repository, reference)
    if (stored === undefined)
      return this.#shelves.has(repository)
        ? createErrorResponse(404, 'MANIFEST_UNKNOWN')
        : createErrorResponse(404, 'NAME_UNKNOWN')
    const wanted = (headers.accept ?? '').split(',').map((it) => it.split(';')[0]?.trim())
    if (!wanted.includes(stored.mediaType))
      return createErrorResponse(
        404,
        'MANIFEST_UNKNOWN',
        `manifest found, but accept header does not support ${stored.mediaType}`,
      )
    const { digestHeader } = this.quirks
    const digest = digestHeader === 'wrong' ? computeBytesDigest(Buffer.from('another')) : stored.digest
    return {
      status: 200,
      headers: {
        'content-type': stored.mediaType,
        'content-length': String(stored.bytes.length),
        ...(digestHeader === 'missing' ? {} : { 'docker-content-digest': digest }),
      },
      body: stored.bytes,
    }
  }

  receiveManifest({ headers, repository, reference, body: bytes }: RegistryContentRequest): RegistryResponse {
    const mediaType = (headers['content-type'] ?? '').split(';')[0]?.trim() ?? ''
    let content: {
      mediaType?: string
      config?: { digest: string }
      layers?: { digest: string; urls?: string[] }[]
      manifests?: { digest: string }[]
    }
    try {
      content = JSON.parse(bytes.toString()) as typeof content
    } catch {
      return createErrorResponse(400, 'MANIFEST_INVALID')
    }
    if (
      !acceptedMediaTypes.has(mediaType) ||
      (content.mediaType !== undefined && content.mediaType !== mediaType)
    )
      return createErrorResponse(400, 'MANIFEST_INVALID')
    const shelf = this.#shelf(repository)
    const blobs = [
      ...(content.config ? [content.config] : []),
      ...(content.layers ?? []).filter((it) => it.urls === undefined),
    ]
    if (blobs.some((it) => !shelf.blobs.has(it.digest)))
      return createErrorResponse(400, 'MANIFEST_BLOB_UNKNOWN')
    if ((content.manifests ?? []).some((it) => !shelf.manifests.has(it.digest)))
      return createErrorResponse(400, 'MANIFEST_BLOB_UNKNOWN')
    const digest = computeBytesDigest(bytes)
    if (reference.includes(':') && reference !== digest) return createErrorResponse(400, 'DIGEST_INVALID')
    shelf.manifests.set(digest, { digest, mediaType, bytes })
    if (!reference.includes(':')) shelf.tags.set(reference, digest)
    return createStoredResponse(`/v2/${repository}/manifests/${digest}`, digest)
  }

  /**
   * A digest deletes the manifest with all its tags. A tag deletes only the tag, as in the specification since 1.1.
   */
  deleteManifest({ repository, reference }: RegistryContentRequest): RegistryResponse {
    if (this.quirks.deletes === false) return createErrorResponse(405, 'UNSUPPORTED')
    const shelf = this.#shelves.get(repository)
    if (shelf === undefined) return createErrorResponse(404, 'NAME_UNKNOWN')
    if (!reference.includes(':'))
      return shelf.tags.delete(reference) ? { status: 202 } : createErrorResponse(404, 'MANIFEST_UNKNOWN')
    if (!shelf.manifests.delete(reference)) return createErrorResponse(404, 'MANIFEST_UNKNOWN')
    for (const [tag, digest] of shelf.tags) if (digest === reference) shelf.tags.delete(tag)
    return { status: 202 }
  }

  getBlob(request: RegistryContentRequest): RegistryResponse {
    const { method, path, url, repository, reference } = request
    const bytes = this.blob(repository, reference)
    if (bytes === undefined) return createErrorResponse(404, 'BLOB_UNKNOWN')
    if (this.quirks.redirectBlobs === true && method === 'GET' && path.startsWith('/v2/'))
      return { status: 307, headers: { location: `${url.origin}${path.replace('/v2/', '/storage/')}` } }
    const headers = { 'content-type': 'application/octet-stream', 'docker-content-digest': reference }
    const [, from] = /^bytes=(\d+)-$/.exec(request.headers.range ?? '') ?? []
    if (from === undefined || Number(from) >= bytes.length)
      return { status: 200, headers: { ...headers, 'content-length': String(bytes.length) }, body: bytes }
    const range = `bytes ${from}-${bytes.length - 1}/${bytes.length}`
    return {
      status: 206,
      headers: { ...headers, 'content-range': range },
      body: bytes.subarray(Number(from)),
    }
  }

  listTags({ repository, url }: RegistryContentRequest): RegistryResponse {
    const shelf = this.#shelves.get(repository)
    if (shelf === undefined) return createErrorResponse(404, 'NAME_UNKNOWN')
    const last = url.searchParams.get('last') ?? ''
    const rest = [...shelf.tags.keys()].sort().filter((it) => it > last)
    const size = Number(url.searchParams.get('n') ?? 1000)
    const tags = rest.slice(0, size)
    const next = `</v2/${repository}/tags/list?n=${size}&last=${tags.at(-1) ?? ''}>; rel="next"`
    const headers = { 'content-type': 'application/json', ...(rest.length > size ? { link: next } : {}) }
    return { status: 200, headers, body: JSON.stringify({ name: repository, tags }) }
  }

  upload({ method, repository, reference: id, url, body }: RegistryContentRequest): RegistryResponse {
    const shelf = this.#shelf(repository)
    const digest = url.searchParams.get('digest')
    const store = (bytes: Buffer): RegistryResponse => {
      if (digest === null || computeBytesDigest(bytes) !== digest)
        return createErrorResponse(400, 'DIGEST_INVALID')
      shelf.blobs.set(digest, bytes)
      return createStoredResponse(`/v2/${repository}/blobs/${digest}`, digest)
    }
    if (method === 'POST') {
      const mount = url.searchParams.get('mount')
      const mounted = mount === null ? undefined : this.blob(url.searchParams.get('from') ?? '', mount)
      if (mount !== null && mounted !== undefined) {
        shelf.blobs.set(mount, mounted)
        return createStoredResponse(`/v2/${repository}/blobs/${mount}`, mount)
      }
      if (digest !== null) return store(body)
      const upload = String(++this.#uploadCount)
      this.#uploads.set(upload, [])
      return { status: 202, headers: { location: `/v2/${repository}/blobs/uploads/${upload}`, range: '0-0' } }
    }
    const parts = this.#uploads.get(id)
    if (parts === undefined) return createErrorResponse(404, 'BLOB_UPLOAD_UNKNOWN')
    if (method === 'DELETE') {
      this.#uploads.delete(id)
      return { status: 204 }
    }
    parts.push(body)
    const bytes = Buffer.concat(parts)
    if (method === 'PATCH')
      return {
        status: 202,
        headers: { location: `/v2/${repository}/blobs/uploads/${id}`, range: `0-${bytes.length - 1}` },
      }
    this.#uploads.delete(id)
    return store(bytes)
  }
}
