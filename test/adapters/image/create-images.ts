// Small images in the form that the pusher accepts: blobs and manifests.
import { gzipSync } from 'node:zlib'
import { manifestMediaTypes } from '../../../src/adapters/registry/manifest.ts'
import type { BlobToPush, ManifestToPush } from '../../../src/adapters/image/open-pusher.ts'
import { computeSha256Digest } from '../registry/scripted-registry.ts'
import { createTarOfFiles } from '../registry/tar-writer.ts'

export interface PushableImage {
  readonly blobs: readonly BlobToPush[]
  readonly manifests: readonly [...ManifestToPush[], ManifestToPush]
}

export function createBlob(bytes: Uint8Array): BlobToPush {
  return { digest: computeSha256Digest(bytes), size: bytes.length, read: () => Promise.resolve(bytes) }
}

/** One image with one layer of the given files. */
export function createImage(
  files: Readonly<Record<string, string | Buffer>>,
  architecture = 'amd64',
): { readonly blobs: readonly BlobToPush[]; readonly manifests: readonly [ManifestToPush] } {
  const archive = createTarOfFiles(files)
  const layer = createBlob(gzipSync(archive))
  const document = {
    architecture,
    os: 'linux',
    rootfs: { type: 'layers', diff_ids: [computeSha256Digest(archive)] },
  }
  const config = createBlob(Buffer.from(JSON.stringify(document)))
  const descriptor = ({ digest, size }: BlobToPush, mediaType: string) => ({ mediaType, digest, size })
  const manifest = {
    schemaVersion: 2,
    mediaType: manifestMediaTypes.ociManifest,
    config: descriptor(config, 'application/vnd.oci.image.config.v1+json'),
    layers: [descriptor(layer, 'application/vnd.oci.image.layer.v1.tar+gzip')],
  }
  const bytes = Buffer.from(JSON.stringify(manifest))
  return { blobs: [config, layer], manifests: [{ mediaType: manifestMediaTypes.ociManifest, bytes }] }
}

/** An index over one image per architecture. */
export function createImageIndex(architectures: readonly string[]): PushableImage {
  const images = architectures.map((architecture) => ({
    architecture,
    ...createImage({ a: '1' }, architecture),
  }))
  const index = {
    schemaVersion: 2,
    mediaType: manifestMediaTypes.ociIndex,
    manifests: images.map(({ architecture, manifests: [{ mediaType, bytes }] }) => ({
      mediaType,
      digest: computeSha256Digest(bytes),
      size: bytes.length,
      platform: { os: 'linux', architecture },
    })),
  }
  return {
    blobs: images.flatMap(({ blobs }) => blobs),
    manifests: [
      ...images.flatMap(({ manifests }) => manifests),
      { mediaType: manifestMediaTypes.ociIndex, bytes: Buffer.from(JSON.stringify(index)) },
    ],
  }
}
