// An install test with OLM v0, from the catalog to running Deployments. For an upgrade, the test is repeated after the
// catalog is replaced. Level-triggered: each observation is evaluated independently, so missed events do not matter.
import {
  classifyCsvFailure,
  unrecoverableCsvReasons,
  classifyInstallPlanFailure,
  classifyMissingRequirements,
  classifyResolutionFailure,
  classifyBundleUnpackFailure,
} from './classify-olm-v0.ts'
import {
  updateClusterTestState,
  type ClusterTestProgress,
  type ClusterTestStateMachine,
  type ClusterTestState,
  type ClusterTestDeadlines,
  isAuthorCausedFailureCode,
  type ClusterTestFailure,
} from './cluster-test-state.ts'
import {
  catalogPodFailureCodes,
  findPodFailure,
  isPermanentFailure,
  bundleUnpackPodFailureCodes,
  ClusterTestStageRunner,
} from './test-stages.ts'
import {
  createCrdQuery,
  getValueAtPath,
  getKubeCondition,
  getListAtPath,
  getStringAtPath,
  parseKubeTimestamp,
  type KubeObject,
  type KubeQuery,
  toKubeObjectQuery,
} from './kube-object.ts'
import {
  catalogSourceName,
  createCatalogSource,
  listPrerequisiteQueries,
  createPrerequisiteObjects,
  olmApiVersion,
  operatorGroupApiVersion,
  createOperatorGroup,
  createSubscription,
  subscriptionName,
  createTargetNamespace,
} from './cluster-test-objects.ts'
import {
  crdsAbsentBeforeTestAnnotation,
  parseJsonNameList,
  toTestNamespaceName,
  type ClusterTestPlan,
  toTargetNamespaceName,
} from './cluster-test-plan.ts'

type OlmV0TestStage = 'preflight' | 'catalog' | 'resolution' | 'review' | 'plan' | 'operator'
type OlmV0TestState = ClusterTestState<OlmV0TestStage>
type OlmV0TestProgress = ClusterTestProgress<OlmV0TestStage>

export function createOlmV0TestDriver(
  plan: ClusterTestPlan,
  deadlines: ClusterTestDeadlines,
): ClusterTestStateMachine<OlmV0TestStage> {
  const queries = createOlmV0Queries(plan)
  return {
    first: 'preflight',
    queries: ({ stage, memory }) =>
      stage === 'preflight'
        ? [queries.namespace, ...queries.crds]
        : stage === 'review'
          ? [...queries.running, ...parseJsonNameList(memory['crds']).map(createCrdQuery)]
          : queries.running,
    next: (state, observation, now) =>
      new OlmV0TestStageRunner({ plan, deadlines, queries }, state, observation, now).stages[state.stage](),
  }
}

/** What OLM reports about the Operator of a step. */
type ObservedOperator = NonNullable<ReturnType<OlmV0TestStageRunner['observeOperator']>>

class OlmV0TestStageRunner extends ClusterTestStageRunner<
  OlmV0TestStage,
  ReturnType<typeof createOlmV0Queries>
