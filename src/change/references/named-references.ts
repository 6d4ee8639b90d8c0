import type { NewReference } from '../change.ts'
import { readReferenceList } from './reference-list.ts'

/** A reference where it stands, new or not. */
export type NamedReference = NewReference

/** Empty when the file isn't a composite list. */
export function* referencesOfList(path: string, bytes: Uint8Array): Generator<NamedReference> {
  for (const { name, image, imageMark } of readReferenceList(bytes)?.references ?? [])
    yield { reference: image, at: { file: path, ...imageMark }, package: name, bundle: name, role: 'listed' }
}
