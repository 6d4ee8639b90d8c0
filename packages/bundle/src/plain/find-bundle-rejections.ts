// Why OLM v1 doesn't render a bundle, with its messages in its order (rukpak/render/registryv1/validators).
import { asStringOrEmpty, getListAtPath } from '../fields.ts'
import type { FieldPath } from '../manifest-document.ts'
import type { CsvFieldsForRendering, CsvWebhook } from './csv-view.ts'
import type { RegistryV1Bundle } from './registry-v1.ts'
import type { RenderRejection } from './rendering.ts'
import { isNamespacedKind } from './supported-kinds.ts'
import { compareCodeUnits } from '@catalog-bot/findings/finding'

type RegistryV1BundleCheck = (
  csv: CsvFieldsForRendering,
  bundle: RegistryV1Bundle,
) => Iterable<RenderRejection>

export function findBundleRejections(
  csv: CsvFieldsForRendering,
  bundle: RegistryV1Bundle,
): readonly RenderRejection[] {
  return registryV1Checks.flatMap((check) => [...check(csv, bundle)])
}

const toCsvSpecLocation = (csv: CsvFieldsForRendering, ...path: FieldPath) => ({
  file: csv.file,
  path: ['spec', ...path],
})
const toCsvDeploymentLocation = (csv: CsvFieldsForRendering, name: string) =>
  toCsvSpecLocation(
    csv,
    'install',
    'spec',
    'deployments',
    csv.deployments.findLastIndex((one) => one.name === name),
    'name',
  )
const toCsvWebhookLocation = (
  csv: CsvFieldsForRendering,
  webhook: CsvWebhook | undefined,
  ...path: FieldPath
) => toCsvSpecLocation(csv, 'webhookdefinitions', webhook ? csv.webhooks.indexOf(webhook) : 0, ...path)

function* findDuplicateDeployments(csv: CsvFieldsForRendering): Generator<RenderRejection> {
  for (const name of findDuplicateStrings(csv.deployments.map((one) => one.name)))
    yield {
      message: `cluster service version contains duplicate strategy deployment spec '${name}'`,
      at: toCsvDeploymentLocation(csv, name),
      reportedByRule: 'broken-deployment',
    }
}

function* findInvalidDeploymentNames(csv: CsvFieldsForRendering): Generator<RenderRejection> {
  for (const name of toSortedUniqueStrings(csv.deployments.map((one) => one.name))) {
    const problems = findDnsSubdomainProblems(name)
    if (problems.length > 0)
      yield {
        message: `invalid cluster service version strategy deployment name '${name}': ${problems.join(', ')}`,
        at: toCsvDeploymentLocation(csv, name),
        // `broken-deployment` accepts names that are too long or have an empty part between dots.
        ...(!/^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/.test(name) && { reportedByRule: 'broken-deployment' }),
      }
  }
}

function* findDuplicateCrds(
  _csv: CsvFieldsForRendering,
  { crds }: RegistryV1Bundle,
): Generator<RenderRejection> {
  for (const name of findDuplicateStrings(crds.map((crd) => crd.name))) {
    const { file = '' } = crds.findLast((crd) => crd.name === name) ?? {}
    yield {
      message: `bundle contains duplicate custom resource definition '${name}'`,
      at: { file, path: ['metadata', 'name'] },
      reportedByRule: 'duplicate-crd',
    }
  }
}

function* findMissingCrds(
  csv: CsvFieldsForRendering,
  { crds }: RegistryV1Bundle,
): Generator<RenderRejection> {
  const present = new Set(crds.map((crd) => crd.name))
  for (const name of toSortedUniqueStrings(csv.ownedCrds))
    if (!present.has(name))
      yield {
        message: `cluster service definition references owned custom resource definition '${name}' not found in bundle`,
        at: toCsvSpecLocation(csv, 'customresourcedefinitions', 'owned', csv.ownedCrds.indexOf(name)),
        reportedByRule: 'unreadable-bundle',
      }
}

