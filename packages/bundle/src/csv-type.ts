// The Go types that opm decodes a bundle into, without fields that only Kubernetes checks.
import {
  boolType,
  int32Type,
  createMapType,
  createNamedStringType,
  rawMessageType,
  createSliceType,
  stringType,
  createStructType,
  objectMetaStructType,
} from '@catalog-bot/fbc/go/decode/go-type'
import {
  apiServiceDescriptionStructType,
  appLinkStructType,
  crdDescriptionStructType,
  gvkStructFields,
  installModesType,
  maintainersType,
} from '@catalog-bot/fbc/load/property-types'

const containerStructType = createStructType('v1.Container', {
  name: stringType,
  image: stringType,
  command: createSliceType(stringType),
  args: createSliceType(stringType),
  env: createSliceType(createStructType('v1.EnvVar', { name: stringType, value: stringType })),
})
const deploymentSpecStructType = createStructType('v1.DeploymentSpec', {
  replicas: int32Type,
  template: createStructType('v1.PodTemplateSpec', {
    spec: createStructType('v1.PodSpec', {
      initContainers: createSliceType(containerStructType),
      containers: createSliceType(containerStructType),
      serviceAccountName: stringType,
    }),
  }),
})

/** For reading the Operator's own images. Go names the anonymous parts after the functions' types. */
export const csvInstallStructType = createStructType('registry.csvSpec', {
  Install: createStructType('registry.strategy', {
    strategy: stringType,
    spec: createStructType('registry.strategySpec', {
      Deployments: createSliceType(
        createStructType('registry.dep', { Name: stringType, Spec: deploymentSpecStructType }),
      ),
    }),
  }),
})

const apiDefinitionKeyStructType = createStructType('registry.DefinitionKey', {
  ...gvkStructFields,
  name: stringType,
})

export const apiDefinitionsStructType = createStructType('struct', {
  owned: createSliceType(apiDefinitionKeyStructType),
  required: createSliceType(apiDefinitionKeyStructType),
})

export const relatedImageStructType = createStructType('declcfg.RelatedImage', {
  name: stringType,
  image: stringType,
})

const permissionsStructType = createStructType('v1alpha1.StrategyDeploymentPermissions', {
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
export const csvStructType = createStructType('v1alpha1.ClusterServiceVersion', {
  apiVersion: stringType,
  kind: stringType,
  metadata: objectMetaStructType,
  spec: createStructType('v1alpha1.ClusterServiceVersionSpec', {
    install: createStructType('v1alpha1.NamedInstallStrategy', {
      strategy: stringType,
      spec: createStructType('v1alpha1.StrategyDetailsDeployment', {
        deployments: createSliceType(
          createStructType('v1alpha1.StrategyDeploymentSpec', {
            name: stringType,
            spec: deploymentSpecStructType,
            label: createMapType(stringType),
          }),
        ),
        permissions: createSliceType(permissionsStructType),
        clusterPermissions: createSliceType(permissionsStructType),
      }),
    }),
    version: stringType,
    release: stringType,
    maturity: stringType,
    customresourcedefinitions: createStructType('v1alpha1.CustomResourceDefinitions', {
      owned: createSliceType(crdDescriptionStructType),
      required: createSliceType(crdDescriptionStructType),
    }),
    apiservicedefinitions: createStructType('v1alpha1.APIServiceDefinitions', {
      owned: createSliceType(apiServiceDescriptionStructType),
      required: createSliceType(apiServiceDescriptionStructType),
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
    nativeAPIs: createSliceType(createStructType('v1.GroupVersionKind', gvkStructFields)),
    minKubeVersion: stringType,
    displayName: stringType,
    description: stringType,
    keywords: createSliceType(stringType),
    maintainers: maintainersType,
    provider: appLinkStructType,
    links: createSliceType(appLinkStructType),
    icon: createSliceType(
      createStructType('v1alpha1.Icon', { base64data: stringType, mediatype: stringType }),
    ),
    installModes: installModesType,
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

export const crdStructType = createStructType('v1.CustomResourceDefinition', {
  apiVersion: stringType,
  kind: stringType,
  metadata: objectMetaStructType,
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

const propertyOrDependencyFields = { type: stringType, value: rawMessageType }

export const annotationsStructType = createStructType('registry.Annotations', {
  'operators.operatorframework.io.bundle.package.v1': stringType,
  'operators.operatorframework.io.bundle.channels.v1': stringType,
  'operators.operatorframework.io.bundle.channel.default.v1': stringType,
})
export const dependenciesStructType = createStructType('registry.DependenciesFile', {
  dependencies: createSliceType(createStructType('registry.Dependency', propertyOrDependencyFields)),
})
export const propertiesStructType = createStructType('registry.PropertiesFile', {
  properties: createSliceType(createStructType('registry.Property', propertyOrDependencyFields)),
})

export const propertyListStructType = createStructType('list', {
  list: createSliceType(createStructType('registry.Property', propertyOrDependencyFields)),
})
export const gvkStructType = createStructType('property.GVK', {
  group: stringType,
  kind: stringType,
  version: stringType,
})
export const packagePropertyStructType = createStructType('property.Package', {
  packageName: stringType,
  version: stringType,
  release: stringType,
})
