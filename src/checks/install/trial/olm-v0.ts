// A trial with OLM v0, from the catalog to running Deployments, and again after an upgrade exchanges the catalog.
// Level-triggered: each look is judged on its own, so missed events do not matter.
import {
  csvFailure,
  isFinal,
  planFailure,
  requirementsFailure,
  resolutionFailure,
  unpackFailure,
} from './classify-olm-v0.ts'
import type { Deadlines } from './deadlines.ts'
import {
  catalogPods,
  deploymentTrouble,
  isAvailable,
  mayPass,
  operatorPods,
  overdueDeployments,
  podsOf,
  podTrouble,
  unpackPods,
} from './judge-pods.ts'
import {
  at,
  conditionOf,
  listAt,
  objectOf,
  objectsOf,
  textAt,
  timeOf,
  type KubeObject,
  type Look,
  type Seen,
} from './kube-object.ts'
import {
  catalogName,
  catalogSource,
  catalogSourcePlace,
  groundLooks,
  groundObjects,
  namespaceObject,
  olm,
  olmGroups,
  operatorGroup,
  subscription,
  subscriptionName,
  targetNamespace,
} from './trial-objects.ts'
import { blamesAuthor, type TrialFailure } from './trial-outcome.ts'
import { crdsAnnotation, namesIn, namespaceOf, type TrialPlan } from './trial-plan.ts'
import {
  ends,
  enter,
  fails,
  remember,
  waits,
  type Progress,
  type TrialKind,
  type TrialState,
} from './trial-state.ts'

type Stage = 'preflight' | 'catalog' | 'resolution' | 'review' | 'plan' | 'operator'
type State = TrialState<Stage>

