// The parts of a ClusterServiceVersion that OLM v1 reads, and the input of its generators.
import type { Json } from '@catalog-bot/fbc/go/json/json'
import {
  getJsonFieldAtPath,
  asObjectOrEmpty,
  asStringOrEmpty,
  getListAtPath,
  getObjectAtPath,
  getStringAtPath,
} from '../fields.ts'
import type { JsonObject, RenderedObject, CertificateProvider } from './rendering.ts'
import type { RegistryV1Bundle } from './registry-v1.ts'

export interface ManifestGeneratorInput {
  readonly bundle: RegistryV1Bundle
  readonly csv: CsvFieldsForRendering
  readonly installNamespace: string
  /** `['']` means all namespaces. */
  readonly watchNamespaces: readonly string[]
  readonly certificates: CertificateProvider | undefined
}

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
  const listInSpec = (...path: string[]) => getListAtPath(manifest, 'spec', ...path)
  const parsePermissions = (list: string) => listInSpec('install', 'spec', list).map(parsePermission)
  const modes = listInSpec('installModes')
    .filter((mode) => getJsonFieldAtPath(mode, 'supported') === true)
    .map((mode) => getStringAtPath(mode, 'type'))
  return {
    name: getStringAtPath(manifest, 'metadata', 'name'),
    file,
    annotations: getObjectAtPath(manifest, 'metadata', 'annotations'),
    deployments: listInSpec('install', 'spec', 'deployments').map((entry) => ({
      name: getStringAtPath(entry, 'name'),
      spec: getObjectAtPath(entry, 'spec'),
      labels: getObjectAtPath(entry, 'label'),
    })),
    permissions: parsePermissions('permissions'),
    clusterPermissions: parsePermissions('clusterPermissions'),
    webhooks: listInSpec('webhookdefinitions').map(parseWebhook),
    ownedCrds: listInSpec('customresourcedefinitions', 'owned').map((entry) =>
      getStringAtPath(entry, 'name'),
    ),
    ownsServices: listInSpec('apiservicedefinitions', 'owned').length > 0,
    modes: [...new Set(modes)].sort(),
  }
}

function parsePermission(entry: Json): CsvPermission {
  const account = getStringAtPath(entry, 'serviceAccountName')
  return {
    account: account === '' ? 'default' : account,
    entry: asObjectOrEmpty(entry),
    rules: getListAtPath(entry, 'rules'),
  }
}

function parseWebhook(entry: Json): CsvWebhook {
  const port = getJsonFieldAtPath(entry, 'containerPort')
  return {
    type: getStringAtPath(entry, 'type'),
    name: getStringAtPath(entry, 'generateName'),
    deployment: getStringAtPath(entry, 'deploymentName'),
    port: typeof port === 'number' ? port : 0,
    conversionCrds: getListAtPath(entry, 'conversionCRDs').map(asStringOrEmpty),
    rules: getListAtPath(entry, 'rules'),
    definition: asObjectOrEmpty(entry),
  }
}

export function createRenderedObject(
  { csv }: ManifestGeneratorInput,
  [apiVersion, kind]: readonly [apiVersion: string, kind: string],
  metadata: { readonly name: string; readonly namespace?: string } & JsonObject,
  body: JsonObject = {},
): RenderedObject {
  const { name, namespace } = metadata
  return {
    ...{ apiVersion, kind, name },
    ...(namespace !== undefined && { namespace }),
    manifest: { apiVersion, kind, metadata, ...body },
    file: csv.file,
  }
}

export function isWatchingAllNamespaces({ watchNamespaces }: ManifestGeneratorInput): boolean {
  return watchNamespaces.length === 1 && watchNamespaces[0] === ''
}
