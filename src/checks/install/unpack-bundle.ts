// The ConfigMap that OLM v0's unpacker creates from a bundle. (operator-registry: pkg/configmap; OLM:
// pkg/controller/bundle.)
import { findFilesInDirectory, type BundleFiles } from '@catalog-bot/bundle/bundle-files'
import { readManifest } from '@catalog-bot/bundle/manifest-document'
import { getMapValue } from '@catalog-bot/fbc/go/tree'

export interface UnpackedBundleConfigMap {
  readonly keys: readonly string[]
  /** The size of the base64 data in bytes, as the unpacker counts it. */
  readonly bytes: number
  /** The largest files, in bytes after gzip. */
  readonly largest: readonly { readonly file: string; readonly bytes: number }[]
  /** The reasons why OLM cannot unpack the whole bundle. */
  readonly problems: readonly string[]
  readonly open: readonly string[]
}

/** In bytes. The limit of the unpacker, and of the API server for one ConfigMap. */
const maxConfigMapBytes = 1_048_576
/** The size of Go's gzip output differs slightly from that of Node.js. */
const gzipSizeMarginRatio = 0.02
const bundleAnnotationsPath = 'metadata/annotations.yaml'

/**
 * The name of the ConfigMap, the Job, and other unpacking objects. OLM hashes the reference string, so a tag and a
 * digest result in different names.
 */
export function computeUnpackConfigMapName(reference: string, sha256: (text: string) => string): string {
  return sha256(reference).slice(0, 63)
}

/** `packedSize` returns the bytes of a file after gzip. */
export function unpackBundle(
  files: BundleFiles,
  packedSize: (bytes: Uint8Array) => number,
): UnpackedBundleConfigMap {
  const problems: string[] = []
  for (const path of files.keys())
    if (/^(?:manifests|metadata)\/.+\//.test(path))
      problems.push(`${path} is in a subdirectory, which OLM's unpacker ignores`)
  const payload = ['manifests', 'metadata']
    .flatMap((directory) => findFilesInDirectory(files, directory, { hidden: true }))
    .filter(([file]) => file !== bundleAnnotationsPath)
  const byKey = new Map<string, string>()
  for (const [file] of payload) {
    const key = file.slice(file.indexOf('/') + 1).replace(/[^-._a-zA-Z0-9]/g, '-')
    const other = byKey.get(key)
    if (other !== undefined)
      problems.push(`${other} and ${file} have the same ConfigMap key, "${key}", so one overwrites the other`)
    byKey.set(key, file)
  }
  if (!files.has(bundleAnnotationsPath)) problems.push(`${bundleAnnotationsPath} isn't found`)
  const objects = payload.filter(
    ([file, bytes]) => file.startsWith('manifests/') && isKubernetesObject(bytes),
  )
  if (objects.length === 0)
    problems.push('manifests/ contains no Kubernetes object, so OLM would wait forever')
  const sizes = payload
    .map(([file, bytes]) => ({ file, bytes: 4 * Math.ceil(packedSize(bytes) / 3) }))
    .sort((a, b) => b.bytes - a.bytes)
  const bytes = sizes.reduce((sum, size) => sum + size.bytes, 0)
  const isClose = Math.abs(bytes - maxConfigMapBytes) <= maxConfigMapBytes * gzipSizeMarginRatio
  if (bytes > maxConfigMapBytes && !isClose)
    problems.push(
      `its compressed size is ${bytes} bytes, which exceeds the ConfigMap limit of ${maxConfigMapBytes}`,
    )
  return {
    keys: [...byKey.keys()],
    bytes,
    largest: sizes.slice(0, 5),
    problems,
    open: isClose
      ? [
          `its compressed size is about ${bytes} bytes, which is so close to the ConfigMap limit of ${maxConfigMapBytes} that it might not fit.`,
        ]
      : [],
  }
}

function isKubernetesObject(bytes: Uint8Array): boolean {
  const document = readManifest(bytes)
  if (document.kind !== 'value') return false
  const kind = getMapValue(document.value, 'kind')
  return kind?.kind === 'string' && kind.value !== ''
}