export function olmV0(plan: TrialPlan, deadlines: Deadlines): TrialKind<Stage> {
  const looks = looksOf(plan)
  const stages: Readonly<Record<Stage, (state: State, seen: Seen, now: number) => Progress<Stage>>> = {
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
    looks: ({ stage, memory }) =>
      stage === 'preflight'
        ? [looks.namespace, ...looks.crds]
        : stage === 'review'
          ? [...looks.running, ...namesIn(memory['crds']).map(crdLook)]
          : looks.running,
    next: (state, seen, now) => stages[state.stage](state, seen, now),
  }

  /** Refuses to start if the trial would change existing objects. */
  function preflight(state: State, seen: Seen, now: number): Progress<Stage> {
    const there = looks.crds.find((look) => objectOf(seen, look) !== undefined)
    const namespace = objectOf(seen, looks.namespace)
    if (there && !namespace)
      return fails(state, now, {
        code: 'crd-preexists',
        says: `the cluster has the CRD ${there.name ?? ''} already: a trial would change it for others`,
      })
    if (!namespace) return waits(state, 'the namespace', [{ kind: 'create', object: namespaceObject(plan) }])
    return enter(state, 'catalog', now, `namespace ${namespace.metadata.name} is there`)
  }

  function serveCatalog(state: State, seen: Seen, now: number): Progress<Stage> {
    const namespace = objectOf(seen, looks.namespace)
    if (!namespace) return waits(state, 'the namespace')
    const wanted = [
      ...groundObjects(plan, namespace),
      ...[targetNamespace(plan, namespace)].filter((one) => one !== undefined),
      operatorGroup(plan, namespace),
    ]
    const missing = wanted.filter((object) => !seenObject(seen, object))
    if (missing.length > 0)
      return waits(
        state,
        'what the trial stands on',
        missing.map((object) => ({ kind: 'create', object })),
      )
    const catalog = objectOf(seen, looks.catalog)
    if (!catalog)
      return waits(state, 'the CatalogSource', [
        { kind: 'create', object: catalogSource(plan, namespace, plan.base ?? plan.catalog) },
      ])
    const group = objectOf(seen, looks.group)
    const isGrouped = listAt(group?.status, 'namespaces').length > 0
    const trouble = catalogTrouble(seen)
    if (trouble && !mayPass.has(trouble.code)) return fails(state, now, trouble)
    const readiness = connectionOf(catalog)
    if (readiness.isReady && isGrouped)
      return enter(
        state,
        'resolution',
        now,
        `the catalog answers${readiness.address === '' ? '' : ` at ${readiness.address}`}`,
        [{ kind: 'create', object: subscription(plan, namespace) }],
      )
    if (now - state.since < deadlines.catalog)
      return waits(
        state,
        readiness.isReady
          ? 'OLM to take up the OperatorGroup'
          : `the catalog to answer (${readiness.state === '' ? 'OLM has not looked yet' : readiness.state})`,
      )
    if (trouble) return fails(state, now, trouble)
    if (readiness.state === '' || (readiness.isReady && !isGrouped))
      return fails(state, now, {
        code: 'olm-silent',
        says: 'OLM v0 did nothing with the CatalogSource and the OperatorGroup: are its controllers running?',
      })
    return fails(state, now, {
      code: 'catalog-not-connected',
      says: `OLM did not get through to the catalog: ${readiness.state}`,
    })
  }

  function catalogTrouble(seen: Seen): TrialFailure | undefined {
    const catalog = objectOf(seen, looks.catalog)
    const reason = textAt(catalog?.status, 'reason')
    const message = textAt(catalog?.status, 'message')
    if (reason === 'SpecInvalidError')
      return { code: 'internal', says: `OLM takes the CatalogSource for invalid: ${message}` }
    if (/exceeded quota/.test(message)) return { code: 'quota', says: message }
    if (/violates PodSecurity|is forbidden/.test(message)) return { code: 'policy', says: message }
    const pods = objectsOf(seen, looks.pods).filter(
      ({ metadata }) => metadata.labels?.['olm.catalogSource'] === catalogName,
    )
    return podTrouble(pods, catalogPods)
  }

  function resolve(state: State, seen: Seen, now: number): Progress<Stage> {
    const namespace = objectOf(seen, looks.namespace)
    const asked = objectOf(seen, looks.subscription)
    if (!asked) {
      if (namespace)
        return waits(state, 'the Subscription', [{ kind: 'create', object: subscription(plan, namespace) }])
      return waits(state, 'the namespace')
    }
    const catalog = objectOf(seen, looks.catalog)
    // After an exchange, the status describes the old catalog until OLM connects to the new one.
    const dialled = isExchanged(state, catalog)
    const installPlan = newPlan(state, asked, seen)
    if (installPlan && dialled) {
      const name = installPlan.metadata.name
      const wanted = plan.steps[state.step]
      const names = planNames(installPlan)
      if (names.length === 0) return waits(state, `InstallPlan ${name} to be filled`)
      if (!wanted || !isSameSet(names, wanted.names))
        return fails(state, now, {
          code: 'resolver-mismatch',
          says: `OLM chose ${names.join(', ')}; the simulated resolution has ${wanted?.names.join(', ') ?? 'nothing more'}`,
        })
      return enter(
        state,
        'review',
        now,
        `OLM resolved to ${names.join(', ')}, as the simulated resolution did`,
        [],
        { plan: name, crds: JSON.stringify(plannedCrds(installPlan)) },
      )
    }
    const trouble = catalogTrouble(seen)
    if (trouble && !mayPass.has(trouble.code)) return fails(state, now, trouble)
    const isUnpacking = conditionOf(asked, 'BundleUnpacking')?.status === 'True'
    const unpacked = unpackTrouble(asked, seen)
    if (unpacked && dialled) return fails(state, now, unpacked)
    // A busy OLM may find nothing in a new catalog; it resolves again when its cache changes.
    const resolution = dialled ? resolutionFailure(asked) : undefined
    const waited = now - state.since
    if (isUnpacking) {
      const message = conditionOf(asked, 'BundleUnpacking')?.message ?? ''
      if (waited < deadlines.unpacking)
        return waits(state, `the bundle to be unpacked${message === '' ? '' : `: ${message}`}`)
      return fails(state, now, { code: 'too-slow', says: `the bundle is still being unpacked: ${message}` })
    }
    if (waited < deadlines.resolution)
      return waits(state, resolution?.says ?? 'OLM to resolve the Subscription')
    if (trouble) return fails(state, now, trouble)
    if (!dialled)
      return fails(state, now, {
        code: 'catalog-not-connected',
        says: `OLM did not connect to the changed catalog: ${connectionOf(catalog).state}`,
      })
    if (resolution)
      return fails(state, now, {
        code: resolution.isFinal ? 'resolution-unsatisfiable' : 'catalog-not-connected',
        says: resolution.says,
      })
    // The state may be older than the exchange.
    const staysThere = state.step > 0 && textAt(asked.status, 'state') === 'AtLatestKnown'
    if (staysThere && waited < deadlines.patience) return waits(state, 'OLM to take up the changed catalog')
    if (staysThere)
      return fails(state, now, {
        code: 'no-upgrade-edge',
        says: `OLM finds no way from ${plan.steps[state.step - 1]?.root ?? ''} to ${plan.steps[state.step]?.root ?? ''}: it stays where it is`,
      })
    return fails(state, now, { code: 'olm-silent', says: 'OLM made no InstallPlan, and does not say why' })
  }

  function isExchanged(state: State, catalog: KubeObject | undefined): boolean {
    const before = state.memory['connected']
    if (before === undefined) return true
    const { isReady, address, connected } = connectionOf(catalog)
    if ('address' in plan.catalog) return isReady && address === plan.catalog.address
    // The Service exists before the new pod does, so only OLM's connection time shows the exchange.
    return isReady && connected !== before
  }

  function unpackTrouble(asked: KubeObject, seen: Seen) {
    const jobs = objectsOf(seen, looks.jobs)
    const pods = objectsOf(seen, looks.pods).filter((pod) => pod.metadata.labels?.[unpackLabel] !== undefined)
    const failedAlready = conditionOf(asked, 'BundleUnpackFailed')
    const pod = podTrouble(pods, unpackPods)
    if (failedAlready?.status === 'True') {
      if (pod) return pod
      const job = jobs
        .flatMap((one) => conditionOf(one, 'Failed') ?? [])
        .find(({ status }) => status === 'True')
      // These pods never restart, so each keeps its result.
      const ended = pods
        .flatMap(({ status }) => listAt(status, 'containerStatuses'))
        .map((one) => textAt(one, 'state', 'terminated', 'message'))
      return unpackFailure(
        [...new Set([failedAlready.message, job?.reason ?? '', job?.message ?? '', ...ended])]
          .filter((one) => one !== '')
          .join(': '),
      )
    }
    // The Job restarts its pods, so only a lasting failure ends the trial early.
    return pod && !mayPass.has(pod.code) ? pod : undefined
  }

  function newPlan(state: State, asked: KubeObject, seen: Seen): KubeObject | undefined {
    const name = textAt(asked.status, 'installPlanRef', 'name') || textAt(asked.status, 'installplan', 'name')
    if (name === '' || name === state.memory['plan']) return undefined
    return objectsOf(seen, looks.plans).find((one) => one.metadata.name === name)
  }

  /**
   * The plan lists all CRDs, including those of unopened bundles. An existing CRD belongs to the trial or to another
   * user. Records them for clean-up before it approves anything.
   */
  function review(state: State, seen: Seen, now: number): Progress<Stage> {
    const namespace = objectOf(seen, looks.namespace)
    const name = String(state.memory['plan'])
    const found = objectsOf(seen, looks.plans).find((one) => one.metadata.name === name)
    if (!namespace || !found) return waits(state, `InstallPlan ${name}`)
    const began = timeOf(namespace.metadata.creationTimestamp ?? '') ?? 0
    const crds = namesIn(state.memory['crds'])
    const theirs = crds.find((crd) => {
      const there = objectOf(seen, crdLook(crd))
      return there !== undefined && (timeOf(there.metadata.creationTimestamp ?? '') ?? 0) < began
    })
    if (theirs !== undefined)
      return fails(state, now, {
        code: 'crd-preexists',
        says: `the cluster has the CRD ${theirs} already: a trial would change it for others`,
      })
    const noted = namesIn(namespace.metadata.annotations?.[crdsAnnotation])
    const all = [...new Set([...noted, ...crds])].sort()
    if (all.length > noted.length)
      return waits(state, 'the CRDs to be noted', [
        {
          kind: 'patch',
          at: looks.namespace,
          patch: { metadata: { annotations: { [crdsAnnotation]: JSON.stringify(all) } } },
        },
      ])
    return enter(state, 'plan', now, `InstallPlan ${name} is approved`, [approval(found)])
  }

  function installPlan(state: State, seen: Seen, now: number): Progress<Stage> {
    const name = String(state.memory['plan'])
    const found = objectsOf(seen, looks.plans).find((one) => one.metadata.name === name)
    const phase = textAt(found?.status, 'phase')
    if (found && phase === 'Complete') return enter(state, 'operator', now, `InstallPlan ${name} is complete`)
    if (found && phase === 'Failed') return fails(state, now, planFailure(found))
    const message = textAt(found?.status, 'message')
    if (now - state.since > deadlines.plan) {
      // OLM retries for a minute and then says Failed; until then nothing is final.
      const { code, says }: TrialFailure =
        found && message !== ''
          ? planFailure(found)
          : { code: 'olm-silent', says: `InstallPlan ${name} stays ${phase || 'without a phase'}` }
      return fails(state, now, { code: blamesAuthor(code) ? 'too-slow' : code, says })
    }
    // A conflict can reject the approval, so it is repeated until it holds.
    const isApproved = at(found?.spec, 'approved') === true
    return waits(
      state,
      `InstallPlan ${name}${message === '' ? '' : `: ${message}`}`,
      found && !isApproved ? [approval(found)] : [],
    )
  }

  function runOperator(state: State, seen: Seen, now: number): Progress<Stage> {
    const wanted = plan.steps[state.step]
    if (!wanted) return ends(state, now, { verdict: 'installs' })
    const asked = objectOf(seen, looks.subscription)
    const csvs = objectsOf(seen, looks.csvs).filter((one) => !isCopied(one))
    const own = wanted.names.map((name) => csvs.find(({ metadata }) => metadata.name === name))
    const deployments = objectsOf(seen, looks.deployments).filter((one) =>
      wanted.names.includes(one.metadata.labels?.['olm.owner'] ?? ''),
    )
    const troubled = csvs.find(
      (one) => wanted.names.includes(one.metadata.name) && textAt(one.status, 'phase') === 'Failed',
    )
    const running = objectsOf(seen, looks.pods)
    const why = deploymentTrouble(deployments) ?? podTrouble(podsOf(deployments, running), operatorPods)
    const { state: known, failure } = rememberFailure(state, troubled, now)
    if (failure) return fails(known, now, why && !mayPass.has(why.code) ? why : failure)
    // A lasting failure needs no deadline; a registry or a crash may recover.
    if (why && !mayPass.has(why.code)) return fails(known, now, why)
    const open = own.findIndex((csv) => textAt(csv?.status, 'phase') !== 'Succeeded')
    const isInstalled = textAt(asked?.status, 'installedCSV') === wanted.root
    const before = state.step > 0 ? plan.steps[state.step - 1]?.root : undefined
    const isReplaced =
      before === undefined || before === wanted.root || !csvs.some(({ metadata }) => metadata.name === before)
    const lazy = deployments.filter((one) => !isAvailable(one))
    if (open < 0 && isInstalled && isReplaced && lazy.length === 0) return stepDone(known, asked, seen, now)
    const what = waitingFor()
    const goesOn = open < 0 ? remember(known, { failing: 0, words: '' }) : known
    if (now - state.since < deadlines.operator) return waits(goesOn, what)
    return fails(known, now, overdue())

    function waitingFor(): string {
      const csv = own[open]
      const name = wanted?.names[open] ?? ''
      if (open >= 0)
        return `ClusterServiceVersion ${name}: ${csv ? `${textAt(csv.status, 'phase')} ${textAt(csv.status, 'reason')} ${textAt(csv.status, 'message')}` : 'not there yet'}`
      if (!isInstalled) return `the Subscription to name ${wanted?.root ?? ''} as installed`
      if (!isReplaced) return `ClusterServiceVersion ${before ?? ''} to go`
      return `Deployment ${lazy[0]?.metadata.name ?? ''}`
    }

    function overdue() {
      if (why) return why
      const csv = own[open]
      if (csv) {
        const phase = textAt(csv.status, 'phase')
        const requirements = phase === 'Pending' ? requirementsFailure(csv) : undefined
        if (requirements) return requirements
        if (phase === 'Pending' || phase === '') return { code: 'olm-silent', says: what } as const
      }
      if ((open >= 0 && !csv) || (open < 0 && (!isInstalled || !isReplaced)))
        return { code: 'olm-silent', says: `it still waits for ${what}` } as const
      return overdueDeployments(deployments, running, what, now - deadlines.patience)
    }
  }

  /** OLM leaves Failed and retries, so a failure counts if it cannot pass or if OLM repeats it for `patience`. */
  function rememberFailure(
    state: State,
    csv: KubeObject | undefined,
    now: number,
  ): { readonly state: State; readonly failure?: TrialFailure } {
    const failure = csv && csvFailure(csv)
    const isOlms = isFinal(textAt(csv?.status, 'reason'))
    if (!failure || (!blamesAuthor(failure.code) && !isOlms)) return { state }
    // The first message names the cause; later ones often only report retries.
    const failing = Number(state.memory['failing'] ?? 0) || now
    const words = state.memory['words'] || failure.says
    const known = remember(state, { failing, words })
    if (!isOlms && now - failing < deadlines.patience) return { state: known }
    const says = words === failure.says ? failure.says : `${failure.says} (at first: ${words})`
    return { state: known, failure: { ...failure, says } }
  }

  function stepDone(state: State, asked: KubeObject | undefined, seen: Seen, now: number): Progress<Stage> {
    const done = plan.steps[state.step]?.root ?? ''
    if (state.step < last) {
      const following: State = {
        ...state,
        step: state.step + 1,
        memory: { plan: state.memory['plan'] ?? '' },
      }
      const catalog = objectOf(seen, looks.catalog)
      // Only the first step comes from the base.
      const exchange =
        state.step === 0 && plan.base !== undefined && catalog
          ? [{ kind: 'patch', at: looks.catalog, patch: { spec: catalogSourcePlace(plan.catalog) } } as const]
          : []
      const memory = exchange.length > 0 ? { connected: connectionOf(catalog).connected } : {}
      const says =
        exchange.length > 0 ? `${done} runs; the catalog is exchanged for the changed one` : `${done} runs`
      return enter(following, 'resolution', now, says, exchange, memory)
    }
    // Another plan would install a version that the simulation did not predict.
    const further = newPlan(state, asked ?? { apiVersion: '', kind: '', metadata: { name: '' } }, seen)
    if (further)
      return fails(state, now, {
        code: 'resolver-mismatch',
        says: `OLM goes on to ${planNames(further).join(', ')}; the simulated resolution ends at ${done}`,
      })
    if (textAt(asked?.status, 'state') !== 'AtLatestKnown' && now - state.since < deadlines.operator)
      return waits(state, `the Subscription to be at its latest (${textAt(asked?.status, 'state')})`)
    return ends(state, now, { verdict: 'installs' })
  }
}