> {
  readonly stages: Readonly<Record<OlmV0TestStage, () => OlmV0TestProgress>> = {
    preflight: () =>
      this.createNamespace('catalog', 'The install test would change this CRD for other users.'),
    catalog: () => this.#serveCatalog(),
    resolution: () => this.#resolve(),
    review: () => this.#reviewInstallPlan(),
    plan: () => this.#runInstallPlan(),
    operator: () => this.#runOperator(),
  }

  #serveCatalog(): OlmV0TestProgress {
    const { plan, queries } = this
    const namespace = this.find(queries.namespace)
    if (!namespace) return this.wait('waiting for the namespace')
    const incomplete = this.createMissing([
      ...createPrerequisiteObjects(plan, namespace),
      ...[createTargetNamespace(plan, namespace)].filter((one) => one !== undefined),
      createOperatorGroup(plan, namespace),
    ])
    if (incomplete) return incomplete
    const catalog = this.find(queries.catalog)
    if (!catalog)
      return this.wait('waiting for the CatalogSource', [
        { kind: 'create', object: createCatalogSource(plan, namespace, plan.base ?? plan.catalog) },
      ])
    const isGrouped = getListAtPath(this.find(queries.group)?.status, 'namespaces').length > 0
    const trouble = this.#findCatalogFailure()
    if (isPermanentFailure(trouble)) return this.fail(trouble)
    const readiness = getCatalogSourceConnectionState(catalog)
    if (readiness.isReady && isGrouped)
      return this.moveTo(
        'resolution',
        `the catalog is ready${readiness.address === '' ? '' : ` at ${readiness.address}`}`,
        [{ kind: 'create', object: createSubscription(plan, namespace) }],
      )
    if (this.waited < this.deadlines.catalog)
      return this.wait(
        readiness.isReady
          ? 'waiting for OLM to process the OperatorGroup'
          : `waiting for the catalog to become ready (${readiness.state === '' ? 'OLM has not checked the catalog yet' : readiness.state})`,
      )
    if (trouble) return this.fail(trouble)
    if (readiness.state === '' || (readiness.isReady && !isGrouped))
      return this.fail({
        code: 'olm-silent',
        says: 'OLM v0 did not process the CatalogSource or the OperatorGroup. Check whether its controllers are running.',
      })
    return this.fail({
      code: 'catalog-not-connected',
      says: `OLM could not connect to the catalog: ${readiness.state}`,
    })
  }

  #findCatalogFailure(): ClusterTestFailure | undefined {
    const catalog = this.find(this.queries.catalog)
    const reason = getStringAtPath(catalog?.status, 'reason')
    const message = getStringAtPath(catalog?.status, 'message')
    if (reason === 'SpecInvalidError')
      return { code: 'internal', says: `OLM rejected the CatalogSource as invalid: ${message}` }
    if (/exceeded quota/.test(message)) return { code: 'quota', says: message }
    if (/violates PodSecurity|is forbidden/.test(message)) return { code: 'policy', says: message }
    const pods = this.list(this.queries.pods).filter(
      ({ metadata }) => metadata.labels?.['olm.catalogSource'] === catalogSourceName,
    )
    return findPodFailure(pods, catalogPodFailureCodes)
  }

  #resolve(): OlmV0TestProgress {
    const namespace = this.find(this.queries.namespace)
    const subscription = this.find(this.queries.subscription)
    if (!subscription) {
      if (namespace)
        return this.wait('waiting for the Subscription', [
          { kind: 'create', object: createSubscription(this.plan, namespace) },
        ])
      return this.wait('waiting for the namespace')
    }
    // After the catalog is replaced, the status describes the old catalog until OLM connects to the new one.
    const isConnected = this.#isConnectedToCatalog()
    const installPlan = this.#findNewPlan(subscription)
    if (installPlan && isConnected) return this.#compareWithSimulation(installPlan)
    const trouble = this.#findCatalogFailure()
    if (isPermanentFailure(trouble)) return this.fail(trouble)
    const unpacking = getKubeCondition(subscription, 'BundleUnpacking')
    const unpacked = this.#findUnpackFailure(subscription)
    if (unpacked && isConnected) return this.fail(unpacked)
    // A busy OLM might find nothing in a new catalog. It resolves again when its cache changes.
    const resolution = isConnected ? classifyResolutionFailure(subscription) : undefined
    if (unpacking?.status === 'True') return this.#waitForUnpacking(unpacking.message)
    if (this.waited < this.deadlines.resolution)
      return this.wait(resolution?.says ?? 'waiting for OLM to resolve the Subscription')
    if (trouble) return this.fail(trouble)
    if (!isConnected)
      return this.fail({
        code: 'catalog-not-connected',
        says: `OLM did not connect to the changed catalog: ${getCatalogSourceConnectionState(this.find(this.queries.catalog)).state}`,
      })
    if (resolution)
      return this.fail({
        code: resolution.isFinal ? 'resolution-unsatisfiable' : 'catalog-not-connected',
        says: resolution.says,
      })
    return this.#explainMissingPlan(subscription)
  }

  #compareWithSimulation(installPlan: KubeObject): OlmV0TestProgress {
    const { name } = installPlan.metadata
    const expectedStep = this.expectedStep
    const names = listInstallPlanCsvNames(installPlan)
    if (names.length === 0) return this.wait(`waiting for InstallPlan ${name} to list its bundles`)
    if (!expectedStep || !haveSameUniqueStrings(names, expectedStep.names))
      return this.fail({
        code: 'resolver-mismatch',
        says: `OLM chose ${names.join(', ')}, but the simulation chose ${expectedStep?.names.join(', ') ?? 'nothing else'}`,
      })
    return this.moveTo('review', `OLM and the simulation both chose ${names.join(', ')}`, [], {
      plan: name,
      crds: JSON.stringify(listInstallPlanCrdNames(installPlan)),
    })
  }

  #waitForUnpacking(message: string): OlmV0TestProgress {
    return this.waited < this.deadlines.unpacking
      ? this.wait(`waiting for OLM to unpack the bundle${message === '' ? '' : `: ${message}`}`)
      : this.fail({ code: 'too-slow', says: `OLM did not unpack the bundle in time: ${message}` })
  }

  #explainMissingPlan(subscription: KubeObject): OlmV0TestProgress {
    const { plan, state } = this
    // The state might predate the catalog replacement.
    const staysThere = state.step > 0 && getStringAtPath(subscription.status, 'state') === 'AtLatestKnown'
    if (staysThere && this.waited < this.deadlines.retryWindow)
      return this.wait('waiting for OLM to process the changed catalog')
    if (staysThere)
      return this.fail({
        code: 'no-upgrade-edge',
        says: `OLM found no upgrade path from ${plan.steps[state.step - 1]?.root ?? ''} to ${plan.steps[state.step]?.root ?? ''}`,
      })
    const message = 'OLM did not create an InstallPlan and did not report a reason'
    return this.fail({ code: 'olm-silent', says: message })
  }

  /** True before the catalog is replaced. */
  #isConnectedToCatalog(): boolean {
    const before = this.state.memory['connected']
    if (before === undefined) return true
    const { isReady, address, connected } = getCatalogSourceConnectionState(this.find(this.queries.catalog))
    if ('address' in this.plan.catalog) return isReady && address === this.plan.catalog.address
    // The Service exists before the new pod does, so only OLM's connection time shows that the catalog was replaced.
    return isReady && connected !== before
  }

  #findUnpackFailure(subscription: KubeObject): ClusterTestFailure | undefined {
    const pods = this.list(this.queries.pods).filter(
      ({ metadata }) => metadata.labels?.[bundleUnpackLabel] !== undefined,
    )
    const failedAlready = getKubeCondition(subscription, 'BundleUnpackFailed')
    const pod = findPodFailure(pods, bundleUnpackPodFailureCodes)
    // The Job restarts its pods, so only a permanent failure ends the test early.
    if (failedAlready?.status !== 'True') return isPermanentFailure(pod) ? pod : undefined
    if (pod) return pod
    const job = this.list(this.queries.jobs)
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

  #findNewPlan(subscription: KubeObject | undefined): KubeObject | undefined {
    const name =
      getStringAtPath(subscription?.status, 'installPlanRef', 'name') ||
      getStringAtPath(subscription?.status, 'installplan', 'name')
    return name === '' || name === this.state.memory['plan'] ? undefined : this.#findPlan(name)
  }

  #findPlan(name: string): KubeObject | undefined {
    return this.list(this.queries.plans).find(({ metadata }) => metadata.name === name)
  }

  /**
   * The plan lists all CRDs, including those of unopened bundles. An existing CRD belongs to this test or to another
   * user. Records the CRDs for clean-up before it approves the plan.
   */
  #reviewInstallPlan(): OlmV0TestProgress {
    const namespace = this.find(this.queries.namespace)
    const name = String(this.state.memory['plan'])
    const found = this.#findPlan(name)
    if (!namespace || !found) return this.wait(`waiting for InstallPlan ${name}`)
    const began = parseKubeTimestamp(namespace.metadata.creationTimestamp ?? '') ?? 0
    const crds = parseJsonNameList(this.state.memory['crds'])
    const theirs = crds.find((crd) => {
      const there = this.find(createCrdQuery(crd))
      return there !== undefined && (parseKubeTimestamp(there.metadata.creationTimestamp ?? '') ?? 0) < began
    })
    if (theirs !== undefined)
      return this.fail({
        code: 'crd-preexists',
        says: `the cluster already has the CRD ${theirs}. The install test would change this CRD for other users.`,
      })
    const noted = parseJsonNameList(namespace.metadata.annotations?.[crdsAbsentBeforeTestAnnotation])
    const all = [...new Set([...noted, ...crds])].sort()
    if (all.length > noted.length)
      return this.wait('waiting for the CRD names to be recorded', [
        {
          kind: 'patch',
          at: this.queries.namespace,
          patch: { metadata: { annotations: { [crdsAbsentBeforeTestAnnotation]: JSON.stringify(all) } } },
        },
      ])
    return this.moveTo('plan', `InstallPlan ${name} is approved`, [createInstallPlanApprovalPatch(found)])
  }

  #runInstallPlan(): OlmV0TestProgress {
    const name = String(this.state.memory['plan'])
    const found = this.#findPlan(name)
    const phase = getStringAtPath(found?.status, 'phase')
    if (found && phase === 'Complete') return this.moveTo('operator', `InstallPlan ${name} is complete`)
    if (found && phase === 'Failed') return this.fail(classifyInstallPlanFailure(found))
    const message = getStringAtPath(found?.status, 'message')
    if (this.waited > this.deadlines.plan) {
      // OLM retries for a minute and then reports Failed. Until then, no failure is final.
      const { code, says }: ClusterTestFailure =
        found && message !== ''
          ? classifyInstallPlanFailure(found)
          : { code: 'olm-silent', says: `InstallPlan ${name} remains in phase ${phase || '(none)'}` }
      return this.fail({ code: isAuthorCausedFailureCode(code) ? 'too-slow' : code, says })
    }
    // A conflict can reject the approval, so the approval is repeated until it succeeds.
    const isApproved = getValueAtPath(found?.spec, 'approved') === true
    return this.wait(
      `waiting for InstallPlan ${name}${message === '' ? '' : `: ${message}`}`,
      found && !isApproved ? [createInstallPlanApprovalPatch(found)] : [],
    )
  }

  #runOperator(): OlmV0TestProgress {
    const operator = this.observeOperator()
    if (!operator) return this.finish({ verdict: 'installs' })
    const { names, csvs, open, failure: why } = operator
    const troubled = csvs.find(
      ({ metadata, status }) =>
        names.includes(metadata.name) && getStringAtPath(status, 'phase') === 'Failed',
    )
    const { state: known, failure } = this.#recordFailure(troubled)
    if (failure) return this.fail(isPermanentFailure(why) ? why : failure, known)
    // A permanent failure ends the test before its deadline. A registry or a crashed container might recover.
    if (isPermanentFailure(why)) return this.fail(why, known)
    if (open < 0 && operator.isInstalled && operator.isReplaced && operator.unavailable.length === 0)
      return this.#completeStep(known)
    const what = describeOlmV0WaitReason(operator)
    const goesOn = open < 0 ? updateClusterTestState(known, { failing: 0, words: '' }) : known
    if (this.waited < this.deadlines.operator) return this.wait(what, [], goesOn)
    return this.fail(this.#explainOverdueOperator(operator, what), known)
  }

  protected observeOperator() {
    const { plan, queries, state, expectedStep } = this
    if (!expectedStep) return undefined
    const { names, root } = expectedStep
    const csvs = this.list(queries.csvs).filter((one) => !isCopiedCsv(one))
    const own = names.map((name) => csvs.find(({ metadata }) => metadata.name === name))
    const before = state.step > 0 ? plan.steps[state.step - 1]?.root : undefined
    const deployments = this.list(queries.deployments).filter((one) =>
      names.includes(one.metadata.labels?.['olm.owner'] ?? ''),
    )
    return {
      ...this.observeWorkloads(deployments, this.list(queries.pods)),
      names,
      root,
      csvs,
      own,
      // The first name without a succeeded ClusterServiceVersion; -1 if all have one.
      open: own.findIndex((csv) => getStringAtPath(csv?.status, 'phase') !== 'Succeeded'),
      isInstalled: getStringAtPath(this.find(queries.subscription)?.status, 'installedCSV') === root,
      before,
      isReplaced:
        before === undefined || before === root || !csvs.some(({ metadata }) => metadata.name === before),
    }
  }

  #explainOverdueOperator(operator: ObservedOperator, what: string): ClusterTestFailure {
    const { own, open, isInstalled, isReplaced, failure } = operator
    if (failure) return failure
    const csv = own[open]
    if (csv) {
      const phase = getStringAtPath(csv.status, 'phase')
      const requirements = phase === 'Pending' ? classifyMissingRequirements(csv) : undefined
      if (requirements) return requirements
      if (phase === 'Pending' || phase === '') return { code: 'olm-silent', says: what }
    }
    if ((open >= 0 && !csv) || (open < 0 && (!isInstalled || !isReplaced)))
      return { code: 'olm-silent', says: `the install test timed out (last status: ${what})` }
    return this.classifyTimedOutWorkloads(operator, what)
  }

  /** OLM leaves Failed and retries, so a failure counts if OLM cannot recover or repeats it for `retryWindow`. */
  #recordFailure(csv: KubeObject | undefined): {
    readonly state: OlmV0TestState
    readonly failure?: ClusterTestFailure
  } {
    const { state, now } = this
    const failure = csv && classifyCsvFailure(csv)
    const isFinal = unrecoverableCsvReasons.has(getStringAtPath(csv?.status, 'reason'))
    if (!failure || (!isAuthorCausedFailureCode(failure.code) && !isFinal)) return { state }
    // The first message contains the cause. Later messages often only report retries.
    const failing = Number(state.memory['failing'] ?? 0) || now
    const firstMessage = state.memory['words'] || failure.says
    const known = updateClusterTestState(state, { failing, words: firstMessage })
    if (!isFinal && now - failing < this.deadlines.retryWindow) return { state: known }
    const message =
      firstMessage === failure.says ? failure.says : `${failure.says} (first error: ${firstMessage})`
    return { state: known, failure: { ...failure, says: message } }
  }

  #completeStep(state: OlmV0TestState): OlmV0TestProgress {
    const done = this.expectedStep?.root ?? ''
    if (state.step < this.plan.steps.length - 1) return this.#startNextStep(state, done)
    // Another plan would install a version that the simulation did not predict.
    const subscription = this.find(this.queries.subscription)
    const further = this.#findNewPlan(subscription)
    if (further)
      return this.fail(
        {
          code: 'resolver-mismatch',
          says: `OLM would also install ${listInstallPlanCsvNames(further).join(', ')}, but the simulation ends at ${done}`,
        },
        state,
      )
    const reached = getStringAtPath(subscription?.status, 'state')
    if (reached !== 'AtLatestKnown' && this.waited < this.deadlines.operator)
      return this.wait(`waiting for the Subscription to reach AtLatestKnown (state: ${reached})`, [], state)
    return this.finish({ verdict: 'installs' }, state)
  }

  #startNextStep(state: OlmV0TestState, done: string): OlmV0TestProgress {
    const { plan, queries } = this
    const following = { ...state, step: state.step + 1, memory: { plan: state.memory['plan'] ?? '' } }
    const catalog = this.find(queries.catalog)
    // Only the first step comes from the base.
    if (state.step > 0 || plan.base === undefined || !catalog)
      return this.moveTo('resolution', `${done} is running`, [], {}, following)
    return this.moveTo(
      'resolution',
      `${done} is running; switching to the changed catalog`,
      [{ kind: 'patch', at: queries.catalog, patch: { spec: plan.catalog } }],
      { connected: getCatalogSourceConnectionState(catalog).connected },
      following,
    )
  }
}

