// Writes an OCI image layout for other tools, such as skopeo, podman, or a signing machine.
import { mkdir, readFile, rename, rm, writeFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { comparePathsInWalkOrder } from '@catalog-bot/fbc/go/text'
import { type BuiltCatalogImage, ImageError, type CatalogImageFile } from './catalog-publisher.ts'
import { catalogDirectoryLabel, computeSha256Digest } from '../registry/manifest.ts'

interface DockerfileOptions {
  readonly directory: string
  readonly base: string
  readonly builder: string
  readonly labels: Readonly<Record<string, string>>
}

const opmDockerfileTemplate = `# The base image is expected to contain
# /bin/opm (with serve subcommand) and /bin/grpc_health_probe

# Configure the entrypoint and command
ENTRYPOINT ["/bin/opm"]
CMD ["serve", "/configs", "--cache-dir=/tmp/cache"]
`

const binarylessDockerfileTemplate = `# OLMv0 CatalogSources that use binary-less images must set:
# spec:
#   grpcPodConfig:
#     extractContent:
#       catalogDir: /configs
#       cacheDir: /tmp/cache
`

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
  const others = await readOciIndexEntriesToPreserve(folder, names)
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
async function readOciIndexEntriesToPreserve(
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

/**
 * The Dockerfile that `opm generate dockerfile` (v1.73) writes, for users who build with a container engine. Throws an
 * ImageError if the builder image is missing or invalid.
 */
export function renderDockerfile({ directory, base, builder, labels }: DockerfileOptions): string {
  if (builder === 'scratch') throw new ImageError('order', `invalid builder image: "${builder}"`)
  const custom = Object.entries(labels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `LABEL "${key}"="${value}"\n`)
  return `# The builder image is expected to contain
# /bin/opm (with serve subcommand)
FROM ${builder} as builder

# Copy FBC root into image at /configs and pre-populate serve cache
ADD ${directory} /configs
RUN ["/bin/opm", "serve", "/configs", "--cache-dir=/tmp/cache", "--cache-only"]

FROM ${base}
${base === 'scratch' ? binarylessDockerfileTemplate : opmDockerfileTemplate}
COPY --from=builder /configs /configs
COPY --from=builder /tmp/cache /tmp/cache

# Set FBC-specific label for the location of the FBC root directory
# in the image
LABEL ${catalogDirectoryLabel}=/configs
${custom.length === 0 ? '' : `\n# Set other custom labels\n${custom.join('')}`}`
}

/**
 * Reads every file of a catalog directory, including files that opm ignores. Rejects links, because the image would
 * contain the link instead of its target.
 */
export async function readCatalogFolder(folder: string): Promise<readonly CatalogImageFile[]> {
  const found = await stat(folder).catch(() => undefined)
  if (!found?.isDirectory()) throw new ImageError('order', `${folder} is not a directory`)
  const files: Promise<CatalogImageFile>[] = []
  const readFolder = async (below: string): Promise<void> => {
    for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`
      if (entry.isDirectory()) await readFolder(path)
      else if (entry.isFile()) files.push(readFile(join(folder, path)).then((bytes) => ({ path, bytes })))
      else
        throw new ImageError(
          'order',
          `${join(folder, path)} is ${entry.isSymbolicLink() ? 'a link' : 'a special file'}; a catalog image can contain only regular files`,
        )
    }
  }
  await readFolder('')
  return (await Promise.all(files)).sort((a, b) => comparePathsInWalkOrder(a.path, b.path))
}
