// The interface for building, pushing, and reading catalog images without a container engine, with its errors and the
// rows for a catalog's bundles. Tests can substitute a publisher.
import type { Catalog } from '@catalog-bot/fbc/facts/catalog'
import { getJsonStringField } from '@catalog-bot/fbc/go/json/json'
import type { RegistryClient } from '../registry/registry-client.ts'
import type { BlobPushOutcome, BlobToPush, ManifestToPush, ImagePusher } from './open-pusher.ts'

export type ImageErrorCode =
  /** opm cannot load the catalog. The message is opm's. */
  | 'invalid-catalog'
  /** opm loads the catalog but cannot create its cache. */
  | 'no-cache'
  /** The base cannot hold a catalog. */
  | 'base'
  /** The image to rebase or read is not a supported catalog image. */
  | 'not-a-catalog'
  /** The order has a bad platform, path or label. */
  | 'order'
  /** The tag has changed since the caller read it. */
  | 'tag-moved'
  /** The signing key cannot be used. */
  | 'key'

/** Problems with a catalog, a base image, or a target. Registry failures are RegistryErrors. */
export class ImageError extends Error {
  override readonly name = 'ImageError'
  readonly code: ImageErrorCode
  /** Only a moved tag or a key problem can be resolved by retrying. */
  readonly retryable: boolean

  constructor(code: ImageErrorCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
    this.retryable = code === 'tag-moved' || code === 'key'
  }
}

export interface CatalogImageFile {
  /** Relative to the catalog's directory, with `/` as separator. */
  readonly path: string
  readonly bytes: Uint8Array
}

/** Describes an image. Builds are reproducible, so the same order produces the same image. */
export interface CatalogImageSpec {
  readonly files: readonly CatalogImageFile[]
  /**
   * The image with `opm`, by tag or digest, or `scratch`. With `scratch`, the image has no opm, and the CatalogSource
   * must set `grpcPodConfig.extractContent`.
   */
  readonly base: string
  /** Default true: includes the cache, so that `opm serve` starts at once. False: opm builds it at each start. */
  readonly cache?: boolean
  /** Default `gzip`. `none` produces the same bytes with any Node.js version and requires the OCI format. */
  readonly compression?: 'gzip' | 'none'
  /** Default `oci`. `docker` is for older registries and clients and does not support annotations. */
  readonly format?: 'oci' | 'docker'
  /** Additional to the catalog location label. Labels change the image's content. */
  readonly labels?: Readonly<Record<string, string>>
  /**
   * The image's origin (`org.opencontainers.image.source`, `.revision`), on each image and the index, with the base's.
   * An image that differs only in annotations counts as unchanged.
   */
  readonly annotations?: Readonly<Record<string, string>>
  /** `linux/amd64`, `linux/arm64/v8`. Default: all platforms of the base. For `scratch`, the four that OLM supports. */
  readonly platforms?: readonly string[]
  /** RFC 3339. Default 1970-01-01T00:00:00Z, because the current time would change the image at each build. */
  readonly created?: string
}

/** In memory, except for the base's layers, which are fetched if the target lacks them. */
export interface BuiltCatalogImage {
  readonly digest: string
  readonly mediaType: string
  /**
   * Identifies platforms, configs (and so uncompressed layers) and layer types, regardless of compression. Images with
   * the same one are equivalent.
   */
  readonly contentDigest: string
  readonly platforms: readonly string[]
  readonly base?: { readonly name: string; readonly digest: string }
  readonly layer: CatalogLayerSummary
  /** Images first. The index, if there is one, is last. */
  readonly manifests: readonly [...ManifestToPush[], ManifestToPush]
  readonly blobs: readonly BlobToPush[]
}

export interface CatalogLayerSummary {
  readonly digest: string
  readonly diffId: string
  /** Compressed bytes. */
  readonly size: number
  readonly uncompressed: number
  /** 16 hexadecimal digits, as computed by opm. Absent without a cache or for a reused layer. */
  readonly cacheDigest?: string
  /** Absent for a reused layer. */
  readonly packages?: readonly string[]
  readonly bundles?: number
  /** For the SBOM. Absent for a reused layer. */
  readonly listed?: readonly CatalogBundleSummary[]
}

export interface ImagePublishTarget {
  /** `quay.io/org/catalog`, without tag or digest. */
  readonly repository: string
  readonly tags: readonly string[]
  /**
   * The last known digest of each tag; undefined if the tag did not exist. Does not overwrite a tag that has changed
   * since then. Always sets tags that are missing here.
   */
  readonly expected?: Readonly<Record<string, string | undefined>>
  /** Default false. True pushes even if every tag has the same content. */
  readonly evenIfUnchanged?: boolean
  /** Default false. True reports what would change without writing. */
  readonly dryRun?: boolean
}

export interface ImagePublishResult {
  /** The digest of the tags now: the existing image's if unchanged. */
  readonly digest: string
  readonly mediaType: string
  readonly contentDigest: string
  /** True if every tag had the same content and nothing was written. */
  readonly unchanged: boolean
  readonly tags: readonly ImageTagUpdate[]
  /** Counts; all 0 if nothing was pushed. */
  readonly blobs: Readonly<Record<BlobPushOutcome, number>>
  /** Absent if the image was known to be unchanged before building. */
  readonly image?: BuiltCatalogImage
}

export interface ImageTagUpdate {
  readonly tag: string
  /** The digest that the tag held before; undefined for a new tag. */
  readonly before: string | undefined
  /** The digest now, or the planned one with `dryRun`. */
  readonly after: string
}

