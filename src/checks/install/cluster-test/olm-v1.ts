// An install test with OLM v1, from the ClusterCatalog to running Deployments. For an upgrade, the selector changes
// from the base catalog to the changed catalog.
import {
  createFinalTestProgress,
  transitionToStage,
  createFailedTestProgress,
  measureFailureDuration,
  createWaitingTestProgress,
  type ClusterTestProgress,
  type ClusterTestDriver,
  type ClusterTestState,
  type ClusterTestDeadlines,
} from './cluster-test-state.ts'
import {
  findDeploymentFailure,
  isDeploymentAvailable,
  temporaryFailureCodes,
  operatorPodFailureCodes,
  classifyOverdueDeployments,
  findDeploymentPods,
  findPodFailure,
} from './classify-pods.ts'
import {
  getValueAtPath,
  getConditionOfCurrentGeneration,
  getListAtPath,
  getObservedObject,
  getObservedObjects,
  getStringAtPath,
  type ClusterAction,
  type KubeObject,
  type KubeQuery,
  type ClusterObservation,
} from './kube-object.ts'
import {
  createCatalogLabelSelector,
  createClusterCatalog,
  toClusterCatalogName,
  createClusterExtension,
  listPrerequisiteQueries,
  createPrerequisiteObjects,
  installerServiceAccountName,
  createInstallerObjects,
  createTestNamespace,
  olmV1ApiVersion,
  rbacApiVersion,
  type BaseOrHeadCatalog,
} from './cluster-test-objects.ts'
import {
  isAuthorFailureCode,
  transientErrorPattern,
  type ClusterTestFailureCode,
  type ClusterTestFailure,
} from './cluster-test-outcome.ts'
import { toClusterScopedObjectName, toTestNamespaceName, type ClusterTestPlan } from './cluster-test-plan.ts'

type OlmV1Stage = 'preflight' | 'catalog' | 'extension'
type OlmV1State = ClusterTestState<OlmV1Stage>