const unpackLabel = 'operatorframework.io/bundle-unpack-ref'
function looksOf(plan: TrialPlan) {
  const namespace = namespaceOf(plan)
  const inside = (apiVersion: string, kind: string) => ({ apiVersion, kind, namespace })
  const look = {
    namespace: { apiVersion: 'v1', kind: 'Namespace', name: namespace },
    crds: plan.crds.map(crdLook),
    catalog: { ...inside(olm, 'CatalogSource'), name: catalogName },
    group: { ...inside(olmGroups, 'OperatorGroup'), name: 'group' },
    subscription: { ...inside(olm, 'Subscription'), name: subscriptionName },
    plans: inside(olm, 'InstallPlan'),
    csvs: inside(olm, 'ClusterServiceVersion'),
    jobs: { ...inside('batch/v1', 'Job'), labels: unpackLabel },
    pods: inside('v1', 'Pod'),
    deployments: inside('apps/v1', 'Deployment'),
  } as const
  const target: readonly Look[] =
    plan.mode === 'SingleNamespace' || plan.mode === 'MultiNamespace'
      ? [{ apiVersion: 'v1', kind: 'Namespace', name: `${namespace}-target` }]
      : []
  const { crds: _, ...others } = look
  return { ...look, running: [...Object.values(others), ...groundLooks(plan), ...target] as readonly Look[] }
}

