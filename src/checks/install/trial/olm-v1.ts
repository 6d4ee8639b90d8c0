// A trial with OLM v1, from the ClusterCatalog to running Deployments. For an upgrade, the selector moves from the
// base's catalog to the changed one.
import type { Deadlines } from './deadlines.ts'
import {
  deploymentTrouble,
  isAvailable,
  mayPass,
  operatorPods,
  overdueDeployments,
  podsOf,
  podTrouble,
} from './judge-pods.ts'
import {
  at,
  currentCondition,
  listAt,
  objectOf,
  objectsOf,
  textAt,
  type Action,
  type KubeObject,
  type Look,
  type Seen,
} from './kube-object.ts'
import {
  catalogSelector,
  clusterCatalog,
  clusterCatalogName,
  clusterExtension,
  groundLooks,
  groundObjects,
  installerName,
  installerObjects,
  namespaceObject,
  olmV1,
  rbac,
  type CatalogSide,
} from './trial-objects.ts'
import { blamesAuthor, transient, type FailureCode, type TrialFailure } from './trial-outcome.ts'
import { clusterNameOf, namespaceOf, type TrialPlan } from './trial-plan.ts'
import {
  ends,
  enter,
  fails,
  lasting,
  waits,
  type Progress,
  type TrialKind,
  type TrialState,
} from './trial-state.ts'

type Stage = 'preflight' | 'catalog' | 'extension'
type State = TrialState<Stage>

