import { readRegistryBundlePartially } from '@catalog-bot/bundle/registry-bundle'
import { getField, asList, asString } from '@catalog-bot/bundle/fields'
import { isNamespacedKind } from '@catalog-bot/bundle/plain/supported-kinds'
import type { BundleFiles } from '@catalog-bot/bundle/bundle-files'

/** Why RukPak's converter, which is stricter than OLM v1's, cannot convert a registry+v1 bundle. */
export function findRukPakRejections(files: BundleFiles): readonly string[] {
  const { bundle } = readRegistryBundlePartially(files)
  if (!bundle) return []
  const spec = (...path: readonly string[]) => asList(getField(bundle.csv.data, 'spec', ...path))
  const rejections: string[] = []
  if (spec('apiservicedefinitions', 'owned').length > 0)
    rejections.push('RukPak does not support owned API services')
  if (spec('webhookdefinitions').length > 0) rejections.push('RukPak does not support webhooks')
  const supportsAll = spec('installModes').some(
    (mode) => asString(getField(mode, 'type')) === 'AllNamespaces' && getField(mode, 'supported') === true,
  )
  if (!supportsAll) rejections.push('RukPak requires the install mode AllNamespaces')
  for (const { kind, file } of bundle.objects)
    if (isNamespacedKind(kind) === undefined)
      rejections.push(`${file} is a ${kind}, which RukPak does not support`)
  return rejections
}