function seenObject(seen: Seen, { apiVersion, kind, metadata: { name, namespace } }: KubeObject): boolean {
  return (
    objectOf(seen, { apiVersion, kind, name, ...(namespace !== undefined && { namespace }) }) !== undefined
  )
}

function connectionOf(catalog: KubeObject | undefined) {
  const state = textAt(catalog?.status, 'connectionState', 'lastObservedState')
  return {
    state,
    isReady: state === 'READY',
    address: textAt(catalog?.status, 'connectionState', 'address'),
    connected: textAt(catalog?.status, 'connectionState', 'lastConnect'),
  }
}

function plannedCrds(plan: KubeObject): readonly string[] {
  const names = listAt(plan.status, 'plan').flatMap((step) => {
    const name = textAt(step, 'resource', 'name')
    return textAt(step, 'resource', 'kind') === 'CustomResourceDefinition' && name !== '' ? [name] : []
  })
  return [...new Set(names)].sort()
}

const crdLook = (name: string): Look => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  name,
})

function approval({ apiVersion, kind, metadata: { name, namespace = '' } }: KubeObject) {
  return {
    kind: 'patch',
    at: { apiVersion, kind, name, namespace },
    patch: { spec: { approved: true } },
  } as const
}

function planNames(plan: KubeObject): readonly string[] {
  return listAt(plan.spec, 'clusterServiceVersionNames').filter(
    (name): name is string => typeof name === 'string',
  )
}

function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  return new Set(a).size === new Set(b).size && a.every((one) => b.includes(one))
}

/** OLM copies the CSV of an Operator for all namespaces into each of them. */
function isCopied({ metadata, status }: KubeObject): boolean {
  return metadata.labels?.['olm.copiedFrom'] !== undefined || textAt(status, 'reason') === 'Copied'
}
