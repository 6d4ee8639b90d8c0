import type { Location } from '@catalog-bot/findings/finding'
import { type BundleView, type PackageView, getStringField } from './view/catalog-view.ts'
import { toFindingLocation } from './catalog-rule.ts'
import { parseConstraint, type OlmConstraint } from './view/constraint.ts'

/** An Operator of another catalog: its packages, its APIs by group, and the source. */
interface ExternalApiProvider {
  readonly packages: readonly string[]
  readonly apis: Readonly<Record<string, readonly string[]>>
  /** URL that defines the group and kinds, or describes the package. */
  readonly source: string
}

const externalApiProviders: readonly ExternalApiProvider[] = [
  {
    // In OLM's community catalog, and as Red Hat's build in its own.
    packages: ['cert-manager', 'openshift-cert-manager-operator'],
    apis: {
      'cert-manager.io': ['Certificate', 'CertificateRequest', 'ClusterIssuer', 'Issuer'],
      'acme.cert-manager.io': ['Challenge', 'Order'],
    },
    source: 'https://cert-manager.io/docs/reference/api-docs/',
  },
  {
    // Part of OpenShift; elsewhere the community catalog has it.
    packages: ['prometheus'],
    apis: {
      'monitoring.coreos.com': [
        'Alertmanager',
        'AlertmanagerConfig',
        'PodMonitor',
        'Probe',
        'Prometheus',
        'PrometheusAgent',
        'PrometheusRule',
        'ScrapeConfig',
        'ServiceMonitor',
        'ThanosRuler',
      ],
    },
    source: 'https://prometheus-operator.dev/docs/api-reference/api/',
  },
  {
    packages: ['openshift-pipelines-operator-rh', 'tektoncd-operator'],
    apis: {
      'operator.tekton.dev': [
        'OpenShiftPipelinesAsCode',
        'TektonAddon',
        'TektonChain',
        'TektonConfig',
        'TektonDashboard',
        'TektonHub',
        'TektonPipeline',
        'TektonResult',
        'TektonTrigger',
      ],
      'tekton.dev': ['ClusterTask', 'CustomRun', 'Pipeline', 'PipelineRun', 'Run', 'Task', 'TaskRun'],
      'triggers.tekton.dev': [
        'ClusterTriggerBinding',
        'EventListener',
        'Trigger',
        'TriggerBinding',
        'TriggerTemplate',
      ],
    },
    source: 'https://tekton.dev/docs/operator/',
  },
  {
    // IBM's own catalogs (ibm-operator-catalog) have these.
    packages: ['ibm-odlm', 'ibm-common-service-operator', 'ibm-namespace-scope-operator'],
    apis: {
      'operator.ibm.com': [
        'CommonService',
        'NamespaceScope',
        'OperandBindInfo',
        'OperandConfig',
        'OperandRegistry',
        'OperandRequest',
      ],
    },
    source: 'https://github.com/IBM/operand-deployment-lifecycle-manager',
  },
  {
    packages: ['ibm-licensing-operator', 'ibm-licensing-operator-app'],
    apis: { 'operator.ibm.com': ['IBMLicensing', 'IBMLicensingDefinition', 'IBMLicensingMetadata'] },
    source: 'https://github.com/IBM/ibm-licensing-operator',
  },
  {
    packages: ['openshift-gitops-operator', 'argocd-operator'],
    apis: { 'argoproj.io': ['AppProject', 'Application', 'ApplicationSet', 'ArgoCD'] },
    source: 'https://argocd-operator.readthedocs.io/en/latest/reference/argocd/',
  },
  {
    packages: ['serverless-operator', 'knative-operator'],
    apis: {
      'operator.knative.dev': ['KnativeEventing', 'KnativeServing'],
      'serving.knative.dev': ['Configuration', 'Revision', 'Route', 'Service'],
    },
    source: 'https://knative.dev/docs/install/operator/knative-with-operators/',
  },
  {
    packages: ['servicemeshoperator', 'servicemeshoperator3', 'sailoperator'],
    apis: { 'maistra.io': ['ServiceMeshControlPlane', 'ServiceMeshMember', 'ServiceMeshMemberRoll'] },
    source: 'https://github.com/maistra/istio-operator',
  },
  {
    packages: ['nfd'],
    apis: { 'nfd.openshift.io': ['NodeFeatureDiscovery', 'NodeFeatureRule'] },
    source: 'https://github.com/openshift/cluster-nfd-operator',
  },
  {
    packages: ['kubevirt-hyperconverged', 'community-kubevirt-hyperconverged'],
    apis: { 'hco.kubevirt.io': ['HyperConverged'] },
    source: 'https://github.com/kubevirt/hyperconverged-cluster-operator',
  },
  {
    packages: ['odf-operator', 'ocs-operator'],
    apis: { 'ocs.openshift.io': ['StorageCluster'] },
    source: 'https://github.com/red-hat-storage/ocs-operator',
  },
  {
    packages: ['local-storage-operator'],
    apis: { 'local.storage.openshift.io': ['LocalVolume', 'LocalVolumeDiscovery', 'LocalVolumeSet'] },
    source: 'https://github.com/openshift/local-storage-operator',
  },
  {
    packages: ['security-profiles-operator'],
    apis: { 'security-profiles-operator.x-k8s.io': ['SeccompProfile', 'SelinuxProfile'] },
    source: 'https://github.com/kubernetes-sigs/security-profiles-operator',
  },
  {
    packages: ['gpu-operator-certified'],
    apis: { 'nvidia.com': ['ClusterPolicy', 'NVIDIADriver'] },
    source: 'https://github.com/NVIDIA/gpu-operator',
  },
]

