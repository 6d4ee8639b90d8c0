// An install test with OLM v1, from the ClusterCatalog to running Deployments. For an upgrade, the selector changes
// from the base catalog to the changed catalog.
import {
  measureFailureDuration,
  type ClusterTestProgress,
  type ClusterTestStateMachine,
  type ClusterTestDeadlines,
  isAuthorCausedFailureCode,
  transientErrorPattern,
  type ClusterTestFailureCode,
  type ClusterTestFailure,
  findFailureCode,
  type FailurePatterns,
} from './cluster-test-state.ts'
import { isPermanentFailure, ClusterTestStageRunner } from './test-stages.ts'
import {
  createCrdQuery,
  getValueAtPath,
  getConditionOfCurrentGeneration,
  getListAtPath,
  getStringAtPath,
  type KubeCondition,
  type KubeObject,
  type KubeQuery,
} from './kube-object.ts'
import {
  createCatalogLabelSelector,
  createClusterCatalog,
  toClusterCatalogName,
  createClusterExtension,
  listPrerequisiteQueries,
  createPrerequisiteObjects,
  installerServiceAccountName,
  createInstallerRbacObjects,
  olmV1ApiVersion,
  rbacApiVersion,
  type CatalogRevision,
} from './cluster-test-objects.ts'
import { toClusterScopedObjectName, toTestNamespaceName, type ClusterTestPlan } from './cluster-test-plan.ts'

type OlmV1TestStage = 'preflight' | 'catalog' | 'extension'
type OlmV1TestProgress = ClusterTestProgress<OlmV1TestStage>

export function createOlmV1TestDriver(
  plan: ClusterTestPlan,
  deadlines: ClusterTestDeadlines,
): ClusterTestStateMachine<OlmV1TestStage> {
  const queries = createOlmV1Queries(plan)
  return {
    first: 'preflight',
    queries: ({ stage }) =>
      stage === 'preflight' ? [queries.namespace, queries.api, ...queries.crds] : queries.running,
    next: (state, observation, now) =>
      new OlmV1TestStageRunner({ plan, deadlines, queries }, state, observation, now).stages[state.stage](),
  }
}

class OlmV1TestStageRunner extends ClusterTestStageRunner<
  OlmV1TestStage,
  ReturnType<typeof createOlmV1Queries>
