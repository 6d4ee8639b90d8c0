// Renders registry+v1 bundles by OLM v1's algorithm (operator-controller v1.11, internal/operator-controller/rukpak).
import type { Json } from '@catalog-bot/fbc/go/json/json'
import type { RenderedObject, PlainManifestRenderOptions, RenderRejection, JsonObject } from './rendering.ts'
import {
  generateCrds,
  generateMutatingWebhooks,
  generateWebhookServices,
  generateValidatingWebhooks,
  generateCertificates,
  formatObjectNameWithHash,
} from './webhooks.ts'
import {
  parseCsvFieldsForRendering,
  type CsvFieldsForRendering,
  type CsvPermission,
  type ManifestGeneratorInput,
  createRenderedObject,
  isWatchingAllNamespaces,
} from './csv-view.ts'
import { generateDeployments } from './deployments.ts'
import { findBundleRejections } from './find-bundle-rejections.ts'
import type { RegistryV1Bundle } from './registry-v1.ts'
import { isNamespacedKind } from './supported-kinds.ts'
import { asObjectOrEmpty } from '../fields.ts'

const rbacApiGroup = 'rbac.authorization.k8s.io'

export interface RegistryV1RenderResult {
  readonly objects: readonly RenderedObject[]
  readonly rejections: readonly RenderRejection[]
}

type ResourceGenerator = (generation: ManifestGeneratorInput) => readonly (RenderedObject | RenderRejection)[]

/** OLM's order. */
const resourceGenerators: readonly ResourceGenerator[] = [
  generateServiceAccounts,
  generateRoles,
  generateClusterRoles,
  generateCrds,
  generatePassthroughObjects,
  generateDeployments,
  generateValidatingWebhooks,
  generateMutatingWebhooks,
  generateWebhookServices,
  generateCertificates,
]

/** Only the renderer. `findClusterExtensionRejections` covers what OLM v1 rejects before rendering. */
export function renderRegistryV1Objects(
  bundle: RegistryV1Bundle,
  options: PlainManifestRenderOptions,
): RegistryV1RenderResult {
  const csv = parseCsvFieldsForRendering(bundle.csv)
  const bundleRejections = findBundleRejections(csv, bundle)
  if (bundleRejections.length > 0) return { objects: [], rejections: bundleRejections }
  const { watchNamespaces = [], installNamespace, certificates: provider = 'cert-manager' } = options
  const targets =
    watchNamespaces.length > 0 ? watchNamespaces : csv.modes.includes('AllNamespaces') ? [''] : []
  const targetRejection = findTargetNamespaceRejection(csv, installNamespace, targets)
  if (targetRejection) return { objects: [], rejections: [targetRejection] }
  const generation: ManifestGeneratorInput = {
    ...{ bundle, csv, installNamespace, watchNamespaces: targets },
    certificates: provider === 'none' ? undefined : provider,
  }
  const made = resourceGenerators.flatMap((generate) => generate(generation))
  const rejections = made.filter(isRenderRejection)
  return { objects: rejections.length > 0 ? [] : made.filter(isRenderedObject), rejections }
}

