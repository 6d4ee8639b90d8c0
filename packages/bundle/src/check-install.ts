// Problems that appear only when the bundle is installed or used for an upgrade.
import { compareFindings, type Finding } from '@catalog-bot/findings/finding'
import { createFinding } from '@catalog-bot/findings/rule'
import { type Json, isJsonObject, tryParseJson } from '@catalog-bot/fbc/go/json/json'
import { type BundleFiles, detectBundleFormat } from './bundle-files.ts'
import { renderPlainManifests } from './plain/render-plain.ts'
import type { PlainManifestRenderOptions } from './plain/rendering.ts'
import { checkCrdUpgrade } from './upgrade/check-crd-upgrade.ts'
import {
  createManifestFieldLocator,
  readBundleManifestObjects,
  type ParsedManifestObject,
} from './plain/bundle-object.ts'
import { type FieldPath, convertParsedValueToJson } from './manifest-document.ts'
import {
  missingManifestFieldRule,
  mistypedManifestFieldRule,
  unknownManifestFieldRule,
  invalidExampleRule,
} from './rules/reported-rules.ts'
import { readPartialRegistryBundle } from './registry-bundle.ts'
import { findSchemaName, type SchemaType, csvSchema } from './kubernetes/schemas.ts'
import { coerceToSchema } from './kubernetes/coerce-to-schema.ts'
import { exampleAnnotationKeys } from './rules/examples.ts'
import {
  getJsonFieldAtPath,
  asListOrEmpty,
  asObjectOrEmpty,
  asStringOrEmpty,
  getListAtPath,
  getStringAtPath,
} from './fields.ts'
import { getCrdVersionSchema } from './upgrade/compare-properties.ts'
import { findSchemaProblems, formatFieldPath } from './kubernetes/structural-schema.ts'

/** Reported by `missing-csv-field`, `unparsable-related-image` and `broken-deployment`. */
const fieldsReportedByOtherRulesPattern =
  /^spec\.(?:displayName|install|install\.strategy|relatedImages\[\d+\]\.image|install\.spec\.deployments\[\d+\]\.name)$/

/** Sorted. `before` has the files of the bundle to upgrade from. */
export function checkBundleInstall(
  files: BundleFiles,
  options: PlainManifestRenderOptions,
  before?: BundleFiles,
): readonly Finding[] {
  return [
    ...renderPlainManifests(files, options).findings,
    ...checkManifests(files),
    ...checkCsvExamples(files),
    ...(before ? checkCrdUpgrade(before, files) : []),
  ].sort(compareFindings)
}

/** Sorted. Skips kinds and versions that aren't part of Kubernetes, because their schemas exist only on clusters. */
export function checkManifests(files: BundleFiles): readonly Finding[] {
  const locate = createManifestFieldLocator(files)
  const rejected = findFieldsRejectedByOpm(files)
  return readBundleManifestObjects(files)
    .objects.flatMap((object) => {
      const type = findManifestSchemaType(object)
      if (type === undefined) return []
      const name = `${object.kind} ${object.name}`
      return coerceToSchema(type, object.tree).mismatches.flatMap(
        ({ kind, path, wanted, found }): Finding[] => {
          const data = { object: name, field: formatFieldPath(path) }
          switch (kind) {
            case 'unknown':
              return [createFinding(unknownManifestFieldRule, locate(object, path), data)]
            case 'type':
              if (rejected.has(formatFieldLocationKey(object.file, path))) return []
              return [
                createFinding(mistypedManifestFieldRule, locate(object, path), { ...data, wanted, found }),
              ]
            case 'missing':
              return isFieldReportedByOtherRule(object, path)
                ? []
                : [createFinding(missingManifestFieldRule, locate(object, path.slice(0, -1)), data)]
          }
        },
      )
    })
    .sort(compareFindings)
}

function findManifestSchemaType({ apiVersion, kind }: ParsedManifestObject): SchemaType | undefined {
  if (kind === 'ClusterServiceVersion')
    return apiVersion === 'operators.coreos.com/v1alpha1' ? csvSchema : undefined
  return findSchemaName(apiVersion, kind)
}

function isFieldReportedByOtherRule({ kind }: ParsedManifestObject, path: FieldPath): boolean {
  return kind === 'ClusterServiceVersion' && fieldsReportedByOtherRulesPattern.test(formatFieldPath(path))
}

/** Locations that `unreadable-bundle` reports, because opm also rejects some wrong types. */
function findFieldsRejectedByOpm(files: BundleFiles): ReadonlySet<string> {
  if (detectBundleFormat(files) !== 'registry+v1') return new Set()
  return new Set(
    readPartialRegistryBundle(files).rejections.flatMap(({ at }) =>
      at ? [formatFieldLocationKey(at.file, at.path)] : [],
    ),
  )
}

/** Ignores list indexes and case, because opm's messages aren't more precise. */
function formatFieldLocationKey(file: string, path: FieldPath): string {
  const names = path.filter((step) => typeof step === 'string')
  return `${file} ${names.join('.').toLowerCase()}`
}

/** Skips APIs that the bundle doesn't define, and unreadable annotations, which `broken-examples` reports. */
export function checkCsvExamples(files: BundleFiles): readonly Finding[] {
  const { objects } = readBundleManifestObjects(files)
  const csv = objects.find(({ kind }) => kind === 'ClusterServiceVersion')
  if (!csv) return []
  const schemas = collectCrdSchemasByGvk(
    objects
      .filter(({ kind }) => kind === 'CustomResourceDefinition')
      .map(({ tree }) => convertParsedValueToJson(tree)),
  )
  const locate = createManifestFieldLocator(files)
  const annotations = getJsonFieldAtPath(convertParsedValueToJson(csv.tree), 'metadata', 'annotations')
  return exampleAnnotationKeys
    .flatMap((annotation) =>
      parseCsvExampleObjects(getJsonFieldAtPath(annotations, annotation)).flatMap((example): Finding[] => {
        const kind = getStringAtPath(example, 'kind')
        const schema = schemas.get(`${getStringAtPath(example, 'apiVersion')} ${kind}`)
        if (schema === undefined) return []
        const name = `${kind} ${getStringAtPath(example, 'metadata', 'name')}`.trimEnd()
        return findSchemaProblems(schema, asObjectOrEmpty(example)).map((problem) =>
          createFinding(invalidExampleRule, locate(csv, ['metadata', 'annotations', annotation]), {
            example: name,
            problem,
          }),
        )
      }),
    )
    .sort(compareFindings)
}

/** By `group/version Kind`, for all versions. */
function collectCrdSchemasByGvk(crds: readonly (Json | undefined)[]): ReadonlyMap<string, Json> {
  const schemas = new Map<string, Json>()
  for (const crd of crds) {
    const group = getStringAtPath(crd, 'spec', 'group')
    const kind = getStringAtPath(crd, 'spec', 'names', 'kind')
    for (const version of getListAtPath(crd, 'spec', 'versions')) {
      // v1beta1 can have one schema for all versions.
      const schema =
        getCrdVersionSchema(version) ?? getJsonFieldAtPath(crd, 'spec', 'validation', 'openAPIV3Schema')
      if (schema !== undefined) schemas.set(`${group}/${getStringAtPath(version, 'name')} ${kind}`, schema)
    }
  }
  return schemas
}

function parseCsvExampleObjects(text: Json | undefined): readonly Json[] {
  return asListOrEmpty(tryParseJson(asStringOrEmpty(text))).filter(isJsonObject)
}