function* findEmptyPackageName(
  _csv: CsvFieldsForRendering,
  { packageName }: RegistryV1Bundle,
): Generator<RenderRejection> {
  if (packageName === '')
    yield {
      message: 'package name is empty',
      at: { file: 'metadata/annotations.yaml', path: [] },
      reportedByRule: 'missing-bundle-annotation',
    }
}

function* findUnsupportedConversions(csv: CsvFieldsForRendering): Generator<RenderRejection> {
  if (csv.modes.join() === 'AllNamespaces') return
  for (const webhook of getConversionWebhooks(csv))
    yield {
      message: `bundle contains conversion webhook ${JSON.stringify(webhook.name)} and supports install modes [${csv.modes.join(' ')}] - conversion webhooks are only supported for bundles that only support AllNamespaces install mode`,
      at: toCsvSpecLocation(csv, 'installModes'),
      ...(webhook.conversionCrds.length > 0 &&
        csv.modes.length > 0 && { reportedByRule: 'unusable-install-modes' }),
    }
}

function* findWebhooksWithoutDeployment(csv: CsvFieldsForRendering): Generator<RenderRejection> {
  const deployments = new Set(csv.deployments.map((one) => one.name))
  const orphans = csv.webhooks.filter(({ deployment }) => !deployments.has(deployment))
  for (const webhook of orphans.toSorted(
    (a, b) =>
      compareCodeUnits(a.deployment, b.deployment) ||
      compareCodeUnits(a.type, b.type) ||
      compareCodeUnits(a.name, b.name),
  ))
    yield {
      message: `webhook of type '${webhook.type}' with name '${webhook.name}' references non-existent deployment '${webhook.deployment}'`,
      at: toCsvWebhookLocation(csv, webhook),
      reportedByRule: 'broken-webhook',
    }
}

function* findDuplicateWebhooks(csv: CsvFieldsForRendering): Generator<RenderRejection> {
  for (const type of toSortedUniqueStrings(csv.webhooks.map((one) => one.type))) {
    const ofType = csv.webhooks.filter((one) => one.type === type)
    for (const name of findDuplicateStrings(ofType.map((one) => one.name)))
      yield {
        message: `duplicate webhook '${name}' of type '${type}'`,
        at: toCsvWebhookLocation(
          csv,
          ofType.findLast((one) => one.name === name),
          'generateName',
        ),
        reportedByRule: 'duplicate-webhook',
      }
  }
}

function* findInvalidWebhookNames(csv: CsvFieldsForRendering): Generator<RenderRejection> {
  for (const type of toSortedUniqueStrings(csv.webhooks.map((one) => one.type))) {
    const ofType = csv.webhooks.filter((one) => one.type === type)
    for (const name of toSortedUniqueStrings(ofType.map((one) => one.name))) {
      const problems = findDnsSubdomainProblems(name)
      if (problems.length > 0)
        yield {
          message: `webhook of type '${type}' has invalid name '${name}': ${problems.join(',')}`,
          at: toCsvWebhookLocation(
            csv,
            ofType.find((one) => one.name === name),
            'generateName',
          ),
        }
    }
  }
}

function* findCrdsWithMultipleConversions(csv: CsvFieldsForRendering): Generator<RenderRejection> {
  const references = getConversionWebhooks(csv).flatMap(({ name, conversionCrds }) =>
    conversionCrds.map((crd) => ({ name, crd })),
  )
  for (const crd of findDuplicateStrings(references.map((one) => one.crd))) {
    const names = references.filter((one) => one.crd === crd).map((one) => one.name)
    yield {
      message: `conversion webhooks [${names.sort(compareCodeUnits).join(',')}] reference same custom resource definition '${crd}'`,
      at: toCsvSpecLocation(csv, 'webhookdefinitions'),
    }
  }
}

