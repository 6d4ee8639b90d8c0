// registry+v1 to plain manifests by OLM v1's algorithm (operator-controller v1.11, internal/operator-controller/rukpak).
import type { PlainObject, RenderOptions, RenderRefusal } from './rendering.ts'
import { clusterRoles, roles, serviceAccounts } from './accounts-and-roles.ts'
import { certificates } from './certificates.ts'
import { viewCsv } from './csv-view.ts'
import { deployments } from './deployments.ts'
import type { Generation } from './generation.ts'
import { refuseBundle } from './refuse-bundle.ts'
import { refuseTargets } from './refuse-targets.ts'
import type { RegistryV1 } from './registry-v1.ts'
import { isPutIntoNamespace } from './supported-kinds.ts'
import { definitions, mutatingWebhooks, services, validatingWebhooks } from './webhooks.ts'

export interface RegistryRendering {
  readonly objects: readonly PlainObject[]
  readonly refusals: readonly RenderRefusal[]
}

type Generator = (generation: Generation) => readonly (PlainObject | RenderRefusal)[]

/** OLM's order. */
const generators: readonly Generator[] = [
  serviceAccounts,
  roles,
  clusterRoles,
  definitions,
  additionalObjects,
  deployments,
  validatingWebhooks,
  mutatingWebhooks,
  services,
  certificates,
]

/** The renderer alone. What OLM v1 refuses before it renders is `refuseExtension`. */
export function renderRegistry(bundle: RegistryV1, options: RenderOptions): RegistryRendering {
  const csv = viewCsv(bundle.csv)
  const refused = refuseBundle(csv, bundle)
  if (refused.length > 0) return { objects: [], refusals: refused }
  const { watchNamespaces = [], installNamespace, certificates: provider = 'cert-manager' } = options
  const targets =
    watchNamespaces.length > 0 ? watchNamespaces : csv.modes.includes('AllNamespaces') ? [''] : []
  const refusal = refuseTargets(csv, installNamespace, targets)
  if (refusal) return { objects: [], refusals: [refusal] }
  const generation: Generation = {
    ...{ bundle, csv, installNamespace, watchNamespaces: targets },
    certificates: provider === 'none' ? undefined : provider,
    deploymentConfig: options.deploymentConfig,
  }
  const made = generators.flatMap((generate) => generate(generation))
  const refusals = made.filter(isRefusal)
  return { objects: refusals.length > 0 ? [] : made.filter(isObject), refusals }
}

/** What OLM v1 refuses of an extension before its bundle is rendered. */
export function refuseExtension(bundle: RegistryV1, options: RenderOptions): readonly RenderRefusal[] {
  const csv = viewCsv(bundle.csv)
  const place = (field: string) => ({ file: csv.file, path: ['spec', field] })
  const refusals: RenderRefusal[] = []
  if (csv.ownsServices)
    refusals.push({
      message: 'unsupported bundle: apiServiceDefintions are not supported',
      at: place('apiservicedefinitions'),
    })
  if (csv.webhooks.length > 0 && options.certificates === 'none')
    refusals.push({
      message: 'unsupported bundle: webhookDefinitions are not supported: certificate provider is nil',
      at: place('webhookdefinitions'),
      isAboutOptions: true,
    })
  if (!csv.modes.some((mode) => mode !== 'MultiNamespace'))
    refusals.push({
      message:
        'unsupported bundle: bundle must support at least one of [AllNamespaces SingleNamespace OwnNamespace] install modes',
      at: place('installModes'),
      ...(csv.modes.length === 0 && { toldBy: 'unusable-install-modes' }),
    })
  return refusals
}

/** What else the bundle brings: as it is, in the install namespace where its kind goes into one. */
function additionalObjects({ bundle, installNamespace: namespace }: Generation): readonly PlainObject[] {
  return bundle.others.map((object) => {
    if (isPutIntoNamespace(object.kind) !== true) return object
    const metadata = object.manifest['metadata']
    const isObject = typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata)
    return {
      ...object,
      namespace,
      manifest: { ...object.manifest, metadata: { ...(isObject && metadata), namespace } },
    }
  })
}

function isObject(one: PlainObject | RenderRefusal): one is PlainObject {
  return !isRefusal(one)
}

function isRefusal(one: PlainObject | RenderRefusal): one is RenderRefusal {
  return 'message' in one
}
