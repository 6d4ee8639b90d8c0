// Why OLM v1 refuses to render a bundle (operator-controller, rukpak/render/registryv1/validators), in its words and
// order.
import { at, listOf, textOf } from '../fields.ts'
import type { Path } from '../bundle-places.ts'
import type { CsvView, Webhook } from './csv-view.ts'
import type { RegistryV1 } from './registry-v1.ts'
import type { RenderRefusal } from './rendering.ts'
import { isPutIntoNamespace } from './supported-kinds.ts'

type Check = (csv: CsvView, bundle: RegistryV1) => Iterable<RenderRefusal>

export function refuseBundle(csv: CsvView, bundle: RegistryV1): readonly RenderRefusal[] {
  return checks.flatMap((check) => [...check(csv, bundle)])
}

const spec = (csv: CsvView, ...path: Path) => ({ file: csv.file, path: ['spec', ...path] })
const deploymentAt = (csv: CsvView, name: string) =>
  spec(
    csv,
    'install',
    'spec',
    'deployments',
    csv.deployments.findLastIndex((one) => one.name === name),
    'name',
  )
const webhookAt = (csv: CsvView, webhook: Webhook | undefined, ...path: Path) =>
  spec(csv, 'webhookdefinitions', webhook ? csv.webhooks.indexOf(webhook) : 0, ...path)

function* duplicateDeployments(csv: CsvView): Generator<RenderRefusal> {
  for (const name of repeated(csv.deployments.map((one) => one.name)))
    yield {
      message: `cluster service version contains duplicate strategy deployment spec '${name}'`,
      at: deploymentAt(csv, name),
      toldBy: 'broken-deployment',
    }
}

function* misnamedDeployments(csv: CsvView): Generator<RenderRefusal> {
  for (const name of distinct(csv.deployments.map((one) => one.name))) {
    const problems = subdomainProblems(name)
    if (problems.length > 0)
      yield {
        message: `invalid cluster service version strategy deployment name '${name}': ${problems.join(', ')}`,
        at: deploymentAt(csv, name),
        // That rule lets names pass that have an empty part between dots, or are too long.
        ...(!/^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/.test(name) && { toldBy: 'broken-deployment' }),
      }
  }
}

function* duplicateCrds(_csv: CsvView, { crds }: RegistryV1): Generator<RenderRefusal> {
  for (const name of repeated(crds.map((crd) => crd.name))) {
    const { file = '' } = crds.findLast((crd) => crd.name === name) ?? {}
    yield {
      message: `bundle contains duplicate custom resource definition '${name}'`,
      at: { file, path: ['metadata', 'name'] },
      toldBy: 'duplicate-crd',
    }
  }
}

function* missingCrds(csv: CsvView, { crds }: RegistryV1): Generator<RenderRefusal> {
  const present = new Set(crds.map((crd) => crd.name))
  for (const name of distinct(csv.ownedCrds))
    if (!present.has(name))
      yield {
        message: `cluster service definition references owned custom resource definition '${name}' not found in bundle`,
        at: spec(csv, 'customresourcedefinitions', 'owned', csv.ownedCrds.indexOf(name)),
        toldBy: 'unreadable-bundle',
      }
}

function* emptyPackageName(_csv: CsvView, { packageName }: RegistryV1): Generator<RenderRefusal> {
  if (packageName === '')
    yield {
      message: 'package name is empty',
      at: { file: 'metadata/annotations.yaml', path: [] },
      toldBy: 'missing-bundle-annotation',
    }
}

function* narrowConversions(csv: CsvView): Generator<RenderRefusal> {
  if (csv.modes.join() === 'AllNamespaces') return
  for (const webhook of conversionsOf(csv))
    yield {
      message: `bundle contains conversion webhook ${JSON.stringify(webhook.name)} and supports install modes [${csv.modes.join(' ')}] - conversion webhooks are only supported for bundles that only support AllNamespaces install mode`,
      at: spec(csv, 'installModes'),
      ...(webhook.conversionCrds.length > 0 && csv.modes.length > 0 && { toldBy: 'unusable-install-modes' }),
    }
}

function* orphanedWebhooks(csv: CsvView): Generator<RenderRefusal> {
  const deployments = new Set(csv.deployments.map((one) => one.name))
  const orphans = csv.webhooks.filter(({ deployment }) => !deployments.has(deployment))
  for (const webhook of orphans.toSorted(
    (a, b) => compare(a.deployment, b.deployment) || compare(a.type, b.type) || compare(a.name, b.name),
  ))
    yield {
      message: `webhook of type '${webhook.type}' with name '${webhook.name}' references non-existent deployment '${webhook.deployment}'`,
      at: webhookAt(csv, webhook),
      toldBy: 'broken-webhook',
    }
}

