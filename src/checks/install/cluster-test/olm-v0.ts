// An install test with OLM v0, from the catalog to running Deployments, and again after an upgrade replaces the
// catalog. Level-triggered: each observation is evaluated independently, so missed events do not matter.
import {
  classifyCsvFailure,
  isUnrecoverableCsvReason,
  classifyInstallPlanFailure,
  classifyMissingRequirements,
  classifyResolutionFailure,
  classifyBundleUnpackFailure,
} from './classify-olm-v0.ts'
import {
  createFinalTestProgress,
  transitionToStage,
  createFailedTestProgress,
  updateTestStateVariables,
  createWaitingTestProgress,
  type ClusterTestProgress,
  type ClusterTestDriver,
  type ClusterTestState,
  type ClusterTestDeadlines,
} from './cluster-test-state.ts'
import {
  catalogPodFailureCodes,
  findDeploymentFailure,
  isDeploymentAvailable,
  temporaryFailureCodes,
  operatorPodFailureCodes,
  classifyOverdueDeployments,
  findDeploymentPods,
  findPodFailure,
  unpackPodFailureCodes,
} from './classify-pods.ts'
import {
  getValueAtPath,
  getKubeCondition,
  getListAtPath,
  getObservedObject,
  getObservedObjects,
  getStringAtPath,
  parseKubeTimestamp,
  type KubeObject,
  type KubeQuery,
  type ClusterObservation,
} from './kube-object.ts'
import {
  catalogSourceName,
  createCatalogSource,
  createCatalogSourceSpec,
  listPrerequisiteQueries,
  createPrerequisiteObjects,
  createTestNamespace,
  olmApiVersion,
  operatorGroupApiVersion,
  createOperatorGroup,
  createSubscription,
  subscriptionName,
  createTargetNamespace,
} from './cluster-test-objects.ts'
import { isAuthorFailureCode, type ClusterTestFailure } from './cluster-test-outcome.ts'
import {
  initiallyAbsentCrdsAnnotation,
  parseJsonNameList,
  toTestNamespaceName,
  type ClusterTestPlan,
} from './cluster-test-plan.ts'

type OlmV0Stage = 'preflight' | 'catalog' | 'resolution' | 'review' | 'plan' | 'operator'
type OlmV0State = ClusterTestState<OlmV0Stage>

