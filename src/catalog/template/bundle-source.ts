// Where templates get their bundles from: already rendered, by the reference that the template gives. Pulling images
// is another floor's work; here a bundle is there or it is not.
import type { Json } from '../catalog.ts'
import { fieldValues } from '../json-fields.ts'
import type { ReadResult, WritableBundle } from '../write/writable.ts'

export interface RenderedBundle {
  /** The `olm.bundle` blob as opm renders it from the image. */
  readonly blob: WritableBundle
  /** Its ClusterServiceVersion; without it the one among its `olm.bundle.object` properties counts. */
  readonly csv?: Json
}

/** The bundles behind a reference: one, unless it leads to a catalog. The error is shown as it stands. */
export type BundleSource = (reference: string) => ReadResult<readonly RenderedBundle[]>

/** A bundle's ClusterServiceVersion, where the blob carries it whole. */
export function csvOf({ blob, csv }: RenderedBundle): Json | undefined {
  if (csv !== undefined) return csv
  for (const { type, value } of blob.properties ?? []) {
    if (type !== 'olm.bundle.object') continue
    const object = parsed(fieldValues(value, 'data').at(-1))
    if (object !== undefined && fieldValues(object, 'kind').at(-1) === 'ClusterServiceVersion') return object
  }
  return undefined
}

/** A field below a JSON value, following `path`; undefined where there is none. */
export function below(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let found = value
  for (const name of path) found = found === undefined ? undefined : fieldValues(found, name).at(-1)
  return found
}

function parsed(data: Json | undefined): Json | undefined {
  if (typeof data !== 'string') return undefined
  try {
    const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0))
    return JSON.parse(new TextDecoder().decode(bytes)) as Json
  } catch {
    // opm keeps manifests that it cannot read as they are.
    return undefined
  }
}
