// What a registry+v1 bundle says beyond what opm demands: names, kinds, owners, modes, examples, dependencies.
import type { Finding } from '../findings/finding.ts'
import { finding } from '../findings/rule.ts'
import type { Json } from '../go/json/json.ts'
import { parseVersionRange } from '../catalog/versions/version-range.ts'
import type { BundlePlaces } from './bundle-places.ts'
import { exampleAnnotations } from './examples.ts'
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
import { unownedCrds } from './unowned-crds.ts'
import { unusableInstallModes } from './rules/unusable-install-modes.ts'

const subdomain = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/

export function* validateCsv(bundle: RegistryBundle, placeOf: BundlePlaces): Generator<Finding> {
  const { csv, objects, dependencies, dependenciesFile } = bundle
  const replaced = textOf(at(csv.data, 'spec', 'replaces'))
  for (const [name, path] of [
    [csv.name, ['metadata', 'name']],
    [replaced, ['spec', 'replaces']],
  ] as const)
    if (name.length > 63 || (!subdomain.test(name) && (name !== '' || path[0] === 'metadata')))
      yield finding(invalidCsvName, placeOf(csv.file, path), { name })

  for (const { name, file } of unownedCrds(bundle))
    yield finding(unownedCrd, placeOf(file, ['metadata', 'name']), { crd: name, file })

  // As operator-framework/api judges it: an account that only permissions name is one that OLM finds there, and uses.
  const accounts = new Set(
    listOf(at(csv.data, 'spec', 'install', 'spec', 'deployments')).map((entry) =>
      textOf(at(entry, 'spec', 'template', 'spec', 'serviceAccountName')),
    ),
  )
  for (const { kind, name, file } of objects) {
    if (!installableKinds.has(kind))
      yield finding(kindNotBundled, placeOf(file, ['kind']), { file, kind, name })
    if (kind === 'ServiceAccount' && accounts.has(name))
      yield finding(serviceAccountBundled, placeOf(file, ['metadata', 'name']), { name, file })
  }

  const modes = installModesProblem(csv.data)
  if (modes !== undefined)
    yield finding(unusableInstallModes, placeOf(csv.file, ['spec', 'installModes']), { problem: modes })
  for (const annotation of exampleAnnotations) {
    const text = at(csv.data, 'metadata', 'annotations', annotation)
    if (typeof text === 'string' && text !== '' && !isExampleList(text))
      yield finding(brokenExamples, placeOf(csv.file, ['metadata', 'annotations', annotation]), {
        annotation,
      })
  }
  for (const [index, dependency] of dependencies.entries()) {
    const problem = dependencyProblem(dependency)
    if (problem !== undefined)
      yield finding(malformedDependency, placeOf(dependenciesFile, ['dependencies', index]), {
        type: dependency.type,
        problem,
      })
  }
}

function installModesProblem(csv: Json): string | undefined {
  const modes = listOf(at(csv, 'spec', 'installModes'))
  if (modes.length === 0) return 'it has no install modes'
  const types = modes.map((mode) => textOf(at(mode, 'type')))
  const twice = types.find((type, index) => types.indexOf(type) !== index)
  if (twice !== undefined) return `it names the install mode "${twice}" twice`
  const supported = modes
    .filter((mode) => at(mode, 'supported') === true)
    .map((mode) => textOf(at(mode, 'type')))
  if (supported.length === 0) return 'it supports no install mode'
  const converts = listOf(at(csv, 'spec', 'webhookdefinitions')).some(
    (webhook) => listOf(at(webhook, 'conversionCRDs')).length > 0,
  )
  return converts && supported.join() !== 'AllNamespaces'
    ? 'it converts CRDs, which only AllNamespaces allows'
    : undefined
}

function isExampleList(text: string): boolean {
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) && list.every((entry) => textOf(at(entry as Json, 'kind')) !== '')
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
      return lacks('packageName', 'version') ?? rangeProblem(textOf(at(value, 'version')))
    case 'olm.label':
      return lacks('label')
    case 'olm.constraint': {
      const cel = at(value, 'cel')
      if (cel !== undefined && textOf(at(cel, 'rule')) === '') return 'its cel has no rule'
      const range = at(value, 'package')
      if (range !== undefined) {
        const problem = rangeProblem(textOf(at(range, 'versionRange')))
        if (problem !== undefined) return problem
      }
      const kinds = ['all', 'any', 'not', 'cel', 'gvk', 'package'].filter(
        (key) => at(value, key) !== undefined,
      )
      return kinds.length === 1 ? undefined : 'it has not exactly one of all, any, not, cel, gvk, package'
    }
    default:
      return 'the type is not known'
  }
}

function rangeProblem(range: string): string | undefined {
  const parsed = parseVersionRange(range)
  return parsed.ok ? undefined : `its version range "${range}" cannot be read: ${parsed.error}`
}
