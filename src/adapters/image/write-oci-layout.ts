// Writes an OCI image layout for other tools, such as skopeo, podman, or a signing machine.
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BuiltCatalogImage } from './catalog-publisher.ts'
import { computeSha256Digest } from './image-documents.ts'
import { ImageError } from './image-error.ts'

/**
 * Writes the image with all blobs of its base, creates the folder if needed, and keeps existing images. `names` are
 * tags or full references (`org.opencontainers.image.ref.name`).
 */
export async function writeOciLayout(
  image: BuiltCatalogImage,
  folder: string,
  names: readonly string[],
): Promise<void> {
  const blobs = join(folder, 'blobs', 'sha256')
  const others = await readRetainedIndexEntries(folder, names)
  await mkdir(blobs, { recursive: true })
  const writeBlob = async (digest: string, bytes: Uint8Array) => {
    if (computeSha256Digest(bytes) !== digest)
      throw new Error(`the content of the blob ${digest} does not match its digest`)
    await writeFileAtomically(join(blobs, digest.replace('sha256:', '')), bytes)
  }
  for (const { digest, read } of image.blobs) await writeBlob(digest, await read())
  for (const { bytes } of image.manifests) await writeBlob(computeSha256Digest(bytes), bytes)
  const top = image.manifests.at(-1)
  const descriptor = { mediaType: image.mediaType, digest: image.digest, size: top?.bytes.length }
  const named = names.map((name) => ({
    ...descriptor,
    annotations: { 'org.opencontainers.image.ref.name': name },
  }))
  await writeFileAtomically(join(folder, 'oci-layout'), Buffer.from('{"imageLayoutVersion":"1.0.0"}'))
  const manifests = [...others, ...(named.length > 0 ? named : [descriptor])]
  await writeFileAtomically(
    join(folder, 'index.json'),
    Buffer.from(JSON.stringify({ schemaVersion: 2, manifests })),
  )
}

/** The index entries to keep. Rejects if the folder does not contain an OCI layout. */
async function readRetainedIndexEntries(
  folder: string,
  names: readonly string[],
): Promise<readonly unknown[]> {
  let text: string
  try {
    text = await readFile(join(folder, 'index.json'), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
  try {
    const { manifests } = JSON.parse(text) as {
      manifests: { annotations?: Readonly<Record<string, string>> }[]
    }
    return manifests.filter(({ annotations = {} }) => {
      const name = annotations['org.opencontainers.image.ref.name']
      return name !== undefined && !names.includes(name)
    })
  } catch (cause) {
    throw new ImageError('order', `the index.json in ${folder} does not belong to an OCI layout`, cause)
  }
}

/** Atomic, so that readers never see an incomplete file. */
async function writeFileAtomically(path: string, bytes: Uint8Array): Promise<void> {
  const beside = `${path}.${process.pid}.new`
  try {
    await writeFile(beside, bytes)
    await rename(beside, path)
  } finally {
    await rm(beside, { force: true })
  }
}
