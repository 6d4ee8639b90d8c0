// Creates image content in memory: layers, configurations, manifests, and indexes. The same input gives the same
// bytes.
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { getTarEndMarker, joinByteChunks, packTarTree } from '@catalog-bot/fbc/go/tar/tar-tree'

export const manifestMediaTypes = {
  ociIndex: 'application/vnd.oci.image.index.v1+json',
  ociManifest: 'application/vnd.oci.image.manifest.v1+json',
  dockerList: 'application/vnd.docker.distribution.manifest.list.v2+json',
  dockerManifest: 'application/vnd.docker.distribution.manifest.v2+json',
} as const
export type MediaType = (typeof manifestMediaTypes)[keyof typeof manifestMediaTypes]

export interface MockImageSpec {
  readonly labels?: Readonly<Record<string, string>>
  /** One layer with these files. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>
  /** `os/architecture`. With more than one platform, or with `index: true`, the image is an index. */
  readonly platforms?: readonly string[]
  readonly index?: boolean
  readonly format?: 'oci' | 'docker'
}

export interface StoredManifest {
  readonly digest: string
  readonly mediaType: string
  readonly bytes: Buffer
}

export interface BuiltImage {
  readonly top: StoredManifest
  /** The manifests in an index. */
  readonly manifests: readonly StoredManifest[]
  readonly blobs: readonly StoredManifest[]
}

export function computeBytesDigest(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}

export function buildImage({
  labels = {},
  files = {},
  platforms = ['linux/amd64'],
  index,
  format = 'oci',
}: MockImageSpec): BuiltImage {
  const oci = format === 'oci'
  const createObject = (mediaType: string, bytes: Buffer): StoredManifest => ({
    digest: computeBytesDigest(bytes),
    mediaType,
    bytes,
  })
  const createJsonObject = (mediaType: string, value: unknown): StoredManifest =>
    createObject(mediaType, Buffer.from(JSON.stringify(value)))
  const descriptor = ({ digest, mediaType, bytes }: StoredManifest): object => ({
    mediaType,
    digest,
    size: bytes.length,
  })
  const tar = buildTar(files)
  const layer = createObject(
    oci ? 'application/vnd.oci.image.layer.v1.tar+gzip' : 'application/vnd.docker.image.rootfs.diff.tar.gzip',
    gzipSync(tar),
  )
  const images = platforms.map((platform) => {
    const [os = 'linux', architecture = 'amd64', variant] = platform.split('/')
    const config = createJsonObject(
      oci ? 'application/vnd.oci.image.config.v1+json' : 'application/vnd.docker.container.image.v1+json',
      {
        created: '1970-01-01T00:00:00Z',
        os,
        architecture,
        ...(variant === undefined ? {} : { variant }),
        config: { Labels: labels },
        rootfs: { type: 'layers', diff_ids: [computeBytesDigest(tar)] },
        history: [{ created: '1970-01-01T00:00:00Z', created_by: 'sandbox' }],
      },
    )
    const mediaType = oci ? manifestMediaTypes.ociManifest : manifestMediaTypes.dockerManifest
    const body = { schemaVersion: 2, mediaType, config: descriptor(config), layers: [descriptor(layer)] }
    const platformOf = { os, architecture, ...(variant === undefined ? {} : { variant }) }
    return { config, manifest: createJsonObject(mediaType, body), platform: platformOf }
  })
  const [first] = images
  if (first === undefined) throw new Error('an image needs a platform')
  const blobs = [layer, ...images.map((it) => it.config)]
  if (images.length === 1 && index !== true) return { top: first.manifest, manifests: [], blobs }
  const mediaType = oci ? manifestMediaTypes.ociIndex : manifestMediaTypes.dockerList
  const manifests = images.map(({ manifest, platform }) => ({ ...descriptor(manifest), platform }))
  const top = createJsonObject(mediaType, { schemaVersion: 2, mediaType, manifests })
  return { top, manifests: images.map((it) => it.manifest), blobs }
}

/** An archive of plain files, sorted by path, without directories, times, and owners. */
function buildTar(files: Readonly<Record<string, string | Uint8Array>>): Uint8Array {
  const tree = Object.entries(files).map(([path, content]) => ({ path, pieces: [Buffer.from(content)] }))
  const members = packTarTree(tree, { directory: 0o755, file: 0o644 }, (path, kind) =>
    kind === 'file' ? path : undefined,
  )
  return joinByteChunks([...members, getTarEndMarker()])
}
