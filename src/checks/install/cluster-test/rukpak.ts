// An install test with either RukPak API version: installs a bundle, attempts an in-place change, and for an upgrade
// replaces the bundle (the pivot).
import {
  createFinalTestProgress,
  transitionToStage,
  createFailedTestProgress,
  measureFailureDuration,
  updateTestStateVariables,
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
  classifyImagePullFailure,
  unpackPodFailureCodes,
} from './classify-pods.ts'
import {
  getKubeCondition,
  getObservedObject,
  getObservedObjects,
  getStringAtPath,
  type ClusterAction,
  type KubeObject,
  type KubeQuery,
  type ClusterObservation,
} from './kube-object.ts'
import {
  createRukPakBundleDeployment,
  listPrerequisiteQueries,
  createPrerequisiteObjects,
  createBundleImageSource,
  createTestNamespace,
  type RukPakTarget,
} from './cluster-test-objects.ts'
import {
  isAuthorFailureCode,
  transientErrorPattern,
  type ClusterTestFailure,
} from './cluster-test-outcome.ts'
import {
  toClusterScopedObjectName,
  parseJsonNameList,
  toTestNamespaceName,
  type ClusterTestPlan,
} from './cluster-test-plan.ts'

type RukPakStage = 'preflight' | 'ground' | 'deployment' | 'immutability'
type RukPakState = ClusterTestState<RukPakStage>

/** `v1alpha2` has no Bundle object. */
export const rukPakApiVersions = ['core.rukpak.io/v1alpha2', 'core.rukpak.io/v1alpha1'] as const

