// What the floor offers to those who publish catalogs: building an image without a container engine, putting it into a
// registry, and looking at what is there. Types alone, so that jobs and commands can be tested with a publisher of their own.
import type { AbortSignalLike } from '../ports/registry.ts'
import type { RegistryClient } from '../registry/registry-client.ts'
import type { ListedBundle } from './provenance/listed-bundles.ts'
import type { BlobOutcome, BlobToPush, ManifestToPush, Pusher } from './open-pusher.ts'

/** One file of a catalog: all that lies in its directory, ignored files and `.indexignore` too, as `ADD` copies it. */
export interface CatalogFile {
  /** Below the catalog's directory, `/` between components. */
  readonly path: string
  readonly bytes: Uint8Array
}

/** What an image is made of. The same order gives the same image, whoever builds it, wherever and whenever. */
export interface CatalogImageOrder {
  readonly files: readonly CatalogFile[]
  /**
   * The image with `opm` in it, by tag or digest; or `scratch`: no opm, and the CatalogSource has to set
   * `grpcPodConfig.extractContent`.
   */
  readonly base: string
  /** Default true: the cache is in the image, so `opm serve` starts at once. False: it builds its own at each start. */
  readonly cache?: boolean
  /** Default `gzip`. `none` gives the same bytes whatever Node it is built with; such images are always OCI's. */
  readonly compression?: 'gzip' | 'none'
  /** Default `oci`. `docker` for registries and clients that know nothing else; it has no annotations. */
  readonly format?: 'oci' | 'docker'
  /** Beside the one that says where the catalog lies. Part of what the image is: another label is another image. */
  readonly labels?: Readonly<Record<string, string>>
  /**
   * Where the image comes from (`org.opencontainers.image.source`, `.revision`): on each image and on the index. They
   * alone make no new image: one that differs in nothing else counts as unchanged. Those of the base are added.
   */
  readonly annotations?: Readonly<Record<string, string>>
  /** `linux/amd64`, `linux/arm64/v8`. Default: all of the base; for `scratch` the four that OLM runs on. */
  readonly platforms?: readonly string[]
  /** RFC 3339. Default 1970-01-01T00:00:00Z: a time of its own would make each build another image. */
  readonly created?: string
}

/** An image that is ready: in memory but for the base's layers, which are fetched where they are missing. */
export interface CatalogImage {
  /** Of the last manifest. */
  readonly digest: string
  readonly mediaType: string
  /**
   * What the image is, however its layer was compressed and wherever it came from: platforms, configs (and with them the
   * uncompressed layers), kinds of layers. Two images with the same one do the same.
   */
  readonly contentDigest: string
  /** `linux/amd64`, in the order of the base. */
  readonly platforms: readonly string[]
  /** Of the base; absent for `scratch`. */
  readonly base?: { readonly name: string; readonly digest: string }
  readonly layer: CatalogLayerSummary
  /** Images first, the index (where there is one) last. */
  readonly manifests: readonly [...ManifestToPush[], ManifestToPush]
  readonly blobs: readonly BlobToPush[]
}

/** The one layer that is added to the base. */
export interface CatalogLayerSummary {
  readonly digest: string
  /** Of the uncompressed archive. */
  readonly diffId: string
  /** Compressed bytes. */
  readonly size: number
  readonly uncompressed: number
  /** 16 hexadecimal digits, as opm computes them; absent without a cache, and for a layer that was not built here. */
  readonly cacheDigest?: string
  /** Absent for a layer that was not built here. */
  readonly packages?: readonly string[]
  readonly bundles?: number
  /** For the bill of images; absent for a layer that was not built here. */
  readonly listed?: readonly ListedBundle[]
}

/** Where an image goes. */
export interface Target {
  /** `quay.io/org/catalog`, without tag or digest. */
  readonly repository: string
  readonly tags: readonly string[]
  /**
   * What the caller last saw behind a tag (undefined: nothing). A tag that holds something else when it is to be set was
   * moved by somebody else, and is left alone. Tags that are missing here are set whatever they hold.
   */
  readonly expected?: Readonly<Record<string, string | undefined>>
  /** Default false. True pushes although every tag has the same content already. */
  readonly evenIfUnchanged?: boolean
  /** Default false. True asks what is there and says what would be done; nothing is written. */
  readonly dryRun?: boolean
}

export interface Published {
  /** What the tags hold now: the image that was there, where it is unchanged. */
  readonly digest: string
  readonly mediaType: string
  readonly contentDigest: string
  /** True: every tag held the same content already, and nothing was written. */
  readonly unchanged: boolean
  readonly tags: readonly TagOutcome[]
  /** Counts; all 0 where nothing was pushed. */
  readonly blobs: Readonly<Record<BlobOutcome, number>>
  /** The image that was built; absent where what is there was known to be the same before anything was built. */
  readonly image?: CatalogImage
}

export interface TagOutcome {
  readonly tag: string
  /** The digest that the tag held before; undefined for a new tag. */
  readonly before: string | undefined
  /** What it holds now, or would with `dryRun`. */
  readonly after: string
}

export interface RebaseOrder {
  /** The published image, by tag or digest. Its top layer stays as it is, to the byte. */
  readonly image: string
  readonly base: string
  /**
   * The labels that it was built with. Default: what its config says and the config of its old base does not, for which
   * the old base must still be there.
   */
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly platforms?: readonly string[]
}