function* findUnownedConversionCrds(csv: CsvFieldsForRendering): Generator<RenderRejection> {
  const owned = new Set(csv.ownedCrds)
  for (const webhook of [...getConversionWebhooks(csv)].sort((a, b) => compareCodeUnits(a.name, b.name)))
    for (const crd of [...webhook.conversionCrds].sort(compareCodeUnits))
      if (!owned.has(crd))
        yield {
          message: `conversion webhook '${webhook.name}' references custom resource definition '${crd}' not owned bundle`,
          at: toCsvWebhookLocation(csv, webhook),
          reportedByRule: 'broken-webhook',
        }
}

const forbiddenWebhookApiGroups = new Set(['olm.operatorframework.io', '*'])
const forbiddenWebhookResources = new Set([
  '*',
  'mutatingwebhookconfiguration',
  'mutatingwebhookconfigurations',
  'validatingwebhookconfiguration',
  'validatingwebhookconfigurations',
])

function* findForbiddenWebhookRules(csv: CsvFieldsForRendering): Generator<RenderRejection> {
  for (const webhook of csv.webhooks) {
    if (webhook.type === 'ConversionWebhook') continue
    const before = `webhook ${JSON.stringify(webhook.name)} contains forbidden rule: admission webhook rules cannot reference `
    for (const [index, rule] of webhook.rules.entries())
      for (const group of getListAtPath(rule, 'apiGroups').map(asStringOrEmpty)) {
        const location = toCsvWebhookLocation(csv, webhook, 'rules', index)
        if (forbiddenWebhookApiGroups.has(group))
          yield { message: `${before}API group ${JSON.stringify(group)}`, at: location }
        if (group === 'admissionregistration.k8s.io')
          for (const resource of getListAtPath(rule, 'resources').map(asStringOrEmpty))
            if (forbiddenWebhookResources.has(resource.toLowerCase()))
              yield {
                message: `${before}resource ${JSON.stringify(resource)} for API group ${JSON.stringify(group)}`,
                at: location,
              }
      }
  }
}

function* findUnsupportedObjectKinds(
  _csv: CsvFieldsForRendering,
  { others }: RegistryV1Bundle,
): Generator<RenderRejection> {
  for (const { name, kind, file } of others)
    if (isNamespacedKind(kind) === undefined)
      yield {
        message: `unsupported resource ${JSON.stringify(name)} with kind ${JSON.stringify(kind)}`,
        at: { file, path: ['kind'] },
        reportedByRule: 'kind-not-bundled',
      }
}

/** OLM's order. */
const registryV1Checks: readonly RegistryV1BundleCheck[] = [
  findDuplicateDeployments,
  findInvalidDeploymentNames,
  findDuplicateCrds,
  findMissingCrds,
  findEmptyPackageName,
  findUnsupportedConversions,
  findWebhooksWithoutDeployment,
  findDuplicateWebhooks,
  findInvalidWebhookNames,
  findCrdsWithMultipleConversions,
  findUnownedConversionCrds,
  findForbiddenWebhookRules,
  findUnsupportedObjectKinds,
]

function getConversionWebhooks(csv: CsvFieldsForRendering): readonly CsvWebhook[] {
  return csv.webhooks.filter(({ type }) => type === 'ConversionWebhook')
}

const dnsSubdomainPattern = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/

/** apimachinery's messages, sorted. */
function findDnsSubdomainProblems(name: string): readonly string[] {
  const problems: string[] = []
  if (!dnsSubdomainPattern.test(name))
    problems.push(
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    )
  if (new TextEncoder().encode(name).length > 253) problems.push('must be no more than 253 characters')
  return problems
}

function toSortedUniqueStrings(strings: readonly string[]): readonly string[] {
  return [...new Set(strings)].sort(compareCodeUnits)
}

function findDuplicateStrings(strings: readonly string[]): readonly string[] {
  return toSortedUniqueStrings(strings.filter((text, index) => strings.indexOf(text) !== index))
}
