import type { Json } from '../go/json/json.ts'
import { at, listOf, textOf } from './fields.ts'
import type { ManifestObject } from './registry-bundle.ts'

/** The first that is present counts. */
export const exampleAnnotations = ['alm-examples', 'olm.examples'] as const

export interface Examples {
  readonly annotation: string
  /** `group/version Kind`; empty if the annotation is missing or unreadable. */
  readonly examples: readonly string[]
  /** `group/version Kind` of each owned CRD and API service. */
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
    // Another rule reports items that aren't objects.
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
    // Another rule reports this.
    return undefined
  }
}