/** Reasons why OLM v1 rejects an extension before it renders the bundle. */
export function findClusterExtensionRejections(
  bundle: RegistryV1Bundle,
  options: PlainManifestRenderOptions,
): readonly RenderRejection[] {
  const csv = parseCsvFieldsForRendering(bundle.csv)
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
function generatePassthroughObjects({ bundle, installNamespace: namespace }: ManifestGeneratorInput) {
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
  return !isRenderRejection(one)
}

function isRenderRejection(one: RenderedObject | RenderRejection): one is RenderRejection {
  return 'message' in one
}

/** OLM v1's message, or undefined if allowed. An empty list means no requested namespaces and no default. */
function findTargetNamespaceRejection(
  { modes, file }: CsvFieldsForRendering,
  installNamespace: string,
  targets: readonly string[],
): RenderRejection | undefined {
  const problem = findInstallModeProblem(new Set(modes), modes.join(' '), installNamespace, targets)
  if (problem === undefined) return undefined
  return {
    message: `invalid option(s): invalid target namespaces [${targets.join(' ')}]: ${problem}`,
    at: { file, path: ['spec', 'installModes'] },
    isAboutOptions: true,
  }
}

function findInstallModeProblem(
  modes: ReadonlySet<string>,
  supported: string,
  installNamespace: string,
  targets: readonly string[],
): string | undefined {
  const set = new Set(targets)
  const cannotWatchOwn = `supported install modes [${supported}] do not support targeting own namespace`
  if (set.size === 0)
    return `${modes.has('MultiNamespace') ? 'at least' : 'exactly'} one target namespace must be specified`
  if (set.size === 1 && set.has(''))
    return modes.has('AllNamespaces')
      ? undefined
      : `supported install modes [${supported}] do not support targeting all namespaces`
  if (set.size === 1) {
    if (set.has(installNamespace)) return modes.has('OwnNamespace') ? undefined : cannotWatchOwn
    if (modes.has('SingleNamespace')) return undefined
  } else {
    if (!modes.has('OwnNamespace') && set.has(installNamespace)) return cannotWatchOwn
    if (modes.has('MultiNamespace') && !set.has('')) return undefined
  }
  return `supported install modes [${supported}] do not support target namespaces [${targets.join(' ')}]`
}

/** Sorted by name, because OLM defines no order. */
function generateServiceAccounts(generation: ManifestGeneratorInput): readonly RenderedObject[] {
  const { csv, installNamespace: namespace } = generation
  const names = new Set([...csv.permissions, ...csv.clusterPermissions].map(({ account }) => account))
  // Every namespace already has this account.
  names.delete('default')
  return [...names]
    .sort()
    .map((name) => createRenderedObject(generation, ['v1', 'ServiceAccount'], { name, namespace }))
}

function generateRoles(generation: ManifestGeneratorInput): readonly RenderedObject[] {
  if (isWatchingAllNamespaces(generation)) return []
  return generation.watchNamespaces.flatMap((namespace) =>
    generation.csv.permissions.flatMap((permission) =>
      createRoleAndBinding(generation, permission, namespace),
    ),
  )
}

/** An Operator that watches all namespaces gets all permissions in each of them and can list namespaces. */
function generateClusterRoles(generation: ManifestGeneratorInput): readonly RenderedObject[] {
  const { csv } = generation
  const promoted = isWatchingAllNamespaces(generation) ? csv.permissions.map(addNamespaceReadRule) : []
  return [...csv.clusterPermissions, ...promoted].flatMap((permission) =>
    createRoleAndBinding(generation, permission),
  )
}

function addNamespaceReadRule(permission: CsvPermission): CsvPermission {
  const rule = { verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['namespaces'] }
  const rules = [...permission.rules, rule]
  return { ...permission, rules, entry: { ...permission.entry, rules } }
}

function createRoleAndBinding(
  generation: ManifestGeneratorInput,
  { account, entry, rules }: CsvPermission,
  namespace?: string,
): readonly RenderedObject[] {
  const prefix = namespace === undefined ? 'Cluster' : ''
  const name = formatObjectNameWithHash(
    `${generation.csv.name}-${account}`,
    orderPermissionFieldsForHash(entry),
  )
  const metadata = { name, ...(namespace !== undefined && { namespace }) }
  return [
    createRenderedObject(generation, [`${rbacApiGroup}/v1`, `${prefix}Role`], metadata, { rules }),
    createRenderedObject(generation, [`${rbacApiGroup}/v1`, `${prefix}RoleBinding`], metadata, {
      subjects: [{ kind: 'ServiceAccount', namespace: generation.installNamespace, name: account }],
      roleRef: { apiGroup: rbacApiGroup, kind: `${prefix}Role`, name },
    }),
  ]
}

/** Uses the field order of OLM's types, which the hash depends on. */
function orderPermissionFieldsForHash(entry: JsonObject): Json {
  const { serviceAccountName = '', rules = null } = entry
  if (!Array.isArray(rules)) return { serviceAccountName, rules: null }
  return {
    serviceAccountName,
    rules: (rules as readonly Json[]).map((rule) => {
      const { verbs = null, ...others } = asObjectOrEmpty(rule)
      const orderedFields = ['apiGroups', 'resources', 'resourceNames', 'nonResourceURLs'].flatMap(
        (field) => {
          const value = others[field]
          return Array.isArray(value) && value.length > 0 ? [[field, value as Json] as const] : []
        },
      )
      return { verbs, ...Object.fromEntries(orderedFields) }
    }),
  }
}
