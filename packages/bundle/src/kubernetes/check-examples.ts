// Checks the examples in a ClusterServiceVersion against the bundle's CRD schemas.
import { compareFindings, type Finding } from '@catalog-bot/findings/finding'
import { createFinding } from '@catalog-bot/findings/rule'
import type { Json } from '@catalog-bot/fbc/go/json/json'
import type { BundleFiles } from '../bundle-files.ts'
import { exampleAnnotationKeys } from '../csv-examples.ts'
import { getJsonFieldAtPath, asListOrEmpty, asObjectOrEmpty, asStringOrEmpty } from '../fields.ts'
import { createManifestObjectLocator, readBundleManifestObjects } from '../plain/bundle-object.ts'
import { convertParsedValueToJson } from '../manifest-document.ts'
import type { FieldPath } from '../bundle-locator.ts'
import { invalidExample } from '../rules/reported-rules.ts'
import { getCrdVersionSchema } from '../upgrade/flat-schema.ts'
import { findSchemaProblems } from './structural-schema.ts'

/** Skips APIs that the bundle doesn't define, and unreadable annotations, which `broken-examples` reports. */
export function checkCsvExamples(files: BundleFiles): readonly Finding[] {
  const { objects } = readBundleManifestObjects(files)
  const csv = objects.find(({ kind }) => kind === 'ClusterServiceVersion')
  if (!csv) return []
  const schemas = findCrdSchemas(
    objects
      .filter(({ kind }) => kind === 'CustomResourceDefinition')
      .map(({ tree }) => convertParsedValueToJson(tree)),
  )
  const locate = createManifestObjectLocator(files)
  const annotations = getJsonFieldAtPath(convertParsedValueToJson(csv.tree), 'metadata', 'annotations')
  return exampleAnnotationKeys
    .flatMap((annotation) =>
      parseCsvExampleObjects(getJsonFieldAtPath(annotations, annotation)).flatMap((example): Finding[] => {
        const kind = asStringOrEmpty(getJsonFieldAtPath(example, 'kind'))
        const schema = schemas.get(`${asStringOrEmpty(getJsonFieldAtPath(example, 'apiVersion'))} ${kind}`)
        if (schema === undefined) return []
        const name = `${kind} ${asStringOrEmpty(getJsonFieldAtPath(example, 'metadata', 'name'))}`.trimEnd()
        return findSchemaProblems(schema, asObjectOrEmpty(example)).map(({ path, problem }) =>
          createFinding(invalidExample, locate(csv, ['metadata', 'annotations', annotation]), {
            example: name,
            problem: `${formatFieldPath(path)} ${problem}`,
          }),
        )
      }),
    )
    .sort(compareFindings)
}

/** By `group/version Kind`, for all versions. */
function findCrdSchemas(crds: readonly (Json | undefined)[]): ReadonlyMap<string, Json> {
  const schemas = new Map<string, Json>()
  for (const crd of crds) {
    const group = asStringOrEmpty(getJsonFieldAtPath(crd, 'spec', 'group'))
    const kind = asStringOrEmpty(getJsonFieldAtPath(crd, 'spec', 'names', 'kind'))
    for (const version of asListOrEmpty(getJsonFieldAtPath(crd, 'spec', 'versions'))) {
      // v1beta1 can have one schema for all versions.
      const schema =
        getCrdVersionSchema(version) ?? getJsonFieldAtPath(crd, 'spec', 'validation', 'openAPIV3Schema')
      if (schema !== undefined)
        schemas.set(`${group}/${asStringOrEmpty(getJsonFieldAtPath(version, 'name'))} ${kind}`, schema)
    }
  }
  return schemas
}

function parseCsvExampleObjects(text: Json | undefined): readonly Json[] {
  try {
    return asListOrEmpty(JSON.parse(asStringOrEmpty(text)) as Json).filter(
      (one) => typeof one === 'object' && one !== null && !Array.isArray(one),
    )
  } catch {
    return []
  }
}

function formatFieldPath(path: FieldPath): string {
  if (path.length === 0) return 'it'
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '')
}