export function createOlmV0TestDriver(
  plan: ClusterTestPlan,
  deadlines: ClusterTestDeadlines,
): ClusterTestDriver<OlmV0Stage> {
  const queries = createOlmV0Queries(plan)
  const stages: Readonly<
    Record<
      OlmV0Stage,
      (state: OlmV0State, seen: ClusterObservation, now: number) => ClusterTestProgress<OlmV0Stage>
    >
  > = {
    preflight,
    catalog: serveCatalog,
    resolution: resolve,
    review,
    plan: installPlan,
    operator: runOperator,
  }
  const last = plan.steps.length - 1

  return {
    first: 'preflight',
    queries: ({ stage, memory }) =>
      stage === 'preflight'
        ? [queries.namespace, ...queries.crds]
        : stage === 'review'
          ? [...queries.running, ...parseJsonNameList(memory['crds']).map(createCrdQuery)]
          : queries.running,
    next: (state, observation, now) => stages[state.stage](state, observation, now),
  }

  /** Fails if the test would change existing objects. */
  function preflight(
    state: OlmV0State,
    observation: ClusterObservation,
    now: number,
  ): ClusterTestProgress<OlmV0Stage> {
    const there = queries.crds.find((query) => getObservedObject(observation, query) !== undefined)
    const namespace = getObservedObject(observation, queries.namespace)
    if (there && !namespace)
      return createFailedTestProgress(state, now, {
        code: 'crd-preexists',
        says: `the cluster already has the CRD ${there.name ?? ''}, and the install test would change it for other users`,
      })
    if (!namespace)
      return createWaitingTestProgress(state, 'the namespace', [
        { kind: 'create', object: createTestNamespace(plan) },
      ])
    return transitionToStage(state, 'catalog', now, `namespace ${namespace.metadata.name} exists`)
  }

  function serveCatalog(
    state: OlmV0State,
    observation: ClusterObservation,
    now: number,
  ): ClusterTestProgress<OlmV0Stage> {
    const namespace = getObservedObject(observation, queries.namespace)
    if (!namespace) return createWaitingTestProgress(state, 'the namespace')
    const wanted = [
      ...createPrerequisiteObjects(plan, namespace),
      ...[createTargetNamespace(plan, namespace)].filter((one) => one !== undefined),
      createOperatorGroup(plan, namespace),
    ]
    const missing = wanted.filter((object) => !isObjectObserved(observation, object))
    if (missing.length > 0)
      return createWaitingTestProgress(
        state,
        'the prerequisites of the install test',
        missing.map((object) => ({ kind: 'create', object })),
      )
    const catalog = getObservedObject(observation, queries.catalog)
    if (!catalog)
      return createWaitingTestProgress(state, 'the CatalogSource', [
        { kind: 'create', object: createCatalogSource(plan, namespace, plan.base ?? plan.catalog) },
      ])
    const group = getObservedObject(observation, queries.group)
    const isGrouped = getListAtPath(group?.status, 'namespaces').length > 0
    const trouble = findCatalogFailure(observation)
    if (trouble && !temporaryFailureCodes.has(trouble.code))
      return createFailedTestProgress(state, now, trouble)
    const readiness = getCatalogSourceConnection(catalog)
    if (readiness.isReady && isGrouped)
      return transitionToStage(
        state,
        'resolution',
        now,
        `the catalog is ready${readiness.address === '' ? '' : ` at ${readiness.address}`}`,
        [{ kind: 'create', object: createSubscription(plan, namespace) }],
      )
    if (now - state.since < deadlines.catalog)
      return createWaitingTestProgress(
        state,
        readiness.isReady
          ? 'OLM to process the OperatorGroup'
          : `the catalog to become ready (${readiness.state === '' ? 'OLM has not checked it yet' : readiness.state})`,
      )
    if (trouble) return createFailedTestProgress(state, now, trouble)
    if (readiness.state === '' || (readiness.isReady && !isGrouped))
      return createFailedTestProgress(state, now, {
        code: 'olm-silent',
        says: 'OLM v0 did not process the CatalogSource or the OperatorGroup. Check whether its controllers are running.',
      })
    return createFailedTestProgress(state, now, {
      code: 'catalog-not-connected',
      says: `OLM could not connect to the catalog: ${readiness.state}`,
    })
  }

  function findCatalogFailure(observation: ClusterObservation): ClusterTestFailure | undefined {
    const catalog = getObservedObject(observation, queries.catalog)
    const reason = getStringAtPath(catalog?.status, 'reason')
    const message = getStringAtPath(catalog?.status, 'message')
    if (reason === 'SpecInvalidError')
      return { code: 'internal', says: `OLM rejected the CatalogSource as invalid: ${message}` }
    if (/exceeded quota/.test(message)) return { code: 'quota', says: message }
    if (/violates PodSecurity|is forbidden/.test(message)) return { code: 'policy', says: message }
    const pods = getObservedObjects(observation, queries.pods).filter(
      ({ metadata }) => metadata.labels?.['olm.catalogSource'] === catalogSourceName,
    )
    return findPodFailure(pods, catalogPodFailureCodes)
  }

  function resolve(
    state: OlmV0State,
    observation: ClusterObservation,
    now: number,
  ): ClusterTestProgress<OlmV0Stage> {
    const namespace = getObservedObject(observation, queries.namespace)
    const subscriptionObject = getObservedObject(observation, queries.subscription)
    if (!subscriptionObject) {
      if (namespace)
        return createWaitingTestProgress(state, 'the Subscription', [
          { kind: 'create', object: createSubscription(plan, namespace) },
        ])
      return createWaitingTestProgress(state, 'the namespace')
    }
    const catalog = getObservedObject(observation, queries.catalog)
    // After the catalog is replaced, the status describes the old catalog until OLM connects to the new one.
    const dialled = isExchanged(state, catalog)
    const installPlan = findNewPlan(state, subscriptionObject, observation)
    if (installPlan && dialled) {
      const name = installPlan.metadata.name
      const wanted = plan.steps[state.step]
      const names = listInstallPlanCsvNames(installPlan)
      if (names.length === 0)
        return createWaitingTestProgress(state, `InstallPlan ${name} to list its bundles`)
      if (!wanted || !hasSameUniqueStrings(names, wanted.names))
        return createFailedTestProgress(state, now, {
          code: 'resolver-mismatch',
          says: `OLM chose ${names.join(', ')}, but the simulation chose ${wanted?.names.join(', ') ?? 'nothing else'}`,
        })
      return transitionToStage(
        state,
        'review',
        now,
        `OLM chose ${names.join(', ')}, as in the simulation`,
        [],
        {
          plan: name,
          crds: JSON.stringify(listInstallPlanCrdNames(installPlan)),
        },
      )
    }
    const trouble = findCatalogFailure(observation)
    if (trouble && !temporaryFailureCodes.has(trouble.code))
      return createFailedTestProgress(state, now, trouble)
    const isUnpacking = getKubeCondition(subscriptionObject, 'BundleUnpacking')?.status === 'True'
    const unpacked = findUnpackFailure(subscriptionObject, observation)
    if (unpacked && dialled) return createFailedTestProgress(state, now, unpacked)
    // A busy OLM might find nothing in a new catalog. It resolves again when its cache changes.
    const resolution = dialled ? classifyResolutionFailure(subscriptionObject) : undefined
    const waited = now - state.since
    if (isUnpacking) {
      const message = getKubeCondition(subscriptionObject, 'BundleUnpacking')?.message ?? ''
      if (waited < deadlines.unpacking)
        return createWaitingTestProgress(
          state,
          `OLM to unpack the bundle${message === '' ? '' : `: ${message}`}`,
        )
      return createFailedTestProgress(state, now, {
        code: 'too-slow',
        says: `OLM did not unpack the bundle in time: ${message}`,
      })
    }
    if (waited < deadlines.resolution)
      return createWaitingTestProgress(state, resolution?.says ?? 'OLM to resolve the Subscription')
    if (trouble) return createFailedTestProgress(state, now, trouble)
    if (!dialled)
      return createFailedTestProgress(state, now, {
        code: 'catalog-not-connected',
        says: `OLM did not connect to the changed catalog: ${getCatalogSourceConnection(catalog).state}`,
      })
    if (resolution)
      return createFailedTestProgress(state, now, {
        code: resolution.isFinal ? 'resolution-unsatisfiable' : 'catalog-not-connected',
        says: resolution.says,
      })
    // The state might predate the catalog replacement.
    const staysThere =
      state.step > 0 && getStringAtPath(subscriptionObject.status, 'state') === 'AtLatestKnown'
    if (staysThere && waited < deadlines.retryWindow)
      return createWaitingTestProgress(state, 'OLM to process the changed catalog')
    if (staysThere)
      return createFailedTestProgress(state, now, {
        code: 'no-upgrade-edge',
        says: `OLM found no upgrade path from ${plan.steps[state.step - 1]?.root ?? ''} to ${plan.steps[state.step]?.root ?? ''}`,
      })
    return createFailedTestProgress(state, now, {
      code: 'olm-silent',
      says: 'OLM did not create an InstallPlan and did not report a reason',
    })
  }

  function isExchanged(state: OlmV0State, catalog: KubeObject | undefined): boolean {
    const before = state.memory['connected']
    if (before === undefined) return true
    const { isReady, address, connected } = getCatalogSourceConnection(catalog)
    if ('address' in plan.catalog) return isReady && address === plan.catalog.address
    // The Service exists before the new pod does, so only OLM's connection time shows that the catalog was replaced.
    return isReady && connected !== before
  }

  function findUnpackFailure(subscriptionObject: KubeObject, observation: ClusterObservation) {
    const jobs = getObservedObjects(observation, queries.jobs)
    const pods = getObservedObjects(observation, queries.pods).filter(
      (pod) => pod.metadata.labels?.[bundleUnpackLabel] !== undefined,
    )
    const failedAlready = getKubeCondition(subscriptionObject, 'BundleUnpackFailed')
    const pod = findPodFailure(pods, unpackPodFailureCodes)
    if (failedAlready?.status === 'True') {
      if (pod) return pod
      const job = jobs
        .flatMap((one) => getKubeCondition(one, 'Failed') ?? [])
        .find(({ status }) => status === 'True')
      // These pods never restart, so each keeps its result.
      const ended = pods
        .flatMap(({ status }) => getListAtPath(status, 'containerStatuses'))
        .map((one) => getStringAtPath(one, 'state', 'terminated', 'message'))
      return classifyBundleUnpackFailure(
        [...new Set([failedAlready.message, job?.reason ?? '', job?.message ?? '', ...ended])]
          .filter((one) => one !== '')
          .join(': '),
      )
    }
    // The Job restarts its pods, so only a permanent failure ends the test early.
    return pod && !temporaryFailureCodes.has(pod.code) ? pod : undefined
  }

  function findNewPlan(
    state: OlmV0State,
    subscriptionObject: KubeObject,
    observation: ClusterObservation,
  ): KubeObject | undefined {
    const name =
      getStringAtPath(subscriptionObject.status, 'installPlanRef', 'name') ||
      getStringAtPath(subscriptionObject.status, 'installplan', 'name')
    if (name === '' || name === state.memory['plan']) return undefined
    return getObservedObjects(observation, queries.plans).find((one) => one.metadata.name === name)
  }

  /**
   * The plan lists all CRDs, including those of unopened bundles. An existing CRD belongs to this test or to another
   * user. Records the CRDs for clean-up before it approves the plan.
   */
  function review(
    state: OlmV0State,
    observation: ClusterObservation,
    now: number,
  ): ClusterTestProgress<OlmV0Stage> {
    const namespace = getObservedObject(observation, queries.namespace)
    const name = String(state.memory['plan'])
    const found = getObservedObjects(observation, queries.plans).find((one) => one.metadata.name === name)
    if (!namespace || !found) return createWaitingTestProgress(state, `InstallPlan ${name}`)
    const began = parseKubeTimestamp(namespace.metadata.creationTimestamp ?? '') ?? 0
    const crds = parseJsonNameList(state.memory['crds'])
    const theirs = crds.find((crd) => {
      const there = getObservedObject(observation, createCrdQuery(crd))
      return there !== undefined && (parseKubeTimestamp(there.metadata.creationTimestamp ?? '') ?? 0) < began
    })
    if (theirs !== undefined)
      return createFailedTestProgress(state, now, {
        code: 'crd-preexists',
        says: `the cluster already has the CRD ${theirs}, and the install test would change it for other users`,
      })
    const noted = parseJsonNameList(namespace.metadata.annotations?.[initiallyAbsentCrdsAnnotation])
    const all = [...new Set([...noted, ...crds])].sort()
    if (all.length > noted.length)
      return createWaitingTestProgress(state, 'the CRD names to be recorded', [
        {
          kind: 'patch',
          at: queries.namespace,
          patch: { metadata: { annotations: { [initiallyAbsentCrdsAnnotation]: JSON.stringify(all) } } },
        },
      ])
    return transitionToStage(state, 'plan', now, `InstallPlan ${name} is approved`, [
      createInstallPlanApprovalPatch(found),
    ])
  }

  function installPlan(
    state: OlmV0State,
    observation: ClusterObservation,
    now: number,
  ): ClusterTestProgress<OlmV0Stage> {
    const name = String(state.memory['plan'])
    const found = getObservedObjects(observation, queries.plans).find((one) => one.metadata.name === name)
    const phase = getStringAtPath(found?.status, 'phase')
    if (found && phase === 'Complete')
      return transitionToStage(state, 'operator', now, `InstallPlan ${name} is complete`)
    if (found && phase === 'Failed')
      return createFailedTestProgress(state, now, classifyInstallPlanFailure(found))
    const message = getStringAtPath(found?.status, 'message')
    if (now - state.since > deadlines.plan) {
      // OLM retries for a minute and then reports Failed. Until then, no failure is final.
      const { code, says }: ClusterTestFailure =
        found && message !== ''
          ? classifyInstallPlanFailure(found)
          : { code: 'olm-silent', says: `InstallPlan ${name} remains in phase ${phase || '(none)'}` }
      return createFailedTestProgress(state, now, {
        code: isAuthorFailureCode(code) ? 'too-slow' : code,
        says,
      })
    }
    // A conflict can reject the approval, so the approval is repeated until it succeeds.
    const isApproved = getValueAtPath(found?.spec, 'approved') === true
    return createWaitingTestProgress(
      state,
      `InstallPlan ${name}${message === '' ? '' : `: ${message}`}`,
      found && !isApproved ? [createInstallPlanApprovalPatch(found)] : [],
    )
  }

  function runOperator(
    state: OlmV0State,
    observation: ClusterObservation,
    now: number,
  ): ClusterTestProgress<OlmV0Stage> {
    const wanted = plan.steps[state.step]
    if (!wanted) return createFinalTestProgress(state, now, { verdict: 'installs' })
    const subscriptionObject = getObservedObject(observation, queries.subscription)
    const csvs = getObservedObjects(observation, queries.csvs).filter((one) => !isCopiedCsv(one))
    const own = wanted.names.map((name) => csvs.find(({ metadata }) => metadata.name === name))
    const deployments = getObservedObjects(observation, queries.deployments).filter((one) =>
      wanted.names.includes(one.metadata.labels?.['olm.owner'] ?? ''),
    )
    const troubled = csvs.find(
      (one) => wanted.names.includes(one.metadata.name) && getStringAtPath(one.status, 'phase') === 'Failed',
    )
    const running = getObservedObjects(observation, queries.pods)
    const why =
      findDeploymentFailure(deployments) ??
      findPodFailure(findDeploymentPods(deployments, running), operatorPodFailureCodes)
    const { state: known, failure } = recordFailure(state, troubled, now)
    if (failure)
      return createFailedTestProgress(known, now, why && !temporaryFailureCodes.has(why.code) ? why : failure)
    // A permanent failure ends the test before its deadline. A registry or a crashed container might recover.
    if (why && !temporaryFailureCodes.has(why.code)) return createFailedTestProgress(known, now, why)
    const open = own.findIndex((csv) => getStringAtPath(csv?.status, 'phase') !== 'Succeeded')
    const isInstalled = getStringAtPath(subscriptionObject?.status, 'installedCSV') === wanted.root
    const before = state.step > 0 ? plan.steps[state.step - 1]?.root : undefined
    const isReplaced =
      before === undefined || before === wanted.root || !csvs.some(({ metadata }) => metadata.name === before)
    const lazy = deployments.filter((one) => !isDeploymentAvailable(one))
    if (open < 0 && isInstalled && isReplaced && lazy.length === 0)
      return stepDone(known, subscriptionObject, observation, now)
    const what = waitingFor()
    const goesOn = open < 0 ? updateTestStateVariables(known, { failing: 0, words: '' }) : known
    if (now - state.since < deadlines.operator) return createWaitingTestProgress(goesOn, what)
    return createFailedTestProgress(known, now, overdue())

    function waitingFor(): string {
      const csv = own[open]
      const name = wanted?.names[open] ?? ''
      if (open >= 0)
        return `ClusterServiceVersion ${name}: ${csv ? `${getStringAtPath(csv.status, 'phase')} ${getStringAtPath(csv.status, 'reason')} ${getStringAtPath(csv.status, 'message')}` : 'not created yet'}`
      if (!isInstalled) return `the Subscription to report ${wanted?.root ?? ''} as installed`
      if (!isReplaced) return `ClusterServiceVersion ${before ?? ''} to be deleted`
      return `Deployment ${lazy[0]?.metadata.name ?? ''} to become available`
    }

    function overdue() {
      if (why) return why
      const csv = own[open]
      if (csv) {
        const phase = getStringAtPath(csv.status, 'phase')
        const requirements = phase === 'Pending' ? classifyMissingRequirements(csv) : undefined
        if (requirements) return requirements
        if (phase === 'Pending' || phase === '') return { code: 'olm-silent', says: what } as const
      }
      if ((open >= 0 && !csv) || (open < 0 && (!isInstalled || !isReplaced)))
        return { code: 'olm-silent', says: `timed out while waiting for ${what}` } as const
      return classifyOverdueDeployments(deployments, running, what, now - deadlines.retryWindow)
    }
  }

  /** OLM leaves Failed and retries, so a failure counts if OLM cannot recover or repeats it for `retryWindow`. */
  function recordFailure(
    state: OlmV0State,
    csv: KubeObject | undefined,
    now: number,
  ): { readonly state: OlmV0State; readonly failure?: ClusterTestFailure } {
    const failure = csv && classifyCsvFailure(csv)
    const isOlms = isUnrecoverableCsvReason(getStringAtPath(csv?.status, 'reason'))
    if (!failure || (!isAuthorFailureCode(failure.code) && !isOlms)) return { state }
    // The first message contains the cause. Later messages often only report retries.
    const failing = Number(state.memory['failing'] ?? 0) || now
    const firstMessage = state.memory['words'] || failure.says
    const known = updateTestStateVariables(state, { failing, words: firstMessage })
    if (!isOlms && now - failing < deadlines.retryWindow) return { state: known }
    const message =
      firstMessage === failure.says ? failure.says : `${failure.says} (first error: ${firstMessage})`
    return { state: known, failure: { ...failure, says: message } }
  }

  function stepDone(
    state: OlmV0State,
    subscriptionObject: KubeObject | undefined,
    observation: ClusterObservation,
    now: number,
  ): ClusterTestProgress<OlmV0Stage> {
    const done = plan.steps[state.step]?.root ?? ''
    if (state.step < last) {
      const following: OlmV0State = {
        ...state,
        step: state.step + 1,
        memory: { plan: state.memory['plan'] ?? '' },
      }
      const catalog = getObservedObject(observation, queries.catalog)
      // Only the first step comes from the base.
      const exchange =
        state.step === 0 && plan.base !== undefined && catalog
          ? [
              {
                kind: 'patch',
                at: queries.catalog,
                patch: { spec: createCatalogSourceSpec(plan.catalog) },
              } as const,
            ]
          : []
      const memory = exchange.length > 0 ? { connected: getCatalogSourceConnection(catalog).connected } : {}
      const message =
        exchange.length > 0 ? `${done} is running; switching to the changed catalog` : `${done} is running`
      return transitionToStage(following, 'resolution', now, message, exchange, memory)
    }
    // Another plan would install a version that the simulation did not predict.
    const further = findNewPlan(
      state,
      subscriptionObject ?? { apiVersion: '', kind: '', metadata: { name: '' } },
      observation,
    )
    if (further)
      return createFailedTestProgress(state, now, {
        code: 'resolver-mismatch',
        says: `OLM would also install ${listInstallPlanCsvNames(further).join(', ')}, but the simulation ends at ${done}`,
      })
    if (
      getStringAtPath(subscriptionObject?.status, 'state') !== 'AtLatestKnown' &&
      now - state.since < deadlines.operator
    )
      return createWaitingTestProgress(
        state,
        `the Subscription to reach AtLatestKnown (state: ${getStringAtPath(subscriptionObject?.status, 'state')})`,
      )
    return createFinalTestProgress(state, now, { verdict: 'installs' })
  }
}