/** What the operator stage waits for. */
function describeOlmV0WaitReason(operator: ObservedOperator): string {
  const { names, root, own, open, isInstalled, before, isReplaced, unavailable } = operator
  const csv = own[open]
  if (open >= 0)
    return `waiting for ClusterServiceVersion ${names[open] ?? ''}: ${csv ? `${getStringAtPath(csv.status, 'phase')} ${getStringAtPath(csv.status, 'reason')} ${getStringAtPath(csv.status, 'message')}` : 'not created yet'}`
  if (!isInstalled) return `waiting for the Subscription to report ${root} as installed`
  if (!isReplaced) return `waiting for ClusterServiceVersion ${before ?? ''} to be deleted`
  return `waiting for Deployment ${unavailable[0]?.metadata.name ?? ''} to become available`
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
      ? [{ apiVersion: 'v1', kind: 'Namespace', name: toTargetNamespaceName(plan) }]
      : []
  const { crds: _, ...others } = queries
  return {
    ...queries,
    running: [...Object.values(others), ...listPrerequisiteQueries(plan), ...target] as readonly KubeQuery[],
  }
}

function getCatalogSourceConnectionState(catalog: KubeObject | undefined) {
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

function createInstallPlanApprovalPatch(plan: KubeObject) {
  return { kind: 'patch', at: toKubeObjectQuery(plan), patch: { spec: { approved: true } } } as const
}

function listInstallPlanCsvNames(plan: KubeObject): readonly string[] {
  return getListAtPath(plan.spec, 'clusterServiceVersionNames').filter(
    (name): name is string => typeof name === 'string',
  )
}

function haveSameUniqueStrings(a: readonly string[], b: readonly string[]): boolean {
  return new Set(a).size === new Set(b).size && a.every((one) => b.includes(one))
}

/** OLM copies the CSV of an AllNamespaces Operator to every namespace. */
function isCopiedCsv({ metadata, status }: KubeObject): boolean {
  return metadata.labels?.['olm.copiedFrom'] !== undefined || getStringAtPath(status, 'reason') === 'Copied'
}
