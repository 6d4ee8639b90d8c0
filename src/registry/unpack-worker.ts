// The thread in which archives of strangers are unpacked: what they use up is taken from it, not from the process.
import { parentPort, workerData } from 'node:worker_threads'
import { RegistryError } from './registry-error.ts'
import { unpackLayers, type PackedLayer, type UnpackLimits } from './unpack-layers.ts'

export interface UnpackOrder {
  readonly layers: readonly PackedLayer[]
  readonly directories: readonly string[]
  readonly limits: UnpackLimits
}

export type UnpackResult =
  | { readonly files: ReadonlyMap<string, Uint8Array> }
  | { readonly code: 'unsupported' | 'digest-mismatch' | 'unknown'; readonly message: string }

async function work({ layers, directories, limits }: UnpackOrder): Promise<UnpackResult> {
  try {
    return { files: await unpackLayers(layers, directories, limits) }
  } catch (error) {
    if (error instanceof RegistryError && (error.code === 'unsupported' || error.code === 'digest-mismatch'))
      return { code: error.code, message: error.message }
    return { code: 'unknown', message: String(error) }
  }
}

if (parentPort) parentPort.postMessage(await work(workerData as UnpackOrder))
