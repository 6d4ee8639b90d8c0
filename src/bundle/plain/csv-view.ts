import { at, listOf, objectOf, textOf } from '../fields.ts'
import type { Json } from '../../go/json/json.ts'
import type { JsonObject, PlainObject } from './rendering.ts'

export type WebhookType = 'ValidatingAdmissionWebhook' | 'MutatingAdmissionWebhook' | 'ConversionWebhook'

export interface Webhook {
  readonly type: string
  readonly name: string
  readonly deployment: string
  /** 0 if absent, as in Go. */
  readonly port: number
  readonly conversionCrds: readonly string[]
  readonly rules: readonly Json[]
  readonly definition: JsonObject
}

export interface Deployment {
  readonly name: string
  readonly spec: JsonObject
  readonly labels: JsonObject
}

export interface Permission {
  /** Defaults to `default`. */
  readonly account: string
  readonly entry: JsonObject
  readonly rules: readonly Json[]
}

export interface CsvView {
  readonly name: string
  readonly file: string
  readonly annotations: JsonObject
  readonly deployments: readonly Deployment[]
  readonly permissions: readonly Permission[]
  readonly clusterPermissions: readonly Permission[]
  readonly webhooks: readonly Webhook[]
  readonly ownedCrds: readonly string[]
  readonly ownsServices: boolean
  readonly modes: readonly string[]
}

export function viewCsv({ manifest, file }: PlainObject): CsvView {
  const spec = (...path: string[]) => listOf(at(manifest, 'spec', ...path))
  const permissions = (list: string) => spec('install', 'spec', list).map(permissionOf)
  const modes = spec('installModes')
    .filter((mode) => at(mode, 'supported') === true)
    .map((mode) => textOf(at(mode, 'type')))
  return {
    name: textOf(at(manifest, 'metadata', 'name')),
    file,
    annotations: objectOf(at(manifest, 'metadata', 'annotations')),
    deployments: spec('install', 'spec', 'deployments').map((entry) => ({
      name: textOf(at(entry, 'name')),
      spec: objectOf(at(entry, 'spec')),
      labels: objectOf(at(entry, 'label')),
    })),
    permissions: permissions('permissions'),
    clusterPermissions: permissions('clusterPermissions'),
    webhooks: spec('webhookdefinitions').map(webhookOf),
    ownedCrds: spec('customresourcedefinitions', 'owned').map((entry) => textOf(at(entry, 'name'))),
    ownsServices: spec('apiservicedefinitions', 'owned').length > 0,
    modes: [...new Set(modes)].sort(),
  }
}

function permissionOf(entry: Json): Permission {
  const account = textOf(at(entry, 'serviceAccountName'))
  return {
    account: account === '' ? 'default' : account,
    entry: objectOf(entry),
    rules: listOf(at(entry, 'rules')),
  }
}

function webhookOf(entry: Json): Webhook {
  const port = at(entry, 'containerPort')
  return {
    type: textOf(at(entry, 'type')),
    name: textOf(at(entry, 'generateName')),
    deployment: textOf(at(entry, 'deploymentName')),
    port: typeof port === 'number' ? port : 0,
    conversionCrds: listOf(at(entry, 'conversionCRDs')).map(textOf),
    rules: listOf(at(entry, 'rules')),
    definition: objectOf(entry),
  }
}
