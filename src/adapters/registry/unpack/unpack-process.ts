// Unpacks untrusted archives in a separate process, so that they cannot exhaust the main process.
import { saveCompileCache, serveWorkerRequests } from '../../workers/answer-orders.ts'
import type { BundleReadResultWithInstallAnalysis } from './read-bundle-files.ts'
import { RegistryError } from '../registry-error.ts'
import { unpackLayers, type CompressedLayer, type UnpackLimits } from './unpack-layers.ts'

export interface UnpackRequest {
  readonly layers: readonly CompressedLayer[]
  readonly directories: readonly string[]
  readonly limits: UnpackLimits
  /** The image's labels, if the caller requests findings instead of files. */
  readonly labels?: Readonly<Record<string, string>>
}

export type UnpackResult =
  | { readonly files: ReadonlyMap<string, Uint8Array> }
  | { readonly reading: BundleReadResultWithInstallAnalysis }
  | { readonly code: 'unsupported' | 'digest-mismatch'; readonly message: string }

let areReadersCompiled = false

async function handleUnpackRequest(request: UnpackRequest): Promise<UnpackResult> {
  const { layers, directories, limits, labels } = request
  try {
    if (labels === undefined) return { files: await unpackLayers(layers, directories, limits) }
    // Loads the bundle readers only if needed. The first order saves their compiled code before it reads the archive.
    const { findHelmChartDirectories: chartDirectories, readBundleFiles } =
      await import('./read-bundle-files.ts')
    if (!areReadersCompiled) saveCompileCache()
    areReadersCompiled = true
    const files = await unpackLayers(layers, directories, limits, chartDirectories)
    return { reading: readBundleFiles(files, labels) }
  } catch (error) {
    if (error instanceof RegistryError && (error.code === 'unsupported' || error.code === 'digest-mismatch'))
      return { code: error.code, message: error.message }
    throw error
  }
}

serveWorkerRequests(handleUnpackRequest)