export interface ImageRebaseRequest {
  readonly image: string
  readonly base: string
  /** Labels of the original build. Default: those in the image's config but not its old base's, which must exist. */
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly platforms?: readonly string[]
}

export interface PublishedCatalogImage {
  /** The digest of the referenced manifest, which may be an index. */
  readonly digest: string
  readonly mediaType: string
  readonly contentDigest: string
  readonly platforms: readonly string[]
  readonly labels: Readonly<Record<string, string>>
  /** The annotations of the top document. Empty for Docker images. */
  readonly annotations: Readonly<Record<string, string>>
  /** Paths are below the catalog's directory, in opm's order. */
  readonly files: readonly CatalogImageFile[]
}

/** The result of comparing a published image with the expected files. */
export interface CatalogImageComparison {
  readonly digest: string
  readonly contentDigest: string
  /** True if every platform has the same paths and bytes, and the cache (if any) matches. */
  readonly isSame: boolean
  /** At most a hundred, sorted by path. */
  readonly differences: readonly {
    readonly path: string
    readonly kind: 'missing' | 'unexpected' | 'different'
  }[]
  /** Problems other than file differences, such as a stale cache or a platform with another catalog. */
  readonly problems: readonly string[]
}

/**
 * All methods reject with an ImageError for a bad catalog, base or target, and with a RegistryError for a registry
 * failure (`retryable` says whether a retry may help).
 */
export interface CatalogPublisher {
  /** Builds without pushing. Fetches the base's manifests and configs. */
  build(order: CatalogImageSpec): Promise<BuiltCatalogImage>
  /** Builds unless known to be published, then pushes what differs, tags last. Safe to repeat, even after a crash. */
  publish(order: CatalogImageSpec, target: ImagePublishTarget): Promise<ImagePublishResult>
  push(image: BuiltCatalogImage, target: ImagePublishTarget): Promise<ImagePublishResult>
  /** Produces the same image as a build on that base, without reading the catalog. */
  rebase(order: ImageRebaseRequest): Promise<BuiltCatalogImage>
  /** Pulls a catalog image and unpacks it in a separate process. Rejects as `not-a-catalog` for any other image. */
  read(reference: string): Promise<PublishedCatalogImage>
  /** Compares the image's catalog with these files on all platforms. */
  verify(reference: string, files: readonly CatalogImageFile[]): Promise<CatalogImageComparison>
  digestOf(reference: string): Promise<string | undefined>
  retag(image: string, target: ImagePublishTarget): Promise<ImagePublishResult>
  /** All tags of a repository in byte order. Empty if the repository does not exist. */
  listTags(repository: string): Promise<readonly string[]>
  /**
   * Deletes a manifest and all of its tags. False if it does not exist. Rejects with a RegistryError `unsupported` if
   * the registry does not support deletion.
   */
  deleteManifest(repository: string, digest: string): Promise<boolean>
  /**
   * Pushes a manifest with a `subject` and its blobs. For registries without the referrers API, updates the index tag
   * `sha256-<hex>`, as the OCI specification requires.
   */
  attach(attachment: ImageAttachment): Promise<{ readonly digest: string }>
  /** The attachments from the registry's referrers list, or from the index tag. */
  attached(repository: string, digest: string): Promise<readonly AttachedManifest[]>
  listBundles(files: readonly CatalogImageFile[]): Promise<readonly CatalogBundleSummary[]>
  close(): Promise<void>
}

/** For `new RegistryCatalogPublisher()`. These credentials belong to the publishing process. */
export interface CatalogPublisherOptions {
  readonly registry: RegistryClient
  /**
   * Reads published images with the push credentials. Must not use mirrors, which may lag. Default: `registry`, if it
   * has no mirrors.
   */
  readonly published?: RegistryClient
  readonly pusher: ImagePusher
  /** Caches the content of each order to skip unchanged builds. Default: no cache. */
  readonly buildCache?: ImageBuildCache
  /**
   * Where catalogs are read and packed. Default `worker`: a separate process without secrets and with limits. `here`
   * avoids starting a process and is only for trusted catalogs.
   */
  readonly packsIn?: 'worker' | 'here'
}

export interface ImageBuildCache {
  get(key: string): Promise<string | undefined>
  set(key: string, value: string): Promise<void>
}

export interface ImageAttachment {
  readonly repository: string
  /** An OCI image manifest whose `subject` is the image that it belongs to. */
  readonly manifest: ManifestToPush
  readonly blobs: readonly BlobToPush[]
  /** Extra tags, if a tool needs them (`sha256-<hex>.sig`). Default none. */
  readonly tags?: readonly string[]
}

export interface AttachedManifest {
  readonly digest: string
  /** Empty if unspecified. */
  readonly artifactType: string
}

/** A catalog's bundles as plain rows that can be passed between processes. */
export interface CatalogBundleSummary {
  readonly package: string
  readonly name: string
  /** Empty if the bundle declares no version. */
  readonly version: string
  /** Empty if the bundle has no image. */
  readonly image: string
  readonly relatedImages: readonly string[]
}

export function listCatalogBundles({ bundles }: Pick<Catalog, 'bundles'>): readonly CatalogBundleSummary[] {
  return bundles.map((bundle) => ({
    package: bundle.package,
    name: bundle.name,
    version: getBundleVersion(bundle),
    image: bundle.image,
    relatedImages: bundle.relatedImages.map((related) => related.image),
  }))
}

function getBundleVersion(bundle: Catalog['bundles'][number]): string {
  const identity = bundle.properties.find(({ type }) => type === 'olm.package')
  return identity ? getJsonStringField(identity.value, 'version') : ''
}
