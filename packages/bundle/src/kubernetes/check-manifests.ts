// Checks a bundle's objects against Kubernetes' schemas, including objects that OLM creates from the
// ClusterServiceVersion.
import { compareFindings, type Finding } from '@catalog-bot/findings/finding'
import { createFinding } from '@catalog-bot/findings/rule'
import type { BundleFiles } from '../bundle-files.ts'
import {
  createManifestObjectLocator,
  readBundleManifestObjects,
  type ParsedManifestObject,
} from '../plain/bundle-object.ts'
import type { FieldPath } from '../bundle-locator.ts'
import { missingManifestField, mistypedManifestField, unknownManifestField } from '../rules/reported-rules.ts'
import { detectBundleFormat } from '../bundle-format.ts'
import { readPartialRegistryBundle } from '../registry-bundle.ts'
import { csvSchema } from './csv-schema.ts'
import { coerceToSchema } from './coerce-to-schema.ts'
import { findSchemaName, type SchemaType } from './schemas.ts'

/** Sorted. Skips kinds and versions that aren't part of Kubernetes, because their schemas exist only on clusters. */
export function checkManifests(files: BundleFiles): readonly Finding[] {
  const locate = createManifestObjectLocator(files)
  const rejected = findFieldsRejectedByOpm(files)
  return readBundleManifestObjects(files)
    .objects.flatMap((object) => {
      const type = findObjectSchemaType(object)
      if (type === undefined) return []
      const name = `${object.kind} ${object.name}`
      return coerceToSchema(type, object.tree).mismatches.flatMap(
        ({ kind, path, wanted, found }): Finding[] => {
          const data = { object: name, field: formatFieldPath(path) }
          switch (kind) {
            case 'unknown':
              return [createFinding(unknownManifestField, locate(object, path), data)]
            case 'type':
              if (rejected.has(formatLocationKey(object.file, path))) return []
              return [createFinding(mistypedManifestField, locate(object, path), { ...data, wanted, found })]
            case 'missing':
              return isFieldReportedByOtherRule(object, path)
                ? []
                : [createFinding(missingManifestField, locate(object, path.slice(0, -1)), data)]
          }
        },
      )
    })
    .sort(compareFindings)
}

function findObjectSchemaType({ apiVersion, kind }: ParsedManifestObject): SchemaType | undefined {
  if (kind === 'ClusterServiceVersion')
    return apiVersion === 'operators.coreos.com/v1alpha1' ? csvSchema : undefined
  return findSchemaName(apiVersion, kind)
}

/** Reported by `missing-csv-field`, `unparsable-related-image` and `broken-deployment`. */
const fieldsReportedByOtherRulesPattern =
  /^spec\.(?:displayName|install|install\.strategy|relatedImages\[\d+\]\.image|install\.spec\.deployments\[\d+\]\.name)$/

function isFieldReportedByOtherRule({ kind }: ParsedManifestObject, path: FieldPath): boolean {
  return kind === 'ClusterServiceVersion' && fieldsReportedByOtherRulesPattern.test(formatFieldPath(path))
}

/** Locations that `unreadable-bundle` reports, because opm also rejects some wrong types. */
function findFieldsRejectedByOpm(files: BundleFiles): ReadonlySet<string> {
  if (detectBundleFormat(files) !== 'registry+v1') return new Set()
  return new Set(
    readPartialRegistryBundle(files).rejections.flatMap(({ at }) =>
      at ? [formatLocationKey(at.file, at.path)] : [],
    ),
  )
}

/** Ignores list indexes and case, because opm's messages aren't more precise. */
function formatLocationKey(file: string, path: FieldPath): string {
  const names = path.filter((step) => typeof step === 'string')
  return `${file} ${names.join('.').toLowerCase()}`
}

/** For example `spec.versions[0].name`. */
function formatFieldPath(path: FieldPath): string {
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '')
}