const bundleUnpackLabel = 'operatorframework.io/bundle-unpack-ref'
function createOlmV0Queries(plan: ClusterTestPlan) {
  const namespace = toTestNamespaceName(plan)
  const inside = (apiVersion: string, kind: string) => ({ apiVersion, kind, namespace })
  const queries = {
    namespace: { apiVersion: 'v1', kind: 'Namespace', name: namespace },
    crds: plan.crds.map(createCrdQuery),
    catalog: { ...inside(olmApiVersion, 'CatalogSource'), name: catalogSourceName },
    group: { ...inside(operatorGroupApiVersion, 'OperatorGroup'), name: 'group' },
    subscription: { ...inside(olmApiVersion, 'Subscription'), name: subscriptionName },
    plans: inside(olmApiVersion, 'InstallPlan'),
    csvs: inside(olmApiVersion, 'ClusterServiceVersion'),
    jobs: { ...inside('batch/v1', 'Job'), labels: bundleUnpackLabel },
    pods: inside('v1', 'Pod'),
    deployments: inside('apps/v1', 'Deployment'),
  } as const
  const target: readonly KubeQuery[] =
    plan.mode === 'SingleNamespace' || plan.mode === 'MultiNamespace'
      ? [{ apiVersion: 'v1', kind: 'Namespace', name: `${namespace}-target` }]
      : []
  const { crds: _, ...others } = queries
  return {
    ...queries,
    running: [...Object.values(others), ...listPrerequisiteQueries(plan), ...target] as readonly KubeQuery[],
  }
}

