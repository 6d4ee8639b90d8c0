// Simulates OLM by the script of a test: the catalog and olm operators of v0, both controllers of v1, and RukPak. Each
// reads the objects whenever the clock advances, and writes what the real one would have written by then.
import type {
  FakeKubernetesApi,
  StoredKubernetesStatus,
  StoredKubernetesObject,
} from './fake-kubernetes-api.ts'

export interface FakeOlmV0Script {
  /** The CSV names of each InstallPlan, in order. */
  readonly plans: readonly (readonly string[])[]
  /** CRDs that the bundles install. */
  readonly crds?: readonly string[]
  readonly catalog?: (catalog: StoredKubernetesObject) => StoredKubernetesStatus
  /** Conditions of the Subscription instead of a plan, while it waits for the plan with this number. */
  readonly resolve?: (plan: number) => readonly object[] | undefined
  /** The status of an approved plan instead of Complete. */
  readonly plan?: (plan: number) => StoredKubernetesStatus | undefined
  readonly csv?: (csv: StoredKubernetesObject, now: number) => StoredKubernetesStatus | undefined
  readonly deployment?: (deployment: StoredKubernetesObject) => StoredKubernetesStatus | undefined
  /** Whether it leaves its finalizers in place. */
  readonly isDeaf?: boolean
  /** The state of the Subscription at the end. */
  readonly state?: string
}

const olmApiVersion = 'operators.coreos.com/v1alpha1'

/** Simulates both operators of OLM v0. */
export function simulateOlmV0(api: FakeKubernetesApi, script: FakeOlmV0Script): void {
  let made = 0
  let served = ''
  let first = ''
  api.controllers.push((now) => {
    for (const group of api.list('OperatorGroup'))
      group.status ??= { namespaces: [''], lastUpdated: api.time() }
    for (const catalog of api.list('CatalogSource')) {
      const address = catalog.spec?.address ?? `catalog.${catalog.metadata.namespace ?? ''}.svc:50051`
      const content = JSON.stringify(catalog.spec)
      const scripted = script.catalog?.(catalog)
      if (scripted !== undefined) catalog.status = scripted
      else if (content !== served) {
        // It reports CONNECTING before READY.
        catalog.status =
          catalog.status?.connectionState?.lastObservedState === 'CONNECTING'
            ? { connectionState: { lastObservedState: 'READY', address, lastConnect: api.time() } }
            : { connectionState: { lastObservedState: 'CONNECTING', address, lastConnect: api.time() } }
        if (catalog.status?.connectionState?.lastObservedState === 'READY') {
          served = content
          first ||= content
        }
      }
    }
    for (const subscription of api.list('Subscription')) handleSubscription(subscription)
    for (const plan of api.list('InstallPlan')) executePlan(plan)
    for (const csv of api.list('ClusterServiceVersion')) updateCsv(csv, now)
  })

  function handleSubscription(subscription: StoredKubernetesObject): void {
    if (served === '') return
    const namespace = subscription.metadata.namespace ?? ''
    const done = api.list('InstallPlan').filter(({ status }) => status?.phase === 'Complete').length
    const isBusy = api.list('InstallPlan').length > done
    const isExchanged = made === 0 || script.plans.length === 1 || served !== first
    const isSettled = api.list('ClusterServiceVersion').every(({ status }) => status?.phase === 'Succeeded')
    if (isBusy || !isSettled) return
    const conditions = script.resolve?.(made)
    if (conditions) {
      subscription.status = { ...subscription.status, conditions }
      return
    }
    const names = script.plans[made]
    const installed = script.plans[made - 1]?.[0]
    if (installed !== undefined)
      subscription.status = {
        ...subscription.status,
        installedCSV: installed,
        state: script.state ?? 'AtLatestKnown',
        conditions: [],
      }
    if (!names || !isExchanged) return
    made += 1
    const name = `install-${made}`
    api.put({
      apiVersion: olmApiVersion,
      kind: 'InstallPlan',
      metadata: { name, namespace },
      spec: { approved: false, clusterServiceVersionNames: names },
      status: {
        phase: 'RequiresApproval',
        plan: (script.crds ?? []).map((crd) => ({
          resource: { kind: 'CustomResourceDefinition', name: crd },
        })),
      },
    })
    subscription.status = {
      ...subscription.status,
      state: 'UpgradePending',
      currentCSV: names[0],
      installPlanRef: { name },
      conditions: [],
    }
  }

  function executePlan(plan: StoredKubernetesObject): void {
    if (plan.spec?.approved !== true || plan.status?.phase === 'Complete') return
    const number = Number(plan.metadata.name.split('-')[1]) - 1
    const scripted = script.plan?.(number)
    if (scripted) {
      plan.status = scripted
      return
    }
    if (plan.status?.phase === 'RequiresApproval') {
      plan.status = { phase: 'Installing' }
      return
    }
    plan.status = { phase: 'Complete' }
    const namespace = plan.metadata.namespace ?? ''
    for (const old of api.list('ClusterServiceVersion')) {
      old.metadata.finalizers = []
      api.remove(old)
    }
    for (const name of plan.spec.clusterServiceVersionNames ?? []) {
      api.put({
        apiVersion: olmApiVersion,
        kind: 'ClusterServiceVersion',
        metadata: { name, namespace, finalizers: ['operators.coreos.com/csv-cleanup'] },
        spec: {},
        status: { phase: 'Pending', reason: 'RequirementsUnknown', message: 'requirements not yet checked' },
      })
      const owner = { 'olm.owner': name, 'olm.owner.namespace': namespace }
      const labels = { app: name }
      api.put({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name, namespace, labels: owner },
        spec: { replicas: 1, selector: { matchLabels: labels } },
        status: {},
      })
      api.put({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: `${name}-role`, labels: owner },
      })
      for (const crd of script.crds ?? [])
        if (!api.get('CustomResourceDefinition', crd))
          api.put({
            apiVersion: 'apiextensions.k8s.io/v1',
            kind: 'CustomResourceDefinition',
            metadata: {
              name: crd,
              annotations: { 'operatorframework.io/installed-alongside-1': `${namespace}/${name}` },
            },
          })
    }
  }

  function updateCsv(csv: StoredKubernetesObject, now: number): void {
    const deployment = api.get('Deployment', csv.metadata.name)
    if (csv.metadata.deletionTimestamp !== undefined) {
      if (script.isDeaf) return
      csv.metadata.finalizers = []
      if (deployment) api.remove(deployment)
      const role = api.get('ClusterRole', `${csv.metadata.name}-role`)
      if (role) api.remove(role)
      return
    }
    if (deployment)
      deployment.status = script.deployment?.(deployment) ?? {
        observedGeneration: 1,
        updatedReplicas: 1,
        conditions: [{ type: 'Available', status: 'True' }],
      }
    const scripted = script.csv?.(csv, now)
    if (scripted) csv.status = scripted
    else if (csv.status?.phase === 'Pending')
      csv.status = { phase: 'Installing', reason: 'InstallSucceeded', message: 'waiting' }
    else
      csv.status = { phase: 'Succeeded', reason: 'InstallSucceeded', message: 'install strategy completed' }
  }
}

