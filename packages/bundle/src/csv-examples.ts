import type { Json } from '@catalog-bot/fbc/go/json/json'
import { getJsonFieldAtPath, asListOrEmpty, asStringOrEmpty } from './fields.ts'
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
    exampleAnnotationKeys.find(
      (name) => getJsonFieldAtPath(data, 'metadata', 'annotations', name) !== undefined,
    ) ?? 'alm-examples'
  const list = tryParseJson(asStringOrEmpty(getJsonFieldAtPath(data, 'metadata', 'annotations', annotation)))
  const crds = asListOrEmpty(getJsonFieldAtPath(data, 'spec', 'customresourcedefinitions', 'owned')).map(
    (entry) => {
      const name = asStringOrEmpty(getJsonFieldAtPath(entry, 'name'))
      return formatApiVersionAndKind(
        `${name.slice(name.indexOf('.') + 1)}/${asStringOrEmpty(getJsonFieldAtPath(entry, 'version'))}`,
        entry,
      )
    },
  )
  const services = asListOrEmpty(getJsonFieldAtPath(data, 'spec', 'apiservicedefinitions', 'owned')).map(
    (entry) =>
      formatApiVersionAndKind(
        `${asStringOrEmpty(getJsonFieldAtPath(entry, 'group'))}/${asStringOrEmpty(getJsonFieldAtPath(entry, 'version'))}`,
        entry,
      ),
  )
  return {
    annotation,
    // `broken-examples` reports items that aren't objects.
    examples: asListOrEmpty(list)
      .filter((example) => asStringOrEmpty(getJsonFieldAtPath(example, 'kind')) !== '')
      .map((example) =>
        formatApiVersionAndKind(asStringOrEmpty(getJsonFieldAtPath(example, 'apiVersion')), example),
      ),
    provided: [...crds, ...services],
  }
}

function formatApiVersionAndKind(apiVersion: string, entry: Json): string {
  return `${apiVersion} ${asStringOrEmpty(getJsonFieldAtPath(entry, 'kind'))}`
}

function tryParseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    // Another rule reports this.
    return undefined
  }
}
