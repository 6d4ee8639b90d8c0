// Renders registry+v1 bundles to plain manifests by OLM v1's algorithm (operator-controller v1.11,
// internal/operator-controller/rukpak).
import type { RenderedObject, PlainRenderOptions, RenderRejection } from './rendering.ts'
import { generateClusterRoles, generateRoles, generateServiceAccounts } from './accounts-and-roles.ts'
import { generateCertificates } from './certificates.ts'
import { parseCsvRenderFields } from './csv-view.ts'
import { generateDeployments } from './deployments.ts'
import type { GeneratorInput } from './generator-input.ts'
import { findBundleRejections } from './find-bundle-rejections.ts'
import { findTargetNamespaceRejection } from './target-namespace-rejection.ts'
import type { RegistryV1Bundle } from './registry-v1.ts'
import { isNamespacedKind } from './supported-kinds.ts'
import {
  generateCrds,
  generateMutatingWebhooks,
  generateWebhookServices,
  generateValidatingWebhooks,
} from './webhooks.ts'

export interface RegistryRenderResult {
  readonly objects: readonly RenderedObject[]
  readonly rejections: readonly RenderRejection[]
}

type ResourceGenerator = (generation: GeneratorInput) => readonly (RenderedObject | RenderRejection)[]

/** OLM's order. */
const resourceGenerators: readonly ResourceGenerator[] = [
  generateServiceAccounts,
  generateRoles,
  generateClusterRoles,
  generateCrds,
  generateAdditionalObjects,
  generateDeployments,
  generateValidatingWebhooks,
  generateMutatingWebhooks,
  generateWebhookServices,
  generateCertificates,
]

/** Only the renderer. `findClusterExtensionRejections` covers what OLM v1 rejects before rendering. */
export function renderRegistryV1(
  bundle: RegistryV1Bundle,
  options: PlainRenderOptions,
): RegistryRenderResult {
  const csv = parseCsvRenderFields(bundle.csv)
  const bundleRejections = findBundleRejections(csv, bundle)
  if (bundleRejections.length > 0) return { objects: [], rejections: bundleRejections }
  const { watchNamespaces = [], installNamespace, certificates: provider = 'cert-manager' } = options
  const targets =
    watchNamespaces.length > 0 ? watchNamespaces : csv.modes.includes('AllNamespaces') ? [''] : []
  const targetRejection = findTargetNamespaceRejection(csv, installNamespace, targets)
  if (targetRejection) return { objects: [], rejections: [targetRejection] }
  const generation: GeneratorInput = {
    ...{ bundle, csv, installNamespace, watchNamespaces: targets },
    certificates: provider === 'none' ? undefined : provider,
    deploymentConfig: options.deploymentConfig,
  }
  const made = resourceGenerators.flatMap((generate) => generate(generation))
  const rejections = made.filter(isRejection)
  return { objects: rejections.length > 0 ? [] : made.filter(isRenderedObject), rejections }
}

/** Reasons why OLM v1 rejects an extension before it renders the bundle. */
export function findClusterExtensionRejections(
  bundle: RegistryV1Bundle,
  options: PlainRenderOptions,
): readonly RenderRejection[] {
  const csv = parseCsvRenderFields(bundle.csv)
  const specFieldLocation = (field: string) => ({ file: csv.file, path: ['spec', field] })
  const rejections: RenderRejection[] = []
  if (csv.ownsServices)
    rejections.push({
      message: 'unsupported bundle: apiServiceDefintions are not supported',
      at: specFieldLocation('apiservicedefinitions'),
    })
  if (csv.webhooks.length > 0 && options.certificates === 'none')
    rejections.push({
      message: 'unsupported bundle: webhookDefinitions are not supported: certificate provider is nil',
      at: specFieldLocation('webhookdefinitions'),
      isAboutOptions: true,
    })
  if (!csv.modes.some((mode) => mode !== 'MultiNamespace'))
    rejections.push({
      message:
        'unsupported bundle: bundle must support at least one of [AllNamespaces SingleNamespace OwnNamespace] install modes',
      at: specFieldLocation('installModes'),
      ...(csv.modes.length === 0 && { reportedByRule: 'unusable-install-modes' }),
    })
  return rejections
}

/** Other objects of the bundle, unchanged; those of namespaced kinds go into the install namespace. */
function generateAdditionalObjects({
  bundle,
  installNamespace: namespace,
}: GeneratorInput): readonly RenderedObject[] {
  return bundle.others.map((object) => {
    if (isNamespacedKind(object.kind) !== true) return object
    const metadata = object.manifest['metadata']
    const isObject = typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata)
    return {
      ...object,
      namespace,
      manifest: { ...object.manifest, metadata: { ...(isObject && metadata), namespace } },
    }
  })
}

function isRenderedObject(one: RenderedObject | RenderRejection): one is RenderedObject {
  return !isRejection(one)
}

function isRejection(one: RenderedObject | RenderRejection): one is RenderRejection {
  return 'message' in one
}
