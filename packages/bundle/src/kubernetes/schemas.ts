// Kubernetes' types from its OpenAPI document, parsed lazily.
import { memoizeOnce, memoizePerObject } from '@catalog-bot/findings/memoize'
import { kubernetesOpenApiJson } from './openapi.ts'

const csvPermissionsSchema: SchemaType = [
  { fields: { 'serviceAccountName*': ':string', 'rules*': ['rbac.v1.PolicyRule'] } },
]

const csvDescriptorsSchema: SchemaType = [
  {
    fields: {
      'path*': ':string',
      displayName: ':string',
      description: ':string',
      'x-descriptors': [':string'],
      value: ':any',
    },
  },
]

const csvApiDescriptionFields = {
  displayName: ':string',
  description: ':string',
  resources: [{ fields: { 'name*': ':string', 'kind*': ':string', 'version*': ':string' } }],
  statusDescriptors: csvDescriptorsSchema,
  specDescriptors: csvDescriptorsSchema,
  actionDescriptors: csvDescriptorsSchema,
} satisfies Record<string, SchemaType>

const crdDescriptionsSchema: SchemaType = [
  { fields: { 'name*': ':string', 'version*': ':string', 'kind*': ':string', ...csvApiDescriptionFields } },
]

const crdDefinitionsSchema: SchemaType = {
  fields: { owned: crdDescriptionsSchema, required: crdDescriptionsSchema },
}

const gvkFields = { 'group*': ':string', 'version*': ':string', 'kind*': ':string' }

const apiServiceDescriptionsSchema: SchemaType = [
  {
    fields: {
      'name*': ':string',
      ...gvkFields,
      deploymentName: ':string',
      containerPort: ':int32',
      ...csvApiDescriptionFields,
    },
  },
]

const apiServiceDefinitionsSchema: SchemaType = {
  fields: { owned: apiServiceDescriptionsSchema, required: apiServiceDescriptionsSchema },
}

const csvLinkSchema: SchemaType = { fields: { name: ':string', url: ':string' } }

const csvDisplayFields = {
  installModes: [{ fields: { 'type*': ':string', 'supported*': ':boolean' } }],
  keywords: [':string'],
  labels: { values: ':string' },
  links: [csvLinkSchema],
  maintainers: [{ fields: { name: ':string', email: ':string' } }],
  maturity: ':string',
  minKubeVersion: ':string',
  nativeAPIs: [{ fields: gvkFields }],
} satisfies Record<string, SchemaType>

/** The value of `olm.csv.metadata`, in the order of its Go type (operator-registry, alpha/property). */
export const csvMetadataFields = {
  annotations: { values: ':string' },
  'apiServiceDefinitions*': apiServiceDefinitionsSchema,
  'crdDescriptions*': crdDefinitionsSchema,
  description: ':string',
  displayName: ':string',
  ...csvDisplayFields,
  'provider*': csvLinkSchema,
} satisfies Record<string, SchemaType>

const csvWebhookSchema: SchemaType = {
  fields: {
    'generateName*': ':string',
    'type*': ':string',
    deploymentName: ':string',
    containerPort: ':int32',
    targetPort: ':int-or-string',
    rules: ['admissionregistration.v1.RuleWithOperations'],
    failurePolicy: ':string',
    matchPolicy: ':string',
    objectSelector: 'meta.v1.LabelSelector',
    'sideEffects*': ':string',
    timeoutSeconds: ':int32',
    'admissionReviewVersions*': [':string'],
    reinvocationPolicy: ':string',
    webhookPath: ':string',
    conversionCRDs: [':string'],
  },
}

const csvDeploymentSchema: SchemaType = {
  fields: { 'name*': ':string', 'spec*': 'apps.v1.DeploymentSpec', label: { values: ':string' } },
}

// OLM's Go type of a ClusterServiceVersion (operator-framework/api, pkg/operators/v1alpha1).

/** Used by both OLM versions. */
export const csvSchema: SchemaType = {
  fields: {
    apiVersion: ':string',
    kind: ':string',
    'metadata*': 'meta.v1.ObjectMeta',
    'spec*': {
      fields: {
        'install*': {
          fields: {
            'strategy*': ':string',
            spec: {
              fields: {
                'deployments*': [csvDeploymentSchema],
                permissions: csvPermissionsSchema,
                clusterPermissions: csvPermissionsSchema,
              },
            },
          },
        },
        version: ':string',
        release: ':string',
        customresourcedefinitions: crdDefinitionsSchema,
        apiservicedefinitions: apiServiceDefinitionsSchema,
        webhookdefinitions: [csvWebhookSchema],
        'displayName*': ':string',
        description: ':string',
        ...csvDisplayFields,
        provider: csvLinkSchema,
        icon: [{ fields: { 'base64data*': ':string', 'mediatype*': ':string' } }],
        replaces: ':string',
        annotations: { values: ':string' },
        selector: 'meta.v1.LabelSelector',
        cleanup: { fields: { 'enabled*': ':boolean' } },
        skips: [':string'],
        relatedImages: [{ fields: { 'name*': ':string', 'image*': ':string' } }],
      },
    },
    status: ':any',
  },
}

/** A definition's name, or a colon and a scalar type (`:string`, `:int32`, `:quantity`). `[type]` is a list. */
export type SchemaType =
  | string
  | readonly [SchemaType]
  | { readonly values: SchemaType }
  | { readonly fields: Readonly<Record<string, SchemaType>> }

export interface SchemaField {
  readonly type: SchemaType
  readonly isRequired: boolean
}

interface OpenApiDocument {
  readonly kinds: Readonly<Record<string, string>>
  readonly definitions: Readonly<Record<string, SchemaType>>
}

const parseOpenApiDocument = memoizeOnce(() => JSON.parse(kubernetesOpenApiJson) as OpenApiDocument)

/** Undefined for kinds and versions that aren't part of Kubernetes. */
export function findSchemaName(apiVersion: string, kind: string): string | undefined {
  const { kinds } = parseOpenApiDocument()
  const key = `${apiVersion} ${kind}`
  return Object.hasOwn(kinds, key) ? kinds[key] : undefined
}

export function resolveSchemaType(type: SchemaType): SchemaType {
  if (typeof type !== 'string' || type.startsWith(':')) return type
  const { definitions } = parseOpenApiDocument()
  return Object.hasOwn(definitions, type) ? resolveSchemaType(definitions[type] ?? ':any') : ':any'
}

/** By name. In the stored form, required fields end with an asterisk. */
export const parseSchemaFields = memoizePerObject(
  (fields: Readonly<Record<string, SchemaType>>) =>
    new Map(
      Object.entries(fields).map(([name, type]): [string, SchemaField] =>
        name.endsWith('*')
          ? [name.slice(0, -1), { type, isRequired: true }]
          : [name, { type, isRequired: false }],
      ),
    ),
)
