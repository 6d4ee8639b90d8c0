// An install test with either RukPak API version: installs a bundle, attempts an in-place change, and for an upgrade
// replaces the bundle (the pivot).
import {
  measureFailureDuration,
  updateClusterTestState,
  type ClusterTestProgress,
  type ClusterTestStateMachine,
  type ClusterTestState,
  type ClusterTestDeadlines,
  isAuthorCausedFailureCode,
  transientErrorPattern,
  type ClusterTestFailure,
} from './cluster-test-state.ts'
import {
  findPodFailure,
  classifyImagePullFailure,
  isPermanentFailure,
  bundleUnpackPodFailureCodes,
  ClusterTestStageRunner,
  type ObservedWorkloads,
} from './test-stages.ts'
import {
  createCrdQuery,
  getKubeCondition,
  getStringAtPath,
  getValueAtPath,
  type KubeCondition,
  type KubeObject,
  type KubeQuery,
} from './kube-object.ts'
import {
  createRukPakBundleDeployment,
  listPrerequisiteQueries,
  createPrerequisiteObjects,
  createRukPakImageSource,
  type RukPakInstallTarget,
  type rukPakApiVersions,
} from './cluster-test-objects.ts'
import {
  toClusterScopedObjectName,
  parseJsonNameList,
  toTestNamespaceName,
  type ClusterTestPlan,
} from './cluster-test-plan.ts'

type RukPakStage = 'preflight' | 'ground' | 'deployment' | 'immutability'
type RukPakState = ClusterTestState<RukPakStage>
type RukPakProgress = ClusterTestProgress<RukPakStage>

export function createRukPakTestDriver(
  plan: ClusterTestPlan,
  deadlines: ClusterTestDeadlines,
  target: RukPakInstallTarget,
  apiVersion: (typeof rukPakApiVersions)[number],
): ClusterTestStateMachine<RukPakStage> {
  const queries = createRukPakQueries(plan, target, apiVersion)
  return {
    first: 'preflight',
    queries: ({ stage, memory }) =>
      stage === 'preflight'
        ? [queries.namespace, ...queries.crds]
        : [...queries.running, ...parseJsonNameList(memory['elsewhere']).map(createPodQuery)],
    next: (state, observation, now) =>
      new RukPakStageRunner({ plan, deadlines, queries }, state, observation, now).stages[state.stage](),
  }
}

/** What RukPak reports about the bundle of a step. */
type ObservedRukPakBundle = ReturnType<RukPakStageRunner['observeBundle']>

class RukPakStageRunner extends ClusterTestStageRunner<RukPakStage, ReturnType<typeof createRukPakQueries>> {
  readonly stages: Readonly<Record<RukPakStage, () => RukPakProgress>> = {
    preflight: () =>
      this.createNamespace('ground', 'RukPak would adopt this CRD and delete it after the install test.'),
    ground: () => this.#createPrerequisites(),
    deployment: () => this.#installBundle(),
    immutability: () => this.#checkImmutability(),
  }

  #createPrerequisites(): RukPakProgress {
    const namespace = this.find(this.queries.namespace)
    const [first] = this.plan.steps
    if (!namespace || !first) return this.wait('waiting for the namespace')
    return (
      this.createMissing(createPrerequisiteObjects(this.plan, namespace)) ??
      this.moveTo('deployment', `installing ${first.root}`, [this.#createDeployment(namespace, first)])
    )
  }

  #createDeployment(namespace: KubeObject, step: ClusterTestPlan['steps'][number]) {
    const { target, apiVersion } = this.queries
    const object = createRukPakBundleDeployment(this.plan, namespace, target, { apiVersion, step })
    return { kind: 'create', object } as const
  }

