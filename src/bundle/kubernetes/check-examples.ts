// Checks the examples in a ClusterServiceVersion against the bundle's CRD schemas.
import { compareFindings, type Finding } from '../../findings/finding.ts'
import { finding } from '../../findings/rule.ts'
import type { Json } from '../../go/json/json.ts'
import type { BundleFiles } from '../bundle-files.ts'
import { exampleAnnotations } from '../examples.ts'
import { at, listOf, objectOf, textOf } from '../fields.ts'
import { objectPlaces, readBundleObjects } from '../plain/bundle-object.ts'
import { dataOf } from '../manifest-document.ts'
import type { Path } from '../bundle-places.ts'
import { invalidExample } from '../rules/invalid-example.ts'
import { schemaOf } from '../upgrade/flat-schema.ts'
import { problemsOf } from './structural-schema.ts'

/** Skips APIs that the bundle doesn't define, and unreadable annotations, which `broken-examples` reports. */
export function checkExamples(files: BundleFiles): readonly Finding[] {
  const { objects } = readBundleObjects(files)
  const csv = objects.find(({ kind }) => kind === 'ClusterServiceVersion')
  if (!csv) return []
  const schemas = schemasIn(
    objects.filter(({ kind }) => kind === 'CustomResourceDefinition').map(({ tree }) => dataOf(tree)),
  )
  const placeOf = objectPlaces(files)
  const annotations = at(dataOf(csv.tree), 'metadata', 'annotations')
  return exampleAnnotations
    .flatMap((annotation) =>
      examplesIn(at(annotations, annotation)).flatMap((example): Finding[] => {
        const kind = textOf(at(example, 'kind'))
        const schema = schemas.get(`${textOf(at(example, 'apiVersion'))} ${kind}`)
        if (schema === undefined) return []
        const name = `${kind} ${textOf(at(example, 'metadata', 'name'))}`.trimEnd()
        return problemsOf(schema, objectOf(example)).map(({ path, problem }) =>
          finding(invalidExample, placeOf(csv, ['metadata', 'annotations', annotation]), {
            example: name,
            problem: `${fieldText(path)} ${problem}`,
          }),
        )
      }),
    )
    .sort(compareFindings)
}

/** By `group/version Kind`, for all versions. */
function schemasIn(crds: readonly (Json | undefined)[]): ReadonlyMap<string, Json> {
  const schemas = new Map<string, Json>()
  for (const crd of crds) {
    const group = textOf(at(crd, 'spec', 'group'))
    const kind = textOf(at(crd, 'spec', 'names', 'kind'))
    for (const version of listOf(at(crd, 'spec', 'versions'))) {
      // v1beta1 can have one schema for all versions.
      const schema = schemaOf(version) ?? at(crd, 'spec', 'validation', 'openAPIV3Schema')
      if (schema !== undefined) schemas.set(`${group}/${textOf(at(version, 'name'))} ${kind}`, schema)
    }
  }
  return schemas
}

function examplesIn(text: Json | undefined): readonly Json[] {
  try {
    return listOf(JSON.parse(textOf(text)) as Json).filter(
      (one) => typeof one === 'object' && one !== null && !Array.isArray(one),
    )
  } catch {
    return []
  }
}

function fieldText(path: Path): string {
  if (path.length === 0) return 'it'
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '')
}
