import type { NewImageReference } from '../change.ts'
import { parseCompositeImageList } from './reference-list.ts'

/** A reference with its location, whether it is new or not. */
export type LocatedImageReference = NewImageReference

/** Returns an empty list if the file isn't a composite list. */
export function* parseCompositeImageListReferences(
  path: string,
  bytes: Uint8Array,
): Generator<LocatedImageReference> {
  for (const { name, image, imageMark } of parseCompositeImageList(bytes)?.references ?? [])
    yield { reference: image, at: { file: path, ...imageMark }, package: name, bundle: name, role: 'listed' }
}