/** A catalog image as it lies in a registry. */
export interface PublishedCatalog {
  /** Of what the reference names: the index, where it is one. */
  readonly digest: string
  readonly mediaType: string
  readonly contentDigest: string
  readonly platforms: readonly string[]
  readonly labels: Readonly<Record<string, string>>
  /** Of the top document; those of a Docker image are empty. */
  readonly annotations: Readonly<Record<string, string>>
  /** From the annotations; undefined where nobody wrote them. */
  readonly baseName: string | undefined
  readonly baseDigest: string | undefined
  /** The catalog's files, with their paths below its directory, sorted as opm walks them. */
  readonly files: readonly CatalogFile[]
}

/** What a published image holds, beside what it should hold. */
export interface ReadBack {
  readonly digest: string
  readonly contentDigest: string
  /** True: the same paths with the same bytes, on every platform, and the cache (where there is one) fits them. */
  readonly isSame: boolean
  /** At most a hundred, sorted by path. */
  readonly differences: readonly {
    readonly path: string
    readonly kind: 'missing' | 'unexpected' | 'different'
  }[]
  /** What is wrong beside files: a cache that opm would refuse, a platform with another catalog. */
  readonly problems: readonly string[]
}

/**
 * Builds, publishes and looks at catalog images. All methods reject with an ImageError for what is wrong with a catalog,
 * a base or a target, and with a RegistryError for what a registry does or fails to do (`retryable` says which may help).
 */
export interface CatalogPublisher {
  /** Builds only; asks the base's registry for its manifests and configs. */
  build(order: CatalogImageOrder, signal?: AbortSignalLike): Promise<CatalogImage>
  /**
   * Builds what is not known to be there already, and pushes what differs: layers, images by digest, the index, the tags
   * last. May be repeated at any time, also after it was killed half way.
   */
  publish(order: CatalogImageOrder, target: Target, signal?: AbortSignalLike): Promise<Published>
  /** Puts an image that was built (or rebased) into a registry; the same care. */
  push(image: CatalogImage, target: Target, signal?: AbortSignalLike): Promise<Published>
  /** The same catalog on another base, exactly as a build on that base would give it; no catalog is read for it. */
  rebase(order: RebaseOrder, signal?: AbortSignalLike): Promise<CatalogImage>
  /** Pulls a catalog image and unpacks it in a process of its own. Rejects as `not-a-catalog` for any other image. */
  read(reference: string, signal?: AbortSignalLike): Promise<PublishedCatalog>
  /** Reads an image back and compares its catalog with these files, on all platforms. */
  verify(reference: string, files: readonly CatalogFile[], signal?: AbortSignalLike): Promise<ReadBack>
  /** The digest behind a tag or digest, undefined where there is none. */
  digestOf(reference: string, signal?: AbortSignalLike): Promise<string | undefined>
  /** Gives an image that is in the repository (by digest or tag) further tags; no blob is touched. */
  retag(image: string, target: Target, signal?: AbortSignalLike): Promise<Published>
  /** All tags of a repository, sorted by bytes; none for a repository that is not there. */
  listTags(repository: string, signal?: AbortSignalLike): Promise<readonly string[]>
  /**
   * Deletes a manifest, and with it all of its tags. False where it was gone. Rejects with a RegistryError `unsupported`
   * where the registry does not delete.
   */
  deleteManifest(repository: string, digest: string, signal?: AbortSignalLike): Promise<boolean>
  /**
   * Puts a manifest with a `subject` (a list of contents, provenance, a signature) beside an image, with its blobs. For
   * registries without the referrers API the index behind the tag `sha256-<hex>` is kept, as OCI's specification says.
   */
  attach(attachment: Attachment, signal?: AbortSignalLike): Promise<{ readonly digest: string }>
  /** What lies beside an image: as the registry lists it, or the index behind the tag. */
  attached(repository: string, digest: string, signal?: AbortSignalLike): Promise<readonly Attached[]>
  /** The bundles of a catalog, read where catalogs are packed. */
  listBundles(files: readonly CatalogFile[]): Promise<readonly ListedBundle[]>
  close(): Promise<void>
}

/** What `openCatalogPublisher()` (open-catalog-publisher.ts) needs. Its credentials are those of the publishing process. */
export interface CatalogPublisherOptions {
  /** Reads bases. */
  readonly registry: RegistryClient
  /**
   * Reads what is published; those credentials do that push. It must ask no mirror, which may be late with a tag. Default:
   * `registry`, where that one has no mirrors.
   */
  readonly published?: RegistryClient
  readonly pusher: Pusher
  /** Remembers which order gave which content, so that what is unchanged is not built. Default: nothing is remembered. */
  readonly memory?: BuildMemory
  /**
   * Where catalogs are read and packed. Default `worker`: a process of its own without any secret, ended when it takes
   * too much. `here` saves its start, for people who build what is theirs.
   */
  readonly packsIn?: 'worker' | 'here'
}

/** Texts by texts, which may be lost at any time. */
export interface BuildMemory {
  get(key: string): Promise<string | undefined>
  set(key: string, value: string): Promise<void>
}

export interface Attachment {
  readonly repository: string
  /** An OCI image manifest whose `subject` is the image that it belongs to. */
  readonly manifest: ManifestToPush
  readonly blobs: readonly BlobToPush[]
  /** Tags of its own, where a tool wants them (`sha256-<hex>.sig`). Default none. */
  readonly tags?: readonly string[]
}

/** A manifest that lies beside an image. */
export interface Attached {
  readonly digest: string
  /** '' where nobody says it. */
  readonly artifactType: string
}