export function createOlmV1TestDriver(
  plan: ClusterTestPlan,
  deadlines: ClusterTestDeadlines,
): ClusterTestDriver<OlmV1Stage> {
  const queries = createOlmV1Queries(plan)
  const sides: readonly BaseOrHeadCatalog[] = plan.base === undefined ? ['head'] : ['base', 'head']

  return {
    first: 'preflight',
    queries: ({ stage }) =>
      stage === 'preflight' ? [queries.namespace, queries.api, ...queries.crds] : queries.running,
    next: (state, observation, now) =>
      ({ preflight, catalog: serveCatalogs, extension: install })[state.stage](state, observation, now),
  }

  function preflight(
    state: OlmV1State,
    observation: ClusterObservation,
    now: number,
  ): ClusterTestProgress<OlmV1Stage> {
    const namespace = getObservedObject(observation, queries.namespace)
    const there = queries.crds.find((query) => getObservedObject(observation, query) !== undefined)
    if (there && !namespace)
      return createFailedTestProgress(state, now, {
        code: 'crd-preexists',
        says: `the cluster already has the CRD ${there.name ?? ''}, so OLM v1 would adopt it and delete it after the install test`,
      })
    if ([plan.catalog, ...(plan.base ? [plan.base] : [])].some((from) => !('image' in from)))
      return createFailedTestProgress(state, now, {
        code: 'internal',
        says: 'OLM v1 requires a catalog image, but the test has only the address of a catalog server',
      })
    if (!namespace)
      return createWaitingTestProgress(state, 'the namespace', [
        { kind: 'create', object: createTestNamespace(plan) },
      ])
    // OLM v1 1.11 and later ignore the installer.
    const needs = doesCrdRequireServiceAccount(getObservedObject(observation, queries.api)) ? 1 : 0
    return transitionToStage(state, 'catalog', now, `namespace ${namespace.metadata.name} exists`, [], {
      installer: needs,
    })
  }

  function serveCatalogs(
    state: OlmV1State,
    observation: ClusterObservation,
    now: number,
  ): ClusterTestProgress<OlmV1Stage> {
    const namespace = getObservedObject(observation, queries.namespace)
    if (!namespace) return createWaitingTestProgress(state, 'the namespace')
    const wanted = [
      ...createPrerequisiteObjects(plan, namespace),
      ...(state.memory['installer'] === 1 ? createInstallerObjects(plan, namespace) : []),
      ...sides.map((side) => createClusterCatalog(plan, namespace, side, imageOf(side))),
    ]
    const missing = wanted.filter(
      (object) => getObservedObject(observation, toKubeObjectQuery(object)) === undefined,
    )
    if (missing.length > 0)
      return createWaitingTestProgress(
        state,
        'the prerequisites of the install test',
        missing.map((object) => ({ kind: 'create', object })),
      )
    const open = sides.filter(
      (side) =>
        getConditionOfCurrentGeneration(getObservedObject(observation, queries.catalogs[side]), 'Serving')
          ?.status !== 'True',
    )
    const [side] = open
    if (side === undefined)
      return transitionToStage(state, 'extension', now, 'the catalog is served', [
        { kind: 'create', object: createClusterExtension(plan, namespace, sides[0] ?? 'head') },
      ])
    const catalog = getObservedObject(observation, queries.catalogs[side])
    const progressing = getConditionOfCurrentGeneration(catalog, 'Progressing')
    const message = `ClusterCatalog ${catalog?.metadata.name ?? ''}: ${progressing?.reason ?? ''}: ${progressing?.message ?? ''}`
    if (progressing?.status === 'False' && progressing.reason === 'Blocked')
      return createFailedTestProgress(state, now, {
        code: classifyClusterCatalogFailure(progressing.message) ?? 'catalog-invalid',
        says: message,
      })
    const code = classifyClusterCatalogFailure(progressing?.message ?? '')
    const { state: known, milliseconds } = measureFailureDuration(state, code, now)
    if (now - state.since < deadlines.catalog)
      return createWaitingTestProgress(known, progressing ? message : 'OLM v1 to process the ClusterCatalog')
    if (!progressing)
      return createFailedTestProgress(state, now, {
        code: 'olm-silent',
        says: 'OLM v1 did not process the ClusterCatalog. Check whether its controllers are running.',
      })
    const isFinal =
      code !== undefined && (!isAuthorFailureCode(code) || milliseconds >= deadlines.retryWindow)
    return createFailedTestProgress(state, now, {
      code: isFinal ? code : 'catalog-not-connected',
      says: message,
    })
  }

  function install(
    state: OlmV1State,
    observation: ClusterObservation,
    now: number,
  ): ClusterTestProgress<OlmV1Stage> {
    const namespace = getObservedObject(observation, queries.namespace)
    const extension = getObservedObject(observation, queries.extension)
    const wanted = plan.steps[state.step]
    if (!wanted) return createFinalTestProgress(state, now, { verdict: 'installs' })
    if (!extension)
      return namespace
        ? createWaitingTestProgress(state, 'the ClusterExtension', [
            { kind: 'create', object: createClusterExtension(plan, namespace, sides[0] ?? 'head') },
          ])
        : createWaitingTestProgress(state, 'the namespace')
    const progressing = getConditionOfCurrentGeneration(extension, 'Progressing')
    const installed = getConditionOfCurrentGeneration(extension, 'Installed')
    const name = getStringAtPath(extension.status, 'install', 'bundle', 'name')
    const deployments = getObservedObjects(observation, queries.deployments).filter(isOwned)
    const pods = getObservedObjects(observation, queries.pods)
    const why =
      findDeploymentFailure(deployments) ??
      findPodFailure(findDeploymentPods(deployments, pods), operatorPodFailureCodes)
    const isThere =
      installed?.status === 'True' && progressing?.reason === 'Succeeded' && name === wanted.root
    const lazy = deployments.find((one) => !isDeploymentAvailable(one))
    if (isThere && !lazy) return stepDone(state, observation, now)
    // Until OLM v1 reads the new selector, it reports the old bundle.
    if (
      installed?.status === 'True' &&
      progressing?.reason === 'Succeeded' &&
      name !== wanted.root &&
      name !== plan.steps[state.step - 1]?.root
    )
      return createFailedTestProgress(state, now, {
        code: 'resolver-mismatch',
        says: `OLM v1 installed ${name}, but the simulation chose ${wanted.root}`,
      })
    if (why && !temporaryFailureCodes.has(why.code)) return createFailedTestProgress(state, now, why)
    const message = `${progressing?.reason ?? ''}: ${progressing?.message ?? ''}`
    if (progressing?.status === 'False' && progressing.reason !== 'Succeeded')
      return createFailedTestProgress(state, now, classifyClusterExtensionFailure(message))
    const rejected = progressing?.reason === 'Retrying' ? classifyClusterExtensionFailure(message) : undefined
    // OLM v1 reports every failure as retrying. A failure is final if it outlasts the retries and is not a network
    // problem.
    const { state: known, milliseconds } = measureFailureDuration(state, rejected?.code, now)
    if (rejected && milliseconds >= deadlines.retryWindow && rejected.code !== 'too-slow')
      return createFailedTestProgress(known, now, rejected)
    const what = isThere
      ? `Deployment ${lazy?.metadata.name ?? ''} to become available`
      : message === ': '
        ? 'OLM v1 to process the ClusterExtension'
        : message
    if (now - state.since < (isThere ? deadlines.operator : deadlines.extension))
      return createWaitingTestProgress(known, what)
    if (why) return createFailedTestProgress(known, now, why)
    if (isThere)
      return createFailedTestProgress(
        known,
        now,
        classifyOverdueDeployments(deployments, pods, what, now - deadlines.retryWindow),
      )
    if (state.step > 0 && progressing?.reason === 'Succeeded')
      return createFailedTestProgress(known, now, {
        code: 'no-upgrade-edge',
        says: `OLM v1 remains at ${name} and does not upgrade to ${wanted.root}`,
      })
    return createFailedTestProgress(
      known,
      now,
      progressing
        ? { code: 'too-slow', says: `OLM v1: ${message}` }
        : { code: 'olm-silent', says: 'OLM v1 did not process the ClusterExtension' },
    )
  }

  function stepDone(
    state: OlmV1State,
    observation: ClusterObservation,
    now: number,
  ): ClusterTestProgress<OlmV1Stage> {
    const done = plan.steps[state.step]?.root ?? ''
    if (state.step >= plan.steps.length - 1)
      return createFinalTestProgress(state, now, { verdict: 'installs' })
    const following: OlmV1State = { ...state, step: state.step + 1 }
    const patch: ClusterAction = {
      kind: 'patch',
      at: queries.extension,
      patch: {
        spec: {
          source: { sourceType: 'Catalog', catalog: { selector: createCatalogLabelSelector(plan, 'head') } },
        },
      },
    }
    const isMoved =
      getStringAtPath(
        getObservedObject(observation, queries.extension)?.spec,
        'source',
        'catalog',
        'selector',
        'matchLabels',
        'catalog-bot.io/catalog',
      ) === 'head'
    return transitionToStage(following, 'extension', now, `${done} is running`, isMoved ? [] : [patch])
  }

  function imageOf(side: BaseOrHeadCatalog): string {
    const from = side === 'base' ? plan.base : plan.catalog
    return from && 'image' in from ? from.image : ''
  }

  function isOwned({ metadata }: KubeObject): boolean {
    const labels = metadata.labels ?? {}
    return (
      labels['olm.operatorframework.io/owner-kind'] === 'ClusterExtension' &&
      labels['olm.operatorframework.io/owner-name'] === toClusterScopedObjectName(plan)
    )
  }
}

