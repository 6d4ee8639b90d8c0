import { getJsonFieldAtPath, asListOrEmpty, asObjectOrEmpty, asStringOrEmpty } from '../fields.ts'
import type { Json } from '@catalog-bot/fbc/go/json/json'
import type { JsonObject, RenderedObject } from './rendering.ts'

export type WebhookType = 'ValidatingAdmissionWebhook' | 'MutatingAdmissionWebhook' | 'ConversionWebhook'

export interface CsvWebhook {
  readonly type: string
  readonly name: string
  readonly deployment: string
  /** 0 if absent, as in Go. */
  readonly port: number
  readonly conversionCrds: readonly string[]
  readonly rules: readonly Json[]
  readonly definition: JsonObject
}

export interface CsvDeployment {
  readonly name: string
  readonly spec: JsonObject
  readonly labels: JsonObject
}

export interface CsvPermission {
  /** Defaults to `default`. */
  readonly account: string
  readonly entry: JsonObject
  readonly rules: readonly Json[]
}

export interface CsvFieldsForRendering {
  readonly name: string
  readonly file: string
  readonly annotations: JsonObject
  readonly deployments: readonly CsvDeployment[]
  readonly permissions: readonly CsvPermission[]
  readonly clusterPermissions: readonly CsvPermission[]
  readonly webhooks: readonly CsvWebhook[]
  readonly ownedCrds: readonly string[]
  readonly ownsServices: boolean
  readonly modes: readonly string[]
}

export function parseCsvFieldsForRendering({ manifest, file }: RenderedObject): CsvFieldsForRendering {
  const listInSpec = (...path: string[]) => asListOrEmpty(getJsonFieldAtPath(manifest, 'spec', ...path))
  const parsePermissions = (list: string) => listInSpec('install', 'spec', list).map(parsePermission)
  const modes = listInSpec('installModes')
    .filter((mode) => getJsonFieldAtPath(mode, 'supported') === true)
    .map((mode) => asStringOrEmpty(getJsonFieldAtPath(mode, 'type')))
  return {
    name: asStringOrEmpty(getJsonFieldAtPath(manifest, 'metadata', 'name')),
    file,
    annotations: asObjectOrEmpty(getJsonFieldAtPath(manifest, 'metadata', 'annotations')),
    deployments: listInSpec('install', 'spec', 'deployments').map((entry) => ({
      name: asStringOrEmpty(getJsonFieldAtPath(entry, 'name')),
      spec: asObjectOrEmpty(getJsonFieldAtPath(entry, 'spec')),
      labels: asObjectOrEmpty(getJsonFieldAtPath(entry, 'label')),
    })),
    permissions: parsePermissions('permissions'),
    clusterPermissions: parsePermissions('clusterPermissions'),
    webhooks: listInSpec('webhookdefinitions').map(parseWebhook),
    ownedCrds: listInSpec('customresourcedefinitions', 'owned').map((entry) =>
      asStringOrEmpty(getJsonFieldAtPath(entry, 'name')),
    ),
    ownsServices: listInSpec('apiservicedefinitions', 'owned').length > 0,
    modes: [...new Set(modes)].sort(),
  }
}

function parsePermission(entry: Json): CsvPermission {
  const account = asStringOrEmpty(getJsonFieldAtPath(entry, 'serviceAccountName'))
  return {
    account: account === '' ? 'default' : account,
    entry: asObjectOrEmpty(entry),
    rules: asListOrEmpty(getJsonFieldAtPath(entry, 'rules')),
  }
}

function parseWebhook(entry: Json): CsvWebhook {
  const port = getJsonFieldAtPath(entry, 'containerPort')
  return {
    type: asStringOrEmpty(getJsonFieldAtPath(entry, 'type')),
    name: asStringOrEmpty(getJsonFieldAtPath(entry, 'generateName')),
    deployment: asStringOrEmpty(getJsonFieldAtPath(entry, 'deploymentName')),
    port: typeof port === 'number' ? port : 0,
    conversionCrds: asListOrEmpty(getJsonFieldAtPath(entry, 'conversionCRDs')).map(asStringOrEmpty),
    rules: asListOrEmpty(getJsonFieldAtPath(entry, 'rules')),
    definition: asObjectOrEmpty(entry),
  }
}
