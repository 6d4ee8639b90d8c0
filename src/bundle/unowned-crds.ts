// CRDs that the ClusterServiceVersion doesn't own. As in operator-framework/api, one owned version covers the whole
// kind.
import { at, listOf, textOf } from './fields.ts'
import { definedApis, type ManifestObject, type RegistryBundle } from './registry-bundle.ts'

export function unownedCrds({ csv, crds }: Pick<RegistryBundle, 'csv' | 'crds'>): readonly ManifestObject[] {
  const owned = new Set(
    listOf(at(csv.data, 'spec', 'customresourcedefinitions', 'owned')).map((entry) => {
      const name = textOf(at(entry, 'name'))
      return key(name.slice(name.indexOf('.') + 1), textOf(at(entry, 'version')), textOf(at(entry, 'kind')))
    }),
  )
  const kinds = new Set(
    definedApis(crds).flatMap(({ group, version, kind }) =>
      owned.has(key(group, version, kind)) ? [key(group, '', kind)] : [],
    ),
  )
  return crds.filter((crd) => definedApis([crd]).some(({ group, kind }) => !kinds.has(key(group, '', kind))))
}

const key = (...parts: readonly string[]): string => parts.join(' ')
