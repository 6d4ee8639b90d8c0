import type { BlobPlace } from '../facts/catalog.ts'
import type { Mark } from '../../go/mark.ts'
import type { Location } from '../../findings/finding.ts'

export function locationOf(place: BlobPlace, mark: Mark = place): Location {
  return { file: place.file, line: mark.line, column: mark.column }
}

export function firstOne(place: BlobPlace): { at: Location; note: string } {
  return { at: locationOf(place), note: 'the first one' }
}