const clusterExtensionFailurePatterns: readonly (readonly [ClusterTestFailureCode, RegExp])[] = [
  ['registry-failing', transientErrorPattern],
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

/** Classifies the single error message that OLM v1 reports. */
function classifyClusterExtensionFailure(message: string): ClusterTestFailure {
  const code =
    clusterExtensionFailurePatterns.find(([, pattern]) => pattern.test(message))?.[0] ??
    classifyClusterCatalogFailure(message) ??
    (/Blocked|InvalidConfiguration/.test(message) ? 'refused-by-olm-v1' : 'too-slow')
  return {
    code: code === 'catalog-image-missing' ? 'bundle-image-missing' : code,
    says: `OLM v1: ${message}`,
  }
}

function classifyClusterCatalogFailure(message: string): ClusterTestFailureCode | undefined {
  if (transientErrorPattern.test(message)) return 'registry-failing'
  if (/manifest unknown|not found|name unknown/i.test(message)) return 'catalog-image-missing'
  if (/unauthorized|denied/i.test(message)) return 'image-unauthorized'
  return undefined
}

function doesCrdRequireServiceAccount(crd: KubeObject | undefined): boolean {
  return getListAtPath(crd?.spec, 'versions').some((version) =>
    getListAtPath(
      getValueAtPath(version, 'schema', 'openAPIV3Schema', 'properties', 'spec'),
      'required',
    ).includes('serviceAccount'),
  )
}

function toKubeObjectQuery({ apiVersion, kind, metadata: { name, namespace } }: KubeObject): KubeQuery {
  return { apiVersion, kind, name, ...(namespace !== undefined && { namespace }) }
}

function createOlmV1Queries(plan: ClusterTestPlan) {
  const namespace = toTestNamespaceName(plan)
  const crd = (name: string): KubeQuery => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    name,
  })
  const catalog = (side: BaseOrHeadCatalog) =>
    ({ apiVersion: olmV1ApiVersion, kind: 'ClusterCatalog', name: toClusterCatalogName(plan, side) }) as const
  const catalogs = { base: catalog('base'), head: catalog('head') }
  const queries = {
    namespace: { apiVersion: 'v1', kind: 'Namespace', name: namespace },
    extension: {
      apiVersion: olmV1ApiVersion,
      kind: 'ClusterExtension',
      name: toClusterScopedObjectName(plan),
    },
    deployments: { apiVersion: 'apps/v1', kind: 'Deployment', namespace },
    pods: { apiVersion: 'v1', kind: 'Pod', namespace },
  } as const
  return {
    ...queries,
    catalogs,
    api: crd('clusterextensions.olm.operatorframework.io'),
    crds: plan.crds.map(crd),
    running: [
      ...Object.values(queries),
      ...Object.values(catalogs),
      ...listPrerequisiteQueries(plan),
      { apiVersion: 'v1', kind: 'ServiceAccount', namespace, name: installerServiceAccountName },
      { apiVersion: rbacApiVersion, kind: 'ClusterRoleBinding', name: toClusterScopedObjectName(plan) },
    ] as readonly KubeQuery[],
  }
}
