// Checks the examples in a ClusterServiceVersion against the bundle's CRD schemas.
import { compareFindings, type Finding } from '@catalog-bot/findings/finding'
import { createFinding } from '@catalog-bot/findings/rule'
import type { Json } from '@catalog-bot/fbc/go/json/json'
import type { BundleFiles } from '../bundle-files.ts'
import { exampleAnnotationKeys } from '../csv-examples.ts'
import { getField, asList, asObject, asString } from '../fields.ts'
import { createManifestObjectLocator, readBundleManifestObjects } from '../plain/bundle-object.ts'
import { convertValueToJson } from '../manifest-document.ts'
import type { FieldPath } from '../bundle-locator.ts'
import { invalidExample } from '../rules/reported-rules.ts'
import { getVersionSchema } from '../upgrade/flat-schema.ts'
import { findSchemaProblems } from './structural-schema.ts'

/** Skips APIs that the bundle doesn't define, and unreadable annotations, which `broken-examples` reports. */
export function checkExamples(files: BundleFiles): readonly Finding[] {
  const { objects } = readBundleManifestObjects(files)
  const csv = objects.find(({ kind }) => kind === 'ClusterServiceVersion')
  if (!csv) return []
  const schemas = findCrdSchemas(
    objects
      .filter(({ kind }) => kind === 'CustomResourceDefinition')
      .map(({ tree }) => convertValueToJson(tree)),
  )
  const locate = createManifestObjectLocator(files)
  const annotations = getField(convertValueToJson(csv.tree), 'metadata', 'annotations')
  return exampleAnnotationKeys
    .flatMap((annotation) =>
      parseExamples(getField(annotations, annotation)).flatMap((example): Finding[] => {
        const kind = asString(getField(example, 'kind'))
        const schema = schemas.get(`${asString(getField(example, 'apiVersion'))} ${kind}`)
        if (schema === undefined) return []
        const name = `${kind} ${asString(getField(example, 'metadata', 'name'))}`.trimEnd()
        return findSchemaProblems(schema, asObject(example)).map(({ path, problem }) =>
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
    const group = asString(getField(crd, 'spec', 'group'))
    const kind = asString(getField(crd, 'spec', 'names', 'kind'))
    for (const version of asList(getField(crd, 'spec', 'versions'))) {
      // v1beta1 can have one schema for all versions.
      const schema = getVersionSchema(version) ?? getField(crd, 'spec', 'validation', 'openAPIV3Schema')
      if (schema !== undefined) schemas.set(`${group}/${asString(getField(version, 'name'))} ${kind}`, schema)
    }
  }
  return schemas
}

function parseExamples(text: Json | undefined): readonly Json[] {
  try {
    return asList(JSON.parse(asString(text)) as Json).filter(
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
