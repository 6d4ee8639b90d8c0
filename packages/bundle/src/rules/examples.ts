// Rules about the example objects in annotations, and how they are read.
import { type Json, tryParseJson } from '@catalog-bot/fbc/go/json/json'
import {
  getJsonFieldAtPath,
  asListOrEmpty,
  getListAtPath,
  getObjectAtPath,
  getStringAtPath,
} from '../fields.ts'
import type { ManifestObject } from '../registry-bundle.ts'
import { defineBundleRule } from '../bundle-rule.ts'

export const twoExampleAnnotationsRule = defineBundleRule<Record<never, never>>({
  id: 'two-example-annotations',
  severity: 'warning',
  title: 'Examples are in one annotation',
  what: 'both alm-examples and olm.examples are set',
  why: 'Only alm-examples is used.',
  fix: 'Keep alm-examples, and remove olm.examples.',
  *find({ csv }) {
    const annotations = getObjectAtPath(csv.data, 'metadata', 'annotations')
    if ('alm-examples' in annotations && 'olm.examples' in annotations)
      yield { path: ['metadata', 'annotations', 'olm.examples'], data: {} }
  },
})

export const exampleOfOtherApiRule = defineBundleRule<{ api: string }>({
  id: 'example-of-other-api',
  severity: 'warning',
  title: 'Examples use APIs that the bundle provides',
  what: ({ api }) => `an example uses ${api}, which the bundle does not provide`,
  why: 'Consoles offer the example, but creating the object can fail.',
  fix: 'Correct the example, or list the API as owned.',
  *find({ csv }) {
    const { examples, provided, annotation } = parseCsvExamples(csv)
    for (const api of new Set(examples))
      if (!provided.includes(api)) yield { path: ['metadata', 'annotations', annotation], data: { api } }
  },
})

export const apiWithoutExampleRule = defineBundleRule<{ api: string }>({
  id: 'api-without-example',
  severity: 'info',
  suite: 'good-practices',
  title: 'Every provided API has an example',
  what: ({ api }) => `the bundle has no example for ${api}`,
  why: 'Consoles show examples to users who create their first object.',
  fix: 'Add an example to the alm-examples annotation.',
  *find({ csv }) {
    const { examples, provided } = parseCsvExamples(csv)
    for (const api of new Set(provided))
      if (!examples.includes(api)) yield { path: ['metadata', 'annotations'], data: { api } }
  },
})

/** The first one that is set takes precedence. */
export const exampleAnnotationKeys = ['alm-examples', 'olm.examples'] as const

export interface CsvExamples {
  readonly annotation: string
  /** `group/version Kind`; empty if the annotation is missing or unreadable. */
  readonly examples: readonly string[]
  /** `group/version Kind` of each owned CRD and API service. */
  readonly provided: readonly string[]
}

function parseCsvExamples({ data }: ManifestObject): CsvExamples {
  const annotation =
    exampleAnnotationKeys.find(
      (name) => getJsonFieldAtPath(data, 'metadata', 'annotations', name) !== undefined,
    ) ?? 'alm-examples'
  // Another rule reports text that is not JSON.
  const list = tryParseJson(getStringAtPath(data, 'metadata', 'annotations', annotation))
  const crds = getListAtPath(data, 'spec', 'customresourcedefinitions', 'owned').map((entry) => {
    const name = getStringAtPath(entry, 'name')
    return formatApiVersionAndKind(
      `${name.slice(name.indexOf('.') + 1)}/${getStringAtPath(entry, 'version')}`,
      entry,
    )
  })
  const services = getListAtPath(data, 'spec', 'apiservicedefinitions', 'owned').map((entry) =>
    formatApiVersionAndKind(`${getStringAtPath(entry, 'group')}/${getStringAtPath(entry, 'version')}`, entry),
  )
  return {
    annotation,
    // `broken-examples` reports items that aren't objects.
    examples: asListOrEmpty(list)
      .filter((example) => getStringAtPath(example, 'kind') !== '')
      .map((example) => formatApiVersionAndKind(getStringAtPath(example, 'apiVersion'), example)),
    provided: [...crds, ...services],
  }
}

function formatApiVersionAndKind(apiVersion: string, entry: Json): string {
  return `${apiVersion} ${getStringAtPath(entry, 'kind')}`
}
