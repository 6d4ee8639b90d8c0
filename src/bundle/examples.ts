// The example objects of a ClusterServiceVersion beside the APIs that it provides.
import type { Json } from '../go/json/json.ts'
import { at, listOf, textOf } from './fields.ts'
import type { ManifestObject } from './registry-bundle.ts'

/** The annotations that hold examples; of both the first counts. */
export const exampleAnnotations = ['alm-examples', 'olm.examples'] as const

export interface Examples {
  readonly annotation: string
  /** `group/version Kind` of each example; none where the annotation is missing or unreadable. */
  readonly examples: readonly string[]
  /** The same of each owned CRD and API service. */
  readonly provided: readonly string[]
}

export function examplesOf({ data }: ManifestObject): Examples {
  const annotation =
    exampleAnnotations.find((name) => at(data, 'metadata', 'annotations', name) !== undefined) ??
    'alm-examples'
  const list = parsed(textOf(at(data, 'metadata', 'annotations', annotation)))
  const crds = listOf(at(data, 'spec', 'customresourcedefinitions', 'owned')).map((entry) => {
    const name = textOf(at(entry, 'name'))
    return api(`${name.slice(name.indexOf('.') + 1)}/${textOf(at(entry, 'version'))}`, entry)
  })
  const services = listOf(at(data, 'spec', 'apiservicedefinitions', 'owned')).map((entry) =>
    api(`${textOf(at(entry, 'group'))}/${textOf(at(entry, 'version'))}`, entry),
  )
  return {
    annotation,
    // What is no object is told by a rule of its own.
    examples: listOf(list)
      .filter((example) => textOf(at(example, 'kind')) !== '')
      .map((example) => api(textOf(at(example, 'apiVersion')), example)),
    provided: [...crds, ...services],
  }
}

function api(apiVersion: string, entry: Json): string {
  return `${apiVersion} ${textOf(at(entry, 'kind'))}`
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    // A rule of its own says so.
    return undefined
  }
}
