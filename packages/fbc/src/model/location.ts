import type { BlobLocation } from '../facts/catalog.ts'
import type { TextPosition } from '../go/text-position.ts'
import type { Location } from '@catalog-bot/findings/finding'

export function toFindingLocation(location: BlobLocation, mark: TextPosition = location): Location {
  return { file: location.file, line: mark.line, column: mark.column }
}

export function createFirstDeclarationNote(location: BlobLocation): { at: Location; note: string } {
  return { at: toFindingLocation(location), note: 'the first one' }
}