function isObjectObserved(
  observation: ClusterObservation,
  { apiVersion, kind, metadata: { name, namespace } }: KubeObject,
): boolean {
  return (
    getObservedObject(observation, {
      apiVersion,
      kind,
      name,
      ...(namespace !== undefined && { namespace }),
    }) !== undefined
  )
}

function getCatalogSourceConnection(catalog: KubeObject | undefined) {
  const state = getStringAtPath(catalog?.status, 'connectionState', 'lastObservedState')
  return {
    state,
    isReady: state === 'READY',
    address: getStringAtPath(catalog?.status, 'connectionState', 'address'),
    connected: getStringAtPath(catalog?.status, 'connectionState', 'lastConnect'),
  }
}

function listInstallPlanCrdNames(plan: KubeObject): readonly string[] {
  const names = getListAtPath(plan.status, 'plan').flatMap((step) => {
    const name = getStringAtPath(step, 'resource', 'name')
    return getStringAtPath(step, 'resource', 'kind') === 'CustomResourceDefinition' && name !== ''
      ? [name]
      : []
  })
  return [...new Set(names)].sort()
}

const createCrdQuery = (name: string): KubeQuery => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  name,
})

function createInstallPlanApprovalPatch({
  apiVersion,
  kind,
  metadata: { name, namespace = '' },
}: KubeObject) {
  return {
    kind: 'patch',
    at: { apiVersion, kind, name, namespace },
    patch: { spec: { approved: true } },
  } as const
}

function listInstallPlanCsvNames(plan: KubeObject): readonly string[] {
  return getListAtPath(plan.spec, 'clusterServiceVersionNames').filter(
    (name): name is string => typeof name === 'string',
  )
}

function hasSameUniqueStrings(a: readonly string[], b: readonly string[]): boolean {
  return new Set(a).size === new Set(b).size && a.every((one) => b.includes(one))
}

/** OLM copies the CSV of an AllNamespaces Operator to every namespace. */
function isCopiedCsv({ metadata, status }: KubeObject): boolean {
  return metadata.labels?.['olm.copiedFrom'] !== undefined || getStringAtPath(status, 'reason') === 'Copied'
}
