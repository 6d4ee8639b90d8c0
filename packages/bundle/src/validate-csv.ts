// Checks of a registry+v1 bundle that opm doesn't make: names, kinds, owners, modes, examples and dependencies.
import type { Finding } from '@catalog-bot/findings/finding'
import { createFinding } from '@catalog-bot/findings/rule'
import type { Json } from '@catalog-bot/fbc/go/json/json'
import { parseVersionRange } from '@catalog-bot/fbc/versions/version-range'
import type { BundleLocator } from './bundle-locator.ts'
import { exampleAnnotationKeys } from './csv-examples.ts'
import { getField, asList, asString } from './fields.ts'
import { installableKinds } from './installable-kinds.ts'
import type { TypedMetadataEntry } from './bundle-metadata.ts'
import { type RegistryBundle, getDefinedApis, type ManifestObject } from './registry-bundle.ts'
import {
  brokenExamples,
  invalidCsvName,
  kindNotBundled,
  malformedDependency,
  serviceAccountBundled,
  unownedCrd,
  unusableInstallModes,
} from './rules/reported-rules.ts'

const formatApiKey = (...parts: readonly string[]): string => parts.join(' ')

const dnsSubdomainPattern = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/

export function* validateCsv(bundle: RegistryBundle, locate: BundleLocator): Generator<Finding> {
  const { csv, objects, dependencies, dependenciesFile } = bundle
  const replaced = asString(getField(csv.data, 'spec', 'replaces'))
  for (const [name, path] of [
    [csv.name, ['metadata', 'name']],
    [replaced, ['spec', 'replaces']],
  ] as const)
    if (name.length > 63 || (!dnsSubdomainPattern.test(name) && (name !== '' || path[0] === 'metadata')))
      yield createFinding(invalidCsvName, locate(csv.file, path), { name })

  for (const { name, file } of findUnownedCrds(bundle))
    yield createFinding(unownedCrd, locate(file, ['metadata', 'name']), { crd: name, file })

  // Like operator-framework/api, ignores accounts that only permissions name, because OLM uses an existing account.
  const accounts = new Set(
    asList(getField(csv.data, 'spec', 'install', 'spec', 'deployments')).map((entry) =>
      asString(getField(entry, 'spec', 'template', 'spec', 'serviceAccountName')),
    ),
  )
  for (const { kind, name, file } of objects) {
    if (!installableKinds.has(kind))
      yield createFinding(kindNotBundled, locate(file, ['kind']), { file, kind, name })
    if (kind === 'ServiceAccount' && accounts.has(name))
      yield createFinding(serviceAccountBundled, locate(file, ['metadata', 'name']), { name, file })
  }

  const modes = findInstallModesProblem(csv.data)
  if (modes !== undefined)
    yield createFinding(unusableInstallModes, locate(csv.file, ['spec', 'installModes']), { problem: modes })
  for (const annotation of exampleAnnotationKeys) {
    const text = getField(csv.data, 'metadata', 'annotations', annotation)
    if (typeof text === 'string' && text !== '' && !isValidExamplesJson(text))
      yield createFinding(brokenExamples, locate(csv.file, ['metadata', 'annotations', annotation]), {
        annotation,
      })
  }
  for (const [index, dependency] of dependencies.entries()) {
    const problem = findDependencyProblem(dependency)
    if (problem !== undefined)
      yield createFinding(malformedDependency, locate(dependenciesFile, ['dependencies', index]), {
        type: dependency.type,
        problem,
      })
  }
}

function findInstallModesProblem(csv: Json): string | undefined {
  const modes = asList(getField(csv, 'spec', 'installModes'))
  if (modes.length === 0) return 'it has no install modes'
  const types = modes.map((mode) => asString(getField(mode, 'type')))
  const twice = types.find((type, index) => types.indexOf(type) !== index)
  if (twice !== undefined) return `it lists the install mode "${twice}" twice`
  const supported = modes
    .filter((mode) => getField(mode, 'supported') === true)
    .map((mode) => asString(getField(mode, 'type')))
  if (supported.length === 0) return 'it does not support any install mode'
  const converts = asList(getField(csv, 'spec', 'webhookdefinitions')).some(
    (webhook) => asList(getField(webhook, 'conversionCRDs')).length > 0,
  )
  return converts && supported.join() !== 'AllNamespaces'
    ? 'it has a conversion webhook, which requires AllNamespaces to be the only supported install mode'
    : undefined
}

function isValidExamplesJson(text: string): boolean {
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) && list.every((entry) => asString(getField(entry as Json, 'kind')) !== '')
  } catch {
    return false
  }
}

function findDependencyProblem({ type, value }: TypedMetadataEntry): string | undefined {
  const describeMissingKeys = (...keys: readonly string[]) => {
    const missing = keys.filter((key) => asString(getField(value, key)) === '')
    return missing.length === 0 ? undefined : `it does not set ${missing.join(', ')}`
  }
  switch (type) {
    case 'olm.gvk':
      return describeMissingKeys('group', 'version', 'kind')
    case 'olm.package':
      return (
        describeMissingKeys('packageName', 'version') ??
        findVersionRangeProblem(asString(getField(value, 'version')))
      )
    case 'olm.label':
      return describeMissingKeys('label')
    case 'olm.constraint': {
      const cel = getField(value, 'cel')
      if (cel !== undefined && asString(getField(cel, 'rule')) === '') return 'its cel constraint has no rule'
      const range = getField(value, 'package')
      if (range !== undefined) {
        const problem = findVersionRangeProblem(asString(getField(range, 'versionRange')))
        if (problem !== undefined) return problem
      }
      const kinds = ['all', 'any', 'not', 'cel', 'gvk', 'package'].filter(
        (key) => getField(value, key) !== undefined,
      )
      return kinds.length === 1
        ? undefined
        : 'it must set exactly one of the fields all, any, not, cel, gvk, and package'
    }
    default:
      return 'the type is unknown'
  }
}

function findVersionRangeProblem(range: string): string | undefined {
  const parsed = parseVersionRange(range)
  return parsed.ok ? undefined : `its version range "${range}" can't be parsed: ${parsed.error}`
}

/** CRDs that the ClusterServiceVersion doesn't own. As in operator-framework/api, one owned version covers all versions of the kind. */
function findUnownedCrds({ csv, crds }: Pick<RegistryBundle, 'csv' | 'crds'>): readonly ManifestObject[] {
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
