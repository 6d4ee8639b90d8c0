import type { CsvMetadata } from '@catalog-bot/fbc/facts/catalog'
import type { TextPosition } from '@catalog-bot/fbc/go/position-lookup'
import type { BundleView } from './catalog-view.ts'

/** Skips properties that do not decode, because opm rejects those. */
export function listCsvMetadata(
  bundle: BundleView,
): { readonly metadata: CsvMetadata; readonly mark: TextPosition }[] {
  return bundle
    .properties('olm.csv.metadata')
    .filter(
      ({ value, error }) =>
        error === undefined && typeof value === 'object' && value !== null && 'installModes' in value,
    )
    .map(({ value, mark }) => ({ metadata: value as unknown as CsvMetadata, mark }))
}
