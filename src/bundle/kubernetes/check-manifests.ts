// Checks a bundle's objects, including those that OLM makes from the ClusterServiceVersion, against Kubernetes'
// schemas.
import { compareFindings, type Finding } from '../../findings/finding.ts'
import { finding } from '../../findings/rule.ts'
import type { BundleFiles } from '../bundle-files.ts'
import { objectPlaces, readBundleObjects, type BundleObject } from '../plain/bundle-object.ts'
import type { Path } from '../bundle-places.ts'
import { missingManifestField } from '../rules/missing-manifest-field.ts'
import { mistypedManifestField } from '../rules/mistyped-manifest-field.ts'
import { unknownManifestField } from '../rules/unknown-manifest-field.ts'
import { detectFormat } from '../bundle-format.ts'
import { readAsFarAsPossible } from '../registry-bundle.ts'
import { csvType } from './csv-type.ts'
import { fitInto } from './fit.ts'
import { typeOfKind, type WrittenType } from './schemas.ts'

/** Sorted. Skips kinds and versions that aren't part of Kubernetes, because only clusters have their schemas. */
export function checkManifests(files: BundleFiles): readonly Finding[] {
  const placeOf = objectPlaces(files)
  const refused = refusedByOpm(files)
  return readBundleObjects(files)
    .objects.flatMap((object) => {
      const type = typeOf(object)
      if (type === undefined) return []
      const name = `${object.kind} ${object.name}`
      return fitInto(type, object.tree).misfits.flatMap(({ kind, path, wanted, found }): Finding[] => {
        const data = { object: name, field: fieldText(path) }
        switch (kind) {
          case 'unknown':
            return [finding(unknownManifestField, placeOf(object, path), data)]
          case 'type':
            if (refused.has(placeText(object.file, path))) return []
            return [finding(mistypedManifestField, placeOf(object, path), { ...data, wanted, found })]
          case 'missing':
            return isToldElsewhere(object, path)
              ? []
              : [finding(missingManifestField, placeOf(object, path.slice(0, -1)), data)]
        }
      })
    })
    .sort(compareFindings)
}

function typeOf({ apiVersion, kind }: BundleObject): WrittenType | undefined {
  if (kind === 'ClusterServiceVersion')
    return apiVersion === 'operators.coreos.com/v1alpha1' ? csvType : undefined
  return typeOfKind(apiVersion, kind)
}

/** Reported by `missing-csv-field`, `unparsable-related-image` and `broken-deployment`. */
const toldElsewhere =
  /^spec\.(?:displayName|install|install\.strategy|relatedImages\[\d+\]\.image|install\.spec\.deployments\[\d+\]\.name)$/

function isToldElsewhere({ kind }: BundleObject, path: Path): boolean {
  return kind === 'ClusterServiceVersion' && toldElsewhere.test(fieldText(path))
}

/** Places that `unreadable-bundle` reports, because opm refuses some wrong types too. */
function refusedByOpm(files: BundleFiles): ReadonlySet<string> {
  if (detectFormat(files) !== 'registry+v1') return new Set()
  return new Set(
    readAsFarAsPossible(files).refusals.flatMap(({ at }) => (at ? [placeText(at.file, at.path)] : [])),
  )
}

/** Ignores list indexes and case, because opm's messages are no more precise. */
function placeText(file: string, path: Path): string {
  const names = path.filter((step) => typeof step === 'string')
  return `${file} ${names.join('.').toLowerCase()}`
}

/** For example `spec.versions[0].name`. */
function fieldText(path: Path): string {
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '')
}