export function olmV1Trial(plan: TrialPlan, deadlines: Deadlines): TrialKind<Stage> {
  const looks = looksOf(plan)
  const sides: readonly CatalogSide[] = plan.base === undefined ? ['head'] : ['base', 'head']

  return {
    first: 'preflight',
    looks: ({ stage }) =>
      stage === 'preflight' ? [looks.namespace, looks.api, ...looks.crds] : looks.running,
    next: (state, seen, now) =>
      ({ preflight, catalog: serveCatalogs, extension: install })[state.stage](state, seen, now),
  }

  function preflight(state: State, seen: Seen, now: number): Progress<Stage> {
    const namespace = objectOf(seen, looks.namespace)
    const there = looks.crds.find((look) => objectOf(seen, look) !== undefined)
    if (there && !namespace)
      return fails(state, now, {
        code: 'crd-preexists',
        says: `the cluster has the CRD ${there.name ?? ''} already: OLM v1 would take it over, and away with the trial`,
      })
    if ([plan.catalog, ...(plan.base ? [plan.base] : [])].some((from) => !('image' in from)))
      return fails(state, now, {
        code: 'internal',
        says: 'OLM v1 takes catalogs from images alone, and there is only an address',
      })
    if (!namespace) return waits(state, 'the namespace', [{ kind: 'create', object: namespaceObject(plan) }])
    // OLM v1 1.11 and later ignore the installer.
    const needs = needsInstaller(objectOf(seen, looks.api)) ? 1 : 0
    return enter(state, 'catalog', now, `namespace ${namespace.metadata.name} is there`, [], {
      installer: needs,
    })
  }

  function serveCatalogs(state: State, seen: Seen, now: number): Progress<Stage> {
    const namespace = objectOf(seen, looks.namespace)
    if (!namespace) return waits(state, 'the namespace')
    const wanted = [
      ...groundObjects(plan, namespace),
      ...(state.memory['installer'] === 1 ? installerObjects(plan, namespace) : []),
      ...sides.map((side) => clusterCatalog(plan, namespace, side, imageOf(side))),
    ]
    const missing = wanted.filter((object) => objectOf(seen, lookFor(object)) === undefined)
    if (missing.length > 0)
      return waits(
        state,
        'what the trial stands on',
        missing.map((object) => ({ kind: 'create', object })),
      )
    const open = sides.filter(
      (side) => currentCondition(objectOf(seen, looks.catalogs[side]), 'Serving')?.status !== 'True',
    )
    const [side] = open
    if (side === undefined)
      return enter(state, 'extension', now, 'the catalog is served', [
        { kind: 'create', object: clusterExtension(plan, namespace, sides[0] ?? 'head') },
      ])
    const catalog = objectOf(seen, looks.catalogs[side])
    const progressing = currentCondition(catalog, 'Progressing')
    const says = `ClusterCatalog ${catalog?.metadata.name ?? ''}: ${progressing?.reason ?? ''}: ${progressing?.message ?? ''}`
    if (progressing?.status === 'False' && progressing.reason === 'Blocked')
      return fails(state, now, { code: catalogCode(progressing.message) ?? 'catalog-invalid', says })
    const code = catalogCode(progressing?.message ?? '')
    const { state: known, milliseconds } = lasting(state, code, now)
    if (now - state.since < deadlines.catalog)
      return waits(known, progressing ? says : 'OLM v1 to take up the catalog')
    if (!progressing)
      return fails(state, now, {
        code: 'olm-silent',
        says: 'OLM v1 did nothing with the ClusterCatalog: are its controllers running?',
      })
    const isFinal = code !== undefined && (!blamesAuthor(code) || milliseconds >= deadlines.patience)
    return fails(state, now, { code: isFinal ? code : 'catalog-not-connected', says })
  }

  function install(state: State, seen: Seen, now: number): Progress<Stage> {
    const namespace = objectOf(seen, looks.namespace)
    const extension = objectOf(seen, looks.extension)
    const wanted = plan.steps[state.step]
    if (!wanted) return ends(state, now, { verdict: 'installs' })
    if (!extension)
      return namespace
        ? waits(state, 'the ClusterExtension', [
            { kind: 'create', object: clusterExtension(plan, namespace, sides[0] ?? 'head') },
          ])
        : waits(state, 'the namespace')
    const progressing = currentCondition(extension, 'Progressing')
    const installed = currentCondition(extension, 'Installed')
    const name = textAt(extension.status, 'install', 'bundle', 'name')
    const deployments = objectsOf(seen, looks.deployments).filter(isOwned)
    const pods = objectsOf(seen, looks.pods)
    const why = deploymentTrouble(deployments) ?? podTrouble(podsOf(deployments, pods), operatorPods)
    const isThere =
      installed?.status === 'True' && progressing?.reason === 'Succeeded' && name === wanted.root
    const lazy = deployments.find((one) => !isAvailable(one))
    if (isThere && !lazy) return stepDone(state, seen, now)
    // Until OLM v1 reads the new selector, it reports the old bundle.
    if (
      installed?.status === 'True' &&
      progressing?.reason === 'Succeeded' &&
      name !== wanted.root &&
      name !== plan.steps[state.step - 1]?.root
    )
      return fails(state, now, {
        code: 'resolver-mismatch',
        says: `OLM v1 installed ${name}; the simulated resolution has ${wanted.root}`,
      })
    if (why && !mayPass.has(why.code)) return fails(state, now, why)
    const message = `${progressing?.reason ?? ''}: ${progressing?.message ?? ''}`
    if (progressing?.status === 'False' && progressing.reason !== 'Succeeded')
      return fails(state, now, extensionFailure(message))
    const refused = progressing?.reason === 'Retrying' ? extensionFailure(message) : undefined
    // OLM v1 reports every failure as retrying. A failure is final if it outlasts the retries and is not a network
    // problem.
    const { state: known, milliseconds } = lasting(state, refused?.code, now)
    if (refused && milliseconds >= deadlines.patience && refused.code !== 'too-slow')
      return fails(known, now, refused)
    const what = isThere
      ? `Deployment ${lazy?.metadata.name ?? ''}`
      : message === ': '
        ? 'OLM v1 to take up the extension'
        : message
    if (now - state.since < (isThere ? deadlines.operator : deadlines.extension)) return waits(known, what)
    if (why) return fails(known, now, why)
    if (isThere)
      return fails(known, now, overdueDeployments(deployments, pods, what, now - deadlines.patience))
    if (state.step > 0 && progressing?.reason === 'Succeeded')
      return fails(known, now, {
        code: 'no-upgrade-edge',
        says: `OLM v1 stays at ${name}, and does not go on to ${wanted.root}`,
      })
    return fails(
      known,
      now,
      progressing
        ? { code: 'too-slow', says: `OLM v1: ${message}` }
        : { code: 'olm-silent', says: 'OLM v1 did nothing with the ClusterExtension' },
    )
  }

  function stepDone(state: State, seen: Seen, now: number): Progress<Stage> {
    const done = plan.steps[state.step]?.root ?? ''
    if (state.step >= plan.steps.length - 1) return ends(state, now, { verdict: 'installs' })
    const following: State = { ...state, step: state.step + 1 }
    const patch: Action = {
      kind: 'patch',
      at: looks.extension,
      patch: {
        spec: { source: { sourceType: 'Catalog', catalog: { selector: catalogSelector(plan, 'head') } } },
      },
    }
    const isMoved =
      textAt(
        objectOf(seen, looks.extension)?.spec,
        'source',
        'catalog',
        'selector',
        'matchLabels',
        'catalog-bot.io/catalog',
      ) === 'head'
    return enter(following, 'extension', now, `${done} runs`, isMoved ? [] : [patch])
  }

  function imageOf(side: CatalogSide): string {
    const from = side === 'base' ? plan.base : plan.catalog
    return from && 'image' in from ? from.image : ''
  }

  function isOwned({ metadata }: KubeObject): boolean {
    const labels = metadata.labels ?? {}
    return (
      labels['olm.operatorframework.io/owner-kind'] === 'ClusterExtension' &&
      labels['olm.operatorframework.io/owner-name'] === clusterNameOf(plan)
    )
  }
}