const externalPackages = new Set(externalApiProviders.flatMap(({ packages }) => packages))

const externalApiGroupKinds = new Set(
  externalApiProviders.flatMap(({ apis }) =>
    Object.entries(apis).flatMap(([group, kinds]) => kinds.map((kind) => `${group}/${kind}`)),
  ),
)

/** Packages and APIs that other catalogs or the platform provide, with sources. */
export const isExternalPackage = (name: string): boolean => externalPackages.has(name)

export const isExternalApi = (group: string, kind: string): boolean =>
  externalApiGroupKinds.has(`${group}/${kind}`)

export interface PackageRequirement {
  readonly by: BundleView
  readonly at: Location
  readonly packageName: string
  readonly versionRange: string
  /** False inside a constraint, where it may be one of several alternatives. */
  readonly alone: boolean
}

/** By property or inside a constraint, in document order. */
export function* listPackageRequirements(its: PackageView): Generator<PackageRequirement> {
  for (const bundle of its.bundles) {
    const has = (type: string) => bundle.properties(type).length > 0
    if (!has('olm.package.required') && !has('olm.constraint')) continue
    for (const { type, value, mark } of bundle.blob.properties) {
      const where = { by: bundle, at: toFindingLocation(bundle.blob.place, mark) }
      if (type === 'olm.package.required') {
        const packageName = getStringField(value, 'packageName')
        yield { ...where, packageName, versionRange: getStringField(value, 'versionRange'), alone: true }
      } else if (type === 'olm.constraint') {
        const { constraint } = parseConstraint(value)
        if (constraint === undefined) continue
        for (const part of listNestedConstraints(constraint)) {
          if (part.kind !== 'package') continue
          const { packageName, versionRange } = part
          yield { ...where, packageName, versionRange, alone: part === constraint }
        }
      }
    }
  }
}

/** Unconditional requirements only: by property, or as a whole constraint. */
export function* listApiRequirements(its: PackageView) {
  for (const bundle of its.bundles) {
    if (!bundle.properties('olm.gvk.required').length && !bundle.properties('olm.constraint').length) continue
    for (const { type, value, mark } of bundle.blob.properties) {
      const where = { by: bundle, at: toFindingLocation(bundle.blob.place, mark) }
      if (type === 'olm.gvk.required')
        yield {
          ...where,
          group: getStringField(value, 'group'),
          version: getStringField(value, 'version'),
          kind: getStringField(value, 'kind'),
        }
      else if (type === 'olm.constraint') {
        const { constraint } = parseConstraint(value)
        if (constraint?.kind !== 'gvk') continue
        yield { ...where, group: constraint.group, version: constraint.version, kind: constraint.apiKind }
      }
    }
  }
}

function* listNestedConstraints(constraint: OlmConstraint): Generator<OlmConstraint> {
  yield constraint
  if ('constraints' in constraint)
    for (const nested of constraint.constraints) yield* listNestedConstraints(nested)
}