export function createRukPakTestDriver(
  plan: ClusterTestPlan,
  deadlines: ClusterTestDeadlines,
  target: RukPakTarget,
  apiVersion: (typeof rukPakApiVersions)[number],
): ClusterTestDriver<RukPakStage> {
  const hasBundles = apiVersion === 'core.rukpak.io/v1alpha1'
  const queries = createRukPakQueries(plan, apiVersion, hasBundles)

  return {
    first: 'preflight',
    queries: ({ stage, memory }) =>
      stage === 'preflight'
        ? [queries.namespace, ...queries.crds]
        : [...queries.running, ...parseJsonNameList(memory['elsewhere']).map(createPodQuery)],
    next: (state, observation, now) =>
      ({ preflight, ground: runPrerequisitesStage, deployment: install, immutability })[state.stage](
        state,
        observation,
        now,
      ),
  }

  function preflight(
    state: RukPakState,
    observation: ClusterObservation,
    now: number,
  ): ClusterTestProgress<RukPakStage> {
    const namespace = getObservedObject(observation, queries.namespace)
    const there = queries.crds.find((query) => getObservedObject(observation, query) !== undefined)
    if (there && !namespace)
      return createFailedTestProgress(state, now, {
        code: 'crd-preexists',
        says: `the cluster already has the CRD ${there.name ?? ''}, so RukPak would adopt it and delete it after the install test`,
      })
    if (!namespace)
      return createWaitingTestProgress(state, 'the namespace', [
        { kind: 'create', object: createTestNamespace(plan) },
      ])
    return transitionToStage(state, 'ground', now, `namespace ${namespace.metadata.name} exists`)
  }

  function runPrerequisitesStage(
    state: RukPakState,
    observation: ClusterObservation,
    now: number,
  ): ClusterTestProgress<RukPakStage> {
    const namespace = getObservedObject(observation, queries.namespace)
    const [first] = plan.steps
    if (!namespace || !first) return createWaitingTestProgress(state, 'the namespace')
    const missing = createPrerequisiteObjects(plan, namespace).filter(
      ({ apiVersion: its, kind, metadata: { name } }) =>
        getObservedObject(observation, {
          apiVersion: its,
          kind,
          name,
          namespace: toTestNamespaceName(plan),
        }) === undefined,
    )
    if (missing.length > 0)
      return createWaitingTestProgress(
        state,
        'the prerequisites of the install test',
        missing.map((object) => ({ kind: 'create', object })),
      )
    return transitionToStage(state, 'deployment', now, `installing ${first.root}`, [
      {
        kind: 'create',
        object: createRukPakBundleDeployment(plan, namespace, target, { apiVersion, step: first }),
      },
    ])
  }

  function install(
    state: RukPakState,
    observation: ClusterObservation,
    now: number,
  ): ClusterTestProgress<RukPakStage> {
    const wanted = plan.steps[state.step]
    const namespace = getObservedObject(observation, queries.namespace)
    const found = getObservedObject(observation, queries.deployment)
    if (!wanted) return createFinalTestProgress(state, now, { verdict: 'installs' })
    if (!found)
      return namespace && state.step === 0
        ? createWaitingTestProgress(state, 'the BundleDeployment', [
            {
              kind: 'create',
              object: createRukPakBundleDeployment(plan, namespace, target, { apiVersion, step: wanted }),
            },
          ])
        : createWaitingTestProgress(state, 'the BundleDeployment')
    const bundles = getObservedObjects(observation, queries.bundles)
    const bundle = bundles.find((one) => getStringAtPath(one.spec, 'source', 'image', 'ref') === wanted.image)
    const unpacked = getKubeCondition(hasBundles ? bundle : found, 'Unpacked')
    const valid = getKubeCondition(found, 'HasValidBundle')
    const installed = getKubeCondition(found, 'Installed')
    const healthy = getKubeCondition(found, 'Healthy')
    const generation = found.metadata.generation ?? 0
    const observed = Number(
      (found.status as { readonly observedGeneration?: number } | undefined)?.observedGeneration ??
        generation,
    )
    const isTakenUp = observed >= generation && (!hasBundles || bundle !== undefined)
    const rejected = isTakenUp
      ? [unpacked, valid, installed].find(
          (one) => one?.status === 'False' && rukPakFailureReasons.has(one.reason),
        )
      : undefined
    // These pods have the name of the Bundle, not of the BundleDeployment.
    const unpacking = getObservedObjects(observation, queries.unpackPods).filter(
      ({ metadata }) => metadata.name === bundle?.metadata.name,
    )
    const pods = findPodFailure(unpacking, unpackPodFailureCodes)
    const failure = rejected
      ? (pods ?? classifyRukPakFailure(rejected.message, rejected.reason))
      : pods && !temporaryFailureCodes.has(pods.code)
        ? pods
        : undefined
    const { state: followed, milliseconds } = measureFailureDuration(state, failure?.code, now)
    // RukPak retries every failure. A failure is final if it outlasts the retries and RukPak did not cause it.
    const isFinal = failure !== undefined && milliseconds >= deadlines.retryWindow
    if (isFinal && (isAuthorFailureCode(failure.code) || !temporaryFailureCodes.has(failure.code)))
      return createFailedTestProgress(followed, now, failure)
    const active = getStringAtPath(found.status, 'activeBundle')
    const isActive = !hasBundles || (bundle !== undefined && active === bundle.metadata.name)
    // `v1alpha2` sets HasValidBundle only on invalid bundles.
    const isValid = hasBundles
      ? valid?.status === 'True'
      : unpacked?.status === 'True' && valid?.status !== 'False'
    const isInstalled = isTakenUp && isValid && installed?.status === 'True' && isActive
    const deployments = getObservedObjects(observation, queries.deployments).filter(isOwned)
    // RukPak before 0.17 chooses the namespace, and plain manifests specify their own.
    const elsewhere = listOtherNamespaces(deployments)
    const knows = updateTestStateVariables(followed, { elsewhere: JSON.stringify(elsewhere) })
    const running = [queries.pods, ...elsewhere.map(createPodQuery)].flatMap((query) =>
      getObservedObjects(observation, query),
    )
    const why =
      findDeploymentFailure(deployments) ??
      findPodFailure(findDeploymentPods(deployments, running), operatorPodFailureCodes)
    const lazy = deployments.find((one) => !isDeploymentAvailable(one))
    const isHealthy = healthy === undefined || healthy.status === 'True'
    const old = hasBundles && isInstalled ? bundles.filter((one) => one !== bundle) : []
    if (isInstalled && isHealthy && !lazy && old.length === 0)
      return hasBundles && bundle && state.step === 0
        ? transitionToStage(state, 'immutability', now, `${wanted.root} is installed`, [
            changeInPlace(bundle),
          ])
        : stepDone(state, now)
    if (why && !temporaryFailureCodes.has(why.code)) return createFailedTestProgress(state, now, why)
    const what = !isTakenUp
      ? 'RukPak to process the BundleDeployment'
      : !isInstalled
        ? (failure?.says ??
          `RukPak to install ${wanted.root} (${[unpacked, valid, installed].flatMap((one) => one?.reason || []).join(', ')})`)
        : old.length > 0
          ? `Bundle ${old[0]?.metadata.name ?? ''} to be deleted`
          : `the workloads of ${wanted.root} to become available`
    if (now - state.since < (isInstalled ? deadlines.operator : deadlines.extension))
      return createWaitingTestProgress(knows, what)
    const cause = why ?? failure ?? pods
    // The rejection is recent, so the next attempt might succeed.
    const isOpen = cause === failure && cause !== undefined && isAuthorFailureCode(cause.code)
    if (cause) return createFailedTestProgress(state, now, isOpen ? { ...cause, code: 'too-slow' } : cause)
    if (old.length > 0)
      return createFailedTestProgress(state, now, {
        code: 'no-pivot',
        says: `RukPak did not delete the previous Bundle ${old[0]?.metadata.name ?? ''} after it activated ${active}`,
      })
    if (state.step > 0 && isTakenUp && !isActive)
      return createFailedTestProgress(state, now, {
        code: 'no-pivot',
        says: `RukPak did not replace the active Bundle ${active} with ${wanted.root}`,
      })
    if (isInstalled)
      return createFailedTestProgress(
        state,
        now,
        classifyOverdueDeployments(deployments, running, what, now - deadlines.retryWindow),
      )
    return createFailedTestProgress(state, now, {
      code: (hasBundles ? valid : unpacked) ? 'too-slow' : 'olm-silent',
      says: `timed out while waiting for ${what}`,
    })
  }

  /** A dry run that checks whether the API accepts an in-place change. */
  function changeInPlace({ metadata: { name } }: KubeObject): ClusterAction {
    return {
      kind: 'patch',
      at: { apiVersion, kind: 'Bundle', name },
      patch: { spec: { source: { image: { ref: 'localhost/changed-in-place:trial' } } } },
      dryRun: true,
    }
  }

  function immutability(
    state: RukPakState,
    observation: ClusterObservation,
    now: number,
  ): ClusterTestProgress<RukPakStage> {
    const answer = observation.rejectedActions.find(
      ({ action }) => action.kind === 'patch' && action.dryRun === true,
    )
    // An account without the permission cannot check this.
    if (answer && /cannot patch resource|ValidatingAdmissionPolicy/.test(answer.says))
      return createFailedTestProgress(state, now, {
        code: 'forbidden',
        says: `catalog-bot could not check whether a Bundle is immutable: ${answer.says}`,
      })
    if (answer && [400, 403, 422].includes(answer.status))
      return stepDone(state, now, 'the API rejects an in-place change to a Bundle')
    // A busy API has not given a result yet.
    if (answer)
      return createWaitingTestProgress(state, 'the check that a Bundle is immutable', [answer.action])
    return createFailedTestProgress(state, now, {
      code: 'not-immutable',
      says: 'the cluster accepts an in-place change to a Bundle, so the RukPak webhook is not active',
    })
  }

  function stepDone(
    state: RukPakState,
    now: number,
    message = `${plan.steps[state.step]?.root ?? ''} is running`,
  ): ClusterTestProgress<RukPakStage> {
    const next = plan.steps[state.step + 1]
    if (!next) return createFinalTestProgress(state, now, { verdict: 'installs' })
    const source = createBundleImageSource(plan, next)
    return transitionToStage(
      { ...state, step: state.step + 1, memory: {} },
      'deployment',
      now,
      `${message}; installing ${next.root}`,
      [
        {
          kind: 'patch',
          at: queries.deployment,
          patch: { spec: hasBundles ? { template: { spec: { source } } } : { source } },
        },
      ],
    )
  }

  function listOtherNamespaces(deployments: readonly KubeObject[]): readonly string[] {
    const own = toTestNamespaceName(plan)
    return [...new Set(deployments.map(({ metadata }) => metadata.namespace ?? own))].filter(
      (namespace) => namespace !== own,
    )
  }

  function isOwned({ metadata }: KubeObject): boolean {
    return metadata.labels?.['core.rukpak.io/owner-name'] === toClusterScopedObjectName(plan)
  }
}