export interface FakeOlmV1Script {
  /** The bundle that each selector value installs. */
  readonly installs: Readonly<Record<'base' | 'head', string>>
  readonly catalog?: () => readonly object[]
  readonly extension?: (extension: StoredKubernetesObject) => readonly object[] | undefined
  readonly deployment?: StoredKubernetesStatus
}

export function simulateOlmV1(api: FakeKubernetesApi, script: FakeOlmV1Script): void {
  api.controllers.push(() => {
    for (const catalog of api.list('ClusterCatalog'))
      catalog.status = {
        conditions: script.catalog?.() ?? [
          { type: 'Serving', status: 'True', reason: 'Available' },
          { type: 'Progressing', status: 'True', reason: 'Succeeded' },
        ],
      }
    for (const extension of api.list('ClusterExtension')) {
      if (extension.metadata.deletionTimestamp !== undefined) continue
      const observedGeneration = extension.metadata.generation
      const side = extension.spec?.source?.catalog?.selector?.matchLabels?.['catalog-bot.io/catalog'] as
        'base' | 'head'
      const scripted = script.extension?.(extension)
      if (scripted) {
        extension.status = {
          ...extension.status,
          conditions: scripted.map((one) => ({ observedGeneration, ...one })),
        }
        continue
      }
      extension.status = {
        install: { bundle: { name: script.installs[side] } },
        conditions: [
          { type: 'Installed', status: 'True', reason: 'Succeeded', observedGeneration },
          { type: 'Progressing', status: 'True', reason: 'Succeeded', observedGeneration },
        ],
      }
      const namespace = extension.spec?.namespace ?? ''
      if (!api.get('Deployment'))
        api.put({
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          metadata: {
            name: 'operator',
            namespace,
            labels: {
              'olm.operatorframework.io/owner-kind': 'ClusterExtension',
              'olm.operatorframework.io/owner-name': extension.metadata.name,
            },
          },
          spec: { replicas: 1, selector: { matchLabels: { app: 'operator' } } },
          status: script.deployment ?? {
            observedGeneration: 1,
            updatedReplicas: 1,
            conditions: [{ type: 'Available', status: 'True' }],
          },
        })
    }
  })
}

export interface FakeRukPakScript {
  readonly deployment?: (deployment: StoredKubernetesObject) => StoredKubernetesStatus | undefined
  /** Whether the old bundle remains. */
  readonly keepsOld?: boolean
}

export function simulateRukPak(api: FakeKubernetesApi, script: FakeRukPakScript = {}): void {
  api.controllers.push(() => {
    for (const deployment of api.list('BundleDeployment')) {
      if (deployment.metadata.deletionTimestamp !== undefined) continue
      const { name, generation } = deployment.metadata
      const isFirst = deployment.apiVersion.endsWith('v1alpha1')
      const source = isFirst ? deployment.spec?.template?.spec?.source : deployment.spec?.source
      const digest = (source?.image?.ref ?? '').slice(-2)
      const bundle = `${name}-${digest}`
      if (isFirst && !api.get('Bundle', bundle))
        api.put({
          apiVersion: deployment.apiVersion,
          kind: 'Bundle',
          metadata: { name: bundle, labels: { 'core.rukpak.io/owner-name': name } },
          spec: { source: source ?? {} },
          status: { conditions: [{ type: 'Unpacked', status: 'True', reason: 'UnpackSuccessful' }] },
        })
      deployment.status = script.deployment?.(deployment) ?? {
        observedGeneration: generation,
        activeBundle: bundle,
        conditions: [
          { type: 'Unpacked', status: 'True', reason: 'UnpackSuccessful' },
          // RukPak 0.24 omits this condition if nothing is wrong.
          ...(isFirst ? [{ type: 'HasValidBundle', status: 'True', reason: 'UnpackSuccessful' }] : []),
          { type: 'Installed', status: 'True', reason: 'InstallationSucceeded' },
        ],
      }
      if (!script.keepsOld && deployment.status?.activeBundle === bundle)
        for (const old of api.list('Bundle')) if (old.metadata.name !== bundle) api.remove(old)
    }
    for (const bundle of api.list('Bundle')) if (api.list('BundleDeployment').length === 0) api.remove(bundle)
  })
}