  #installBundle(): RukPakProgress {
    const { queries, state, now, expectedStep } = this
    const namespace = this.find(queries.namespace)
    const found = this.find(queries.deployment)
    if (!expectedStep) return this.finish({ verdict: 'installs' })
    if (!found)
      return this.wait(
        'waiting for the BundleDeployment',
        namespace && state.step === 0 ? [this.#createDeployment(namespace, expectedStep)] : [],
      )
    const bundle = this.observeBundle(found, expectedStep)
    const { failure, isInstalled, healthy, old } = bundle
    const { state: followed, milliseconds } = measureFailureDuration(state, failure?.code, now)
    // RukPak retries every failure. A failure is final if it outlasts the retries and RukPak did not cause it.
    const isFinal = failure !== undefined && milliseconds >= this.deadlines.retryWindow
    if (isFinal && (isAuthorCausedFailureCode(failure.code) || isPermanentFailure(failure)))
      return this.fail(failure, followed)
    const { elsewhere, ...workloads } = this.#observeWorkloads()
    const isHealthy = healthy === undefined || healthy.status === 'True'
    if (isInstalled && isHealthy && workloads.unavailable.length === 0 && old.length === 0)
      return bundle.bundle && state.step === 0
        ? this.#tryChangeInPlace(bundle.bundle, expectedStep.root)
        : this.#completeStep()
    if (isPermanentFailure(workloads.failure)) return this.fail(workloads.failure)
    const what = describeRukPakWaitReason(bundle)
    if (this.waited < (isInstalled ? this.deadlines.operator : this.deadlines.extension))
      return this.wait(what, [], updateClusterTestState(followed, { elsewhere: JSON.stringify(elsewhere) }))
    return this.fail(this.#explainOverdueBundle(bundle, workloads, what))
  }

  protected observeBundle(found: KubeObject, { root, image }: ClusterTestPlan['steps'][number]) {
    const { hasBundles } = this.queries
    const bundles = this.list(this.queries.bundles)
    const bundle = bundles.find((one) => getStringAtPath(one.spec, 'source', 'image', 'ref') === image)
    const unpacked = getKubeCondition(hasBundles ? bundle : found, 'Unpacked')
    const valid = getKubeCondition(found, 'HasValidBundle')
    const installed = getKubeCondition(found, 'Installed')
    const generation = found.metadata.generation ?? 0
    const observed = Number(getValueAtPath(found.status, 'observedGeneration') ?? generation)
    // RukPak has processed the current BundleDeployment.
    const isTakenUp = observed >= generation && (!hasBundles || bundle !== undefined)
    // These pods have the name of the Bundle, not of the BundleDeployment.
    const unpacking = this.list(this.queries.unpackPods).filter(
      ({ metadata }) => metadata.name === bundle?.metadata.name,
    )
    const unpackFailure = findPodFailure(unpacking, bundleUnpackPodFailureCodes)
    const active = getStringAtPath(found.status, 'activeBundle')
    const isActive = !hasBundles || (bundle !== undefined && active === bundle.metadata.name)
    // `v1alpha2` sets HasValidBundle only on invalid bundles.
    const isValid = hasBundles
      ? valid?.status === 'True'
      : unpacked?.status === 'True' && valid?.status !== 'False'
    const isInstalled = isTakenUp && isValid && installed?.status === 'True' && isActive
    return {
      root,
      bundles,
      bundle,
      unpacked,
      valid,
      installed,
      healthy: getKubeCondition(found, 'Healthy'),
      active,
      isTakenUp,
      isActive,
      isInstalled,
      // Those that RukPak has not deleted yet.
      old: hasBundles && isInstalled ? bundles.filter((one) => one !== bundle) : [],
      unpackFailure,
      failure: findRukPakBundleFailure(isTakenUp ? [unpacked, valid, installed] : [], unpackFailure),
    }
  }

  /** RukPak before 0.17 chooses the namespace, and plain manifests specify their own. */
  #observeWorkloads(): ObservedWorkloads & { readonly elsewhere: readonly string[] } {
    const owner = toClusterScopedObjectName(this.plan)
    const namespace = toTestNamespaceName(this.plan)
    const deployments = this.list(this.queries.deployments).filter(
      ({ metadata }) => metadata.labels?.['core.rukpak.io/owner-name'] === owner,
    )
    const elsewhere = [...new Set(deployments.map(({ metadata }) => metadata.namespace ?? namespace))].filter(
      (one) => one !== namespace,
    )
    const pods = [this.queries.pods, ...elsewhere.map(createPodQuery)].flatMap((query) => this.list(query))
    return { ...this.observeWorkloads(deployments, pods), elsewhere }
  }

