// CRDs that the ClusterServiceVersion doesn't own. As in operator-framework/api, one owned version covers all
// versions of the kind.
import { getField, asList, asString } from './fields.ts'
import { getDefinedApis, type ManifestObject, type RegistryBundle } from './registry-bundle.ts'

export function findUnownedCrds({
  csv,
  crds,
}: Pick<RegistryBundle, 'csv' | 'crds'>): readonly ManifestObject[] {
  const owned = new Set(
    asList(getField(csv.data, 'spec', 'customresourcedefinitions', 'owned')).map((entry) => {
      const name = asString(getField(entry, 'name'))
      return formatApiKey(
        name.slice(name.indexOf('.') + 1),
        asString(getField(entry, 'version')),
        asString(getField(entry, 'kind')),
      )
    }),
  )
  const kinds = new Set(
    getDefinedApis(crds).flatMap(({ group, version, kind }) =>
      owned.has(formatApiKey(group, version, kind)) ? [formatApiKey(group, '', kind)] : [],
    ),
  )
  return crds.filter((crd) =>
    getDefinedApis([crd]).some(({ group, kind }) => !kinds.has(formatApiKey(group, '', kind))),
  )
}

const formatApiKey = (...parts: readonly string[]): string => parts.join(' ')
