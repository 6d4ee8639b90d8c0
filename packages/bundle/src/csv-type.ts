// The Go types that opm decodes a bundle into, limited to fields where opm rejects wrong types. Omits fields that only
// Kubernetes checks.
import {
  bool,
  int32,
  mapOf,
  namedString,
  rawMessage,
  slice,
  string,
  struct,
} from '@catalog-bot/fbc/go/decode/go-type'
import { objectMetaType } from '@catalog-bot/fbc/go/decode/object-type'
import {
  apiServiceDescriptionType,
  appLinkType,
  crdDescriptionType,
  gvkFields,
} from '@catalog-bot/fbc/load/property-types'

const containerType = struct('v1.Container', {
  name: string,
  image: string,
  command: slice(string),
  args: slice(string),
  env: slice(struct('v1.EnvVar', { name: string, value: string })),
})
const deploymentSpecType = struct('v1.DeploymentSpec', {
  replicas: int32,
  template: struct('v1.PodTemplateSpec', {
    spec: struct('v1.PodSpec', {
      initContainers: slice(containerType),
      containers: slice(containerType),
      serviceAccountName: string,
    }),
  }),
})

/** For reading the Operator's own images. Go names the anonymous parts after the functions' types. */
export const csvInstallType = struct('registry.csvSpec', {
  Install: struct('registry.strategy', {
    strategy: string,
    spec: struct('registry.strategySpec', {
      Deployments: slice(struct('registry.dep', { Name: string, Spec: deploymentSpecType })),
    }),
  }),
})

const definitionKeyType = struct('registry.DefinitionKey', { ...gvkFields, name: string })

export const apiDefinitionsType = struct('struct', {
  owned: slice(definitionKeyType),
  required: slice(definitionKeyType),
})

export const relatedImageType = struct('declcfg.RelatedImage', { name: string, image: string })

const permissionsType = struct('v1alpha1.StrategyDeploymentPermissions', {
  serviceAccountName: string,
  rules: slice(
    struct('v1.PolicyRule', {
      verbs: slice(string),
      apiGroups: slice(string),
      resources: slice(string),
      resourceNames: slice(string),
      nonResourceURLs: slice(string),
    }),
  ),
})

/** opm decodes the whole CSV only to generate `olm.csv.metadata`. */
export const csvType = struct('v1alpha1.ClusterServiceVersion', {
  apiVersion: string,
  kind: string,
  metadata: objectMetaType,
  spec: struct('v1alpha1.ClusterServiceVersionSpec', {
    install: struct('v1alpha1.NamedInstallStrategy', {
      strategy: string,
      spec: struct('v1alpha1.StrategyDetailsDeployment', {
        deployments: slice(
          struct('v1alpha1.StrategyDeploymentSpec', {
            name: string,
            spec: deploymentSpecType,
            label: mapOf(string),
          }),
        ),
        permissions: slice(permissionsType),
        clusterPermissions: slice(permissionsType),
      }),
    }),
    version: string,
    release: string,
    maturity: string,
    customresourcedefinitions: struct('v1alpha1.CustomResourceDefinitions', {
      owned: slice(crdDescriptionType),
      required: slice(crdDescriptionType),
    }),
    apiservicedefinitions: struct('v1alpha1.APIServiceDefinitions', {
      owned: slice(apiServiceDescriptionType),
      required: slice(apiServiceDescriptionType),
    }),
    webhookdefinitions: slice(
      struct('v1alpha1.WebhookDescription', {
        generateName: string,
        type: namedString('v1alpha1.WebhookAdmissionType'),
        deploymentName: string,
        containerPort: int32,
        admissionReviewVersions: slice(string),
        webhookPath: string,
        conversionCRDs: slice(string),
      }),
    ),
    nativeAPIs: slice(struct('v1.GroupVersionKind', gvkFields)),
    minKubeVersion: string,
    displayName: string,
    description: string,
    keywords: slice(string),
    maintainers: slice(struct('v1alpha1.Maintainer', { name: string, email: string })),
    provider: appLinkType,
    links: slice(appLinkType),
    icon: slice(struct('v1alpha1.Icon', { base64data: string, mediatype: string })),
    installModes: slice(
      struct('v1alpha1.InstallMode', { type: namedString('v1alpha1.InstallModeType'), supported: bool }),
    ),
    replaces: string,
    labels: mapOf(string),
    annotations: mapOf(string),
    cleanup: struct('v1alpha1.CleanupSpec', { enabled: bool }),
    skips: slice(string),
    relatedImages: slice(struct('v1alpha1.RelatedImage', { name: string, image: string })),
  }),
})

export const crdType = struct('v1.CustomResourceDefinition', {
  apiVersion: string,
  kind: string,
  metadata: objectMetaType,
  spec: struct('v1.CustomResourceDefinitionSpec', {
    group: string,
    version: string,
    names: struct('v1.CustomResourceDefinitionNames', {
      plural: string,
      singular: string,
      shortNames: slice(string),
      kind: string,
      listKind: string,
    }),
    scope: namedString('v1.ResourceScope'),
    versions: slice(
      struct('v1.CustomResourceDefinitionVersion', { name: string, served: bool, storage: bool }),
    ),
  }),
})

const typedValueFields = { type: string, value: rawMessage }

export const annotationsType = struct('registry.Annotations', {
  'operators.operatorframework.io.bundle.package.v1': string,
  'operators.operatorframework.io.bundle.channels.v1': string,
  'operators.operatorframework.io.bundle.channel.default.v1': string,
})
export const dependenciesType = struct('registry.DependenciesFile', {
  dependencies: slice(struct('registry.Dependency', typedValueFields)),
})
export const propertiesType = struct('registry.PropertiesFile', {
  properties: slice(struct('registry.Property', typedValueFields)),
})

export const propertyListType = struct('list', { list: slice(struct('registry.Property', typedValueFields)) })
export const gvkType = struct('property.GVK', { group: string, kind: string, version: string })
export const packageType = struct('property.Package', {
  packageName: string,
  version: string,
  release: string,
})
