// Supplies templates with rendered bundles by reference. Callers pull the images.
import { readFile } from '../load/read-file.ts'
import { jsonLines } from '../write/write-json.ts'
import type { ReadResult, WritableBundle } from '../write/writable.ts'
import type { RenderedBundle } from './csv-of-bundle.ts'

export type { RenderedBundle }

/** Usually one bundle; several if the reference is a catalog. The error is shown as is. */
export type BundleSource = (reference: string) => ReadResult<readonly RenderedBundle[]>

export interface PropertyError {
  readonly index: number
  readonly type: string
  readonly error: string
}

/** The properties that opm can't decode. */
export function propertyErrors(blob: WritableBundle): readonly PropertyError[] {
  const catalog = { packages: [], channels: [], bundles: [blob], deprecations: [], others: [] }
  const { bundles } = readFile(new TextEncoder().encode(jsonLines(catalog)))
  return (bundles[0]?.properties ?? []).flatMap(({ type, error }, index) =>
    error === undefined ? [] : [{ index, type, error }],
  )
}
