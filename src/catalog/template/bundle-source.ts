// Where templates get their bundles from: already rendered, by the reference that the template gives. Pulling images
// is another floor's work; here a bundle is there or it is not.
import { readFile } from '../load/read-file.ts'
import { jsonLines } from '../write/write-json.ts'
import type { ReadResult, WritableBundle } from '../write/writable.ts'
import type { RenderedBundle } from './csv-of-bundle.ts'

export type { RenderedBundle }

/** The bundles behind a reference: one, unless it leads to a catalog. The error is shown as it stands. */
export type BundleSource = (reference: string) => ReadResult<readonly RenderedBundle[]>

export interface PropertyError {
  readonly index: number
  readonly type: string
  /** Go's words. */
  readonly error: string
}

/** Which of a bundle's properties opm cannot decode. */
export function propertyErrors(blob: WritableBundle): readonly PropertyError[] {
  const catalog = { packages: [], channels: [], bundles: [blob], deprecations: [], others: [] }
  const { bundles } = readFile(new TextEncoder().encode(jsonLines(catalog)))
  return (bundles[0]?.properties ?? []).flatMap(({ type, error }, index) =>
    error === undefined ? [] : [{ index, type, error }],
  )
}
