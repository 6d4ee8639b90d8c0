// A publisher of catalog images without a registry, for tests of its callers: repositories, tags, and images are in
// memory. It implements src/adapters/image/catalog-publisher.ts.
import { createHash } from 'node:crypto'
import {
  type AttachedManifest,
  type ImageAttachment,
  type CatalogImageFile,
  type BuiltCatalogImage,
  type CatalogPublisher,
  type ImagePublishResult,
  type ImagePublishTarget,
  ImageError,
} from '../../../src/adapters/image/catalog-publisher.ts'
import type { ManifestToPush } from '../../../src/adapters/image/open-pusher.ts'
import type { FetchedManifest, RegistryClient } from '../../../src/adapters/registry/registry-client.ts'
import { RegistryError } from '../../../src/adapters/registry/registry-error.ts'
import { parseManifest } from '../../../src/adapters/registry/manifest.ts'

interface StoredImage {
  readonly contentDigest: string
  readonly files: readonly CatalogImageFile[]
  readonly base: { readonly name: string; readonly digest: string } | undefined
  readonly annotations: Readonly<Record<string, string>>
  /** The images of an index. */
  readonly children: readonly string[]
  readonly bytes?: Uint8Array
}

interface FakeImageRepository {
  readonly tags: Map<string, string>
  readonly images: Map<string, StoredImage>
  /** Manifests that are attached to images, by digest, and their blobs. */
  readonly artifacts: Map<string, Uint8Array>
  readonly blobs: Map<string, Uint8Array>
}

export class FakeCatalogPublisher implements CatalogPublisher {
  readonly repositories = new Map<string, FakeImageRepository>()
  /** Digest by the name of a base image. */
  readonly bases = new Map<string, string>()
  /** The calls, in order, such as `push quay.io/org/catalog`. */
  readonly calls: string[] = []
  /** Runs before each call; throws an error to make the call fail. */
  beforeCall: (call: string) => void | Promise<void> = () => undefined
  supportsDeletion = true
  readonly #built = new WeakMap<BuiltCatalogImage, StoredImage>()

  getRepository(repository: string): FakeImageRepository {
    const known = this.repositories.get(repository)
    if (known !== undefined) return known
    const made: FakeImageRepository = {
      tags: new Map(),
      images: new Map(),
      artifacts: new Map(),
      blobs: new Map(),
    }
    this.repositories.set(repository, made)
    return made
  }

  /** The digest for `repository:tag`. */
  findDigest(reference: string): string | undefined {
    const [repository, name] = splitImageReference(reference)
    const shelf = this.repositories.get(repository)
    return shelf?.tags.get(name) ?? (shelf?.images.has(name) === true ? name : undefined)
  }

  readText(reference: string): string {
    const [repository] = splitImageReference(reference)
    const files = this.getRepository(repository).images.get(this.findDigest(reference) ?? '')?.files ?? []
    return files.map(({ path, bytes }) => `${path}: ${Buffer.from(bytes).toString('utf8')}`).join('\n')
  }

