// Checks the names, kinds, owners, modes, examples, and dependencies in a registry+v1 bundle, which opm doesn't check.
import type { Finding } from '@catalog-bot/findings/finding'
import { createFinding } from '@catalog-bot/findings/rule'
import type { Json } from '@catalog-bot/fbc/go/json/json'
import { parseVersionRange } from '@catalog-bot/fbc/versions/version-range'
import type { BundleFieldLocator } from './manifest-document.ts'
import { exampleAnnotationKeys } from './rules/examples.ts'
import { getJsonFieldAtPath, getListAtPath, getStringAtPath } from './fields.ts'
import { installableObjectKinds } from './plain/supported-kinds.ts'
import type { PropertyOrDependency } from './bundle-metadata.ts'
import { type RegistryBundle, getApisDefinedByCrds, type ManifestObject } from './registry-bundle.ts'
import {
  brokenExamplesRule,
  invalidCsvNameRule,
  kindNotBundledRule,
  malformedDependencyRule,
  serviceAccountBundledRule,
  unownedCrdRule,
  unusableInstallModesRule,
} from './rules/reported-rules.ts'

const joinGvkParts = (...parts: readonly string[]): string => parts.join(' ')

const dnsSubdomainPattern = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/

export function* validateCsv(bundle: RegistryBundle, locate: BundleFieldLocator): Generator<Finding> {
  const { csv, objects, dependencies, dependenciesFile } = bundle
  const replaced = getStringAtPath(csv.data, 'spec', 'replaces')
  for (const [name, path] of [
    [csv.name, ['metadata', 'name']],
    [replaced, ['spec', 'replaces']],
  ] as const)
    if (name.length > 63 || (!dnsSubdomainPattern.test(name) && (name !== '' || path[0] === 'metadata')))
      yield createFinding(invalidCsvNameRule, locate(csv.file, path), { name })

  for (const { name, file } of findUnownedCrds(bundle))
    yield createFinding(unownedCrdRule, locate(file, ['metadata', 'name']), { crd: name, file })

  // Like operator-framework/api, ignores accounts that only permissions name, because OLM uses an existing account.
  const accounts = new Set(
    getListAtPath(csv.data, 'spec', 'install', 'spec', 'deployments').map((entry) =>
      getStringAtPath(entry, 'spec', 'template', 'spec', 'serviceAccountName'),
    ),
  )
  for (const { kind, name, file } of objects) {
    if (!installableObjectKinds.has(kind))
      yield createFinding(kindNotBundledRule, locate(file, ['kind']), { file, kind, name })
    if (kind === 'ServiceAccount' && accounts.has(name))
      yield createFinding(serviceAccountBundledRule, locate(file, ['metadata', 'name']), { name, file })
  }

  const modes = findInstallModesProblem(csv.data)
  if (modes !== undefined)
    yield createFinding(unusableInstallModesRule, locate(csv.file, ['spec', 'installModes']), {
      problem: modes,
    })
  for (const annotation of exampleAnnotationKeys) {
    const text = getJsonFieldAtPath(csv.data, 'metadata', 'annotations', annotation)
    if (typeof text === 'string' && text !== '' && !isValidExamplesJson(text))
      yield createFinding(brokenExamplesRule, locate(csv.file, ['metadata', 'annotations', annotation]), {
        annotation,
      })
  }
  for (const [index, dependency] of dependencies.entries()) {
    const problem = findDependencyProblem(dependency)
    if (problem !== undefined)
      yield createFinding(malformedDependencyRule, locate(dependenciesFile, ['dependencies', index]), {
        type: dependency.type,
        problem,
      })
  }
}

function findInstallModesProblem(csv: Json): string | undefined {
  const modes = getListAtPath(csv, 'spec', 'installModes')
  if (modes.length === 0) return 'spec.installModes is empty'
  const types = modes.map((mode) => getStringAtPath(mode, 'type'))
  const twice = types.find((type, index) => types.indexOf(type) !== index)
  if (twice !== undefined) return `spec.installModes lists "${twice}" twice`
  const supported = modes
    .filter((mode) => getJsonFieldAtPath(mode, 'supported') === true)
    .map((mode) => getStringAtPath(mode, 'type'))
  if (supported.length === 0) return 'the ClusterServiceVersion does not support any install mode'
  const converts = getListAtPath(csv, 'spec', 'webhookdefinitions').some(
    (webhook) => getListAtPath(webhook, 'conversionCRDs').length > 0,
  )
  return converts && supported.join() !== 'AllNamespaces'
    ? 'the conversion webhook requires AllNamespaces to be the only supported install mode'
    : undefined
}

function isValidExamplesJson(text: string): boolean {
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) && list.every((entry) => getStringAtPath(entry as Json, 'kind') !== '')
  } catch {
    return false
  }
}

function findDependencyProblem({ type, value }: PropertyOrDependency): string | undefined {
  const describeMissingKeys = (...keys: readonly string[]) => {
    const missing = keys.filter((key) => getStringAtPath(value, key) === '')
    return missing.length === 0 ? undefined : `the value has no ${missing.join(', ')}`
  }
  switch (type) {
    case 'olm.gvk':
      return describeMissingKeys('group', 'version', 'kind')
    case 'olm.package':
      return (
        describeMissingKeys('packageName', 'version') ??
        findVersionRangeProblem(getStringAtPath(value, 'version'))
      )
    case 'olm.label':
      return describeMissingKeys('label')
    case 'olm.constraint': {
      const cel = getJsonFieldAtPath(value, 'cel')
      if (cel !== undefined && getStringAtPath(cel, 'rule') === '') return 'the cel constraint has no rule'
      const range = getJsonFieldAtPath(value, 'package')
      if (range !== undefined) {
        const problem = findVersionRangeProblem(getStringAtPath(range, 'versionRange'))
        if (problem !== undefined) return problem
      }
      const kinds = ['all', 'any', 'not', 'cel', 'gvk', 'package'].filter(
        (key) => getJsonFieldAtPath(value, key) !== undefined,
      )
      return kinds.length === 1
        ? undefined
        : 'the value must set exactly one of the fields all, any, not, cel, gvk, and package'
    }
    default:
      return 'the type is unknown'
  }
}

function findVersionRangeProblem(range: string): string | undefined {
  const parsed = parseVersionRange(range)
  return parsed.ok ? undefined : `the version range "${range}" can't be parsed: ${parsed.error}`
}

/** CRDs that the ClusterServiceVersion doesn't own. As in operator-framework/api, one owned version covers all versions of the kind. */
function findUnownedCrds({ csv, crds }: Pick<RegistryBundle, 'csv' | 'crds'>): readonly ManifestObject[] {
  const owned = new Set(
    getListAtPath(csv.data, 'spec', 'customresourcedefinitions', 'owned').map((entry) => {
      const name = getStringAtPath(entry, 'name')
      return joinGvkParts(
        name.slice(name.indexOf('.') + 1),
        getStringAtPath(entry, 'version'),
        getStringAtPath(entry, 'kind'),
      )
    }),
  )
  const kinds = new Set(
    getApisDefinedByCrds(crds).flatMap(({ group, version, kind }) =>
      owned.has(joinGvkParts(group, version, kind)) ? [joinGvkParts(group, '', kind)] : [],
    ),
  )
  return crds.filter((crd) =>
    getApisDefinedByCrds([crd]).some(({ group, kind }) => !kinds.has(joinGvkParts(group, '', kind))),
  )
}
