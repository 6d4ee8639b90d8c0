import { getField, asList, asObject, asString } from '../fields.ts'
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

export interface CsvRenderFields {
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

export function parseCsvRenderFields({ manifest, file }: RenderedObject): CsvRenderFields {
  const listInSpec = (...path: string[]) => asList(getField(manifest, 'spec', ...path))
  const parsePermissions = (list: string) => listInSpec('install', 'spec', list).map(parsePermission)
  const modes = listInSpec('installModes')
    .filter((mode) => getField(mode, 'supported') === true)
    .map((mode) => asString(getField(mode, 'type')))
  return {
    name: asString(getField(manifest, 'metadata', 'name')),
    file,
    annotations: asObject(getField(manifest, 'metadata', 'annotations')),
    deployments: listInSpec('install', 'spec', 'deployments').map((entry) => ({
      name: asString(getField(entry, 'name')),
      spec: asObject(getField(entry, 'spec')),
      labels: asObject(getField(entry, 'label')),
    })),
    permissions: parsePermissions('permissions'),
    clusterPermissions: parsePermissions('clusterPermissions'),
    webhooks: listInSpec('webhookdefinitions').map(parseWebhook),
    ownedCrds: listInSpec('customresourcedefinitions', 'owned').map((entry) =>
      asString(getField(entry, 'name')),
    ),
    ownsServices: listInSpec('apiservicedefinitions', 'owned').length > 0,
    modes: [...new Set(modes)].sort(),
  }
}

function parsePermission(entry: Json): CsvPermission {
  const account = asString(getField(entry, 'serviceAccountName'))
  return {
    account: account === '' ? 'default' : account,
    entry: asObject(entry),
    rules: asList(getField(entry, 'rules')),
  }
}

function parseWebhook(entry: Json): CsvWebhook {
  const port = getField(entry, 'containerPort')
  return {
    type: asString(getField(entry, 'type')),
    name: asString(getField(entry, 'generateName')),
    deployment: asString(getField(entry, 'deploymentName')),
    port: typeof port === 'number' ? port : 0,
    conversionCrds: asList(getField(entry, 'conversionCRDs')).map(asString),
    rules: asList(getField(entry, 'rules')),
    definition: asObject(entry),
  }
}