const rukPakFailureReasons: ReadonlySet<string> = new Set([
  'UnpackFailed',
  'BundleLoadFailed',
  'InstallFailed',
  'UpgradeFailed',
  'ReconcileFailed',
])

function classifyRukPakFailure(message: string, reason: string): ClusterTestFailure {
  const description = `RukPak: ${reason}: ${message}`
  // RukPak's own disk or URL failed, not the bundle.
  if (/persist bundle content|get content URL|no space left/.test(message))
    return { code: 'internal', says: description }
  // On a busy machine, RukPak reads EOF from its own server and reports BundleLoadFailed.
  if (transientErrorPattern.test(message))
    return { code: reason === 'UnpackFailed' ? 'registry-failing' : 'api-unreachable', says: description }
  if (reason === 'UnpackFailed')
    return {
      code: classifyImagePullFailure(message, unpackPodFailureCodes) ?? 'unpack-failed',
      says: description,
    }
  if (/no matches for kind|could not find the requested resource/.test(message))
    return { code: 'api-missing-for-bundle', says: description }
  if (/already exists|invalid ownership metadata/.test(message))
    return { code: 'occupied', says: description }
  if (/is forbidden/.test(message)) return { code: 'policy', says: description }
  return { code: 'refused-by-rukpak', says: description }
}

