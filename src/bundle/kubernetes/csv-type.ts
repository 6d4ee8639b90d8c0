// OLM's Go type of a ClusterServiceVersion (operator-framework/api, pkg/operators/v1alpha1).
import type { WrittenType } from './schemas.ts'

const permissions: WrittenType = [
  { fields: { 'serviceAccountName*': ':string', 'rules*': ['rbac.v1.PolicyRule'] } },
]

const descriptors: WrittenType = [
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

const described = {
  'name*': ':string',
  'version*': ':string',
  'kind*': ':string',
  displayName: ':string',
  description: ':string',
  resources: [{ fields: { 'name*': ':string', 'kind*': ':string', 'version*': ':string' } }],
  statusDescriptors: descriptors,
  specDescriptors: descriptors,
  actionDescriptors: descriptors,
} satisfies Record<string, WrittenType>

const resources: WrittenType = [{ fields: described }]

const services: WrittenType = [
  { fields: { ...described, 'group*': ':string', deploymentName: ':string', containerPort: ':int32' } },
]

const link: WrittenType = { fields: { name: ':string', url: ':string' } }

const webhook: WrittenType = {
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

const deployment: WrittenType = {
  fields: { 'name*': ':string', 'spec*': 'apps.v1.DeploymentSpec', label: { values: ':string' } },
}

/** Used by both OLM versions. */
export const csvType: WrittenType = {
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
                'deployments*': [deployment],
                permissions,
                clusterPermissions: permissions,
              },
            },
          },
        },
        version: ':string',
        release: ':string',
        maturity: ':string',
        customresourcedefinitions: { fields: { owned: resources, required: resources } },
        apiservicedefinitions: { fields: { owned: services, required: services } },
        webhookdefinitions: [webhook],
        nativeAPIs: [{ fields: { 'group*': ':string', 'version*': ':string', 'kind*': ':string' } }],
        minKubeVersion: ':string',
        'displayName*': ':string',
        description: ':string',
        keywords: [':string'],
        maintainers: [{ fields: { name: ':string', email: ':string' } }],
        provider: link,
        links: [link],
        icon: [{ fields: { 'base64data*': ':string', 'mediatype*': ':string' } }],
        installModes: [{ fields: { 'type*': ':string', 'supported*': ':boolean' } }],
        replaces: ':string',
        labels: { values: ':string' },
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