const extensionWords: readonly (readonly [FailureCode, RegExp])[] = [
  ['registry-failing', transient],
  ['resolution-unsatisfiable', /no bundles? found|multiple catalogs|no package/i],
  ['certificate-provider-absent', /cert.?provider|certificate provider|cert-manager/i],
  ['refused-by-olm-v1', /dependency declared|apiServiceDefinitions|unsupported/i],
  ['unsupported-install-mode', /install ?mode|target ?namespaces?|watchNamespace/i],
  ['occupied', /invalid ownership metadata|already exists|conflict/i],
  ['forbidden', /pre-authorization|is forbidden|serviceaccount .* not found|service account/i],
  ['api-missing-for-bundle', /no matches for kind|could not find the requested resource/i],
  [
    'crd-incompatible',
    /scope changed|stored version|field removed|enum|required field|CRDUpgradeCheck|upgrade safety/i,
  ],
]

/** Classifies OLM v1's one long error message. */
function extensionFailure(message: string): TrialFailure {
  const code =
    extensionWords.find(([, words]) => words.test(message))?.[0] ??
    catalogCode(message) ??
    (/Blocked|InvalidConfiguration/.test(message) ? 'refused-by-olm-v1' : 'too-slow')
  return {
    code: code === 'catalog-image-missing' ? 'bundle-image-missing' : code,
    says: `OLM v1: ${message}`,
  }
}

function catalogCode(message: string): FailureCode | undefined {
  if (transient.test(message)) return 'registry-failing'
  if (/manifest unknown|not found|name unknown/i.test(message)) return 'catalog-image-missing'
  if (/unauthorized|denied/i.test(message)) return 'image-unauthorized'
  return undefined
}

function needsInstaller(crd: KubeObject | undefined): boolean {
  return listAt(crd?.spec, 'versions').some((version) =>
    listAt(at(version, 'schema', 'openAPIV3Schema', 'properties', 'spec'), 'required').includes(
      'serviceAccount',
    ),
  )
}

function lookFor({ apiVersion, kind, metadata: { name, namespace } }: KubeObject): Look {
  return { apiVersion, kind, name, ...(namespace !== undefined && { namespace }) }
}

function looksOf(plan: TrialPlan) {
  const namespace = namespaceOf(plan)
  const crd = (name: string): Look => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    name,
  })
  const catalog = (side: CatalogSide) =>
    ({ apiVersion: olmV1, kind: 'ClusterCatalog', name: clusterCatalogName(plan, side) }) as const
  const catalogs = { base: catalog('base'), head: catalog('head') }
  const look = {
    namespace: { apiVersion: 'v1', kind: 'Namespace', name: namespace },
    extension: { apiVersion: olmV1, kind: 'ClusterExtension', name: clusterNameOf(plan) },
    deployments: { apiVersion: 'apps/v1', kind: 'Deployment', namespace },
    pods: { apiVersion: 'v1', kind: 'Pod', namespace },
  } as const
  return {
    ...look,
    catalogs,
    api: crd('clusterextensions.olm.operatorframework.io'),
    crds: plan.crds.map(crd),
    running: [
      ...Object.values(look),
      ...Object.values(catalogs),
      ...groundLooks(plan),
      { apiVersion: 'v1', kind: 'ServiceAccount', namespace, name: installerName },
      { apiVersion: rbac, kind: 'ClusterRoleBinding', name: clusterNameOf(plan) },
    ] as readonly Look[],
  }
}