function* duplicateWebhooks(csv: CsvView): Generator<RenderRefusal> {
  for (const type of distinct(csv.webhooks.map((one) => one.type))) {
    const ofType = csv.webhooks.filter((one) => one.type === type)
    for (const name of repeated(ofType.map((one) => one.name)))
      yield {
        message: `duplicate webhook '${name}' of type '${type}'`,
        at: webhookAt(
          csv,
          ofType.findLast((one) => one.name === name),
          'generateName',
        ),
        toldBy: 'duplicate-webhook',
      }
  }
}

function* misnamedWebhooks(csv: CsvView): Generator<RenderRefusal> {
  for (const type of distinct(csv.webhooks.map((one) => one.type))) {
    const ofType = csv.webhooks.filter((one) => one.type === type)
    for (const name of distinct(ofType.map((one) => one.name))) {
      const problems = subdomainProblems(name)
      if (problems.length > 0)
        yield {
          message: `webhook of type '${type}' has invalid name '${name}': ${problems.join(',')}`,
          at: webhookAt(
            csv,
            ofType.find((one) => one.name === name),
            'generateName',
          ),
        }
    }
  }
}

function* disputedCrds(csv: CsvView): Generator<RenderRefusal> {
  const references = conversionsOf(csv).flatMap(({ name, conversionCrds }) =>
    conversionCrds.map((crd) => ({ name, crd })),
  )
  for (const crd of repeated(references.map((one) => one.crd))) {
    const names = references.filter((one) => one.crd === crd).map((one) => one.name)
    yield {
      message: `conversion webhooks [${names.sort(compare).join(',')}] reference same custom resource definition '${crd}'`,
      at: spec(csv, 'webhookdefinitions'),
    }
  }
}

function* foreignConversions(csv: CsvView): Generator<RenderRefusal> {
  const owned = new Set(csv.ownedCrds)
  for (const webhook of [...conversionsOf(csv)].sort((a, b) => compare(a.name, b.name)))
    for (const crd of [...webhook.conversionCrds].sort(compare))
      if (!owned.has(crd))
        yield {
          message: `conversion webhook '${webhook.name}' references custom resource definition '${crd}' not owned bundle`,
          at: webhookAt(csv, webhook),
          toldBy: 'broken-webhook',
        }
}

const forbiddenGroups = new Set(['olm.operatorframework.io', '*'])
const forbiddenResources = new Set([
  '*',
  'mutatingwebhookconfiguration',
  'mutatingwebhookconfigurations',
  'validatingwebhookconfiguration',
  'validatingwebhookconfigurations',
])

function* forbiddenRules(csv: CsvView): Generator<RenderRefusal> {
  for (const webhook of csv.webhooks) {
    if (webhook.type === 'ConversionWebhook') continue
    const before = `webhook ${JSON.stringify(webhook.name)} contains forbidden rule: admission webhook rules cannot reference `
    for (const [index, rule] of webhook.rules.entries())
      for (const group of listOf(at(rule, 'apiGroups')).map(textOf)) {
        const place = webhookAt(csv, webhook, 'rules', index)
        if (forbiddenGroups.has(group))
          yield { message: `${before}API group ${JSON.stringify(group)}`, at: place }
        if (group === 'admissionregistration.k8s.io')
          for (const resource of listOf(at(rule, 'resources')).map(textOf))
            if (forbiddenResources.has(resource.toLowerCase()))
              yield {
                message: `${before}resource ${JSON.stringify(resource)} for API group ${JSON.stringify(group)}`,
                at: place,
              }
      }
  }
}

function* unsupportedKinds(_csv: CsvView, { others }: RegistryV1): Generator<RenderRefusal> {
  for (const { name, kind, file } of others)
    if (isPutIntoNamespace(kind) === undefined)
      yield {
        message: `unsupported resource ${JSON.stringify(name)} with kind ${JSON.stringify(kind)}`,
        at: { file, path: ['kind'] },
        toldBy: 'kind-not-bundled',
      }
}

/** OLM's order. */
const checks: readonly Check[] = [
  duplicateDeployments,
  misnamedDeployments,
  duplicateCrds,
  missingCrds,
  emptyPackageName,
  narrowConversions,
  orphanedWebhooks,
  duplicateWebhooks,
  misnamedWebhooks,
  disputedCrds,
  foreignConversions,
  forbiddenRules,
  unsupportedKinds,
]

function conversionsOf(csv: CsvView): readonly Webhook[] {
  return csv.webhooks.filter(({ type }) => type === 'ConversionWebhook')
}

const subdomain = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/

/** apimachinery's words, sorted. */
function subdomainProblems(name: string): readonly string[] {
  const problems: string[] = []
  if (!subdomain.test(name))
    problems.push(
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    )
  if (new TextEncoder().encode(name).length > 253) problems.push('must be no more than 253 characters')
  return problems
}

function distinct(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].sort(compare)
}

function repeated(texts: readonly string[]): readonly string[] {
  return distinct(texts.filter((text, index) => texts.indexOf(text) !== index))
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
