// Supplies templates with rendered bundles by reference. Callers pull the images.
import { parseCatalogFile } from '../load/parse-catalog-file.ts'
import { formatCatalogAsJsonLines } from '../write/format-json.ts'
import type { CatalogReadResult, WritableBundle } from '../write/writable-catalog.ts'
import type { RenderedBundle } from './rendered-bundle.ts'

export type { RenderedBundle }

/** Usually one bundle, or several if the reference is a catalog. The error is shown as is. */
export type RenderedBundleLookup = (reference: string) => CatalogReadResult<readonly RenderedBundle[]>

export interface BundlePropertyError {
  readonly index: number
  readonly type: string
  readonly error: string
}

/** The properties that opm can't decode. */
export function findPropertyErrors(blob: WritableBundle): readonly BundlePropertyError[] {
  const catalog = { packages: [], channels: [], bundles: [blob], deprecations: [], others: [] }
  const { bundles } = parseCatalogFile(new TextEncoder().encode(formatCatalogAsJsonLines(catalog)))
  return (bundles[0]?.properties ?? []).flatMap(({ type, error }, index) =>
    error === undefined ? [] : [{ index, type, error }],
  )
}