const createPodQuery = (namespace: string): KubeQuery => ({ apiVersion: 'v1', kind: 'Pod', namespace })

const rukPakNamespace = 'rukpak-system'

function createRukPakQueries(plan: ClusterTestPlan, apiVersion: string, hasBundles: boolean) {
  const name = toClusterScopedObjectName(plan)
  const namespace = toTestNamespaceName(plan)
  const owned = `core.rukpak.io/owner-name=${name}`
  const queries = {
    namespace: { apiVersion: 'v1', kind: 'Namespace', name: namespace },
    deployment: { apiVersion, kind: 'BundleDeployment', name },
    deployments: { apiVersion: 'apps/v1', kind: 'Deployment', labels: owned },
    pods: { apiVersion: 'v1', kind: 'Pod', namespace },
    unpackPods: {
      apiVersion: 'v1',
      kind: 'Pod',
      namespace: rukPakNamespace,
      labels: 'core.rukpak.io/owner-kind=Bundle',
    },
  } as const
  const bundles: KubeQuery = { apiVersion, kind: 'Bundle', labels: owned }
  return {
    ...queries,
    bundles,
    crds: plan.crds.map((crd): KubeQuery => ({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      name: crd,
    })),
    running: [
      ...Object.values(queries),
      ...(hasBundles ? [bundles] : []),
      ...listPrerequisiteQueries(plan),
    ] as readonly KubeQuery[],
  }
}