> {
  readonly stages: Readonly<Record<OlmV1TestStage, () => OlmV1TestProgress>> = {
    preflight: () => this.#createNamespace(),
    catalog: () => this.#serveCatalogs(),
    extension: () => this.#installExtension(),
  }

  get #sides(): readonly CatalogRevision[] {
    return this.plan.base === undefined ? ['head'] : ['base', 'head']
  }

  #createNamespace(): OlmV1TestProgress {
    const { plan, queries } = this
    const consequence = 'OLM v1 would adopt this CRD and delete it after the install test.'
    const existing = this.rejectExistingCrds(consequence)
    if (existing) return existing
    if ([plan.catalog, ...(plan.base ? [plan.base] : [])].some((from) => !('image' in from)))
      return this.fail({
        code: 'internal',
        says: 'OLM v1 requires a catalog image, but the test has only the address of a catalog server',
      })
    // OLM v1 1.11 and later ignore the installer.
    const installer = doesCrdRequireServiceAccount(this.find(queries.api)) ? 1 : 0
    return this.createNamespace('catalog', consequence, { installer })
  }

  #serveCatalogs(): OlmV1TestProgress {
    const { plan, queries } = this
    const namespace = this.find(queries.namespace)
    if (!namespace) return this.wait('waiting for the namespace')
    const incomplete = this.createMissing([
      ...createPrerequisiteObjects(plan, namespace),
      ...(this.state.memory['installer'] === 1 ? createInstallerRbacObjects(plan, namespace) : []),
      ...this.#sides.map((side) => createClusterCatalog(plan, namespace, side, this.#getImage(side))),
    ])
    if (incomplete) return incomplete
    const catalogs = this.#sides.map((side) => this.find(queries.catalogs[side]))
    const open = catalogs.findIndex(
      (catalog) => getConditionOfCurrentGeneration(catalog, 'Serving')?.status !== 'True',
    )
    return open < 0
      ? this.moveTo('extension', 'the catalog is served', [this.#createExtension(namespace)])
      : this.#waitForCatalog(catalogs[open])
  }

  #waitForCatalog(catalog: KubeObject | undefined): OlmV1TestProgress {
    const { state, now, deadlines } = this
    const progressing = getConditionOfCurrentGeneration(catalog, 'Progressing')
    const message = `ClusterCatalog ${catalog?.metadata.name ?? ''}: ${progressing?.reason ?? ''}: ${progressing?.message ?? ''}`
    const code = classifyClusterCatalogFailure(progressing?.message ?? '')
    if (progressing?.status === 'False' && progressing.reason === 'Blocked')
      return this.fail({ code: code ?? 'catalog-invalid', says: message })
    const { state: known, milliseconds } = measureFailureDuration(state, code, now)
    if (this.waited < deadlines.catalog)
      return this.wait(progressing ? message : 'waiting for OLM v1 to process the ClusterCatalog', [], known)
    if (!progressing)
      return this.fail({
        code: 'olm-silent',
        says: 'OLM v1 did not process the ClusterCatalog. Check whether its controllers are running.',
      })
    const isFinal =
      code !== undefined && (!isAuthorCausedFailureCode(code) || milliseconds >= deadlines.retryWindow)
    return this.fail({ code: isFinal ? code : 'catalog-not-connected', says: message })
  }

  #installExtension(): OlmV1TestProgress {
    const { plan, queries, state, expectedStep } = this
    const namespace = this.find(queries.namespace)
    const extension = this.find(queries.extension)
    if (!expectedStep) return this.finish({ verdict: 'installs' })
    if (!extension)
      return namespace
        ? this.wait('waiting for the ClusterExtension', [this.#createExtension(namespace)])
        : this.wait('waiting for the namespace')
    const progressing = getConditionOfCurrentGeneration(extension, 'Progressing')
    const hasInstalled =
      getConditionOfCurrentGeneration(extension, 'Installed')?.status === 'True' &&
      progressing?.reason === 'Succeeded'
    const name = getStringAtPath(extension.status, 'install', 'bundle', 'name')
    const { failure, unavailable } = this.#observeWorkloads()
    const isThere = hasInstalled && name === expectedStep.root
    if (isThere && unavailable.length === 0) return this.#completeStep(extension)
    // Until OLM v1 reads the new selector, it reports the old bundle.
    if (hasInstalled && name !== expectedStep.root && name !== plan.steps[state.step - 1]?.root)
      return this.fail({
        code: 'resolver-mismatch',
        says: `OLM v1 installed ${name}, but the simulation chose ${expectedStep.root}`,
      })
    if (isPermanentFailure(failure)) return this.fail(failure)
    return this.#waitForExtension(progressing, { name, wanted: expectedStep.root, isThere })
  }

  #waitForExtension(
    progressing: KubeCondition | undefined,
    { name, wanted, isThere }: { readonly name: string; readonly wanted: string; readonly isThere: boolean },
  ): OlmV1TestProgress {
    const { state, now, deadlines } = this
    const message = `${progressing?.reason ?? ''}: ${progressing?.message ?? ''}`
    if (progressing?.status === 'False' && progressing.reason !== 'Succeeded')
      return this.fail(classifyClusterExtensionFailure(message))
    const rejected = progressing?.reason === 'Retrying' ? classifyClusterExtensionFailure(message) : undefined
    // OLM v1 reports every failure as retrying. It is final if it outlasts the retries and is no network problem.
    const { state: known, milliseconds } = measureFailureDuration(state, rejected?.code, now)
    if (rejected && milliseconds >= deadlines.retryWindow && rejected.code !== 'too-slow')
      return this.fail(rejected, known)
    const workloads = this.#observeWorkloads()
    const { unavailable, failure } = workloads
    const what = isThere
      ? `waiting for Deployment ${unavailable[0]?.metadata.name ?? ''} to become available`
      : message === ': '
        ? 'waiting for OLM v1 to process the ClusterExtension'
        : message
    if (this.waited < (isThere ? deadlines.operator : deadlines.extension)) return this.wait(what, [], known)
    if (failure) return this.fail(failure, known)
    if (isThere) return this.fail(this.classifyTimedOutWorkloads(workloads, what), known)
    if (state.step > 0 && progressing?.reason === 'Succeeded')
      return this.fail(
        { code: 'no-upgrade-edge', says: `OLM v1 remains on ${name} and does not upgrade to ${wanted}` },
        known,
      )
    return this.fail(
      progressing
        ? { code: 'too-slow', says: `OLM v1: ${message}` }
        : { code: 'olm-silent', says: 'OLM v1 did not process the ClusterExtension' },
      known,
    )
  }

  #observeWorkloads() {
    const owner = toClusterScopedObjectName(this.plan)
    const deployments = this.list(this.queries.deployments).filter(
      ({ metadata: { labels = {} } }) =>
        labels['olm.operatorframework.io/owner-kind'] === 'ClusterExtension' &&
        labels['olm.operatorframework.io/owner-name'] === owner,
    )
    return this.observeWorkloads(deployments, this.list(this.queries.pods))
  }

  #completeStep(extension: KubeObject): OlmV1TestProgress {
    const { plan, queries, state } = this
    if (state.step >= plan.steps.length - 1) return this.finish({ verdict: 'installs' })
    const selector = createCatalogLabelSelector(plan, 'head')
    const labels = getValueAtPath(extension.spec, 'source', 'catalog', 'selector', 'matchLabels')
    const isMoved = getStringAtPath(labels, 'catalog-bot.io/catalog') === 'head'
    const patch = { spec: { source: { sourceType: 'Catalog', catalog: { selector } } } }
    return this.moveTo(
      'extension',
      `${this.expectedStep?.root ?? ''} is running`,
      isMoved ? [] : [{ kind: 'patch', at: queries.extension, patch }],
      {},
      { ...state, step: state.step + 1 },
    )
  }

  #createExtension(namespace: KubeObject) {
    const object = createClusterExtension(this.plan, namespace, this.#sides[0] ?? 'head')
    return { kind: 'create', object } as const
  }

  #getImage(side: CatalogRevision): string {
    const from = side === 'base' ? this.plan.base : this.plan.catalog
    return from && 'image' in from ? from.image : ''
  }
}

const clusterExtensionFailurePatterns: FailurePatterns = [
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
    findFailureCode(clusterExtensionFailurePatterns, message) ??
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

function createOlmV1Queries(plan: ClusterTestPlan) {
  const namespace = toTestNamespaceName(plan)
  const catalog = (side: CatalogRevision) =>
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
    api: createCrdQuery('clusterextensions.olm.operatorframework.io'),
    crds: plan.crds.map(createCrdQuery),
    running: [
      ...Object.values(queries),
      ...Object.values(catalogs),
      ...listPrerequisiteQueries(plan),
      { apiVersion: 'v1', kind: 'ServiceAccount', namespace, name: installerServiceAccountName },
      { apiVersion: rbacApiVersion, kind: 'ClusterRoleBinding', name: toClusterScopedObjectName(plan) },
    ] as readonly KubeQuery[],
  }
}
