import { readAsFarAsPossible } from '../../bundle/registry-bundle.ts'
import { at, listOf, textOf } from '../../bundle/fields.ts'
import { isPutIntoNamespace } from '../../bundle/plain/supported-kinds.ts'
import type { BundleFiles } from '../../bundle/bundle-files.ts'

/** Why RukPak's converter, which is stricter than OLM v1's, cannot convert a registry+v1 bundle. */
export function rukPakRefusals(files: BundleFiles): readonly string[] {
  const { bundle } = readAsFarAsPossible(files)
  if (!bundle) return []
  const spec = (...path: readonly string[]) => listOf(at(bundle.csv.data, 'spec', ...path))
  const refusals: string[] = []
  if (spec('apiservicedefinitions', 'owned').length > 0) refusals.push('it owns an API service')
  if (spec('webhookdefinitions').length > 0) refusals.push('it has webhooks')
  const supportsAll = spec('installModes').some(
    (mode) => textOf(at(mode, 'type')) === 'AllNamespaces' && at(mode, 'supported') === true,
  )
  if (!supportsAll) refusals.push('it does not support the install mode AllNamespaces')
  for (const { kind, file } of bundle.objects)
    if (isPutIntoNamespace(kind) === undefined) refusals.push(`${file} is a ${kind}, which it does not know`)
  return refusals
}
