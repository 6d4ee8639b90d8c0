// The objects of a bundle against Kubernetes' published schemas: fields that no API server knows, fields that it misses,
// and values of a wrong type, in the manifests and in the parts of a ClusterServiceVersion that become objects.
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

/**
 * What is wrong with the objects that the bundle brings. Sorted. Kinds and versions that Kubernetes does not have are
 * passed over: their schemas are on clusters only.
 */
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

/** What rules of `validateBundle` tell of: `missing-csv-field`, `unparsable-related-image` and `broken-deployment`. */
const toldElsewhere =
  /^spec\.(?:displayName|install|install\.strategy|relatedImages\[\d+\]\.image|install\.spec\.deployments\[\d+\]\.name)$/

function isToldElsewhere({ kind }: BundleObject, path: Path): boolean {
  return kind === 'ClusterServiceVersion' && toldElsewhere.test(fieldText(path))
}

/** The fields of which `unreadable-bundle` tells: opm refuses some values of a wrong type, too. */
function refusedByOpm(files: BundleFiles): ReadonlySet<string> {
  if (detectFormat(files) !== 'registry+v1') return new Set()
  return new Set(
    readAsFarAsPossible(files).refusals.flatMap(({ at }) => (at ? [placeText(at.file, at.path)] : [])),
  )
}

/** Without the indices of lists, and with every spelling alike: that is as exact as opm is. */
function placeText(file: string, path: Path): string {
  const names = path.filter((step) => typeof step === 'string')
  return `${file} ${names.join('.').toLowerCase()}`
}

/** `spec.versions[0].name`. */
function fieldText(path: Path): string {
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '')
}
