// The image references of a composite list, with their places. Those of a catalog are catalog-references.ts's; what a
// change names for the first time is new-references.ts's.
import type { NewReference } from '../change.ts'
import { readReferenceList } from './reference-list.ts'

/** A reference where it stands, new or not. */
export type NamedReference = NewReference

/** The entries of a composite list; none when the file is no such list. */
export function* referencesOfList(path: string, bytes: Uint8Array): Generator<NamedReference> {
  for (const { name, image, imageMark } of readReferenceList(bytes)?.references ?? [])
    yield { reference: image, at: { file: path, ...imageMark }, package: name, bundle: name, role: 'listed' }
}
