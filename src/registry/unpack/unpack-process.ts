// Unpacks untrusted archives in a separate process, so that they cannot exhaust ours.
import { answerOrders } from '../../workers/answer-orders.ts'
import type { WholeReading } from './read-bundle-files.ts'
import { RegistryError } from '../registry-error.ts'
import { unpackLayers, type PackedLayer, type UnpackLimits } from './unpack-layers.ts'

export interface UnpackOrder {
  readonly layers: readonly PackedLayer[]
  readonly directories: readonly string[]
  readonly limits: UnpackLimits
  /** The image's labels, if findings are wanted instead of files. */
  readonly labels?: Readonly<Record<string, string>>
}

export type UnpackResult =
  | { readonly files: ReadonlyMap<string, Uint8Array> }
  | { readonly reading: WholeReading }
  | { readonly code: 'unsupported' | 'digest-mismatch'; readonly message: string }

async function work({ layers, directories, limits, labels }: UnpackOrder): Promise<UnpackResult> {
  try {
    if (labels === undefined) return { files: await unpackLayers(layers, directories, limits) }
    // Loads the bundle readers only if needed.
    const { chartDirectories, readBundleFiles } = await import('./read-bundle-files.ts')
    const files = await unpackLayers(layers, directories, limits, chartDirectories)
    return { reading: readBundleFiles(files, labels) }
  } catch (error) {
    if (error instanceof RegistryError && (error.code === 'unsupported' || error.code === 'digest-mismatch'))
      return { code: error.code, message: error.message }
    throw error
  }
}

answerOrders(work)