  async #ask(what: string): Promise<void> {
    this.calls.push(what)
    await this.beforeCall(what)
  }

  #make(stored: StoredImage): BuiltCatalogImage {
    const { contentDigest, annotations, base } = stored
    const bytes = Buffer.from(JSON.stringify({ contentDigest, base, annotations, manifests: [] }))
    const manifest: ManifestToPush = { mediaType: 'application/vnd.oci.image.index.v1+json', bytes }
    const image: BuiltCatalogImage = {
      digest: computeDigest(bytes),
      mediaType: manifest.mediaType,
      contentDigest: stored.contentDigest,
      platforms: ['linux/amd64'],
      ...(stored.base && { base: stored.base }),
      layer: {
        digest: stored.contentDigest,
        diffId: stored.contentDigest,
        size: 100,
        uncompressed: 200,
        packages: stored.files.map(({ path }) => path),
        bundles: 1,
      },
      manifests: [manifest],
      blobs: [],
    }
    this.#built.set(image, { ...stored, bytes })
    return image
  }

  #base(name: string): StoredImage['base'] {
    if (name === 'scratch') return undefined
    const digest = this.bases.get(name)
    if (digest === undefined) throw new RegistryError('missing', `there is no ${name}`)
    return { name, digest }
  }

  async build(order: Parameters<CatalogPublisher['build']>[0]): Promise<BuiltCatalogImage> {
    await this.#ask('build')
    const base = this.#base(order.base)
    const { annotations = {}, files, cache, compression, platforms } = order
    const content = JSON.stringify([
      files.map(({ path, bytes }) => [path, computeDigest(bytes)]),
      base?.digest,
      cache,
      compression,
      platforms,
    ])
    const contentDigest = computeDigest(Buffer.from(content))
    return this.#make({ contentDigest, files, base, annotations, children: [] })
  }

  async publish(
    order: Parameters<CatalogPublisher['build']>[0],
    target: ImagePublishTarget,
  ): Promise<ImagePublishResult> {
    return this.push(await this.build(order), target)
  }

  async push(image: BuiltCatalogImage, target: ImagePublishTarget): Promise<ImagePublishResult> {
    await this.#ask(`push ${target.repository}`)
    const stored = this.#built.get(image)
    if (stored === undefined) throw new Error('not built here')
    const shelf = this.getRepository(target.repository)
    this.#expect(target)
    const held = target.tags.map((tag) => shelf.tags.get(tag))
    const [first] = held
    const unchanged =
      target.evenIfUnchanged !== true &&
      first !== undefined &&
      held.every((digest) => digest === first) &&
      shelf.images.get(first)?.contentDigest === stored.contentDigest
    if (unchanged) return this.#published(target, first, held, true)
    shelf.images.set(image.digest, stored)
    for (const child of stored.children) shelf.images.set(child, { ...stored, children: [] })
    await this.#ask(`tag ${target.repository}`)
    for (const tag of target.tags) shelf.tags.set(tag, image.digest)
    return this.#published(target, image.digest, held, false)
  }

  #expect({ repository, expected = {}, tags }: ImagePublishTarget): void {
    const shelf = this.getRepository(repository)
    for (const tag of tags)
      if (Object.hasOwn(expected, tag) && shelf.tags.get(tag) !== expected[tag])
        throw new ImageError('tag-moved', `somebody moved ${tag}`)
  }

  #published(
    { repository, tags }: ImagePublishTarget,
    digest: string,
    held: readonly (string | undefined)[],
    unchanged: boolean,
  ): ImagePublishResult {
    return {
      digest,
      mediaType: 'application/vnd.oci.image.index.v1+json',
      contentDigest: this.getRepository(repository).images.get(digest)?.contentDigest ?? '',
      unchanged,
      tags: tags.map((tag, at) => ({ tag, before: held[at], after: digest })),
      blobs: { present: 0, mounted: 0, uploaded: 0 },
    }
  }

  async rebase({
    image,
    base,
    annotations = {},
  }: Parameters<CatalogPublisher['rebase']>[0]): Promise<BuiltCatalogImage> {
    await this.#ask(`rebase ${image}`)
    const found = this.#base(base)
    const [repository] = splitImageReference(image)
    const stored = this.getRepository(repository).images.get(this.findDigest(image) ?? '')
    if (stored === undefined) throw new RegistryError('missing', `there is no ${image}`)
    const contentDigest = computeDigest(Buffer.from(`${stored.contentDigest} ${found?.digest}`))
    return this.#make({ ...stored, base: found, annotations, contentDigest })
  }

  read(reference: string): ReturnType<CatalogPublisher['read']> {
    const [repository] = splitImageReference(reference)
    const stored = this.getRepository(repository).images.get(this.findDigest(reference) ?? '')
    if (stored === undefined) throw new RegistryError('missing', `there is no ${reference}`)
    return Promise.resolve({
      digest: this.findDigest(reference) ?? '',
      mediaType: 'application/vnd.oci.image.index.v1+json',
      contentDigest: stored.contentDigest,
      platforms: ['linux/amd64'],
      labels: {},
      annotations: stored.annotations,
      files: stored.files,
    })
  }

  async verify(
    reference: string,
    files: readonly CatalogImageFile[],
  ): ReturnType<CatalogPublisher['verify']> {
    await this.#ask(`verify ${splitImageReference(reference)[0]}`)
    const [repository] = splitImageReference(reference)
    const stored = this.getRepository(repository).images.get(this.findDigest(reference) ?? '')
    const serializeFiles = (all: readonly CatalogImageFile[]) =>
      JSON.stringify(all.map(({ path, bytes }) => [path, computeDigest(bytes)]).sort())
    const isSame = stored !== undefined && serializeFiles(stored.files) === serializeFiles(files)
    return {
      digest: this.findDigest(reference) ?? '',
      contentDigest: stored?.contentDigest ?? '',
      isSame,
      differences: isSame ? [] : [{ path: 'catalog.json', kind: 'different' }],
      problems: [],
    }
  }

  async digestOf(reference: string): Promise<string | undefined> {
    await this.#ask(`look ${reference}`)
    return this.bases.get(reference) ?? this.findDigest(reference)
  }

  async retag(image: string, target: ImagePublishTarget): Promise<ImagePublishResult> {
    await this.#ask(`retag ${target.repository}`)
    const digest = this.findDigest(image)
    if (digest === undefined) throw new RegistryError('missing', `there is no ${image}`)
    this.#expect(target)
    const shelf = this.getRepository(target.repository)
    const held = target.tags.map((tag) => shelf.tags.get(tag))
    for (const tag of target.tags) shelf.tags.set(tag, digest)
    return this.#published(target, digest, held, false)
  }

  async listTags(repository: string): Promise<readonly string[]> {
    await this.#ask(`list ${repository}`)
    return [...(this.repositories.get(repository)?.tags.keys() ?? [])].sort()
  }

  async deleteManifest(repository: string, digest: string): Promise<boolean> {
    await this.#ask(`delete ${repository}`)
    if (!this.supportsDeletion) throw new RegistryError('unsupported', 'it does not delete')
    const shelf = this.getRepository(repository)
    for (const [tag, named] of shelf.tags) if (named === digest) shelf.tags.delete(tag)
    return shelf.artifacts.delete(digest) || shelf.images.delete(digest)
  }

  async attach({
    repository,
    manifest,
    blobs,
    tags = [],
  }: ImageAttachment): Promise<{ readonly digest: string }> {
    await this.#ask(`attach ${repository}`)
    const shelf = this.getRepository(repository)
    const digest = computeDigest(manifest.bytes)
    shelf.artifacts.set(digest, manifest.bytes)
    for (const blob of blobs) shelf.blobs.set(blob.digest, await blob.read())
    for (const tag of tags) shelf.tags.set(tag, digest)
    return { digest }
  }

  attached(repository: string, digest: string): Promise<readonly AttachedManifest[]> {
    const listed = [...this.getRepository(repository).artifacts].flatMap(([own, bytes]) => {
      const { subject, artifactType } = JSON.parse(Buffer.from(bytes).toString()) as {
        subject: { digest: string }
        artifactType: string
      }
      return subject.digest === digest ? [{ digest: own, artifactType }] : []
    })
    return Promise.resolve([...listed, ...this.extraAttached])
  }

  /** Entries that another tool added to every image's list of attachments. */
  extraAttached: readonly AttachedManifest[] = []

  listBundles(files: readonly CatalogImageFile[]): ReturnType<CatalogPublisher['listBundles']> {
    const row = (name: string) => ({ package: 'p', name, version: '', image: '', relatedImages: [] })
    return Promise.resolve(files.map(({ path }) => row(path)))
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  /** A registry client that reads the same data. */
  readonly reader: Pick<RegistryClient, 'fetchManifest' | 'fetchBlob'> = {
    fetchBlob: ({ host, repository }, descriptor) => {
      const bytes = this.getRepository(`${host}/${repository}`).blobs.get(descriptor.digest)
      return bytes ? Promise.resolve(bytes) : Promise.reject(new RegistryError('missing', 'not there'))
    },
    fetchManifest: async ({ host, repository, tag, digest }): Promise<FetchedManifest> => {
      const shelf = this.repositories.get(`${host}/${repository}`)
      const found = digest ?? shelf?.tags.get(tag ?? '')
      const artifact = shelf?.artifacts.get(found ?? '')
      if (found !== undefined && artifact) {
        const manifest = parseManifest(artifact, '')
        return { digest: found, bytes: artifact, mediaType: manifest.mediaType, manifest }
      }
      const stored = shelf?.images.get(found ?? '')
      if (found === undefined || stored === undefined) throw new RegistryError('missing', 'not there')
      return {
        digest: found,
        bytes: stored.bytes ?? Buffer.from('{}'),
        mediaType: 'application/vnd.oci.image.index.v1+json',
        manifest: {
          kind: 'index',
          mediaType: 'application/vnd.oci.image.index.v1+json',
          manifests: stored.children.map((child) => ({
            digest: child,
            size: 1,
            mediaType: 'application/vnd.oci.image.manifest.v1+json',
          })),
        },
      }
    },
  }

  /** Adds an image directly, as another publisher would. */
  putImage(repository: string, tag: string, name: string, children: readonly string[] = []): string {
    const digest = computeDigest(Buffer.from(name))
    const stored: StoredImage = {
      contentDigest: digest,
      files: [],
      base: undefined,
      annotations: {},
      children,
    }
    this.getRepository(repository).images.set(digest, stored)
    this.getRepository(repository).tags.set(tag, digest)
    return digest
  }
}

export function computeDigest(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}

function splitImageReference(reference: string): [repository: string, name: string] {
  const at = reference.indexOf('@')
  if (at >= 0) return [reference.slice(0, at), reference.slice(at + 1)]
  const colon = reference.lastIndexOf(':')
  return [reference.slice(0, colon), reference.slice(colon + 1)]
}
