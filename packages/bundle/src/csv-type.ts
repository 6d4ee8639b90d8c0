// The Go types that opm decodes a bundle into, limited to fields where opm rejects wrong types. Omits fields that only
// Kubernetes checks.
import {
  boolType,
  int32Type,
  createMapType,
  createNamedStringType,
  rawMessageType,
  createSliceType,
  stringType,
  createStructType,
} from '@catalog-bot/fbc/go/decode/go-type'
import { objectMetaType } from '@catalog-bot/fbc/go/decode/object-type'
import {
  apiServiceDescriptionType,
  appLinkType,
  crdDescriptionType,
  gvkFields,
} from '@catalog-bot/fbc/load/property-types'

const containerType = createStructType('v1.Container', {
  name: stringType,
  image: stringType,
  command: createSliceType(stringType),
  args: createSliceType(stringType),
  env: createSliceType(createStructType('v1.EnvVar', { name: stringType, value: stringType })),
})
const deploymentSpecType = createStructType('v1.DeploymentSpec', {
  replicas: int32Type,
  template: createStructType('v1.PodTemplateSpec', {
    spec: createStructType('v1.PodSpec', {
      initContainers: createSliceType(containerType),
      containers: createSliceType(containerType),
      serviceAccountName: stringType,
    }),
  }),
})

/** For reading the Operator's own images. Go names the anonymous parts after the functions' types. */
export const csvInstallType = createStructType('registry.csvSpec', {
  Install: createStructType('registry.strategy', {
    strategy: stringType,
    spec: createStructType('registry.strategySpec', {
      Deployments: createSliceType(
        createStructType('registry.dep', { Name: stringType, Spec: deploymentSpecType }),
      ),
    }),
  }),
})

const definitionKeyType = createStructType('registry.DefinitionKey', { ...gvkFields, name: stringType })

export const apiDefinitionsType = createStructType('struct', {
  owned: createSliceType(definitionKeyType),
  required: createSliceType(definitionKeyType),
})

export const relatedImageType = createStructType('declcfg.RelatedImage', {
  name: stringType,
  image: stringType,
})

const permissionsType = createStructType('v1alpha1.StrategyDeploymentPermissions', {
  serviceAccountName: stringType,
  rules: createSliceType(
    createStructType('v1.PolicyRule', {
      verbs: createSliceType(stringType),
      apiGroups: createSliceType(stringType),
      resources: createSliceType(stringType),
      resourceNames: createSliceType(stringType),
      nonResourceURLs: createSliceType(stringType),
    }),
  ),
})

/** opm decodes the whole CSV only to generate `olm.csv.metadata`. */
export const csvType = createStructType('v1alpha1.ClusterServiceVersion', {
  apiVersion: stringType,
  kind: stringType,
  metadata: objectMetaType,
  spec: createStructType('v1alpha1.ClusterServiceVersionSpec', {
    install: createStructType('v1alpha1.NamedInstallStrategy', {
      strategy: stringType,
      spec: createStructType('v1alpha1.StrategyDetailsDeployment', {
        deployments: createSliceType(
          createStructType('v1alpha1.StrategyDeploymentSpec', {
            name: stringType,
            spec: deploymentSpecType,
            label: createMapType(stringType),
          }),
        ),
        permissions: createSliceType(permissionsType),
        clusterPermissions: createSliceType(permissionsType),
      }),
    }),
    version: stringType,
    release: stringType,
    maturity: stringType,
    customresourcedefinitions: createStructType('v1alpha1.CustomResourceDefinitions', {
      owned: createSliceType(crdDescriptionType),
      required: createSliceType(crdDescriptionType),
    }),
    apiservicedefinitions: createStructType('v1alpha1.APIServiceDefinitions', {
      owned: createSliceType(apiServiceDescriptionType),
      required: createSliceType(apiServiceDescriptionType),
    }),
    webhookdefinitions: createSliceType(
      createStructType('v1alpha1.WebhookDescription', {
        generateName: stringType,
        type: createNamedStringType('v1alpha1.WebhookAdmissionType'),
        deploymentName: stringType,
        containerPort: int32Type,
        admissionReviewVersions: createSliceType(stringType),
        webhookPath: stringType,
        conversionCRDs: createSliceType(stringType),
      }),
    ),
    nativeAPIs: createSliceType(createStructType('v1.GroupVersionKind', gvkFields)),
    minKubeVersion: stringType,
    displayName: stringType,
    description: stringType,
    keywords: createSliceType(stringType),
    maintainers: createSliceType(
      createStructType('v1alpha1.Maintainer', { name: stringType, email: stringType }),
    ),
    provider: appLinkType,
    links: createSliceType(appLinkType),
    icon: createSliceType(
      createStructType('v1alpha1.Icon', { base64data: stringType, mediatype: stringType }),
    ),
    installModes: createSliceType(
      createStructType('v1alpha1.InstallMode', {
        type: createNamedStringType('v1alpha1.InstallModeType'),
        supported: boolType,
      }),
    ),
    replaces: stringType,
    labels: createMapType(stringType),
    annotations: createMapType(stringType),
    cleanup: createStructType('v1alpha1.CleanupSpec', { enabled: boolType }),
    skips: createSliceType(stringType),
    relatedImages: createSliceType(
      createStructType('v1alpha1.RelatedImage', { name: stringType, image: stringType }),
    ),
  }),
})

export const crdType = createStructType('v1.CustomResourceDefinition', {
  apiVersion: stringType,
  kind: stringType,
  metadata: objectMetaType,
  spec: createStructType('v1.CustomResourceDefinitionSpec', {
    group: stringType,
    version: stringType,
    names: createStructType('v1.CustomResourceDefinitionNames', {
      plural: stringType,
      singular: stringType,
      shortNames: createSliceType(stringType),
      kind: stringType,
      listKind: stringType,
    }),
    scope: createNamedStringType('v1.ResourceScope'),
    versions: createSliceType(
      createStructType('v1.CustomResourceDefinitionVersion', {
        name: stringType,
        served: boolType,
        storage: boolType,
      }),
    ),
  }),
})

const typedValueFields = { type: stringType, value: rawMessageType }

export const annotationsType = createStructType('registry.Annotations', {
  'operators.operatorframework.io.bundle.package.v1': stringType,
  'operators.operatorframework.io.bundle.channels.v1': stringType,
  'operators.operatorframework.io.bundle.channel.default.v1': stringType,
})
export const dependenciesType = createStructType('registry.DependenciesFile', {
  dependencies: createSliceType(createStructType('registry.Dependency', typedValueFields)),
})
export const propertiesType = createStructType('registry.PropertiesFile', {
  properties: createSliceType(createStructType('registry.Property', typedValueFields)),
})

export const propertyListType = createStructType('list', {
  list: createSliceType(createStructType('registry.Property', typedValueFields)),
})
export const gvkType = createStructType('property.GVK', {
  group: stringType,
  kind: stringType,
  version: stringType,
})
export const packageType = createStructType('property.Package', {
  packageName: stringType,
  version: stringType,
  release: stringType,
})
