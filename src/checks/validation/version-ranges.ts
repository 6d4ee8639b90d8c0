import type { Location } from '@catalog-bot/findings/finding'
import { toFindingLocation } from './catalog-rule.ts'
import type { CatalogView } from './view/catalog-view.ts'
import { listPackageRequirements } from './requirements.ts'

export interface LocatedVersionRange {
  readonly at: Location
  readonly about: readonly string[]
  readonly range: string
  readonly from: 'skipRange' | 'versionRange'
}

/** Ranges of channel entries and of required packages; skips empty ones. */
export function* listVersionRanges(catalog: CatalogView): Generator<LocatedVersionRange> {
  for (const its of catalog.packages) {
    for (const { blob } of its.channels) {
      for (const { name, mark, skipRange } of blob.entries)
        if (skipRange !== '')
          yield {
            at: toFindingLocation(blob.place, mark),
            about: [its.name, blob.name, name],
            range: skipRange,
            from: 'skipRange',
          }
    }
  }
  for (const { in: its, by, at, packageName, versionRange } of listPackageRequirements(catalog))
    if (versionRange !== '')
      yield { at, about: [its.name, by.blob.name, packageName], range: versionRange, from: 'versionRange' }
}