  #explainOverdueBundle(
    bundle: ObservedRukPakBundle,
    workloads: ObservedWorkloads,
    what: string,
  ): ClusterTestFailure {
    const { root, failure, unpackFailure, active, old } = bundle
    const cause = workloads.failure ?? failure ?? unpackFailure
    // The rejection is recent, so the next attempt might succeed.
    const isOpen = cause === failure && cause !== undefined && isAuthorCausedFailureCode(cause.code)
    if (cause) return isOpen ? { ...cause, code: 'too-slow' } : cause
    if (old.length > 0)
      return {
        code: 'no-pivot',
        says: `RukPak did not delete the previous Bundle ${old[0]?.metadata.name ?? ''} after it activated ${active}`,
      }
    if (this.state.step > 0 && bundle.isTakenUp && !bundle.isActive)
      return { code: 'no-pivot', says: `RukPak did not replace the active Bundle ${active} with ${root}` }
    if (bundle.isInstalled) return this.classifyTimedOutWorkloads(workloads, what)
    return {
      code: (this.queries.hasBundles ? bundle.valid : bundle.unpacked) ? 'too-slow' : 'olm-silent',
      says: `the install test timed out (last status: ${what})`,
    }
  }

  /** A dry run that checks whether the API accepts an in-place change. */
  #tryChangeInPlace({ metadata: { name } }: KubeObject, root: string): RukPakProgress {
    const { apiVersion } = this.queries
    return this.moveTo('immutability', `${root} is installed`, [
      {
        kind: 'patch',
        at: { apiVersion, kind: 'Bundle', name },
        patch: { spec: { source: { image: { ref: 'localhost/changed-in-place:trial' } } } },
        dryRun: true,
      },
    ])
  }

  #checkImmutability(): RukPakProgress {
    const answer = this.observation.rejectedActions.find(
      ({ action }) => action.kind === 'patch' && action.dryRun === true,
    )
    // An account without the permission cannot check this.
    if (answer && /cannot patch resource|ValidatingAdmissionPolicy/.test(answer.says))
      return this.fail({
        code: 'forbidden',
        says: `catalog-bot could not check whether a Bundle is immutable: ${answer.says}`,
      })
    if (answer && [400, 403, 422].includes(answer.status))
      return this.#completeStep('the API rejects an in-place change to a Bundle')
    // A busy API has not given a result yet.
    if (answer) return this.wait('waiting to confirm that a Bundle is immutable', [answer.action])
    return this.fail({
      code: 'not-immutable',
      says: 'the cluster accepts an in-place change to a Bundle, so the RukPak webhook is not active',
    })
  }

  #completeStep(message = `${this.expectedStep?.root ?? ''} is running`): RukPakProgress {
    const { plan, queries, state } = this
    const next = plan.steps[state.step + 1]
    if (!next) return this.finish({ verdict: 'installs' })
    const source = createRukPakImageSource(plan, next)
    const spec = queries.hasBundles ? { template: { spec: { source } } } : { source }
    const following: RukPakState = { ...state, step: state.step + 1, memory: {} }
    return this.moveTo(
      'deployment',
      `${message}; installing ${next.root}`,
      [{ kind: 'patch', at: queries.deployment, patch: { spec } }],
      {},
      following,
    )
  }
}

/** What the deployment stage waits for. */
function describeRukPakWaitReason({
  root,
  isTakenUp,
  isInstalled,
  failure,
  unpacked,
  valid,
  installed,
  old,
}: ObservedRukPakBundle): string {
  if (!isTakenUp) return 'waiting for RukPak to process the BundleDeployment'
  if (!isInstalled)
    return (
      failure?.says ??
      `waiting for RukPak to install ${root} (${[unpacked, valid, installed].flatMap((one) => one?.reason || []).join(', ')})`
    )
  return old.length > 0
    ? `waiting for Bundle ${old[0]?.metadata.name ?? ''} to be deleted`
    : `waiting for the workloads of ${root} to become available`
}

function findRukPakBundleFailure(
  conditions: readonly (KubeCondition | undefined)[],
  unpackFailure: ClusterTestFailure | undefined,
): ClusterTestFailure | undefined {
  const rejected = conditions.find((one) => one?.status === 'False' && rukPakFailureReasons.has(one.reason))
  if (rejected) return unpackFailure ?? classifyRukPakFailure(rejected.message, rejected.reason)
  return isPermanentFailure(unpackFailure) ? unpackFailure : undefined
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
      code: classifyImagePullFailure(message, bundleUnpackPodFailureCodes) ?? 'unpack-failed',
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

function createRukPakQueries(
  plan: ClusterTestPlan,
  target: RukPakInstallTarget,
  apiVersion: (typeof rukPakApiVersions)[number],
) {
  const hasBundles = apiVersion === 'core.rukpak.io/v1alpha1'
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
    target,
    apiVersion,
    hasBundles,
    bundles,
    crds: plan.crds.map(createCrdQuery),
    running: [
      ...Object.values(queries),
      ...(hasBundles ? [bundles] : []),
      ...listPrerequisiteQueries(plan),
    ] as readonly KubeQuery[],
  }
}
