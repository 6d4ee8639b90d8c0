// What a registry+v1 bundle says beyond what opm demands: names, kinds, owners, modes, examples, dependencies.
import type { Finding } from '../findings/finding.ts'
import { finding } from '../findings/rule.ts'
import type { Json } from '../catalog/catalog.ts'
import { at, listOf, textOf } from './fields.ts'
import { installableKinds } from './installable-kinds.ts'
import type { TypedValue } from './bundle-metadata.ts'
import type { RegistryBundle } from './registry-bundle.ts'
import { brokenExamples } from './rules/broken-examples.ts'
import { invalidCsvName } from './rules/invalid-csv-name.ts'
import { kindNotBundled } from './rules/kind-not-bundled.ts'
import { malformedDependency } from './rules/malformed-dependency.ts'
import { serviceAccountBundled } from './rules/service-account-bundled.ts'
import { unownedCrd } from './rules/unowned-crd.ts'
import { unusableInstallModes } from './rules/unusable-install-modes.ts'

const subdomain = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/

export function* validateCsv(bundle: RegistryBundle): Generator<Finding> {
  const { csv, crds, objects, dependencies } = bundle
  const place = { file: csv.file, line: 1, column: 1 }
  if (csv.name.length > 63 || !subdomain.test(csv.name))
    yield finding(invalidCsvName, place, { name: csv.name })

  const owned = new Set(
    listOf(at(csv.data, 'spec', 'customresourcedefinitions', 'owned')).map((entry) =>
      textOf(at(entry, 'name')),
    ),
  )
  for (const { name, file } of crds)
    if (!owned.has(name)) yield finding(unownedCrd, { ...place, file }, { crd: name, file })

  const accounts = new Set(
    ['permissions', 'clusterPermissions'].flatMap((list) =>
      listOf(at(csv.data, 'spec', 'install', 'spec', list)).map((entry) =>
        textOf(at(entry, 'serviceAccountName')),
      ),
    ),
  )
  for (const { kind, name, file } of objects) {
    if (!installableKinds.has(kind)) yield finding(kindNotBundled, { ...place, file }, { file, kind, name })
    if (kind === 'ServiceAccount' && accounts.has(name))
      yield finding(serviceAccountBundled, { ...place, file }, { name, file })
  }

  const modes = installModesProblem(csv.data)
  if (modes !== undefined) yield finding(unusableInstallModes, place, { problem: modes })
  for (const annotation of ['alm-examples', 'olm.examples']) {
    const text = at(csv.data, 'metadata', 'annotations', annotation)
    if (typeof text === 'string' && text !== '' && !isExampleList(text))
      yield finding(brokenExamples, place, { annotation })
  }
  for (const dependency of dependencies) {
    const problem = dependencyProblem(dependency)
    if (problem !== undefined)
      yield finding(malformedDependency, undefined, { type: dependency.type, problem })
  }
}

function installModesProblem(csv: Json): string | undefined {
  const modes = listOf(at(csv, 'spec', 'installModes'))
  if (modes.length === 0) return 'it has no install modes'
  const types = modes.map((mode) => textOf(at(mode, 'type')))
  const twice = types.find((type, index) => types.indexOf(type) !== index)
  if (twice !== undefined) return `it names the install mode "${twice}" twice`
  return modes.some((mode) => at(mode, 'supported') === true) ? undefined : 'it supports no install mode'
}

function isExampleList(text: string): boolean {
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) && list.every((entry) => typeof entry === 'object' && entry !== null)
  } catch {
    return false
  }
}

function dependencyProblem({ type, value }: TypedValue): string | undefined {
  const lacks = (...keys: readonly string[]) => {
    const missing = keys.filter((key) => textOf(at(value, key)) === '')
    return missing.length === 0 ? undefined : `it has no ${missing.join(', no ')}`
  }
  switch (type) {
    case 'olm.gvk':
      return lacks('group', 'version', 'kind')
    case 'olm.package':
      return lacks('packageName', 'version')
    case 'olm.label':
      return lacks('label')
    case 'olm.constraint': {
      const cel = at(value, 'cel')
      if (cel !== undefined && textOf(at(cel, 'rule')) === '') return 'its cel has no rule'
      const kinds = ['all', 'any', 'not', 'cel', 'gvk', 'package'].filter(
        (key) => at(value, key) !== undefined,
      )
      return kinds.length === 1 ? undefined : 'it has not exactly one of all, any, not, cel, gvk, package'
    }
    default:
      return 'the type is not known'
  }
}
