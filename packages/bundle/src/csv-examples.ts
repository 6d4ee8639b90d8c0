import type { Json } from '@catalog-bot/fbc/go/json/json'
import { getField, asList, asString } from './fields.ts'
import type { ManifestObject } from './registry-bundle.ts'

/** The first one that is set takes precedence. */
export const exampleAnnotationKeys = ['alm-examples', 'olm.examples'] as const

export interface CsvExamples {
  readonly annotation: string
  /** `group/version Kind`; empty if the annotation is missing or unreadable. */
  readonly examples: readonly string[]
  /** `group/version Kind` of each owned CRD and API service. */
  readonly provided: readonly string[]
}

export function parseCsvExamples({ data }: ManifestObject): CsvExamples {
  const annotation =
    exampleAnnotationKeys.find((name) => getField(data, 'metadata', 'annotations', name) !== undefined) ??
    'alm-examples'
  const list = tryParseJson(asString(getField(data, 'metadata', 'annotations', annotation)))
  const crds = asList(getField(data, 'spec', 'customresourcedefinitions', 'owned')).map((entry) => {
    const name = asString(getField(entry, 'name'))
    return formatApiKey(`${name.slice(name.indexOf('.') + 1)}/${asString(getField(entry, 'version'))}`, entry)
  })
  const services = asList(getField(data, 'spec', 'apiservicedefinitions', 'owned')).map((entry) =>
    formatApiKey(`${asString(getField(entry, 'group'))}/${asString(getField(entry, 'version'))}`, entry),
  )
  return {
    annotation,
    // `broken-examples` reports items that aren't objects.
    examples: asList(list)
      .filter((example) => asString(getField(example, 'kind')) !== '')
      .map((example) => formatApiKey(asString(getField(example, 'apiVersion')), example)),
    provided: [...crds, ...services],
  }
}

function formatApiKey(apiVersion: string, entry: Json): string {
  return `${apiVersion} ${asString(getField(entry, 'kind'))}`
}

function tryParseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    // Another rule reports this.
    return undefined
  }
}
